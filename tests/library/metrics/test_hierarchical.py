"""H-AP, set intersections and metrics by level against their definitions, item by item."""

import math
import warnings
from collections import Counter
from itertools import permutations, product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rankedu.hierarchy import levels, relevance
from rankedu.metrics import (
    UndefinedMetricWarning,
    average_precision,
    average_precision_per_level,
    average_set_intersection,
    hierarchical,
    hierarchical_average_precision,
    hierarchical_rank,
    recall_at_k,
    recall_at_k_per_level,
)

settings.register_profile("no deadline", deadline=None)  # a shared machine may be slow
settings.load_profile("no deadline")

DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int64]
METRICS = {
    "H-AP": hierarchical_average_precision,
    "ASI": average_set_intersection,
    "AP per level": average_precision_per_level,
    "R@1 per level": recall_at_k_per_level,
}
nan = float("nan")


@pytest.fixture(params=[24, 2, 0], ids=["strips", "two strips, then bisecting", "bisecting"])
def path(request, monkeypatch):
    """Every way to sum up what items have in common."""
    monkeypatch.setattr(hierarchical, "_FEW", request.param)


def above(scores, where):
    """(..., k, j): does j stand above k? Larger scores do, of equal ones those that come first."""
    s_k, s_j = scores.unsqueeze(-1), scores.unsqueeze(-2)
    first = torch.ones(scores.shape[-1], scores.shape[-1], dtype=torch.bool).tril(-1)
    return ((s_j > s_k) | ((s_j == s_k) & first)) & where.unsqueeze(-1) & where.unsqueeze(-2)


def eq_2(scores, rel, where):
    """H-rank by its definition, quadratic."""
    common = torch.minimum(rel.unsqueeze(-1), rel.unsqueeze(-2))
    return (rel + (common * above(scores, where)).sum(-1)) * where


def eq_3(scores, rel, where):
    """H-AP by its definition, quadratic."""
    rel = rel * where
    ranks = 1 + above(scores, where).sum(-1)
    return (eq_2(scores, rel, where) / ranks).sum(-1) / rel.sum(-1)


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


