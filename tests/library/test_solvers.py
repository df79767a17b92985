"""Solvers against trying every path and every assignment."""

import itertools
import sys

import pytest
import torch
from drawn import random
from hypothesis import given
from hypothesis import strategies as st

from rankedu.solvers import assignment, ranking, shortest_path

MOVES = {
    "forward": [(1, 1), (1, 0), (0, 1)],
    "any": [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)],
}


def all_paths(height, width, moves, path=((0, 0),)):
    """Every path from corner to corner that visits no cell twice."""
    row, column = path[-1]
    if (row, column) == (height - 1, width - 1):
        yield path
        return
    for down, right in MOVES[moves]:
        cell = (row + down, column + right)
        if 0 <= cell[0] < height and 0 <= cell[1] < width and cell not in path:
            yield from all_paths(height, width, moves, (*path, cell))


def cost(costs, path):
    return sum(costs[cell].item() for cell in path)


@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (4, 1), (2, 2), (3, 3), (4, 3)])
@pytest.mark.parametrize("moves", ["forward", "any"])
def test_shortest_path_beats_every_path(shape, moves):
    paths = list(all_paths(*shape, moves))
    for seed in range(5):
        costs = random(*shape, seed=seed)  # negative ones too, where the moves allow them
        costs = costs.abs() if moves == "any" else costs
        mask = shortest_path(costs, moves=moves)
        best = min(paths, key=lambda path: cost(costs, path))
        assert {tuple(cell) for cell in mask.nonzero().tolist()} == set(best)
        assert set(mask.unique().tolist()) <= {0.0, 1.0}


@given(st.lists(st.integers(-2, 2), min_size=9, max_size=9))
def test_shortest_path_with_ties_and_zeros(values):
    costs = torch.tensor(values, dtype=torch.float64).reshape(3, 3)
    for moves, grid in {"forward": costs, "any": costs.clamp(min=0)}.items():
        mask, paths = shortest_path(grid, moves=moves), list(all_paths(3, 3, moves))
        assert {tuple(cell) for cell in mask.nonzero().tolist()} in map(set, paths)
        assert (grid * mask).sum().item() == min(cost(grid, path) for path in paths)
        assert torch.equal(mask, shortest_path(grid, moves=moves))


def test_assignment_beats_every_permutation():
    for n in range(1, 6):
        costs = random(n, n)
        every = torch.eye(n, dtype=torch.float64)[torch.tensor(list(itertools.permutations(range(n))))]
        assert torch.equal(assignment(costs), every[(every * costs).sum((1, 2)).argmin()])


@pytest.mark.parametrize(("solver", "shape"), [(ranking, (5,)), (shortest_path, (3, 5)), (assignment, (4, 4))])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_solvers_work_row_by_row_in_any_dtype(solver, shape, dtype):
    costs = random(2, 3, *shape).to(dtype)
    solution = solver(costs)
    assert solution.dtype == dtype and solution.shape == costs.shape
    for i, j in itertools.product(range(2), range(3)):
        assert torch.equal(solution[i, j], solver(costs[i, j]))
    assert solver(costs[:0]).shape == (0, 3, *shape)


@pytest.mark.parametrize("solver", [shortest_path, assignment])
def test_without_scipy_the_error_says_what_to_install(solver, monkeypatch):
    for name in ("scipy.sparse", "scipy.sparse.csgraph", "scipy.optimize"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'rankedu\[lab\]'"):
        solver(torch.ones(2, 2))
