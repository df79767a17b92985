"""Chapter 2, computed: how often a step of length λ gives a gradient, and a loss that is not linear."""

import numpy as np
import numpy.typing as npt

from rankedu_book.kit.ranks import Array, ranks_of


def strength_sweep(lams: Array, *, draws: int = 2000, seed: int = 0) -> tuple[Array, Array]:
    """Return, for each λ, how often the mean rank of two of six items has a gradient, and its mean length."""
    scores = np.random.default_rng(seed).standard_normal((draws, 6))
    c = np.where(np.arange(6) < 2, 0.5, 0.0)
    steps = np.stack([ranks_of(scores + lam * c) for lam in lams]) - ranks_of(scores)
    lengths = np.linalg.norm(steps / lams[:, None, None], axis=-1)
    return (lengths > 0).mean(axis=-1), lengths.mean(axis=-1)


#: The limit of this mean length for λ → 0: each of 8 pairs crosses in λ/2 · 1/(2√π) of the vectors, and adds √2/λ.
LIMIT = float(8 * np.sqrt(2) / (4 * np.sqrt(np.pi)))


def log_rank(ranks: npt.NDArray[np.int64]) -> Array:
    """The loss: mean logarithm of the ranks of the first two items."""
    return np.asarray(np.log(ranks[..., :2]).mean(axis=-1))


def linearised(scores: Array, lam: float, at: Array | None = None) -> Array:
    """L(s₀) + f_λ − c·s₀, with c the gradient of L at the solution of each row or, if given, at that of ``at``."""
    base = ranks_of(scores if at is None else at)
    c = np.zeros(base.shape)
    c[..., :2] = 0.5 / base[..., :2]
    before, after = ranks_of(scores), ranks_of(scores + lam * c)
    smooth = (((scores + lam * c) * after).sum(-1) - (scores * before).sum(-1)) / lam
    return np.asarray(log_rank(base) + smooth - (c * base).sum(-1))


NONLINEAR = {
    "scores": np.array([-0.7, -1.1, 1.0, 0.4, 0.0, -0.5]),
    "direction": np.array([0.8, 1.0, -0.6, -0.3, 0.0, -0.2]),
}
