"""HistogramRanker against its definition, and against all outcomes of the coins that it averages over."""

from itertools import product

import pytest
import torch
from drawn import DEVICES, cosines

from rankedu import rank
from rankedu.losses import APLoss
from rankedu.metrics import average_precision
from rankedu.rankers import HistogramRanker

HALF = [torch.float16, torch.bfloat16]
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


@pytest.mark.parametrize("bins", BINS)
def test_sum_order_and_bounds(bins):
    scores, n = cosines(20, 9), 9
    ranks = HistogramRanker(bins)(scores)
    torch.testing.assert_close(ranks.sum(-1), torch.full((20,), n * (n + 1) / 2, dtype=torch.float64))
    assert (ranks.gather(1, scores.argsort(descending=True)).diff() >= -1e-12).all()  # never inverted
    assert (ranks >= 1 - 1e-12).all() and (ranks <= n + 1e-12).all()
    _, gradient = value_and_gradient(HistogramRanker(bins), scores, torch.ones_like(scores))
    torch.testing.assert_close(gradient, torch.zeros_like(scores))


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


@pytest.mark.parametrize("bins", [3, 10])
def test_equal_scores_share_the_mean_of_their_ranks(bins):
    ranks = HistogramRanker(bins)(torch.full((2, 5), 0.123, dtype=torch.float64))
    torch.testing.assert_close(ranks, torch.full((2, 5), 3.0, dtype=torch.float64))


@pytest.mark.parametrize("bins", [1, 4, 40])
def test_gradcheck(bins):
    scores = cosines(2, 5).requires_grad_()
    assert torch.autograd.gradcheck(HistogramRanker(bins), scores)
    assert torch.autograd.gradgradcheck(HistogramRanker(bins), scores)


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


@pytest.mark.parametrize("bins", [2, 10])
def test_where_and_among_are_leaving_out(bins):
    scores, where, members = cosines(12), coin(12, p=0.8), coin(12, p=0.5, seed=3)
    ranker, inside = HistogramRanker(bins), members & where
    hidden = scores.masked_fill(~where, nan).requires_grad_()
    ranks, among = ranker(hidden, where=where), ranker.among(hidden, members, where=where)
    torch.testing.assert_close(ranks[where], ranker(scores[where]))
    torch.testing.assert_close(among[inside], ranker(scores[inside]))
    assert (ranks[~where] == 0).all() and (among[~inside] == 0).all()
    assert (among <= ranks + 1e-12).all()
    among.backward(torch.where(inside, cosines(12, seed=9), nan))  # a formula divides by 0 outside
    leaf = scores[inside].clone().requires_grad_()
    ranker(leaf).backward(cosines(12, seed=9)[inside])
    torch.testing.assert_close(hidden.grad[inside], leaf.grad)
    assert (hidden.grad[~inside] == 0).all()


@pytest.mark.parametrize("dtype", HALF)
def test_16_bits_are_counted_in_32(dtype):
    scores = cosines(2, 3000, dtype=dtype).requires_grad_()
    ranks = HistogramRanker(10)(scores)
    assert ranks.dtype == torch.float32
    assert torch.equal(ranks, HistogramRanker(10)(scores.detach().float()))
    ranks[0, 0].backward()
    assert scores.grad.dtype == dtype and scores.grad[0].any() and not scores.grad[1].any()


def test_float32_counts_a_long_list():
    scores = cosines(200_000, dtype=torch.float32)
    expected = HistogramRanker(10)(scores.double())
    torch.testing.assert_close(HistogramRanker(10)(scores).double(), expected, rtol=1e-5, atol=0.5)


def test_layout_does_not_matter():
    scores = cosines(6, 4)
    torch.testing.assert_close(HistogramRanker(5)(scores.T), HistogramRanker(5)(scores.T.contiguous()))


def test_one_item_and_nobody():
    assert HistogramRanker(5)(torch.tensor([[0.3], [-1.0]])).tolist() == [[1.0], [1.0]]
    nobody = torch.zeros(2, 3, dtype=torch.bool)
    assert not HistogramRanker(5)(torch.full((2, 3), nan), where=nobody).any()


@pytest.mark.parametrize("device", DEVICES)
def test_every_device_gives_the_same(device):
    scores, weights, where = cosines(4, 30), cosines(4, 30, seed=4), coin(4, 30)
    leaf = scores.float().to(device).requires_grad_()
    ranks = HistogramRanker(10)(leaf, where=where.to(device))
    ranks.backward(weights.float().to(device))
    expected, slope = value_and_gradient(lambda s: HistogramRanker(10)(s, where=where), scores, weights)
    torch.testing.assert_close(ranks.detach().cpu().double(), expected, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(leaf.grad.cpu().double(), slope, rtol=1e-4, atol=1e-4)


y, yes = torch.tensor([0.3, 0.1]), torch.tensor([True, False])
BAD = {
    "no bin": (lambda: HistogramRanker(0), ValueError, r"bins must be >= 1, got 0"),
    "half a bin": (lambda: HistogramRanker(2.5), TypeError, r"bins must be an int, got float \(one bin"),
    "bool": (lambda: HistogramRanker(True), TypeError, "bins must be an int, got bool"),
    "falling": (lambda: HistogramRanker(5, (1, -1)), ValueError, r"score_range must be finite and increasing, got \(1"),
    "infinite": (lambda: HistogramRanker(5, (0, inf)), ValueError, "score_range must be finite"),
    "three": (lambda: HistogramRanker(5, (0, 1, 2)), TypeError, r"score_range must be two numbers .* got \(0, 1, 2\)"),
    "a number": (lambda: HistogramRanker(5, 2.0), TypeError, "score_range must be two numbers .* got 2.0"),
    "NaN": (lambda: HistogramRanker()(torch.tensor([0.1, nan])), ValueError, "scores must not contain NaN, got 1 of 2"),
    "integers": (lambda: HistogramRanker()(torch.tensor([1, 0])), TypeError, "scores must be floating point"),
    "empty": (lambda: HistogramRanker()(torch.zeros(2, 0)), ValueError, r"n >= 1, got \(2, 0\)"),
    "where": (lambda: HistogramRanker()(y, where=y), TypeError, "where must be bool"),
    "where of among": (lambda: HistogramRanker().among(y, yes, where=yes[:1]), ValueError, "where must have the shape"),
    "members": (lambda: HistogramRanker().among(y, yes[:1]), ValueError, r"members .* \(2,\), got \(1,\)"),
}


@pytest.mark.parametrize(("call", "error", "message"), BAD.values(), ids=BAD)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_it_is_a_module():
    assert repr(HistogramRanker(5)) == "HistogramRanker(bins=5, score_range=(-1, 1))"
    assert not list(HistogramRanker().parameters())
