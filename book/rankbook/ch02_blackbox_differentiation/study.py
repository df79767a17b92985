"""Chapter 2, computed: its theorem on examples, how often a strength helps, and a loss that is not linear."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from rankbook.kit.ranks import Array, ranks_of
from rankedu.blackbox import Solver, differentiate, interpolate

#: Of equality in floating point.
TOLERANCE = 1e-8


def theorem_holds(
    solver: Solver, c: Tensor, lam: float, start: Tensor, end: Tensor, points: Tensor, steps: int = 200
) -> dict[str, bool]:
    """Whether f_λ does, on a walk in equal steps and at some points, what chapter 2 proves of it.

    A solver whose answer is anywhere beaten by one that it gave elsewhere does not minimise, and fails in everything.

    Source: RaMBO Sec. 3.2.
    """
    walk = start + torch.linspace(0, 1, steps + 1, dtype=c.dtype).reshape(-1, *[1] * c.ndim) * (end - start)
    scores, smooth = torch.cat([walk, points]), interpolate(solver, c, lam)
    leaf = scores.clone().requires_grad_()
    (slopes,) = torch.autograd.grad((c * differentiate(solver, lam)(leaf)).sum(), leaf)
    solutions, values = solver(scores), smooth(scores)
    ahead, losses = solutions + lam * slopes, (c * solutions).flatten(1).sum(1)

    answers = torch.cat([solutions, ahead]).flatten(1)
    costs = torch.cat([scores, scores + lam * c]).flatten(1) @ answers.T
    minimises = (costs.diagonal() <= costs.min(dim=1).values + TOLERANCE).all()

    rises, step = values[: steps + 1].diff(), (end - start) / steps
    steepest = torch.cdist(answers, answers).max() / lam
    pairs = torch.cat([solutions, ahead], dim=1)[: steps + 1].flatten(1)
    straight = (pairs.diff(dim=0).abs() < TOLERANCE).all(dim=1)  # neither answer changes on this step
    foretold = (slopes[:steps] * step).flatten(1).sum(1)

    shifts = 1e-6 * torch.eye(c.numel(), dtype=c.dtype).reshape(-1, *c.shape)
    up, down = (smooth(points[:, None] + sign * shifts) for sign in (1, -1))
    central = ((up - down) / 2e-6).reshape(points.shape)
    holds = {
        "continuous": rises.abs() <= steepest * step.norm() + TOLERANCE,
        "affine": (rises - foretold)[straight].abs() < TOLERANCE,
        "gradient": (central - slopes[steps + 1 :]).abs() < 1e-6,
        "bracket": ((c * ahead).flatten(1).sum(1) <= values + TOLERANCE) & (values <= losses + TOLERANCE),
    }
    return {fact: bool(minimises and found.all()) for fact, found in holds.items()}


def agreeing(solver: Solver, c: Tensor, lams: Sequence[float], points: Tensor) -> Tensor:
    """Whether f_λ is f, for each λ at each point, shape (l, m): whether s(y) is still a minimiser at y + λc."""
    losses = (c * solver(points)).flatten(1).sum(1)
    return torch.stack([interpolate(solver, c, lam)(points) > losses - TOLERANCE for lam in lams])


def strength_sweep(lams: Array, *, n: int = 6, draws: int = 2000, seed: int = 0) -> tuple[Array, Array, Array]:
    """For random scores, the mean rank of two items: where f_λ = f, mean gradient length, where s_λ is not s or s_∞."""
    scores = np.random.default_rng(seed).standard_normal((draws, n))
    c = np.where(np.arange(n) < 2, 0.5, 0.0)
    before, last = ranks_of(scores), ranks_of(scores + 1e6 * c)
    after = np.stack([ranks_of(scores + lam * c) for lam in lams])
    stays, ended = ((after == ranks).all(axis=-1) for ranks in (before, last))
    lengths = np.linalg.norm((after - before) / lams[:, None, None], axis=-1)
    return stays.mean(axis=-1), lengths.mean(axis=-1), (~stays & ~ended).mean(axis=-1)


#: What that mean goes to as λ does to 0: 8 pairs, each crosses in λ/2 · 1/(2√π) of the vectors and adds √2/λ.
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
