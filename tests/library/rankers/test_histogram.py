"""HistogramRanker against its definition, and against all outcomes of the coins that it averages over."""

from itertools import product

import pytest
import torch
from drawn import cosines

from rankedu import rank
from rankedu.losses import APLoss
from rankedu.metrics import average_precision
from rankedu.rankers import HistogramRanker

BINS = [1, 5, 10, 20, 40]
nan, inf = float("nan"), float("inf")


def coin(*shape, p=0.6, seed=1):
    return torch.rand(shape, generator=torch.Generator().manual_seed(seed)) < p


def triangles(scores, bins):
    """m_l(y) of every item and centre; (..., n, bins + 1)."""
    centres = torch.arange(bins + 1, dtype=scores.dtype)
    return torch.relu(1 - ((1 - scores).unsqueeze(-1) * bins / 2 - centres).abs())


def definition(scores, bins, where=None):
    """1, and for every other item the chance that it stands higher, and half of the chance that it stands level."""
    m = triangles(scores, bins)
    higher = m.cumsum(-1) - m / 2
    beats = torch.einsum("...kl,...jl->...kj", m, higher)
    beats = beats.masked_fill(torch.eye(scores.shape[-1], dtype=torch.bool), 0.0)
    where = torch.ones_like(scores, dtype=torch.bool) if where is None else where
    return (1 + (beats * where.unsqueeze(-2)).sum(-1)) * where


def value_and_gradient(function, scores, weights):
    leaf = scores.detach().clone().requires_grad_()
    value = function(leaf)
    value.backward(weights)
    return value.detach(), leaf.grad


