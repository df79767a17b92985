"""Solvers for blackbox differentiation: against trying everything, and their gradient by Algorithm 1."""

from itertools import permutations, product

import pytest
import torch
from drawn import DTYPES, random

from rankedu_book.kit.solvers import assignment, ranking, shortest_path

SOLVERS = [(ranking, (6,)), (shortest_path, (3, 4)), (assignment, (4, 4))]
MOVES = {"forward": [(1, 1), (1, 0), (0, 1)], "any": [move for move in product((-1, 0, 1), repeat=2) if any(move)]}


def test_ranking_minimises_over_all_permutations():
    """RaMBO Eq. 11."""
    for n in range(1, 7):
        scores, every = random(20, n), torch.tensor(list(permutations(range(1, n + 1)))).double()
        assert torch.equal(ranking(scores), every[(scores @ every.T).argmin(-1)])


def test_assignment_beats_every_permutation():
    for n in range(1, 6):
        costs = random(n, n)
        every = torch.eye(n, dtype=torch.float64)[torch.tensor(list(permutations(range(n))))]
        assert torch.equal(assignment(costs), every[(every * costs).sum((1, 2)).argmin()])


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


def assert_shortest(costs, moves, paths):
    mask = shortest_path(costs, moves=moves)
    cost = lambda path: sum(costs[cell].item() for cell in path)  # noqa: E731
    assert {tuple(cell) for cell in mask.nonzero().tolist()} in map(set, paths)
    assert (costs * mask).sum().item() == pytest.approx(min(map(cost, paths))) and set(mask.unique().tolist()) <= {0, 1}
    assert torch.equal(mask, shortest_path(costs, moves=moves))


@pytest.mark.parametrize("moves", MOVES)
def test_shortest_path_beats_every_path(moves):
    """With negative costs, too, where the moves allow them."""
    for shape in ((1, 1), (1, 4), (4, 1), (2, 2), (3, 3), (4, 3)):
        paths = list(all_paths(*shape, moves))
        for seed in range(5):
            costs = random(*shape, seed=seed)
            assert_shortest(costs.abs() if moves == "any" else costs, moves, paths)


@pytest.mark.parametrize(("solver", "event"), SOLVERS)
def test_solvers_work_row_by_row_in_any_dtype(solver, event):
    for dtype in DTYPES:
        costs = random(2, 3, *event).to(dtype)
        solution = solver(costs)
        assert solution.dtype == dtype and solution.shape == costs.shape
        assert all(torch.equal(solution[i, j], solver(costs[i, j])) for i, j in product(range(2), range(3)))
        assert solver(costs[:0]).shape == (0, 3, *event)
