"""Levels and relevance against their definitions, one item at a time."""

import warnings
from functools import partial
from itertools import pairwise, product

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rankedu import reference
from rankedu.hierarchy import InvertedRelevanceWarning, levels, relevance, weighted_ap_relevance
from rankedu.metrics import average_precision_per_level, hierarchical_average_precision
from rankedu.metrics._ranking import rank_lists
from rankedu.metrics.graded import nested

INTEGERS = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
rows = st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=12)


@st.composite
def paths(draw, depth, most=7):
    """Label paths of one depth, some of which end early."""
    rows = draw(st.lists(st.lists(st.integers(0, 2), min_size=depth, max_size=depth), min_size=1, max_size=most))
    ends = draw(st.lists(st.integers(0, depth), min_size=len(rows), max_size=len(rows)))
    return [row[:end] + [-1] * (depth - end) for row, end in zip(rows, ends, strict=True)]


@given(st.integers(1, 5).flatmap(lambda depth: st.tuples(paths(depth), paths(depth))))
def test_levels_are_the_lengths_of_common_prefixes(both):
    queries, gallery = both
    known = [[label for label in path if label >= 0] for path in queries]  # nothing equals −1
    expected = [[reference.level(own, other) for other in gallery] for own in known]
    assert levels(torch.tensor(queries), torch.tensor(gallery)).tolist() == expected
    own = levels(torch.tensor(queries))
    assert torch.equal(own, own.T)
    assert own.diagonal().tolist() == [sum(x >= 0 for x in path) for path in queries]


def test_labels_of_any_dtype_without_an_axis_of_levels_are_paths_of_one():
    for dtype in INTEGERS:
        labels = torch.tensor([4, 4, 2], dtype=dtype)
        assert levels(labels).tolist() == levels(labels.unsqueeze(1)).tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 1]]
        assert levels(labels, torch.tensor([2, 9])).tolist() == [[0, 0], [0, 0], [1, 0]]


@given(rows, st.sampled_from([1e-3, 0.5, 1.0, 3.0, 5.0, 20.0]), st.sampled_from([4, 7]))
@pytest.mark.filterwarnings("ignore::rankedu.hierarchy.InvertedRelevanceWarning")
def test_relevance_is_eq_4(items, alpha, size):
    """The monotone variant is strictly monotone, and keeps the leaves."""
    level, where = (torch.tensor(column) for column in zip(*items, strict=True))
    found, plain = (relevance(level, alpha, n_levels=size, where=where, monotone=m) for m in (True, False))
    for values, monotone in ((found, True), (plain, False)):
        expected = reference.relevance(level[where].tolist(), alpha, size, monotone)
        assert values[where].tolist() == pytest.approx(expected)
        assert values.dtype == torch.float64 and not values[~where].any()
    present = [found[where & (level == v)].unique() for v in level[where].unique()]
    assert all(len(values) == 1 for values in present) and all(a < b for a, b in pairwise(present))
    finest = (level == level[where].max()) & where if where.any() else where
    assert (found <= plain).all() and torch.equal(found[finest], plain[finest])


@pytest.mark.filterwarnings("ignore::rankedu.hierarchy.InvertedRelevanceWarning")
def test_leading_dimensions_dtypes_devices_and_strides():
    makers = partial(relevance, alpha=2.0, n_levels=3), partial(weighted_ap_relevance, weights=[1, 2, 3])
    generator = torch.Generator().manual_seed(0)
    for make, dtype in product((*makers, partial(makers[0], monotone=True)), INTEGERS):
        level = torch.randint(0, 4, (2, 3, 9), generator=generator).to(dtype)
        where = torch.rand(2, 3, 9, generator=generator) < 0.7
        found = make(level, where=where)
        for i, j in product(range(2), range(3)):
            torch.testing.assert_close(found[i, j][where[i, j]], make(level[i, j][where[i, j]]))
        turned = level.transpose(0, 2).contiguous().transpose(0, 2)
        torch.testing.assert_close(make(turned, where=where), found)
        assert make(level[:0]).shape == (0, 3, 9) and not found[~where].any()
        if torch.cuda.is_available():
            torch.testing.assert_close(make(level.cuda(), where=where.cuda()).cpu(), found)
            assert torch.equal(levels(level[0].cuda()).cpu(), levels(level[0]))


def test_the_warning_comes_exactly_if_the_order_is_inverted():
    for level, alpha, inverted in (
        ([2, 2, 1, 0], 1.0, False),  # equal, 1/2 each
        ([2, 2, 2, 1, 0], 1.0, True),
        ([2, 2, 2, 1, 0], 2.0, False),
        ([3] * 9 + [1] * 3, 1.0, False),  # equal but for rounding: (3/3)/9 and (1/3)/3
        ([3] * 10 + [1] * 3, 1.0, True),  # the level between is empty
        ([3, 3, 0, 0], 1.0, False),
        ([0, 0], 1.0, False),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            relevance(torch.tensor([level]), alpha)
            relevance(torch.tensor([level]), alpha, monotone=True)
        told = [(w.category, w.filename) for w in caught]
        assert told == [(InvertedRelevanceWarning, __file__)] * inverted, (level, alpha)


@pytest.mark.parametrize("alpha", [1.0, 2.0, 3.0])
def test_grades_that_are_equal_in_exact_arithmetic_are_one_number(alpha):
    """Of all sizes for which the items of two levels are worth the same, l^α / |Ω(l)| = m^α / |Ω(m)|."""
    for n_levels, (fine, coarse) in product(range(2, 8), product(range(1, 8), repeat=2)):
        if coarse < fine <= n_levels:
            level = torch.tensor([fine] * int(fine**alpha) + [coarse] * int(coarse**alpha))
            assert len(relevance(level, alpha, n_levels).unique()) == 1
    level = torch.tensor([5, 4, 3, 2, 1, 0])  # powers too large to be exact
    exact = [(x / 5) ** 300 for x in level.tolist()]
    assert relevance(level, 300.0).tolist() == pytest.approx(exact, rel=1e-12)


def test_relevances_that_differ_by_rounding_are_one_grade():
    scores = torch.tensor([0.1, 0.2, 0.3, 0.4])
    close = torch.tensor([0.3, 0.1 + 0.2, 0.3 * (1 - 1e-15), 0.0], dtype=torch.float64)
    assert len(close.unique()) == 4
    sets = list(nested(rank_lists(scores, close.numpy(), None, "expected")))
    assert len(sets) == 1 and sets[0][2].size.tolist() == [3]


def test_h_ap_with_its_relevance_is_the_weighted_mean_of_aps():
    generator = torch.Generator().manual_seed(0)
    level = torch.cat([torch.randint(0, 4, (300, 12), generator=generator), torch.full((300, 1), 3)], -1)
    scores = torch.randn(300, 13, generator=generator, dtype=torch.float64)
    where = torch.rand(300, 13, generator=generator) < 0.8
    where[:, -1] = True
    averages = average_precision_per_level(scores, level, where=where)
    for weights in ([1, 0, 0], [0, 0, 1], [0.2, 0.3, 0.5]):
        found = hierarchical_average_precision(scores, weighted_ap_relevance(level, weights, where), where=where)
        expected = (averages * torch.tensor(weights, dtype=torch.float64)).sum(-1) / sum(weights)
        torch.testing.assert_close(found, expected)
