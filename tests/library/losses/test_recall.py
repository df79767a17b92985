"""The recall loss: against Eq. 16–19 summed level by level, against f_λ, and what the released code does instead."""

from itertools import permutations, product
from math import log, log1p

import pytest
import torch
from drawn import coin, difference_quotient, gradient, random

from rankedu import outranking_negatives
from rankedu.blackbox import interpolate
from rankedu.losses import RecallLoss, shift_by_margin
from rankedu.rankers import BlackboxRanker
from rankedu.solvers import ranking

#: W → w_K.
WEIGHTS = {
    "log": lambda k: log1p(1 / k),
    "loglog": lambda k: log1p(log1p(1 / k) / (1 + log(k))),
    torch.sqrt: lambda k: k**0.5 - (k - 1) ** 0.5,
}
#: W → its derivative.
SLOPES = {
    "log": lambda r: 1 / (1 + r),
    "loglog": lambda r: 1 / ((1 + r) * (1 + torch.log1p(r))),
    torch.special.expm1: torch.exp,
}


def eq_19(order, p, weight):
    """The sum over K of w_K (1 − r̃@K); the first p items are relevant, and `order` are their scores."""
    r = [sum(other > score for other in order[p:]) for score in order[:p]]
    return sum(weight(k) * (1 - sum(r_i < k for r_i in r) / p) for k in range(1, len(order) + 1))


def test_value_is_the_weighted_sum_over_k_for_all_permutations():
    for weights, n in product(WEIGHTS, range(1, 6)):
        loss = RecallLoss(BlackboxRanker(1.0), weights=weights)
        for p, order in product(range(1, n + 1), permutations(range(n))):
            found = loss(torch.tensor(order, dtype=torch.float32), torch.arange(n) < p)
            assert abs(found.item() - eq_19(order, p, WEIGHTS[weights])) < 1e-6, (weights, order, p)


@pytest.mark.parametrize("weights", SLOPES, ids=["log", "loglog", "expm1"])
@pytest.mark.parametrize("within_grad", [False, True])
def test_gradient_is_that_of_the_interpolation(weights, within_grad):
    """With c = dL/drk at rk(y): f_λ of c·rk, and of −c·rk⁺ if the gradient flows there too."""
    y, relevance, where, margin = 0.3 * random(9), coin(9, seed=2), coin(9, p=0.9, seed=4), 0.2
    positive = relevance & where
    r = outranking_negatives(shift_by_margin(y, positive, margin), positive, where=where).double()
    slope = SLOPES[weights](r) * positive / positive.sum()
    for lam in (2.0, 20.0):

        def smooth(scores, lam=lam):
            moved = shift_by_margin(scores, positive, margin)
            total = interpolate(ranking, slope[where], lam)(moved[where])
            return total + within_grad * interpolate(ranking, -slope[positive], lam)(moved[positive])

        found = gradient(RecallLoss(BlackboxRanker(lam), margin, weights, within_grad), y, relevance, where=where)
        torch.testing.assert_close(found, difference_quotient(smooth, y), rtol=1e-6, atol=1e-6)
        assert found.any()


def test_stopping_the_gradient_through_the_inner_rank_changes_it():
    y, relevance = 0.3 * random(3, 12), coin(3, 12)
    stopped, whole = (gradient(RecallLoss(BlackboxRanker(20.0), within_grad=w), y, relevance) for w in (False, True))
    assert not torch.allclose(stopped, whole)