@pytest.mark.parametrize("bins", BINS)
@pytest.mark.parametrize("ragged", [False, True])
@pytest.mark.parametrize("shape", [(15,), (4, 15), (2, 3, 15)])
def test_value_and_gradient_are_the_definition(bins, ragged, shape):
    scores, weights = cosines(*shape) / 2, cosines(*shape, seed=5)
    where = coin(*shape) if ragged else None
    value, gradient = value_and_gradient(lambda s: HistogramRanker(bins)(s, where=where), scores, weights)
    expected, slope = value_and_gradient(lambda s: definition(s, bins, where), scores, weights)
    torch.testing.assert_close(value, expected, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(gradient, slope, rtol=1e-11, atol=1e-11)
    assert slope.any()


@pytest.mark.parametrize("bins", [1, 2, 5])
def test_it_is_the_expected_rank_when_coins_are_thrown(bins):
    scores = cosines(4, seed=3)
    upper = ((1 - scores) * bins / 2).floor().clamp(max=bins - 1)
    share = (1 - scores) * bins / 2 - upper
    expected = torch.zeros(4, dtype=torch.float64)
    for falls in product((False, True), repeat=4):
        lower = torch.tensor(falls)
        chance = torch.where(lower, share, 1 - share).prod()
        bin_ = -(upper + lower)
        expected += chance * (rank(bin_, ties="min") + rank(bin_, ties="max")) / 2
    torch.testing.assert_close(HistogramRanker(bins)(scores), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("bins", BINS)
def test_histogram_is_the_sum_of_triangles(bins):
    scores, where = cosines(3, 8), coin(3, 8)
    found = HistogramRanker(bins).histogram(scores, where=where)
    torch.testing.assert_close(found, (triangles(scores, bins) * where.unsqueeze(-1)).sum(-2))
    torch.testing.assert_close(found.sum(-1), where.sum(-1).double())


def test_one_bin_is_linear():
    scores = cosines(5, 6)
    expected = 3.5 + (6 / 4) * (scores.mean(-1, keepdim=True) - scores)
    torch.testing.assert_close(HistogramRanker(1)(scores), expected)


@pytest.mark.parametrize("bins", [25, 50, 1000, 10**5])
def test_ranks_are_exact_where_others_are_two_widths_away(bins):
    scores = torch.linspace(-1, 1, 13, dtype=torch.float64) * torch.tensor(0.97)  # 0.16 apart, 2/25 wide
    scores = scores[torch.randperm(13, generator=torch.Generator().manual_seed(0))].requires_grad_()
    ranks = HistogramRanker(bins)(scores)
    torch.testing.assert_close(ranks, rank(scores).double(), rtol=1e-9, atol=1e-9)
    ranks.backward(cosines(13))
    assert scores.grad.abs().max() < 1e-9 * bins


def test_with_many_bins_average_precision_is_exact():
    scores, relevance = cosines(20, 30).argsort(-1) / 15.1 - 0.99, coin(20, 30, p=0.3)
    soft = APLoss(HistogramRanker(100), within_grad=True)(scores, relevance)
    torch.testing.assert_close(1 - soft, average_precision(scores, relevance).nanmean(), rtol=1e-6, atol=1e-6)
    assert abs(soft - APLoss(HistogramRanker(10), within_grad=True)(scores, relevance)) > 1e-3


@pytest.mark.parametrize("at", [1.0, 0.5, 0.0, -1.0])
def test_at_a_centre_the_slope_is_that_towards_lower_scores(at):
    """At the last centre, that towards higher ones: it is always that of the inside."""
    other, step = torch.tensor([0.6, -0.8], dtype=torch.float64), 1e-6 if at == -1 else -1e-6

    def first(y):
        return HistogramRanker(4)(torch.cat([y.view(1), other]))[0]

    y = torch.tensor(at, dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(first(y), y)
    expected = (first(y.detach() + step) - first(y.detach())) / step
    torch.testing.assert_close(slope, expected, rtol=1e-6, atol=1e-6)
    assert slope < 0


@pytest.mark.parametrize("score_range", [(-3.0, 5.0), (0.0, 0.5)])
def test_the_range_is_a_change_of_units(score_range):
    low, high = score_range
    scores = cosines(4, 6)
    moved = low + (scores + 1) / 2 * (high - low)
    torch.testing.assert_close(HistogramRanker(7, score_range)(moved), HistogramRanker(7)(scores))


def test_beyond_the_range_lies_its_end():
    scores = torch.tensor([1.5, inf, 0.2, -inf, -1.01], requires_grad=True)
    ranks = HistogramRanker(10)(scores)
    torch.testing.assert_close(ranks.detach(), torch.tensor([1.5, 1.5, 3.0, 4.5, 4.5]))
    ranks.backward(torch.arange(5.0))
    assert scores.grad.isfinite().all() and (scores.grad[[0, 1, 3, 4]] == 0).all()


def test_float32_counts_a_long_list():
    scores = cosines(200_000, dtype=torch.float32)
    expected = HistogramRanker(10)(scores.double())
    torch.testing.assert_close(HistogramRanker(10)(scores).double(), expected, rtol=1e-5, atol=0.5)


y, yes = torch.tensor([0.3, 0.1]), torch.tensor([True, False])
BAD = {
    "no bin": (lambda: HistogramRanker(0), ValueError, r"bins must be >= 1, got 0"),
    "falling": (lambda: HistogramRanker(5, (1, -1)), ValueError, r"score_range must be finite and increasing, got \(1"),
    "infinite": (lambda: HistogramRanker(5, (0, inf)), ValueError, "score_range must be finite"),
    "three": (lambda: HistogramRanker(5, (0, 1, 2)), TypeError, r"score_range must be two numbers .* got \(0, 1, 2\)"),
    "a number": (lambda: HistogramRanker(5, 2.0), TypeError, "score_range must be two numbers .* got 2.0"),
    "where of among": (lambda: HistogramRanker().among(y, yes, where=yes[:1]), ValueError, "where must have the shape"),
}


@pytest.mark.parametrize(("call", "error", "message"), BAD.values(), ids=BAD)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