@pytest.mark.parametrize("kind", ["three levels", "Eq. 4", "continuous"])
@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 9, 20])
def test_h_ap_is_eq_3_on_thousands_of_cases(kind, n, path):
    scores, rel, where = random_cases(kind, 400, n)
    found = hierarchical_average_precision(scores, rel, where=where)
    torch.testing.assert_close(found, eq_3(scores, rel, where), rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(hierarchical_rank(scores, rel, where=where), eq_2(scores, rel, where))


@pytest.mark.parametrize("n", [64, 300])
def test_more_distinct_relevances_than_strips(n):
    scores, rel, where = random_cases("continuous", 4, n)
    torch.testing.assert_close(hierarchical_average_precision(scores, rel, where=where), eq_3(scores, rel, where))


@pytest.mark.parametrize(("level", "h_rank"), [(2, 5 / 3), (1, 4 / 3)])
def test_fig_3(level, h_rank, path):
    """Relevance l/L with L = 3, that is Eq. 4 with one item a level: the item of level 3 stands second."""
    rel = torch.tensor([level / 3, 1.0], dtype=torch.float64)
    assert hierarchical_rank(torch.tensor([0.9, 0.8]), rel)[1].item() == pytest.approx(h_rank)
    torch.testing.assert_close(relevance(torch.tensor([level, 3])), rel)


def test_a_worse_inversion_costs_more():
    """The two rankings of Fig. 3 as whole lists: the same AP, another H-AP."""
    scores = torch.tensor([4.0, 3.0, 2.0, 1.0])
    near, far = torch.tensor([2, 3, 1, 0]) / 3, torch.tensor([1, 3, 2, 0]) / 3
    assert torch.equal(average_precision(scores, near == 1), average_precision(scores, far == 1))
    values = [hierarchical_average_precision(scores.double(), rel).item() for rel in (near, far)]
    assert values == pytest.approx([(2 / 3 + 5 / 6 + 1 / 3) / 2, (1 / 3 + 2 / 3 + 5 / 9) / 2])


def released(scores, rel):
    """How the released evaluation sums up: level by level, the items of a level being those with its relevance."""
    everything = torch.ones_like(scores, dtype=torch.bool)
    share = eq_2(scores, rel, everything) / (1 + above(scores, everything).sum(-1))
    level = torch.tensor([2, 2, 1, 0])
    per_level = [rel[level == v][0] for v in (1, 2)]
    return sum(share[rel == value].sum() for value in per_level) / rel.sum()


def test_equal_relevance_at_two_levels_is_counted_once(path):
    scores, level = torch.tensor([0.9, 0.8, 0.7, 0.1], dtype=torch.float64), torch.tensor([2, 2, 1, 0])
    rel = relevance(level)
    assert rel.tolist() == [0.5, 0.5, 0.5, 0]
    assert released(scores, rel).item() == 2.0
    assert hierarchical_average_precision(scores, rel).item() == 1.0


@pytest.mark.parametrize("dtype", DTYPES)
def test_with_one_level_h_ap_is_ap(dtype, path):
    generator = torch.Generator().manual_seed(0)
    scores = torch.randint(0, 9, (2, 50, 12), generator=generator).to(dtype)
    level = torch.randint(0, 2, (2, 50, 12), generator=generator)
    where = torch.rand(2, 50, 12, generator=generator) < 0.8
    level[..., 0], where[..., 0] = 1, True
    expected = average_precision(scores, level, where=where)
    for rel in (level, level.bool(), relevance(level, where=where), level.half() * 1e-7):
        found = hierarchical_average_precision(scores, rel, where=where)
        assert found.dtype == expected.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
        torch.testing.assert_close(found, expected)
    torch.testing.assert_close(average_precision_per_level(scores, level, where=where).squeeze(-1), expected)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_h_ap_and_asi_are_1_exactly_for_sorted_rankings(n):
    """Exhaustive: all lists of n relevances, read from rank 1; relevance 0.1 and 0.7 are not exact in binary."""
    level = torch.tensor([row for row in product(range(4), repeat=n) if any(row)])
    rel = torch.tensor([0.0, 0.1, 0.7, 0.8], dtype=torch.float64)[level]
    scores = -torch.arange(n, dtype=torch.float64).expand(rel.shape)
    is_sorted = (level.diff(dim=-1) <= 0).all(-1)
    for found in (hierarchical_average_precision(scores, rel), average_set_intersection(scores, level)):
        assert (found <= 1).all() and (found >= 0).all()
        torch.testing.assert_close(found[is_sorted], torch.ones(int(is_sorted.sum()), dtype=torch.float64))
        assert (found[~is_sorted] < 1 - 1e-3).all()


def test_every_order_of_six_items():
    rel, level = torch.tensor([1.0, 0.5, 0.5, 0.25, 0.0, 0.0]), torch.tensor([3, 2, 2, 1, 0, 0])
    scores = torch.tensor(list(permutations(range(6)))).double()
    rows = scores.argsort(-1, descending=True)
    is_sorted = (level[rows].diff(dim=-1) <= 0).all(-1)
    assert int(is_sorted.sum()) == 4
    for found in (
        hierarchical_average_precision(scores, rel.expand(scores.shape)),
        average_set_intersection(scores, level.expand(scores.shape)),
    ):
        assert torch.equal(found > 1 - 1e-12, is_sorted)


@pytest.mark.parametrize("scale", [2.0**-300, 1e-12, 3.0, 1e30, 2.0**1000])
def test_h_ap_does_not_see_the_scale_of_relevance(scale, path):
    scores, rel, where = random_cases("continuous", 50, 15)
    found = hierarchical_average_precision(scores, rel * scale, where=where)
    torch.testing.assert_close(found, hierarchical_average_precision(scores, rel, where=where), rtol=1e-12, atol=0)


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_invariances(metric):
    """Of any increasing transform of distinct scores, and of the order in which items are given."""
    generator = torch.Generator().manual_seed(0)
    scores = torch.rand(40, 10, generator=generator, dtype=torch.float64) - 0.5
    level = torch.randint(1, 4, (40, 10), generator=generator)
    level[:, 0] = 3
    found = metric(scores, level)
    for transformed in (scores * 3 - 7, scores.exp(), scores**3, scores.argsort(-1).argsort(-1)):
        torch.testing.assert_close(metric(transformed, level).double(), found, rtol=1e-6, atol=1e-7)
    order = torch.randperm(10, generator=generator)
    torch.testing.assert_close(metric(scores[:, order], level[:, order]), found)


def asi_by_hand(row):
    """ASI of the levels read from rank 1."""
    ideal, reach = sorted(row, reverse=True), sum(v > 0 for v in row)
    sizes = [(Counter(row[:k]) & Counter(ideal[:k])).total() / k for k in range(1, reach + 1)]
    return sum(sizes) / reach


def ap_by_hand(row, level):
    hits = [place for place, v in enumerate(row, start=1) if v >= level]
    return sum(i / place for i, place in enumerate(hits, start=1)) / len(hits) if hits else nan


items = st.lists(st.tuples(st.integers(-2, 2), st.integers(0, 3), st.booleans()), min_size=1, max_size=10)


@given(items.filter(lambda rows: any(level and here for _, level, here in rows)), st.integers(1, 5))
@pytest.mark.filterwarnings("ignore::rankedu.metrics.UndefinedMetricWarning")
def test_asi_and_metrics_per_level_by_hand(rows, k):
    scores, level, where = (torch.tensor(column) for column in zip(*rows, strict=True))
    row = [v for _, v, here in sorted(rows, key=lambda item: -item[0]) if here]
    padded = scores.double().masked_fill(~where, nan)
    assert average_set_intersection(padded, level, where=where).item() == pytest.approx(asi_by_hand(row))
    found = average_precision_per_level(padded, level, where=where, n_levels=4)
    assert found.tolist() == pytest.approx([ap_by_hand(row, v) for v in (1, 2, 3, 4)], nan_ok=True)
    found = recall_at_k_per_level(padded, level, k, where=where, n_levels=4)
    expected = [float(any(x >= v for x in row[:k])) if any(x >= v for x in row) else nan for v in (1, 2, 3, 4)]
    assert found.tolist() == pytest.approx(expected, nan_ok=True)


def test_asi_ignores_what_no_level_says():
    """It sees the set of levels in the top k, not which numbers they have."""
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(30, 12, generator=generator)
    level = torch.randint(0, 3, (30, 12), generator=generator).index_fill(1, torch.tensor([0]), 1)
    spread = torch.tensor([0, 40, 1000])[level]
    assert torch.equal(average_set_intersection(scores, level), average_set_intersection(scores, spread))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("k", [1, 3, 50])
def test_metrics_per_level_are_the_binary_ones_of_each_level(dtype, k):
    generator = torch.Generator().manual_seed(0)
    scores = torch.randint(0, 6, (4, 8, 15), generator=generator).to(dtype)
    level = torch.randint(0, 4, (4, 8, 15), generator=generator).to(torch.int8)
    level[..., -1] = 3
    ap, recall = average_precision_per_level(scores, level), recall_at_k_per_level(scores, level, k)
    assert ap.shape == recall.shape == (4, 8, 3)
    for v in (1, 2, 3):
        torch.testing.assert_close(ap[..., v - 1], average_precision(scores, level >= v), rtol=1e-6, atol=1e-6)
        assert torch.equal(recall[..., v - 1], recall_at_k(scores, level >= v, k))


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_the_query_is_left_out_by_where(metric):
    generator = torch.Generator().manual_seed(0)
    embeddings = torch.nn.functional.normalize(torch.randn(18, 5, generator=generator), dim=1)
    labels = torch.stack([torch.arange(18) // 9, torch.arange(18) // 3], -1)
    scores, level, others = embeddings @ embeddings.T, levels(labels), ~torch.eye(18, dtype=torch.bool)
    found = metric(scores, level, where=others)
    expected = metric(scores[others].view(18, 17), level[others].view(18, 17))
    torch.testing.assert_close(found, expected)
    assert not torch.allclose(found, metric(scores, level))


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_strides_empty_batches_and_gradients(metric):
    generator = torch.Generator().manual_seed(0)
    scores, level = torch.randn(7, 5, generator=generator), torch.randint(1, 3, (7, 5), generator=generator)
    turned = scores.T.contiguous().T, level.T.contiguous().T
    assert not turned[0].is_contiguous()
    assert torch.equal(metric(*turned), metric(scores, level))
    assert metric(scores[:0], level[:0]).shape[0] == 0
    assert not metric(scores.clone().requires_grad_(), level).requires_grad


@pytest.mark.parametrize(
    ("metric", "why", "expected"),
    [
        (hierarchical_average_precision, "^2 of 3 queries have no relevance above 0", [nan, 0.5, nan]),
        (average_set_intersection, "^2 of 3 queries have no item of level 1 or more", [nan, 0, nan]),
        (average_precision_per_level, "^2 at level 1, 3 at level 2 of 3 queries", [[nan] * 2, [0.5, nan], [nan] * 2]),
        (recall_at_k_per_level, "^2 at level 1, 3 at level 2 of 3 queries", [[nan] * 2, [0, nan], [nan] * 2]),
    ],
    ids=METRICS,
)
def test_undefined_queries_are_nan_and_counted(metric, why, expected):
    scores, level = torch.tensor([[0.3, 0.2]] * 3), torch.tensor([[0, 0], [0, 1], [0, 2]])
    where = torch.tensor([[True, True], [True, True], [True, False]])  # the third has no relevant item that takes part
    with pytest.warns(UndefinedMetricWarning, match=why) as caught:
        found = metric(scores, level, where=where)
    assert len(caught) == 1 and caught[0].filename == __file__
    torch.testing.assert_close(found, torch.tensor(expected).float(), equal_nan=True)


def test_nobody_takes_part():
    nobody = torch.zeros(3, dtype=torch.bool)
    for metric in METRICS.values():
        with pytest.warns(UndefinedMetricWarning):
            assert metric(torch.tensor([nan, 0, 0]), torch.tensor([1, 0, 0]), where=nobody).isnan().all()


def test_what_stands_outside_where_does_not_matter():
    where = torch.tensor([True, True, False])
    scores, rel = torch.tensor([0.1, 0.2, nan]), torch.tensor([1.0, 0.5, nan])
    assert hierarchical_average_precision(scores, rel, where=where).item() == pytest.approx((0.5 + 1 / 2 * 1.5) / 1.5)
    assert hierarchical_rank(scores, rel, where=where).tolist() == [1.5, 0.5, 0]


def test_float16_scores_keep_their_order():
    """Neighbouring float16 numbers, more than float16 could count."""
    n = 3000
    scores = torch.arange(n).to(torch.int16).view(torch.float16)  # the first n non-negative ones, ascending
    rel = torch.arange(n).double()
    assert hierarchical_average_precision(scores, rel).item() == pytest.approx(1.0, abs=1e-6)
    assert hierarchical_average_precision(-scores, rel).item() < 0.7


y, v = torch.tensor([0.3, 0.1, 0.2]), torch.tensor([1, 0, 2])
BAD = {
    "relevance_shape": (lambda m: m(y, v[:2]), ValueError, r"relevance .* \(3,\), got \(2,\)"),
    "relevance_list": (lambda m: m(y, [1, 0, 2]), TypeError, "relevance must be a torch.Tensor, got list"),
    "relevance_negative": (lambda m: m(y, v - 1), ValueError, "relevance must be finite and >= 0, got -1.0"),
    "relevance_nan": (lambda m: m(y, v * nan), ValueError, "relevance must be finite and >= 0, got nan"),
    "relevance_inf": (lambda m: m(y, v / 0), ValueError, "relevance must be finite and >= 0, got"),
}
BAD_LEVELS = {
    "levels_shape": (lambda m: m(y, v[:2]), ValueError, r"levels .* \(3,\), got \(2,\)"),
    "levels_float": (lambda m: m(y, v / 2), TypeError, "levels must be integer, got torch.float32"),
    "levels_negative": (lambda m: m(y, v - 1), ValueError, "levels must be >= 0, got -1"),
}
BAD_SCORES = {
    "scores_nan": (lambda m: m(y * nan, v), ValueError, "scores must not contain NaN, got 3 of 3"),
    "scores_empty": (lambda m: m(y[:0], v[:0]), ValueError, r"scores .* got \(0,\)"),
    "where_shape": (lambda m: m(y, v, where=v[:2] > 0), ValueError, r"where .* \(3,\), got \(2,\)"),
    "where_dtype": (lambda m: m(y, v, where=v), TypeError, "where must be bool"),
}


def bad_calls():
    for name, metric in {**METRICS, "H-rank": hierarchical_rank}.items():
        table = BAD_SCORES | (BAD if name in ("H-AP", "H-rank") else BAD_LEVELS)
        for what, (call, error, message) in table.items():
            yield pytest.param(metric, call, error, message, id=f"{name}-{what}")


@pytest.mark.parametrize(("metric", "call", "error", "message"), list(bad_calls()))
def test_the_error_names_the_parameter(metric, call, error, message):
    with pytest.raises(error, match=message):
        call(metric)


@pytest.mark.parametrize("metric", [average_precision_per_level, recall_at_k_per_level])
def test_too_few_levels(metric):
    with pytest.raises(ValueError, match="n_levels must be at least the largest level, 2, got 1"):
        metric(y, v, n_levels=1)


def test_k_is_checked():
    with pytest.raises(ValueError, match="k must be >= 1, got 0"):
        recall_at_k_per_level(y, v, 0)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_on_cuda(metric, path):
    generator = torch.Generator().manual_seed(0)
    scores, level = (
        torch.randint(0, 9, (20, 33), generator=generator),
        torch.randint(1, 9, (20, 33), generator=generator),
    )
    level[:, 0] = 8
    found = metric(scores.cuda(), level.cuda())
    assert found.is_cuda
    torch.testing.assert_close(found.cpu(), metric(scores, level))


def test_by_hand():
    """Levels 3, 1, 2, 0 from rank 1, relevance l/3: H-ranks 1, 2/3, 1/3 + 2/3 + 2/3."""
    scores, rel = torch.tensor([4.0, 3.0, 2.0, 1.0]).double(), torch.tensor([3, 1, 2, 0]) / 3
    expected = (1 + (2 / 3) / 2 + (5 / 3) / 3) / 2
    assert math.isclose(hierarchical_average_precision(scores, rel).item(), expected, rel_tol=1e-6)
