"""Losses, forward and backward, as ratios to what nobody can avoid, in one interleaved run on one thread.

The goals stand in `goals.py`. Beside the losses stand the published formulas, transcribed with argsort of
argsort (`rankedu.lab.experiments._published`).
"""

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from rankedu.lab.experiments._published import BlackboxRanks, published_ap, published_recall
from rankedu.losses import APLoss, MAPLoss, OnEmbeddings, RecallLoss
from rankedu.memory import ScoreMemory
from rankedu.rankers import BlackboxRanker


def published_recall_of_a_batch(embeddings, labels, lam, margin):
    unit = normalize(embeddings, dim=1)
    others = ~torch.eye(len(labels), dtype=torch.bool)
    scores = (unit @ unit.T)[others].view(len(labels), -1)
    relevance = (labels[:, None] == labels)[others].view(len(labels), -1)
    return published_recall(scores, relevance, lam, margin)


AP = {"1e5-1%": (10**5, 0.01, 15), "1e6-1%": (10**6, 0.01, 9), "1e6-50%": (10**6, 0.5, 5), "1e7-1%": (10**7, 0.01, 3)}


@pytest.mark.parametrize("work", AP)
def test_average_precision(interleaved, step, work):
    n, share, rounds = AP[work]
    generator = torch.Generator().manual_seed(0)
    scores, relevance = torch.randn(n, generator=generator), torch.rand(n, generator=generator) < share
    lam, margin = 0.4 * n, 0.02
    loss, leaf = APLoss(BlackboxRanker(lam), margin), scores.clone().requires_grad_()
    array = scores.numpy()
    others = {"two np.argsort": lambda: (np.argsort(array), np.argsort(array))}
    if n <= 10**6:
        others["the released formula"] = step(
            lambda s: published_ap(s[None], relevance[None], lam, margin, below=-1e3), scores.clone().requires_grad_()
        )
        assert abs(loss(leaf, relevance).item() - published_ap(scores, relevance, lam, margin).item()) < 1e-4
    interleaved(step(lambda s: loss(s, relevance), leaf), others, rounds)


def test_rank_layer(interleaved):
    """Any function of the ranks, differentiated by Algorithm 1."""
    n, generator = 10**6, torch.Generator().manual_seed(0)
    leaf, weight = torch.randn(n, generator=generator).requires_grad_(), torch.rand(n, generator=generator)
    array, ranker = leaf.detach().numpy(), BlackboxRanker(0.5)

    def ours():
        leaf.grad = None
        ranker(leaf).backward(weight)

    def published():
        leaf.grad = None
        BlackboxRanks.apply(leaf.unsqueeze(0), 0.5).backward(weight.unsqueeze(0))

    others = {"two np.argsort": lambda: (np.argsort(array), np.argsort(array)), "the released formula": published}
    interleaved(ours, others, 7)


@pytest.mark.parametrize("a_class", [4, 32])
def test_recall_of_a_batch(interleaved, step, a_class):
    batch, dim, generator = 1024, 512, torch.Generator().manual_seed(0)
    embeddings, labels = torch.randn(batch, dim, generator=generator), torch.arange(batch) // a_class
    gradient = torch.randn(batch, batch, generator=generator)
    lam, margin = 0.2 * batch, 0.02
    loss = OnEmbeddings(RecallLoss(BlackboxRanker(lam), margin))
    leaf, other = embeddings.clone().requires_grad_(), embeddings.clone().requires_grad_()
    assert abs(loss(leaf, labels).item() - published_recall_of_a_batch(leaf, labels, lam, margin).item()) < 1e-4
    others = {
        "the matrix product with its gradient": lambda: (other @ other.T).backward(gradient),
        "the published formula": step(lambda e: published_recall_of_a_batch(e, labels, lam, margin), other),
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
