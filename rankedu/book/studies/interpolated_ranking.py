"""Chapter 4, computed: how much of the gradient is there, and how far the interpolation strays."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def regime(n: int, ratio: float, trials: int) -> tuple[float, float]:
    """Share of items that change places, and how far f_λ has sunk from f to the minimum of the loss."""
    random = np.random.default_rng([n, 7])
    y, c = random.standard_normal((2, trials, n))
    lam = ratio * c.std(-1, keepdims=True) ** -1 * y.std(-1, keepdims=True)
    before, after = _ranks(y), _ranks(y + lam * c)
    loss, best = (c * before).sum(-1), (c * _ranks(c)).sum(-1)
    smooth = (c * after).sum(-1) + (y * (after - before)).sum(-1) / lam[:, 0]
    return float((before != after).mean()), float(((loss - smooth) / (loss - best)).mean())


def _ranks(scores: Array) -> npt.NDArray[np.int64]:
    ranks: npt.NDArray[np.int64] = 1 + np.argsort(np.argsort(-scores, axis=-1, kind="stable"), axis=-1, kind="stable")
    return ranks
