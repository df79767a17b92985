"""SpearmanLoss is one minus the metric where ranks are exact, and a squared distance of ranks for any ranker."""

import pytest
import scipy.stats
import torch
from drawn import coin, cosines, difference_quotient, gradient

from rankedu import rank
from rankedu.blackbox import interpolate
from rankedu.losses import SpearmanLoss
from rankedu.metrics import spearman
from rankedu.rankers import BlackboxRanker, HistogramRanker, SigmoidRanker
from rankedu.solvers import ranking
from ranklab.contestants import ProjectionRanker


def test_with_exact_ranks_it_is_one_minus_spearman():
    scores = cosines(2, 3, 9).argsort(-1).double() / 9 - 0.5  # distinct, and not too near
    target = cosines(2, 3, 9, seed=1)
    for where in (None, coin(2, 3, 9, p=0.7)):
        expected = 1 - spearman(scores, target, where=where).mean()
        for ranker in (
            BlackboxRanker(2.0),
            BlackboxRanker(2.0, normalized=True),
            SigmoidRanker(1e-6),
            HistogramRanker(10**4),
            ProjectionRanker(1e-6),
        ):
            found = SpearmanLoss(ranker)(scores, target, where=where)
            torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9)
    scores, target = cosines(30), torch.arange(30)
    expected = 1 - scipy.stats.spearmanr(scores, target).statistic
    assert SpearmanLoss(BlackboxRanker(1.0))(scores, target).item() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("lam", [2.0, 5.0, 50.0])
def test_with_the_blackbox_ranker_the_gradient_is_that_of_the_interpolation(lam):
    scores, target = cosines(9), cosines(9, seed=1)
    slope = 12 * (rank(scores) - rank(target)).double() / (9 * 80)
    found = gradient(SpearmanLoss(BlackboxRanker(lam)), scores, target)
    expected = difference_quotient(interpolate(ranking, slope, lam), scores)
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-6)
    assert found.any()


def test_equal_targets_want_equal_ranks():
    target = torch.tensor([0, 1, 1, 2])
    assert SpearmanLoss(ProjectionRanker(0.1))(target.double(), target).item() == 0
    loss = SpearmanLoss(BlackboxRanker(1.0))
    assert loss(target.double(), target).item() == pytest.approx(6 / 60 * 0.5)  # by position: ranks 2 and 3, not 2.5
    assert spearman(target.double(), target) == 1


def test_the_target_may_be_of_any_type_and_gets_no_gradient():
    scores, target = cosines(6).requires_grad_(), torch.tensor([3, 1, 2, 6, 5, 4])
    loss, as_float = SpearmanLoss(SigmoidRanker(0.1)), target.float().requires_grad_()
    loss(scores, as_float).backward()
    assert as_float.grad is None
    assert torch.equal(loss(scores, target), loss(scores, as_float))
