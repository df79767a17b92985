"""Chapter 2, computed: how often a strength helps, and the interpolation of a loss that is not linear."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rankbook.kit.ranks import Array, ranks_of

Ranks = npt.NDArray[np.int64]


def strength_sweep(lams: Array, *, n: int = 6, draws: int = 2000, seed: int = 0) -> tuple[Array, Array]:
    """For random scores and the mean rank of two items: the share of scores where f_λ = f, the mean gradient length."""
    scores = np.random.default_rng(seed).standard_normal((draws, n))
    c = np.zeros(n)
    c[:2] = 0.5
    before = ranks_of(scores)
    gradients = np.stack([(ranks_of(scores + lam * c) - before) / lam for lam in lams])
    lengths = np.linalg.norm(gradients, axis=-1)
    return (lengths == 0).mean(axis=-1), lengths.mean(axis=-1)


def log_rank(ranks: Ranks) -> Array:
    """The loss: mean logarithm of the ranks of the first two items."""
    return np.asarray(np.log(ranks[..., :2]).mean(axis=-1))


def log_rank_gradient(ranks: Ranks) -> Array:
    """Its gradient with respect to the ranks."""
    slope = np.zeros(ranks.shape)
    slope[..., :2] = 0.5 / ranks[..., :2]
    return slope


def linearised(scores: Array, lam: float, at: Array | None = None) -> Array:
    """L(s₀) + f_λ − c·s₀, with c the gradient of L at the solution of each row or, if given, at that of ``at``."""
    base = ranks_of(scores if at is None else at)
    c = log_rank_gradient(base)
    shifted = scores + lam * c
    before, after = ranks_of(scores), ranks_of(shifted)
    smooth = ((shifted * after).sum(-1) - (scores * before).sum(-1)) / lam
    return np.asarray(log_rank(base) + smooth - (c * base).sum(-1))


NONLINEAR = {
    "scores": np.array([-0.7, -1.1, 1.0, 0.4, 0.0, -0.5]),
    "direction": np.array([0.8, 1.0, -0.6, -0.3, 0.0, -0.2]),
}
