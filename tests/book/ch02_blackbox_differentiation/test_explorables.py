import numpy as np
import pytest
import torch

from rankedu.blackbox import interpolate
from rankedu_book.ch02_blackbox_differentiation import explorables
from rankedu_book.ch02_blackbox_differentiation.live import paths
from rankedu_book.kit.solvers import assignment, ranking


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
