"""What the tests of the library draw and differentiate, and what is refused."""

import re

import pytest
import torch

#: For tests that are the same on every device.
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA"))]
HALF = [torch.float16, torch.bfloat16]
DTYPES = [*HALF, torch.float32, torch.float64]


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def random(*shape, seed=0, dtype=torch.float64):
    """Standard normal numbers, the same for every dtype."""
    return torch.randn(shape, generator=seeded(seed), dtype=torch.float64).to(dtype)


def cosines(*shape, seed=0, dtype=torch.float64):
    """Uniform in [-1, 1]."""
    uniform = torch.rand(shape, generator=seeded(seed), dtype=torch.float64)
    return (2 * uniform - 1).to(dtype)


def coin(*shape, p=0.4, seed=1):
    """True with the probability p."""
    return torch.rand(shape, generator=seeded(seed)) < p


def grades(*shape, seed=2, n_grades=3):
    """Each row has its own grades ≥ 0, and some rows lack some of them."""
    generator = seeded(seed)
    worth = torch.rand(*shape[:-1], n_grades + 1, generator=generator, dtype=torch.float64).cumsum(-1)
    worth[..., 0] = 0
    return worth.gather(-1, torch.randint(n_grades + 1, shape, generator=generator))


def gradient(loss, scores, *inputs, scale=1.0, **options):
    """Of scale · loss, by the scores."""
    leaf = scores.detach().clone().requires_grad_()
    (scale * loss(leaf, *inputs, **options)).backward()
    return leaf.grad


def value_and_gradients(function, *leaves, weight=1.0):
    """And the gradients of the product with a weight, or with as many weights as there are values."""
    leaves = [leaf.detach().clone().requires_grad_() for leaf in leaves]
    value = function(*leaves)
    return value.detach(), *torch.autograd.grad((weight * value).sum(), leaves)


def refused(*rows):
    """Each row is a call, an error, and a pattern of what it says."""
    for call, error, message in rows:
        raised = ""
        try:
            call()
        except error as refusal:
            raised = str(refusal)
        assert re.search(message, raised), f"expected {message}, got {raised or 'no error'}"
