"""What the tests of the library draw and differentiate."""

from __future__ import annotations

import pytest
import torch

#: For tests that are the same on every device.
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA"))]


def random(*shape, seed=0, dtype=torch.float64):
    """Standard normal numbers, the same for every dtype."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def cosines(*shape, seed=0, dtype=torch.float64):
    """Uniform in [-1, 1]."""
    uniform = torch.rand(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return (2 * uniform - 1).to(dtype)


def coin(*shape, p=0.4, seed=1):
    """True with the probability p."""
    return torch.rand(shape, generator=torch.Generator().manual_seed(seed)) < p


def gradient(loss, scores, *inputs, scale=1.0, **options):
    """Of scale · loss, by the scores."""
    leaf = scores.detach().clone().requires_grad_()
    (scale * loss(leaf, *inputs, **options)).backward()
    return leaf.grad
