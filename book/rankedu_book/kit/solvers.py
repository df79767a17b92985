"""Solvers to try blackbox differentiation on; each minimises costs·solution. SciPy does the solving of all but one."""

import functools
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import torch
from scipy.optimize import linear_sum_assignment
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra
from torch import Tensor

from rankedu.checks import check_choice, check_values
from rankedu.ranks import rank

__all__ = ["assignment", "ranking", "shortest_path"]

Array = npt.NDArray[np.float64]

FORWARD = ((1, 1), (1, 0), (0, 1))
ANY = tuple((down, right) for down in (1, 0, -1) for right in (1, 0, -1) if (down, right) != (0, 0))


def ranking(scores: Tensor) -> Tensor:
    """Rank: the permutation π with the smallest y·π; the larger score gets the smaller rank.

    Ranks from 1, in the scores' shape (..., n) and dtype (float16 counts exactly up to 2048 only). O(n log n). Ties go
    by position. Explained in chapter 3. Raises ValueError or TypeError as :func:`rankedu.rank`.
    Source: RaMBO Eq. 9; RaMBO Eq. 11; RaMBO Prop. 1.

    >>> ranking(torch.tensor([0.9, 0.1, 0.5]))
    tensor([1., 3., 2.])
    """
    return rank(scores).to(scores.dtype)


def shortest_path(costs: Tensor, *, moves: str = "forward") -> Tensor:
    r"""Find the cheapest path from the top left to the bottom right cell of a grid.

    Parameters
    ----------
    costs : Tensor, shape (..., h, w)
        The finite cost of visiting a cell.
    moves : {"forward", "any"}
        "forward": right, down, or down and right at once. "any": to all 8 neighbours; costs must be ≥ 0.

    Notes
    -----
    Returns Tensor, shape (..., h, w): 1 for the cells visited and 0 for the others, in the dtype and on the device of
    the costs. O(h w log(h w)) a grid, by SciPy's Dijkstra; the same choice at each call where several are cheapest.
    Explained in chapter 2. Raises ValueError for costs that are not finite, negative costs with ``moves="any"``, fewer
    than two dimensions, or an empty grid.
    Source: RaMBO Eq. 9; RaMBO Sec. 3.2.

    >>> shortest_path(torch.tensor([[1.0, 9.0, 9.0], [1.0, 9.0, 1.0], [9.0, 1.0, 1.0]]))
    tensor([[1., 0., 0.],
            [1., 0., 0.],
            [0., 1., 1.]])
    """
    check_choice(moves, ("forward", "any"), name="moves")
    _check_matrices(costs)
    if moves == "any" and (costs < 0).any():
        raise ValueError(
            f"costs must be >= 0 with moves='any', got {costs.min().item()} (a cycle of negative cost has no shortest "
            "path; use moves='forward', under which costs may be negative, or clamp the costs)"
        )
    return _matrix_by_matrix(functools.partial(_cheapest_path, moves=moves), costs)


def assignment(costs: Tensor) -> Tensor:
    """Assign each row its own column at the least total cost: a permutation matrix for finite costs (..., n, n).

    It has the dtype and the device of the costs, which may be negative. O(n³) a matrix, by SciPy; the same choice at
    each call where several are cheapest. Explained in chapter 2.
    Raises ValueError for costs that are not finite, or not square.
    Source: RaMBO Eq. 9; RaMBO Sec. 3.2.

    >>> assignment(torch.tensor([[4.0, 1.0], [2.0, 3.0]]))
    tensor([[0., 1.],
            [1., 0.]])
    """
    _check_matrices(costs)
    if costs.shape[-1] != costs.shape[-2]:
        raise ValueError(f"costs must have shape (..., n, n), got {tuple(costs.shape)} (pad with a constant)")
    return _matrix_by_matrix(_cheapest_assignment, costs)


def _check_matrices(costs: Tensor) -> None:
    check_values(costs, name="costs")
    if costs.ndim < 2 or costs.shape[-2] == 0:
        raise ValueError(f"costs must have shape (..., h, w) with h, w >= 1, got {tuple(costs.shape)}")
    if not costs.isfinite().all():
        raise ValueError("costs must be finite, got NaN or an infinity (give a forbidden cell a large finite cost)")


def _matrix_by_matrix(solve: Callable[[Array], Array], costs: Tensor) -> Tensor:
    batch = costs.detach().double().cpu().reshape(-1, *costs.shape[-2:]).numpy()
    solutions = np.stack([solve(matrix) for matrix in batch]) if len(batch) else np.zeros(batch.shape)
    return torch.from_numpy(solutions).reshape(costs.shape).to(costs)


def _cheapest_path(costs: Array, *, moves: str) -> Array:
    start, end, climb = _edges(*costs.shape, FORWARD if moves == "forward" else ANY)
    weights = costs.ravel()[end]
    if moves == "forward":  # Dijkstra's algorithm needs weights >= 0: what is added has the same sum for all paths
        weights = weights - min(0.0, costs.min()) * climb
    graph = coo_array((weights, (start, end)), shape=(costs.size, costs.size)).tocsr()
    came_from = dijkstra(graph, indices=0, return_predecessors=True)[1]
    visited = np.zeros(costs.size)
    cell = costs.size - 1
    while cell >= 0:  # the first cell's predecessor is negative
        visited[cell] = 1.0
        cell = came_from[cell]
    return visited.reshape(costs.shape)


@functools.lru_cache(maxsize=16)
def _edges(height: int, width: int, moves: tuple[tuple[int, int], ...]) -> tuple[npt.NDArray[np.int64], ...]:
    """From cell, to cell, and by how much row + column grows, for every move that stays on the grid."""
    row, column = (index.ravel() for index in np.indices((height, width)))
    edges = []
    for down, right in moves:
        inside = (row + down >= 0) & (row + down < height) & (column + right >= 0) & (column + right < width)
        start = np.flatnonzero(inside)
        edges.append((start, start + down * width + right, np.full(start.size, down + right)))
    return tuple(np.concatenate(part) for part in zip(*edges, strict=True))


def _cheapest_assignment(costs: Array) -> Array:
    chosen = np.zeros(costs.shape)
    chosen[linear_sum_assignment(costs)] = 1.0
    return chosen
