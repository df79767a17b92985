"""The blackbox losses of one long list with ties: value and gradient against ranks by a stable sort of NumPy."""

import numpy as np
import pytest
import torch

from rankedu.losses import APLoss, RecallLoss
from rankedu.rankers import BlackboxRanker

N, LAM, MARGIN = 2_000_000, 8e5, 0.02


def positions(scores):
    """The rank of every item by one stable sort of the scores alone."""
    ranks = np.empty(len(scores), np.int64)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return ranks


@pytest.mark.parametrize("kind", [APLoss, RecallLoss])
def test_exact_at_two_million(kind):
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(N, generator=generator).mul_(1 << 20).round_().div_(1 << 20).requires_grad_()
    relevance = torch.rand(N, generator=generator) < 0.01
    value = kind(BlackboxRanker(LAM), MARGIN)(scores, relevance)
    value.backward()

    label, p = relevance.numpy(), int(relevance.sum())
    shifted = scores.detach().numpy() + np.where(label, -1, 1) * np.float32(MARGIN / 2)
    before = positions(shifted)
    ranks, within = before[label].astype(np.float64), positions(shifted[label])
    if kind is APLoss:
        expected, slope = 1 - (within / ranks).mean(), within / ranks**2 / p
    else:
        expected, slope = np.log1p(ranks - within).mean(), 1 / (1 + ranks - within) / p
    assert value.item() == pytest.approx(expected, rel=1e-6)
    moved = shifted.copy()
    moved[label] += (LAM * slope).astype(np.float32)
    found, expected = scores.grad.double().numpy() * LAM, positions(moved) - before
    # a score that is rounded otherwise passes neighbours, who are then off by a rank; it by as many as are tied there
    wrong, moves = np.count_nonzero(np.abs(found - expected) > 1 + 1e-6 * np.abs(expected)), np.count_nonzero(expected)
    assert moves > 1000 and wrong < 1e-3 * p + 1e-4 * moves
