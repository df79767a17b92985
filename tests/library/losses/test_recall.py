"""The recall loss: against Eq. 16–19 summed level by level, against f_λ, and what the released code does instead."""

import contextlib
from itertools import permutations, product
from math import log, log1p

import pytest
import torch
from drawn import coin, random

from rankedu import outranking_negatives, readable
from rankedu.blackbox import interpolate
from rankedu.losses import RecallLoss, shift_by_margin
from rankedu.rankers import BlackboxRanker, SigmoidRanker
from rankedu.solvers import ranking

WEIGHTS = {
    "log": lambda k: log1p(1 / k),
    "loglog": lambda k: log1p(log1p(1 / k) / (1 + log(k))),
    torch.sqrt: lambda k: k**0.5 - (k - 1) ** 0.5,
}
SLOPES = {
    "log": lambda r: 1 / (1 + r),
    "loglog": lambda r: 1 / ((1 + r) * (1 + torch.log1p(r))),
    torch.special.expm1: torch.exp,
}


def gradient(loss, scores, relevance, **options):
    leaf = scores.detach().clone().requires_grad_()
    loss(leaf, relevance, **options).backward()
    return leaf.grad


def eq_19(order, p, weight):
    """The sum over K of w_K (1 − r̃@K); the first p items are relevant, and `order` are their scores."""
    r = [sum(other > score for other in order[p:]) for score in order[:p]]
    return sum(weight(k) * (1 - sum(r_i < k for r_i in r) / p) for k in range(1, len(order) + 1))


@pytest.mark.parametrize(
    ("weights", "n"),
    [("log", 6), *product(["log", "loglog", torch.sqrt], [1, 2, 3, 4, 5])],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_value_is_the_weighted_sum_over_k_for_all_permutations(weights, n):
    loss = RecallLoss(BlackboxRanker(1.0), weights=weights)
    for p, order in product(range(1, n + 1), permutations(range(n))):
        found = loss(torch.tensor(order, dtype=torch.float32), torch.arange(n) < p)
        assert abs(found.item() - eq_19(order, p, WEIGHTS[weights])) < 1e-6


def difference_quotient(function, y, step=1e-6):
    """Central differences; exact up to rounding where the function is affine."""
    steps = step * torch.eye(len(y), dtype=y.dtype)
    return torch.stack([(function(y + e) - function(y - e)) / (2 * step) for e in steps])


@pytest.mark.parametrize("weights", SLOPES, ids=["log", "loglog", "expm1"])
@pytest.mark.parametrize("within_grad", [False, True])
@pytest.mark.parametrize("lam", [2.0, 20.0])
def test_gradient_is_that_of_the_interpolation(weights, within_grad, lam):
    """With c = dL/drk at rk(y): f_λ of c·rk, and of −c·rk⁺ if the gradient flows there too."""
    y, relevance, where, margin = 0.3 * random(9), coin(9, seed=2), coin(9, p=0.9, seed=4), 0.2
    positive = relevance & where
    r = outranking_negatives(shift_by_margin(y, positive, margin), positive, where=where).double()
    slope = SLOPES[weights](r) * positive / positive.sum()

    def smooth(scores):
        moved = shift_by_margin(scores, positive, margin)
        total = interpolate(ranking, slope[where], lam)(moved[where])
        return total + within_grad * interpolate(ranking, -slope[positive], lam)(moved[positive])

    found = gradient(RecallLoss(BlackboxRanker(lam), margin, weights, within_grad), y, relevance, where=where)
    torch.testing.assert_close(found, difference_quotient(smooth, y), rtol=1e-6, atol=1e-6)
    assert found.any()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("ragged", [False, True])
def test_normalised_ranks_are_counted_again(dtype, ragged):
    """r_i is what it is in either scale, and λ_paper = n · λ_code."""
    n = 8
    y, relevance = random(5, n + ragged, dtype=dtype), coin(5, n + ragged)
    where = None
    if ragged:
        where = torch.ones_like(relevance)
        where.diagonal().fill_(False)
    of_code = RecallLoss(BlackboxRanker(0.5, normalized=True), 0.1)
    for in_code in (readable()(of_code), of_code):
        in_paper = readable()(RecallLoss(BlackboxRanker(0.5 * n), 0.1))
        torch.testing.assert_close(in_code(y, relevance, where=where), in_paper(y, relevance, where=where))
        options = {"where": where}
        torch.testing.assert_close(
            gradient(in_code, y, relevance, **options), gradient(in_paper, y, relevance, **options)
        )


def test_counting_again_by_rows_as_the_released_formula_does_is_another_loss():
    """As published, ranks are divided by the length of the row and multiplied by the number of rows."""
    y, relevance = random(4, 12), coin(4, 12, p=0.3)
    relevance[:, 0] = True
    normalised = BlackboxRanker(1.0, normalized=True)
    ranks, among = normalised(y), normalised.among(y, relevance)
    found = {}
    for factor in y.shape:
        per_query = torch.log1p((ranks - among) * factor).masked_fill(~relevance, 0).sum(-1) / relevance.sum(-1)
        found[factor] = per_query.mean().item()
    right = RecallLoss(normalised)(y, relevance).item()
    assert abs(found[12] - right) < 1e-9
    assert found[4] < right - 0.1


def test_stopping_the_gradient_through_the_inner_rank_changes_it():
    y, relevance = 0.3 * random(3, 12), coin(3, 12)
    stopped, whole = (gradient(RecallLoss(BlackboxRanker(20.0), within_grad=w), y, relevance) for w in (False, True))
    assert not torch.allclose(stopped, whole)


BAD = {
    "word": ("loglogs", ValueError, r"weights must be one of 'log', 'loglog', got 'loglogs'"),
    "number": (2, TypeError, r"weights must be 'log', 'loglog' or a callable W, got 2"),
    "W(0)": (lambda r: 1 + r, ValueError, r"W\(0\) = 0, got 1"),
    "falls": (lambda r: -r, ValueError, r"never falls, got W\(0\) = 0 and W\(1\) = -1"),
    "shape": (lambda r: r.sum(), TypeError, r"Tensor of shape \(1001,\) .* got \(\)"),
    "type": (lambda r: 0.0, TypeError, "got float"),
}


@pytest.mark.parametrize(("weights", "error", "message"), BAD.values(), ids=BAD)
def test_bad_weights(weights, error, message):
    with pytest.raises(error, match=message):
        RecallLoss(BlackboxRanker(1.0), weights=weights)


def test_a_constant_w_is_allowed():
    """W(k) = 1 for k ≥ 1: all the weight on K = 1. It has no slope, so nothing moves."""
    loss = RecallLoss(BlackboxRanker(1.0), weights=lambda r: r.clamp(max=1))
    assert loss(torch.tensor([0.9, 0.5, 0.1]), torch.tensor([False, True, True])).item() == 1


@pytest.mark.parametrize("way", [contextlib.nullcontext, readable])
@pytest.mark.parametrize("ranker", [BlackboxRanker(1.0), SigmoidRanker(0.1)], ids=repr)
def test_a_w_without_a_derivative_gives_a_loss_without_one(ranker, way):
    """So that backward() complains instead of learning nothing in silence."""
    table = torch.log1p(torch.arange(9.0))
    scores, relevance = random(8, dtype=torch.float32).requires_grad_(), torch.arange(8) % 3 == 0
    with way():
        loss = RecallLoss(ranker, weights=lambda r: table[r.long().clamp(max=8)])(scores, relevance)
    assert not loss.requires_grad
