"""Ask a solver, remember its answers, and bound the rounding of what is computed from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Solver = Callable[[Array], ArrayLike]

MOST_PIECES = 10_000


class Probe:
    """Asks the solver, once a point, and remembers what it answered."""

    def __init__(self, solver: Solver, gradient: ArrayLike, lam: float, points: ArrayLike) -> None:
        if not callable(solver):
            raise TypeError(f"solver must be callable, ndarray (n,) to ndarray (n,), got {type(solver).__name__}")
        self.solver, self.lam = solver, float(lam)
        if not (self.lam > 0 and np.isfinite(self.lam)):
            raise ValueError(f"lam must be > 0 and finite, got {lam} (the limit lam → 0 is the staircase itself)")
        self.points: Array = np.atleast_2d(np.asarray(points, dtype=np.float64))
        if self.points.ndim != 2 or self.points.size == 0 or not np.isfinite(self.points).all():
            raise ValueError(
                f"points must be finite, of shape (n,) or (m, n), got shape {np.shape(points)}: {points!r}"
            )
        self.c = vector(gradient, "gradient", like=self.points[0])
        self.shift: Array = self.lam * self.c
        self.seen: dict[bytes, tuple[Array, Array]] = {}
        self.largest = 0.0, 0.0  # score and output, in absolute value

    def solve(self, z: Array) -> Array:
        key = z.tobytes()
        if key not in self.seen:
            answer = vector(self.solver(z.copy()), "solver(y)", like=z)
            self.seen[key] = (z.copy(), answer)
            score, output = self.largest
            self.largest = max(score, float(np.abs(z).max())), max(output, float(np.abs(answer).max()))
        return self.seen[key][1]

    def least(self, z: Array) -> float:
        return float(z @ self.solve(z))

    def values(self, points: Array) -> Array:
        return np.array([(self.least(y + self.shift) - self.least(y)) / self.lam for y in points])

    def algorithm_1(self, y: Array) -> Array:
        return (self.solve(y + self.shift) - self.solve(y)) / self.lam

    def constant(self, points: Array) -> bool:
        """Whether the answers are the same at all points, and at all shifted points."""
        for moved in (points, points + self.shift):
            if any(not np.array_equal(self.solve(moved[0]), self.solve(z)) for z in moved[1:]):
                return False
        return True

    def answers(self) -> Array:
        return np.unique(np.stack([s for _, s in self.seen.values()]), axis=0)

    def diameter(self) -> float:
        found = self.answers()
        squares = (found**2).sum(axis=1)
        return float(np.sqrt(max(0.0, (squares[:, None] + squares - 2 * found @ found.T).max())))

    def rounding(self) -> float:
        """Bound for the rounding of one ``z · s``, and of ``z = y + λc``, times two."""
        scores, outputs = self.largest
        n = self.points.shape[1]
        size = n * (scores + float(np.abs(self.shift).max())) * outputs
        return float(2 * (n + 2) * np.finfo(np.float64).eps * size)

    def shared(self, again: Callable[[], Any]) -> dict[str, Any]:
        """What all findings hold."""
        where = np.stack([z for z, _ in self.seen.values()])
        own = np.array([z @ s for z, s in self.seen.values()])
        best = (where @ self.answers().T).min(axis=1)
        return {"unbeaten": float((own - best).max()), "tolerance": self.rounding(), "again": again}

    def breakpoints(self, a: Array, b: Array) -> tuple[list[float], bool]:
        """Breakpoints of t ↦ m(a + t(b − a)) on [0, 1], and whether all was as with a concave function."""
        found, asked = {0.0, 1.0}, 0
        stack = [(0.0, 1.0)]
        while stack:
            asked += 1
            left, right = stack.pop()
            s, t = self.solve(a + left * (b - a)), self.solve(a + right * (b - a))
            bend = float((s - t) @ (b - a))  # slope on the left minus slope on the right: ≥ 0 if concave
            tight = 2 * self.rounding()
            if abs(bend) * (right - left) <= tight:
                continue
            meet = float((t - s) @ a) / bend
            if bend < 0 or not left - 1e-12 <= meet <= right + 1e-12:
                return sorted(found), False
            meet = min(max(meet, left), right)
            z = a + meet * (b - a)
            below = float(z @ s) - self.least(z)
            if below < -tight or asked > 2 * MOST_PIECES:
                return sorted(found), False
            if below <= tight or meet in (left, right):
                found.add(meet)
            else:
                stack += [(left, meet), (meet, right)]
        return sorted(found), True


def vector(value: ArrayLike, name: str, like: ArrayLike | None = None) -> Array:
    array: Array = np.asarray(value, dtype=np.float64)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{name} must have shape (n,) with n >= 1, got {array.shape}")
    if like is not None and array.shape != np.shape(like):
        raise ValueError(f"{name} must have the shape of the scores, expected {np.shape(like)}, got {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got {array[~np.isfinite(array)][0]}")
    return array
