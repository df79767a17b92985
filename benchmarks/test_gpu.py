"""On a GPU: AP of 10⁸ scores, for which RaMBO prints 0.62 s, and Smooth-AP of a batch of 4096 beside its product.

The goals stand in `goals.py`. Skipped where there is no GPU.
"""

import statistics
import time

import pytest
import torch
from torch.nn.functional import normalize

from rankedu.losses import APLoss, OnEmbeddings, SmoothAPLoss
from rankedu.rankers import BlackboxRanker

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


def seconds(work):
    """Until the GPU has done it."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    work()
    torch.cuda.synchronize()
    return time.perf_counter() - start


def test_average_precision(benchmark, step):
    n = 10**8
    scores = torch.randn(n, device="cuda").requires_grad_()
    relevance = torch.rand(n, device="cuda") < 0.01
    loss = APLoss(BlackboxRanker(0.4 * n), margin=0.02)
    ours = step(lambda s: loss(s, relevance), scores)
    ours()
    benchmark.extra_info["seconds"] = statistics.median(seconds(ours) for _ in range(5))
    benchmark.pedantic(seconds, (ours,), rounds=1)


def test_smooth_ap(benchmark, step, keep):
    labels, centres = torch.arange(4096, device="cuda") // 4, torch.randn(1024, 512, device="cuda")
    embeddings = normalize(centres[labels] + 0.9 * torch.randn(4096, 512, device="cuda"))
    gradient, loss = torch.randn(4096, 4096, device="cuda"), OnEmbeddings(SmoothAPLoss())
    ours = step(lambda e: loss(e, labels), embeddings.clone().requires_grad_())
    leaf = embeddings.clone().requires_grad_()

    def product():
        leaf.grad = None
        (leaf @ leaf.T).backward(gradient)

    for work in (ours, product):
        work()
    times = [(seconds(ours), seconds(product)) for _ in range(9)]
    mine, beside = map(statistics.median, zip(*times, strict=True))
    benchmark.pedantic(seconds, (ours,), rounds=1)
    keep(mine, {"the matrix product with its gradient": beside})
