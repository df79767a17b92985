"""The theorems of chapter 2 hold for solvers that minimise, and fail for everything else."""

import numpy as np
import torch

from rankedu.blackbox import differentiate, interpolate
from rankedu_book.ch02_blackbox_differentiation import study
from rankedu_book.kit.solvers import assignment, ranking, shortest_path

TOLERANCE = 1e-8


def theorem_holds(solver, c, lam, start, end, points, steps=200):
    """Check each part of Theorem 2.2 on a walk in equal steps and at some points.

    A solver whose answer is anywhere beaten by one that it gave elsewhere does not minimise, and fails in everything.
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


def agreeing(solver, c, lams, points):
    """Whether f_λ equals f, for each λ at each point, shape (l, m)."""
    losses = (c * solver(points)).flatten(1).sum(1)
    return torch.stack([interpolate(solver, c, lam)(points) > losses - TOLERANCE for lam in lams])


def table(y):
    """The best of thirty arbitrary vectors, negative and fractional ones included."""
    rows = torch.randn(30, y.shape[-1], generator=torch.Generator().manual_seed(0), dtype=y.dtype)
    return rows[(y @ rows.T).argmin(-1)]


SOLVERS = {
    "ranking": (ranking, (5,)),
    "path": (shortest_path, (3, 3)),
    "assignment": (assignment, (3, 3)),
    "table": (table, (5,)),
    "one element": (torch.ones_like, (5,)),
}
WRONG = {
    "maximises": lambda y: ranking(-y),
    "by position": lambda y: 1.0 + y.argsort(descending=True),  # the order, not the ranks
    "wrong in a corner": lambda y: torch.where(y[..., :1] > 0, ranking(y).flip(-1), ranking(y)),
    "rounded scores": lambda y: ranking(y.round()),
    "infinitely many": lambda y: y / y.norm(dim=-1, keepdim=True),
}


def draw(shape):
    made = torch.randn(23, *shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    return made[0], 2 * made[1], 2 * made[2], 2 * made[3:]


def test_holds_for_a_minimiser():
    for name, (solve, shape) in SOLVERS.items():
        c, start, end, points = draw(shape)
        for lam in (1e-3, 0.2, 3.0, 1e3):
            assert all(theorem_holds(solve, c, lam, start, end, points, steps=50).values()), (name, lam)
            agrees = agreeing(solve, c, [lam, lam / 10, lam / 100, 1e-7], points)
            assert (agrees[:-1] <= agrees[1:]).all() and agrees[-1].all(), (name, lam)


def test_fails_for_a_solver_that_does_not_minimise():
    c, start, end, points = draw((5,))
    for name, solve in WRONG.items():
        assert not any(theorem_holds(solve, c, 2.0, start, end, points).values()), name


def test_a_tie_may_never_agree():
    c, tied = torch.tensor([1.0, 0.0], dtype=torch.float64), torch.zeros(1, 2, dtype=torch.float64)
    assert not agreeing(lambda y: torch.eye(2).to(y)[y.argmin(-1)], c, [1.0, 1e-3], tied).any()


def value(solve, y):
    return (y * solve(y)).sum(-1)


def test_the_optimal_value_is_concave_with_the_solver_as_its_slope():
    z, w = 2 * torch.randn(2, 500, 5, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    axes, ball, worst = torch.eye(5).to(z), (lambda y: -y / y.norm(dim=-1, keepdim=True)), WRONG["maximises"]
    for solve in (ranking, table):
        assert (value(solve, (z + w) / 2) >= (value(solve, z) + value(solve, w)) / 2 - 1e-9).all()
        assert (value(solve, w) <= value(solve, z) + ((w - z) * solve(z)).sum(-1) + 1e-9).all()
        slope = torch.stack([value(solve, z + 1e-7 * e) - value(solve, z - 1e-7 * e) for e in axes], -1) / 2e-7
        torch.testing.assert_close(slope, solve(z), atol=1e-5, rtol=0)
    assert (value(worst, w) > value(worst, z) + ((w - z) * worst(z)).sum(-1) + 1).any(), "no minimiser"
    bend = value(ball, z + 0.01 * axes[0]) + value(ball, z - 0.01 * axes[0]) - 2 * value(ball, z)
    assert (bend < 0).all(), "not finite: nowhere linear"
    assert (value(ranking, axes[0]), value(ranking, -axes[0])) == (1, -5), "a tie at 0: two slopes"


def test_the_interpolation_needs_a_positive_strength_and_a_linear_loss():
    c, _, _, y = draw((5,))
    above = (value(ranking, y - 2.0 * c) - value(ranking, y)) / -2.0 - ranking(y) @ c
    assert (above > -1e-9).all() and above.max() > 0.1, "λ < 0: above the loss"
    line = study.NONLINEAR["scores"] + np.linspace(-0.5, 2, 2501)[:, None] * study.NONLINEAR["direction"]
    afresh, frozen = study.linearised(line, 2.0), study.linearised(line, 2.0, line[:1])
    assert np.abs(np.diff(afresh)).max() > 0.1 > 10 * np.abs(np.diff(frozen)).max(), "not linear: it jumps"
    assert abs(study.strength_sweep(np.array([0.01]), draws=400_000)[1].item() - study.LIMIT) < 0.08
