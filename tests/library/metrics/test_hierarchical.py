"""H-AP, set intersections and metrics by level against their definitions, item by item."""

import warnings

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rankedu import reference
from rankedu.hierarchy import relevance
from rankedu.metrics import (
    average_precision,
    average_precision_per_level,
    average_set_intersection,
    hierarchical_average_precision,
    hierarchical_rank,
)

nan = float("nan")


def by_query(definition, scores, graded, where):
    """The definition of each query, of the items that take part."""
    rows = zip(scores, graded, where, strict=True)
    return [definition(y[here].tolist(), own[here].tolist()) for y, own, here in rows]


def random_cases(kind, count, n):
    """Scores with ties, relevance with ties, and items left out."""
    generator = torch.Generator().manual_seed(n)
    scores = torch.randint(0, n, (count, n), generator=generator).double()
    where = torch.rand(count, n, generator=generator) < 0.8
    level = torch.randint(0, 4, (count, n), generator=generator)
    if kind == "three levels":
        rel = level / 3
    elif kind == "Eq. 4":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rel = relevance(level, where=where)
    else:
        rel = torch.rand(count, n, generator=generator, dtype=torch.float64) * (level > 0)
    where[:, 0], rel[:, 0] = True, rel[:, 0].clamp(min=1 / 3)
    return scores, rel.double(), where


items = st.lists(st.tuples(st.integers(-2, 2), st.integers(0, 3), st.booleans()), min_size=1, max_size=10)


@given(items.filter(lambda rows: any(level and here for _, level, here in rows)))
@pytest.mark.filterwarnings("ignore::rankedu.metrics.UndefinedMetricWarning")
def test_asi_and_metrics_per_level_by_hand(rows):
    scores, level, where = (torch.tensor(column) for column in zip(*rows, strict=True))
    y, own = zip(*((s, v) for s, v, here in rows if here), strict=True)
    padded = scores.double().masked_fill(~where, nan)
    found = average_set_intersection(padded, level, where=where).item()
    assert found == pytest.approx(reference.average_set_intersection(y, own))
    found = average_precision_per_level(padded, level, where=where, n_levels=4)
    expected = [reference.average_precision(y, [v >= at for v in own]) for at in (1, 2, 3, 4)]
    assert found.tolist() == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("kind", ["three levels", "Eq. 4", "continuous"])
def test_h_ap_is_eq_3_on_thousands_of_cases(kind):
    for n in (1, 2, 3, 7, 8, 9, 20, 60):
        scores, rel, where = random_cases(kind, 400 if n < 20 else 20, n)
        found = hierarchical_average_precision(scores, rel, where=where)
        expected = by_query(reference.hierarchical_average_precision, scores, rel, where)
        assert found.tolist() == pytest.approx(expected, rel=1e-12), n
        ranks, expected = hierarchical_rank(scores, rel, where=where), by_query(reference.h_rank, scores, rel, where)
        assert (ranks[~where] == 0).all()
        assert ranks[where].tolist() == pytest.approx([v for row in expected for v in row], rel=1e-12, abs=1e-15), n


@pytest.mark.parametrize(("level", "h_rank"), [(2, 5 / 3), (1, 4 / 3)])
def test_fig_3(level, h_rank):
    """Relevance l/L with L = 3, that is Eq. 4 with one item a level: the item of level 3 stands second."""
    rel = torch.tensor([level / 3, 1.0], dtype=torch.float64)
    assert hierarchical_rank(torch.tensor([0.9, 0.8]), rel)[1].item() == pytest.approx(h_rank)
    torch.testing.assert_close(relevance(torch.tensor([level, 3])), rel)


def test_equal_relevance_at_two_levels_is_counted_once():
    """The released evaluation sums up level by level the items with the relevance of the level: it gives 2."""
    scores, level = torch.tensor([0.9, 0.8, 0.7, 0.1], dtype=torch.float64), torch.tensor([2, 2, 1, 0])
    rel = relevance(level)
    assert rel.tolist() == [0.5, 0.5, 0.5, 0]
    assert hierarchical_average_precision(scores, rel).item() == 1.0


def test_with_one_level_h_ap_is_ap():
    generator = torch.Generator().manual_seed(0)
    scores = torch.randint(0, 9, (2, 50, 12), generator=generator).double()
    level = torch.randint(0, 2, (2, 50, 12), generator=generator)
    where = torch.rand(2, 50, 12, generator=generator) < 0.8
    level[..., 0], where[..., 0] = 1, True
    expected = average_precision(scores, level, where=where)
    for rel in (level, level.bool(), relevance(level, where=where), level.half() * 1e-7):
        torch.testing.assert_close(hierarchical_average_precision(scores, rel, where=where), expected)
    torch.testing.assert_close(average_precision_per_level(scores, level, where=where).squeeze(-1), expected)


@pytest.mark.parametrize("scale", [2.0**-300, 1e-12, 3.0, 1e30, 2.0**1000])
def test_h_ap_does_not_see_the_scale_of_relevance(scale):
    scores, rel, where = random_cases("continuous", 50, 15)
    found = hierarchical_average_precision(scores, rel * scale, where=where)
    torch.testing.assert_close(found, hierarchical_average_precision(scores, rel, where=where), rtol=1e-12, atol=0)
