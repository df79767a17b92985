"""FastAP, forward and backward, as ratios to what nobody can avoid, in one interleaved run on one thread.

The goal, at batch 1024 with 512 dimensions, stands in `goals.py`. Batch 4096 and 40 bins are recorded beside it. At
4096 pytorch-metric-learning is left out: it holds several tensors of 4096² times the bins.
"""

import pytest
import torch
from pytorch_metric_learning.losses import FastAPLoss as OfPytorchMetricLearning

from rankedu.losses import FastAPLoss, OnEmbeddings

ROUNDS = {1024: 7, 4096: 3}


@pytest.mark.parametrize(("batch", "bins"), [(1024, 10), (1024, 40), (4096, 10)])
def test_fast_ap_of_a_batch(interleaved, step, batch, bins):
    generator = torch.Generator().manual_seed(0)
    embeddings, labels = torch.randn(batch, 512, generator=generator), torch.arange(batch) // 4
    gradient = torch.randn(batch, batch, generator=generator)
    ours, theirs = OnEmbeddings(FastAPLoss(bins)), OfPytorchMetricLearning(bins)
    leaf, other = embeddings.clone().requires_grad_(), embeddings.clone().requires_grad_()
    others = {"the matrix product with its gradient": lambda: (other @ other.T).backward(gradient)}
    if batch <= 1024:
        others["pytorch-metric-learning"] = step(lambda e: theirs(e, labels), other)
        assert abs(ours(leaf, labels).item() - theirs(other, labels).item()) < 1e-5
    interleaved(step(lambda e: ours(e, labels), leaf), others, ROUNDS[batch])
