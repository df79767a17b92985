"""Losses, forward and backward, as ratios to what nobody can avoid, in one interleaved run on one thread.

The goals: AP of a million scores in the time of two np.argsort; recall at batch 1024 in 2.5 times its matrix product.
Beside them stand the published formulas, transcribed with argsort of argsort.
"""

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from rankedu.losses import APLoss, MAPLoss, OnEmbeddings, RecallLoss
from rankedu.memory import ScoreMemory
from rankedu.rankers import BlackboxRanker


class Published(torch.autograd.Function):
    """Algorithm 1: rank by argsort of argsort, and once more with the scores moved by λ times the gradient."""

    @staticmethod
    def forward(ctx, scores, lam):
        ranks = scores.argsort(descending=True).argsort().float() + 1
        ctx.save_for_backward(scores, ranks)
        ctx.lam = lam
        return ranks

    @staticmethod
    def backward(ctx, gradient):
        scores, ranks = ctx.saved_tensors
        moved = (scores + ctx.lam * gradient).argsort(descending=True).argsort().float() + 1
        return (moved - ranks) / ctx.lam, None


def published_ap(scores, relevance, lam, margin):
    shifted = scores + margin / 2 - margin * relevance.float()
    among = shifted.detach()[relevance].argsort(descending=True).argsort() + 1
    return 1 - (among / Published.apply(shifted, lam)[relevance]).mean()


def published_recall(embeddings, labels, lam, margin):
    unit = normalize(embeddings, dim=1)
    others = ~torch.eye(len(labels), dtype=torch.bool)
    scores = (unit @ unit.T)[others].view(len(labels), -1)
    relevance = (labels[:, None] == labels)[others].view(len(labels), -1)
    shifted = scores + margin / 2 - margin * relevance.float()
    among = shifted.detach().masked_fill(~relevance, -torch.inf).argsort(descending=True).argsort() + 1
    per_item = torch.log1p((Published.apply(shifted, lam) - among).clamp(min=0)) * relevance
    return (per_item.sum(1) / relevance.sum(1)).mean()


@pytest.mark.parametrize(("n", "share", "rounds"), [(10**5, 0.01, 15), (10**6, 0.01, 9), (10**6, 0.5, 5)])
def test_average_precision(interleaved, step, n, share, rounds):
    generator = torch.Generator().manual_seed(0)
    scores, relevance = torch.randn(n, generator=generator), torch.rand(n, generator=generator) < share
    lam, margin = 0.4 * n, 0.02
    loss, leaf = APLoss(BlackboxRanker(lam), margin), scores.clone().requires_grad_()
    array = scores.numpy()
    others = {
        "two np.argsort": lambda: (np.argsort(array), np.argsort(array)),
        "the published formula": step(
            lambda s: published_ap(s, relevance, lam, margin), scores.clone().requires_grad_()
        ),
    }
    assert abs(loss(leaf, relevance).item() - published_ap(scores, relevance, lam, margin).item()) < 1e-4
    interleaved(step(lambda s: loss(s, relevance), leaf), others, rounds)


@pytest.mark.parametrize("a_class", [4, 32])
def test_recall_of_a_batch(interleaved, step, a_class):
    batch, dim, generator = 1024, 512, torch.Generator().manual_seed(0)
    embeddings, labels = torch.randn(batch, dim, generator=generator), torch.arange(batch) // a_class
    gradient = torch.randn(batch, batch, generator=generator)
    lam, margin = 0.2 * batch, 0.02
    loss = OnEmbeddings(RecallLoss(BlackboxRanker(lam), margin))
    leaf, other = embeddings.clone().requires_grad_(), embeddings.clone().requires_grad_()
    assert abs(loss(leaf, labels).item() - published_recall(leaf, labels, lam, margin).item()) < 1e-4
    others = {
        "the matrix product with its gradient": lambda: (other @ other.T).backward(gradient),
        "the published formula": step(lambda e: published_recall(e, labels, lam, margin), other),
    }
    interleaved(step(lambda e: loss(e, labels), leaf), others, 7)


def test_mean_average_precision_with_memory(interleaved, step):
    """As in detection, τ = 7; everything is ranked twice, within its class and in one list."""
    batch, classes, generator = 512, 20, torch.Generator().manual_seed(0)
    scores = torch.randn(batch, classes, generator=generator)
    relevance = torch.arange(batch)[:, None] % classes == torch.arange(classes)
    loss = MAPLoss(BlackboxRanker(1e3), margin=0.15, memory=ScoreMemory(7))
    everything = np.tile(scores.T.numpy(), (1, 8))
    others = {
        "two np.argsort by class and two in one list": lambda: [
            np.argsort(everything, axis=axis) for axis in (-1, -1, None, None)
        ]
    }
    interleaved(step(lambda s: loss(s, relevance), scores.clone().requires_grad_()), others, 15)
