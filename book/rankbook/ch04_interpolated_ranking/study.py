"""Chapter 4, computed: how much of the gradient is there, and how far the interpolation strays."""

from typing import Any

import numpy as np

from rankbook.kit.ranks import ranks_of


def sunk(ratio: Any) -> Any:
    """How far f_λ has sunk on average, for independent normal scores and coefficients: the closed form of chapter 4."""
    return (np.sqrt(1 + ratio**2) - 1) / ratio


def regime(n: int, ratio: float, trials: int) -> tuple[float, float]:
    """Share of items that change places, and how far f_λ has sunk from f to the minimum of the loss."""
    random = np.random.default_rng([n, 7])
    y, c = random.standard_normal((2, trials, n))
    lam = ratio * c.std(-1, keepdims=True) ** -1 * y.std(-1, keepdims=True)
    before, after = ranks_of(y), ranks_of(y + lam * c)
    loss, best = (c * before).sum(-1), (c * ranks_of(c)).sum(-1)
    smooth = (c * after).sum(-1) + (y * (after - before)).sum(-1) / lam[:, 0]
    return float((before != after).mean()), float(((loss - smooth) / (loss - best)).mean())
