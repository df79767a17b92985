"""Kinds of silent faults, each with inputs drawn at random.

What outlives a call is a copy, and neither the order of items, nor the dtype of labels, nor rounding decides.
"""

from fractions import Fraction
from itertools import permutations

import pytest
import torch
from drawn import random
from hypothesis import given, settings
from hypothesis import strategies as st

from rankedu import hierarchy, reference
from rankedu.labels import check_labels
from rankedu.losses import OnEmbeddings
from rankedu.metrics import RetrievalMetrics, evaluate_retrieval

pytestmark = pytest.mark.filterwarnings(
    *(f"ignore::rankedu.metrics.{name}Warning" for name in ("UndefinedMetric", "DuplicateItems")),
    "ignore::rankedu.hierarchy.InvertedRelevanceWarning",
)
#: Numbers of at most 6 relevant and irrelevant items: the scores of a list with many ties, and the grade of each item.
lists = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=2, max_size=6).filter(
    lambda items: any(grade for _, grade in items)
)
seeds = st.integers(0, 10**6)


def over_all_orders(definition, items):
    """The mean of a definition over all orders of a list."""
    values = [definition(*zip(*order, strict=True)) for order in permutations(items)]
    return sum(values) / len(values)


# Kind 1: nothing that outlives a call is a view of the caller's tensor.


def views(seed, n, dim):
    """A matrix as callers have it: a slice, a transposed matrix, every second row or column, or a row expanded."""
    whole = random(2 * n, 3, 2 * dim, seed=seed, dtype=torch.float32)
    return (
        whole[:n, 1, :dim],
        whole[::2, 0, 1::2],
        whole[:dim, 0, :n].T if dim <= 2 * n and n <= 2 * dim else whole[:n, 2, dim:],
        whole[:1, 0, :dim].expand(n, dim),
    )[seed % 4], whole


@settings(max_examples=40, deadline=None)
@given(seeds, st.integers(2, 12), st.integers(1, 9))
def test_what_a_metric_keeps_is_a_copy_of_what_it_needs(seed, n, dim):
    (rows, buffer), labels = views(seed, n, dim), torch.arange(4 * n)[:: 2 + seed % 3][:n] // 4
    metric = RetrievalMetrics(("ap",), progress=False)
    expected = evaluate_retrieval(rows.clone(), labels.clone(), metrics=("ap",), progress=False)["per_query"]["ap"]
    metric.update(rows, labels)
    kept = [x for part in metric._parts.values() for x in part for x in x]
    assert sum(x.untyped_storage().nbytes() for x in kept) == sum(x.numel() * x.element_size() for x in (rows, labels))
    buffer.zero_()
    labels.zero_()
    assert torch.equal(metric.compute()["per_query"]["ap"].nan_to_num(-1), expected.nan_to_num(-1))


# Kind 2: the order of the items decides nothing; for metrics of one query see `metrics/test_of_one_query.py`.


@settings(max_examples=25, deadline=None)
@given(lists, seeds)
def test_an_evaluation_is_the_mean_over_all_orders_of_equal_embeddings(items, seed):
    """Codes, as of hashing: many items are at one distance."""
    order = torch.randperm(len(items), generator=torch.Generator().manual_seed(seed))
    codes = torch.tensor([[1.0, 1, 1, 1], [1, 1, 1, -1], [1, 1, -1, -1]])[[score for score, _ in items]][order]
    labels = torch.tensor([int(grade > 0) for _, grade in items])[order]
    of = {"ap": reference.average_precision, "map@r": reference.map_at_r, "mrr": reference.reciprocal_rank}
    of["recall@2"] = lambda y, relevant: reference.recall_at_k(y, relevant, 2)
    query = {"gallery": codes, "gallery_labels": labels, "metrics": tuple(of), "progress": False}
    found = evaluate_retrieval(torch.ones(1, 4), torch.ones(1).long(), **query)
    exact = [(Fraction(-score), grade > 0) for score, grade in items]
    for name, definition in of.items():
        assert found[name] == pytest.approx(float(over_all_orders(definition, exact)), rel=1e-6), name


# Kind 4: labels mean the same everywhere.

DTYPES = st.sampled_from([torch.int8, torch.int16, torch.int32, torch.int64])


def relevant_to_a_loss(x, y, g, z):
    """What a loss of embeddings is given."""
    return OnEmbeddings(lambda scores, relevance, where=None: relevance)(x, y, ref_emb=g, ref_labels=z)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-1, 3), min_size=2, max_size=9), DTYPES, DTYPES, st.integers(0, 2**40))
def test_minus_one_is_no_label_and_dtypes_compare_exactly_in_losses_and_in_metrics(labels, one, other, offset):
    y, n = torch.tensor(labels), len(labels)
    x, g = random(n, 4), random(n, 4, seed=1)
    z = torch.where(y >= 0, y + offset, y)  # equal only without an offset, however large the numbers are
    own, others = y.to(one), z.to(other) if offset + 3 < torch.iinfo(other).max else z
    expected = (y[:, None] == z) & (y >= 0)[:, None]
    assert torch.equal(relevant_to_a_loss(x, own, g, others), expected)
    options = {"gallery": g, "gallery_labels": others, "metrics": ("recall_share@1",), "progress": False}
    found = evaluate_retrieval(x, own, **options)["per_query"]["recall_share@1"][:, 0]
    assert torch.equal(found.isnan(), ~expected.any(1))


@settings(max_examples=40, deadline=None)
@given(seeds, st.integers(2, 6), st.sampled_from([torch.uint8, torch.int16, torch.int64, torch.half, torch.float64]))
def test_rows_of_0_and_1_are_asked_about(seed, columns, dtype):
    labels = (torch.rand(6, columns, generator=torch.Generator().manual_seed(seed)) < 0.5).to(dtype)
    with pytest.raises(ValueError, match=r"paths of classes or tags, .*labels.bool\(\).*labels.long\(\) \+ 1"):
        evaluate_retrieval(random(6, 4), labels, progress=False)
    for remedy in (labels.bool(), labels.long() + 1):
        assert torch.equal(check_labels(remedy, random(6, 4)), remedy)


# Kind 6: rounding is no order.


@settings(max_examples=300, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=2, max_size=7).filter(any), st.sampled_from([1, 2, 3]), st.booleans())
def test_relevances_are_equal_or_ordered_as_in_exact_arithmetic(counts, alpha, monotone):
    """(l/L)^α over a count: of three items of level 3 and one of level 1, each is worth 1/L."""
    levels = [level for level, times in enumerate(counts, 1) for _ in range(times)]
    count = {own: sum(other == own or (monotone and other > own) for other in levels) for own in levels}
    exact = [Fraction(own, max(levels)) ** alpha / count[own] for own in levels]
    found = hierarchy.relevance(torch.tensor(levels), alpha=alpha, monotone=monotone).tolist()
    pairs = [(i, j) for i in range(len(levels)) for j in range(i)]
    assert all((found[i] == found[j]) == (exact[i] == exact[j]) for i, j in pairs)
    assert all((found[i] > found[j]) == (exact[i] > exact[j]) for i, j in pairs)
