"""H-AP losses, forward and backward, as ratios in one interleaved run on one thread.

The goals, at a batch of 256 with three levels, stand in `goals.py`. Beside them stand the definition query by query,
which is what fits into memory at 512, and the matrix product of the similarities with its gradient, which nobody can
avoid. As HAPPIER trains: two super-classes a batch, 4 items a class.
"""

import pytest
import torch
from torch.nn.functional import normalize

from rankedu import hierarchy
from rankedu.lab.experiments._published import published_h_ap
from rankedu.losses import HAPLoss
from rankedu.rankers import BlackboxRanker, SigmoidRanker, SupremumRanker

RANKER = SupremumRanker()


def cubic(scores, relevance, where):
    """All triples (query, k, j) laid out; the gradient by autograd."""
    return published_h_ap(scores, relevance, where, step=RANKER.step)


def query_by_query(scores, relevance, where):
    """The same, with all pairs of one query laid out at once; its graph lives as long as the others'."""
    return torch.stack([cubic(s, r, w) for s, r, w in zip(scores, relevance, where, strict=True)]).mean()


def batch(size, dim=512):
    generator = torch.Generator().manual_seed(0)
    classes = torch.arange(size) // 4
    labels = torch.stack([classes // (size // 8), classes // 4, classes], dim=1)
    centres = [torch.randn(int(column.max()) + 1, dim, generator=generator)[column] for column in labels.T]
    embeddings = normalize(torch.randn(size, dim, generator=generator) + 0.5 * sum(centres), dim=1)
    where = ~torch.eye(size, dtype=torch.bool)
    relevance = hierarchy.relevance(hierarchy.levels(labels), where=where).float()
    return embeddings, relevance, where


def leaf_of(scores):
    return scores.clone().requires_grad_()


@pytest.mark.parametrize("size", [256, 512])
def test_happier(interleaved, step, size):
    embeddings, relevance, where = batch(size)
    scores, loss = embeddings @ embeddings.T, HAPLoss(RANKER)
    leaf, gradient = embeddings.clone().requires_grad_(), torch.randn(size, size)
    others = {
        "the matrix product with its gradient": lambda: (leaf @ leaf.T).backward(gradient),
        "query by query": step(lambda s: query_by_query(s, relevance, where), leaf_of(scores)),
    }
    if size <= 256:
        others["the cubic definition"] = step(lambda s: cubic(s, relevance, where), leaf_of(scores))
    ours = step(lambda s: loss(s, relevance, where=where), leaf_of(scores))
    assert abs(loss(scores, relevance, where=where).item() - query_by_query(scores, relevance, where).item()) < 1e-5
    interleaved(ours, others, {256: 5, 512: 3}[size])


@pytest.mark.parametrize("name", ["sigmoid", "blackbox"])
def test_other_rankers(interleaved, step, name):
    """Against HAPPIER's, at 256."""
    embeddings, relevance, where = batch(256)
    scores = embeddings @ embeddings.T
    loss = HAPLoss(
        {"sigmoid": SigmoidRanker(0.01), "blackbox": BlackboxRanker(50.0)}[name], within_grad=name == "sigmoid"
    )
    happier = step(lambda s: HAPLoss(RANKER)(s, relevance, where=where), leaf_of(scores))
    interleaved(step(lambda s: loss(s, relevance, where=where), leaf_of(scores)), {"HAPPIER": happier}, 7)
