"""SupAP, forward and backward, as a ratio to the matrix product of the similarities with its gradient, on one thread.

The goal, at batch 256 and 4 a class, stands in `goals.py`; memory as for the scores. Beside it stands the definition,
which lays out batch³ comparisons.
"""

import time

import pytest
import torch
from torch.nn.functional import normalize

from rankedu.lab.experiments._published import published_sup_ap
from rankedu.losses import SupAPLoss
from rankedu.rankers import PRESETS, SupremumRanker

ROUNDS = {256: 41, 512: 15, 1024: 9}


def batch_of(size, a_class=4, dim=512):
    """Unit embeddings and labels; some relevant items stand above the others, some below."""
    generator = torch.Generator().manual_seed(0)
    centres = torch.randn(size // a_class, dim, generator=generator).repeat_interleave(a_class, 0)
    noise = 4 * torch.randn(size, dim, generator=generator)
    return normalize(centres + noise, dim=1).requires_grad_(), torch.arange(size) // a_class


@pytest.mark.parametrize("size", [256, 512, 1024])
@pytest.mark.parametrize("name", ["continuous", "happier_inat"])
def test_supremum_ap(interleaved, benchmark, size, name):
    embeddings, labels = batch_of(size)
    relevance, where = labels[:, None] == labels, ~torch.eye(size, dtype=torch.bool)
    gradient, loss, ranker = torch.randn(size, size), SupAPLoss(**PRESETS[name]), SupremumRanker.preset(name)
    scores = (embeddings @ embeddings.T).detach().requires_grad_()

    def ours():
        embeddings.grad = None
        loss(embeddings @ embeddings.T, relevance, where=where).backward()

    def alone():
        scores.grad = None
        loss(scores, relevance, where=where).backward()

    product = {"the matrix product with its gradient": lambda: (embeddings @ embeddings.T).backward(gradient)}
    mine = interleaved(ours, {**product, "the loss alone": alone}, ROUNDS[size])
    if size == 256:  # once, for its 67 MB tensors leave nothing of the others in the cache
        start = time.process_time()
        defined = published_sup_ap(scores, relevance, where, step=ranker.step)
        defined.backward()
        taken = time.process_time() - start
        benchmark.extra_info["ratio to the definition"] = round(mine / taken, 4)
        print(f"{mine / taken:.4f} x the definition ({1e3 * taken:.0f} ms)")
        assert abs(loss(scores, relevance, where=where) - defined) < 1e-4
