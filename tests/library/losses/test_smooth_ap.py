"""Smooth-AP against its definition, against the hard metric, and against what is printed and what is released."""

from itertools import product

import pytest
import torch
from drawn import coin, gradient, random, value_and_gradients

from rankedu.losses import APLoss, SmoothAPLoss
from rankedu.rankers import SigmoidRanker


def definition(y, relevant, temperature):
    """1 − (1/|rel|) Σ_{k ∈ rel} (1 + Σ_{j ∈ rel, j ≠ k} σ)/(1 + Σ_{j ≠ k} σ), one query, one positive after another."""
    precision = []
    for k in relevant.nonzero()[:, 0].tolist():
        step = torch.sigmoid((y - y[k]) / temperature)
        others = torch.arange(len(y)) != k
        precision.append((1 + step[others & relevant].sum()) / (1 + step[others].sum()))
    return 1 - torch.stack(precision).mean()


def test_value_and_gradient_are_the_definition():
    y, relevance, where = 0.1 * random(2, 3, 9), coin(2, 3, 9), coin(2, 3, 9, p=0.8, seed=5)

    def by_rows(s):
        rows = [(s[q][where[q]], relevance[q][where[q]]) for q in product(range(2), range(3))]
        return torch.stack([definition(s, r, temperature) for s, r in rows if r.any()]).mean()

    for temperature in (0.005, 0.05, 1.0):
        found = value_and_gradients(lambda s: SmoothAPLoss(temperature)(s, relevance, where=where), y)  # noqa: B023
        torch.testing.assert_close(found, value_and_gradients(by_rows, y), rtol=1e-11, atol=1e-12)
        assert found[1].any()


@pytest.mark.parametrize("n", [257, 4001])
def test_fast_path_keeps_its_precision_in_float32(n):
    y, relevance = 0.2 * random(3, n, dtype=torch.float32), coin(3, n, p=0.05)
    loss = SmoothAPLoss()
    torch.testing.assert_close(loss(y, relevance).double(), loss(y.double(), relevance), rtol=0, atol=1e-6)
    found, expected = gradient(loss, y, relevance).double(), gradient(loss, y.double(), relevance)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5 * expected.abs().max().item())


def test_it_is_ap_loss_of_the_sigmoid_ranker():
    y, relevance = 0.1 * random(4, 30), coin(4, 30)
    losses = SmoothAPLoss(0.05), *(APLoss(SigmoidRanker(0.05), within_grad=within) for within in (True, False))
    ours, whole, stopped = (value_and_gradients(lambda s, loss=loss: loss(s, relevance), y) for loss in losses)
    torch.testing.assert_close(ours, whole, rtol=0, atol=0)
    assert torch.equal(stopped[0], whole[0]) and not torch.allclose(stopped[1], whole[1])


def as_printed(scores, gt, meant=False):
    """The published pseudo-code, for a row of scores (1, m) and of relevances (1, m).

    As it is meant, the rank among the positives is counted by the positives, and the sum weighted by the relevance.
    """
    m = scores.shape[1]
    s1 = scores.repeat(m, 1)
    steps = torch.sigmoid((s1 - s1.T) / 0.01) * (1 - torch.eye(m))
    ranks = 1 + steps.sum(1)
    among = gt[0] * (1 + (steps * gt).sum(1)) if meant else gt * ranks
    return 1 - (among / ranks).sum() / gt.sum()


def test_the_printed_pseudo_code_has_no_gradient():
    """R_pos / R is gt * R / R, which is gt: the AP is 1 whatever the ranking, and its gradient 0."""
    for seed in range(5):
        scores, gt = 0.02 * random(1, 9, seed=seed), coin(1, 9, seed=seed).double()
        value, slope = value_and_gradients(lambda s: as_printed(s, gt), scores)  # noqa: B023
        assert value.item() == pytest.approx(0, abs=1e-12) and slope.abs().max() < 1e-10
        meant = value_and_gradients(lambda s: as_printed(s, gt, meant=True), scores)  # noqa: B023
        torch.testing.assert_close(value_and_gradients(lambda s: SmoothAPLoss()(s, gt), scores), meant)  # noqa: B023
        assert meant[0] > 0.05 and meant[1].abs().max() > 0.1


def test_scores_changed_before_the_backward_do_not_matter():
    """The gradient has been found with the value."""
    y, relevance = 0.1 * random(2, 9).requires_grad_(), coin(2, 9)
    scores = y * 1
    value = SmoothAPLoss()(scores, relevance)
    with torch.no_grad():
        scores.mul_(2)
    assert torch.equal(torch.autograd.grad(value, y)[0], gradient(SmoothAPLoss(), y, relevance))
