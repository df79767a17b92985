import numpy as np
import pytest
import torch

from rankbook.ch02_blackbox_differentiation import explorables, study
from rankbook.ch02_blackbox_differentiation.live import paths
from rankbook.kit.solvers import assignment, ranking, shortest_path
from rankedu.blackbox import interpolate


def test_the_line_is_the_theorem():
    for direction in explorables.LINES.values():
        for lam in explorables.one_dimensional_section.controls["lam"].stops:
            at = explorables.along_line(direction, lam)
            inside, ends = at["smooth"][1::2], at["smooth"][::2]
            assert (at["floor"] - 1e-9 <= inside).all() and (inside <= at["stairs"] + 1e-9).all()  # the bracket
            np.testing.assert_allclose(inside, (ends[1:] + ends[:-1]) / 2, atol=1e-9)  # affine between breakpoints
            points = torch.from_numpy(explorables.SCORES + at["t"][:, None] * direction)
            expected = interpolate(ranking, torch.from_numpy(explorables.MEAN_RANK), lam)(points)
            np.testing.assert_allclose(at["smooth"], expected, atol=1e-9)


@pytest.mark.parametrize("lam", [0.1, 0.5, 30.0])
def test_the_plane_is_the_interpolation_of_the_assignment_solver(lam):
    _, smooth, gradient = explorables.on_plane(1, lam)
    rows, columns = np.array([3, 60, 100]), np.array([7, 30, 110])
    _, directions = explorables.plane(1)
    origin = 0.4 * np.random.default_rng(1).standard_normal(16) - 0.5 * explorables.ASSIGNMENTS[0]
    line = np.linspace(-explorables.EXTENT, explorables.EXTENT, explorables.POINTS)
    steps = line[columns, None] * directions[:, 0] + line[rows, None] * directions[:, 1]
    costs = torch.from_numpy(origin + steps).reshape(-1, 4, 4).requires_grad_()
    c = torch.from_numpy(explorables.WRONG_ROWS).reshape(4, 4)
    value = interpolate(assignment, c, lam)(costs)
    value.sum().backward()
    np.testing.assert_allclose(smooth[rows, columns], 4 + value.detach(), atol=1e-9)
    np.testing.assert_allclose(gradient[rows, columns], costs.grad.reshape(-1, 16).numpy() @ directions, atol=1e-9)


# The theorem holds for solvers that minimise, and fails for everything else; what the study sweeps


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
            assert all(study.theorem_holds(solve, c, lam, start, end, points, steps=50).values()), (name, lam)
            agrees = study.agreeing(solve, c, [lam, lam / 10, lam / 100, 1e-7], points)
            assert (agrees[:-1] <= agrees[1:]).all() and agrees[-1].all(), (name, lam)


def test_fails_for_a_solver_that_does_not_minimise():
    c, start, end, points = draw((5,))
    for name, solve in WRONG.items():
        assert not any(study.theorem_holds(solve, c, 2.0, start, end, points).values()), name


def test_a_tie_may_never_agree():
    c, tied = torch.tensor([1.0, 0.0], dtype=torch.float64), torch.zeros(1, 2, dtype=torch.float64)
    assert not study.agreeing(lambda y: torch.eye(2).to(y)[y.argmin(-1)], c, [1.0, 1e-3], tied).any()


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


def test_a_path_that_touches_itself_is_never_learnt_and_every_other_is():
    random, ends = np.random.default_rng(0), {True: [], False: []}
    choices = [*random.integers(0, 6, (8, 5)), *np.sort(random.integers(0, 6, (4, 5)))]
    for chosen in choices:
        wanted = [*chosen.astype(float), 0.0]
        mask = paths.mask(wanted)
        touching = sum(mask[other] for cell in np.flatnonzero(mask) for other in paths.beside(cell)) // 2 >= sum(mask)
        told = {"state": {**paths.START, "wanted": wanted, "log_lam": 2.0, "guess": "none"}}
        for _ in range(16):
            told = paths.paths({**told["state"], "tick": True})
        ends[touching].append(told["found"])
    assert len(ends[True]) > 3 < len(ends[False])
    assert all("touches itself" in one for one in ends[True]), "at no λ"
    assert all("is the wanted one" in one for one in ends[False]), "as fast as with any other λ"
    told = paths.paths({**paths.START, "log_lam": -1.0, "guess": "none", "tick": True})
    assert "λ is too short" in told["found"]
