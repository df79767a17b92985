"""Spearman's loss where targets tie, where they are integers, and where ranks are normalised."""

import pytest
import torch
from drawn import cosines, refused

from rankedu.metrics import spearman
from rankedu.rankers import BlackboxRanker, SigmoidRanker
from rankedu_lab.contestants import ProjectionRanker, SpearmanLoss

close = torch.testing.assert_close


def test_spearman_of_equal_and_of_integer_targets_and_of_normalised_ranks():
    """Equal targets want equal ranks; the target gets no gradient."""
    target = torch.tensor([0, 1, 1, 2])
    assert SpearmanLoss(ProjectionRanker(0.1))(target.double(), target).item() == 0
    loss = SpearmanLoss(BlackboxRanker(1.0))
    normalised = SpearmanLoss(BlackboxRanker(1.0, normalized=True))
    for where in (None, torch.arange(4) > 0):
        close(normalised(cosines(4), target, where=where), loss(cosines(4), target, where=where))
    assert loss(target.double(), target).item() == pytest.approx(6 / 60 * 0.5)  # by position: ranks 2 and 3, not 2.5
    assert spearman(target.double(), target) == 1
    scores, as_float = cosines(4).requires_grad_(), target.float().requires_grad_()
    value = SpearmanLoss(SigmoidRanker(0.1))(scores, as_float)
    value.backward()
    assert as_float.grad is None and SpearmanLoss(SigmoidRanker(0.1))(scores, target) == value


def test_a_number_is_no_ranker():
    refused((lambda: SpearmanLoss(4.0), TypeError, r"ranker must be one of .* got 4.0"))
