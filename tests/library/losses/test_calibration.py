"""Calibration and ROADMAP: against the definition, and against the contrastive loss of pytorch-metric-learning."""

import pytest
import torch
from drawn import coin, random, value_and_gradients

from rankedu.losses import CalibrationLoss, ROADMAPLoss, SupAPLoss
from rankedu.rankers import PRESETS

close = torch.testing.assert_close
y, relevance, where = 0.5 + 0.3 * random(4, 9), coin(4, 9), coin(4, 9, p=0.8, seed=2)


def definition(scores, at_least, at_most):
    """Item by item; the mean over what is not zero."""
    terms = {True: [], False: []}
    for s, r, w in zip(scores.flatten(), relevance.flatten(), where.flatten(), strict=True):
        short = at_least - s if r else s - at_most
        if w and short > 0:
            terms[bool(r)].append(short)
    return sum(sum(t) / len(t) for t in terms.values() if t) + 0 * scores.sum()


def test_value_and_gradient_are_those_of_the_definition():
    for bounds in ((0.9, 0.6), (0.5, 0.5), (0.2, 0.8), (-1.0, 1.5), (3.0, -3.0)):
        found = value_and_gradients(lambda s: CalibrationLoss(*bounds)(s, relevance, where=where), y)  # noqa: B023
        close(found, value_and_gradients(lambda s: definition(s, *bounds), y))  # noqa: B023


@pytest.mark.parametrize("name", ["joined", "roadmap", "roadmap_inat", "roadmap_2021"])
def test_roadmap_is_the_weighted_sum(name):
    """Twice the default is the released sum."""
    for weight in (0.0, 0.1, 1.0):
        losses = [ROADMAPLoss(weight, 0.8, 0.5, **PRESETS[name]), SupAPLoss(**PRESETS[name]), CalibrationLoss(0.8, 0.5)]
        found, *parts = (
            value_and_gradients(lambda s, x=x: x(s, relevance, where=where), y, weight=-2.0) for x in losses
        )
        close(found, tuple((1 - weight) * a + weight * b for a, b in zip(*parts, strict=True)))
    assert ROADMAPLoss().weight == 0.5
