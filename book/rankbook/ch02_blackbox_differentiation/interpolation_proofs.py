r"""What the interpolated value :math:`f_\lambda` of a blackbox solver is, with numeric certificates.

Let :math:`\mathbf{s}(\mathbf{y})` minimise :math:`\mathbf{y} \cdot \mathbf{s}` over a finite set S, let the loss be
linear, :math:`f(\mathbf{y}) = \mathbf{c} \cdot \mathbf{s}(\mathbf{y})`, and write :math:`m(\mathbf{z}) =
\min_{\mathbf{s} \in S} \mathbf{z} \cdot \mathbf{s}` and :math:`\mathbf{s}_\lambda = \mathbf{s}(\mathbf{y} + \lambda
\mathbf{c})`. Then, for any λ > 0,

.. math:: f_\lambda(\mathbf{y}) = \frac{m(\mathbf{y} + \lambda \mathbf{c}) - m(\mathbf{y})}{\lambda}.

As a minimum of finitely many linear functions, m is concave, piecewise linear and continuous. Six facts follow, which
chapter 2 proves.

1. *Piecewise affine and continuous*: so is the difference of two such functions (`piecewise_affine`).
2. *Lipschitz* with diam(S)/λ; the elements of S that are *seen* suffice (`continuity`).
3. *Gradient*: where the minimisers at :math:`\mathbf{y}` and :math:`\mathbf{y} + \lambda\mathbf{c}` are unique,
   :math:`\nabla f_\lambda = (\mathbf{s}_\lambda - \mathbf{s})/\lambda`, as Algorithm 1 returns (`gradient`).
4. *Bracket*: :math:`\mathbf{c} \cdot \mathbf{s}_\lambda \le f_\lambda(\mathbf{y}) \le \mathbf{c} \cdot \mathbf{s}`
   (`bracket`).
5. *Agreement*: :math:`f_\lambda = f` if and only if :math:`\mathbf{s}` still minimises at :math:`\mathbf{y} +
   \lambda\mathbf{c}`.
6. *Nested*: who agrees at λ agrees at every smaller λ. So the share of agreeing points rises to 1 as λ → 0, but for
   ties (`agreement_region`).

Each function examines one fact for a given solver and returns a frozen certificate: ``holds``, the worst violation
seen, and ``verify()``, which calls the solver again. All compare the solver's answers with each other, too: none may be
beaten, at its own point, by one given elsewhere. So a solver that does not minimise is found out, though its
:math:`f_\lambda` may look smooth (a maximiser's does). Tolerances are bounds for rounding. Any minimiser of tied ones
will do, but for `gradient`. Input that is not finite, of another shape or out of range raises ValueError or TypeError.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankbook.ch02_blackbox_differentiation.solver_probe import Array, Probe, Solver, vector

__all__ = [
    "Agreement",
    "Bracket",
    "Continuity",
    "Gradient",
    "PiecewiseAffine",
    "agreement_region",
    "bracket",
    "continuity",
    "gradient",
    "piecewise_affine",
]


@dataclass(frozen=True, kw_only=True, eq=False)
class Finding:
    """What all certificates share."""

    #: By how much, at worst, one of the solver's answers is beaten at its own point by another one seen (0 is ideal).
    unbeaten: float
    tolerance: float  #: Bound for the rounding of ``z · s``.
    #: worst, allowed: the largest violation of the statement that was seen, and what rounding alone may explain of it.
    worst: float
    allowed: float
    again: Callable[[], Any] = field(repr=False)  #: Repeats the examination.

    @property
    def minimising(self) -> bool:
        """Whether no answer of the solver is beaten by another of its answers."""
        return self.unbeaten <= self.tolerance

    @property
    def holds(self) -> bool:
        """Whether the statement held wherever it was examined, and the solver minimises."""
        return self.minimising and self.worst <= self.allowed

    def verify(self) -> bool:
        """Examine the solver again, and demand that all findings come out the same and that the statement holds."""
        fresh = self.again()
        names = [entry.name for entry in fields(self) if entry.name != "again"]
        same = all(np.array_equal(getattr(self, name), getattr(fresh, name), equal_nan=True) for name in names)
        return bool(same and fresh.holds and self.holds)


@dataclass(frozen=True, kw_only=True, eq=False)
class Continuity(Finding):
    """Finding of `continuity`; ``worst`` is by how much a step exceeds ``lipschitz`` times its length."""

    #: times, values, shape (steps + 1,): where on the segment (0 is the start, 1 the end), and :math:`f_\lambda` there.
    times: Array
    values: Array
    lipschitz: float  #: The constant, per unit of distance, that the step sizes were held against.


def continuity(
    solver: Solver, gradient: ArrayLike, lam: float, start: ArrayLike, end: ArrayLike, *, steps: int = 200
) -> Continuity:
    r"""Hold the steps of :math:`f_\lambda` along a segment against its Lipschitz constant, diam(S)/λ.

    Parameters
    ----------
    solver : callable
        ``solver(y)`` minimises ``y · s`` over a finite set; ndarray (n,) to (n,).
    gradient : array_like, shape (n,)
        Coefficients **c** of the linear loss: the incoming gradient of Algorithm 1.
    lam : float
        Length of the step, > 0.
    start, end : array_like, shape (n,)
        The segment.
    steps : int
        How many equal steps it is cut into, ≥ 1.

    Notes
    -----
    A jump larger than the constant times one step shows as ``worst > allowed``. 2(steps + 1) calls of the solver,
    O(steps² · n) to compare its answers. Explained in chapter 2.
    Source: RaMBO Eq. 9; RaMBO Eq. 10.

    >>> ranking = lambda y: 1.0 + np.argsort(np.argsort(-y, kind="stable"))
    >>> finding = continuity(ranking, [1.0, 0.0], 2.0, [0.0, 1.0], [2.0, 1.0])
    >>> finding.holds, round(finding.lipschitz, 3)
    (True, 0.707)
    """
    if steps < 1:
        raise ValueError(f"steps must be >= 1, got {steps}")
    a, b = vector(start, "start"), vector(end, "end", like=start)
    times = np.linspace(0, 1, steps + 1)
    probe = Probe(solver, gradient, lam, a + times[:, None] * (b - a))
    values = probe.values(probe.points)
    lipschitz = probe.diameter() / probe.lam
    lengths = np.linalg.norm(np.diff(probe.points, axis=0), axis=1)
    worst = float((np.abs(np.diff(values)) - lipschitz * lengths).max())
    allowed = 4 * probe.rounding() / probe.lam
    shared = probe.shared(partial(continuity, solver, gradient, lam, start, end, steps=steps))
    return Continuity(**shared, times=times, values=values, lipschitz=lipschitz, worst=worst, allowed=allowed)


@dataclass(frozen=True, kw_only=True, eq=False)
class PiecewiseAffine(Finding):
    """Finding of `piecewise_affine`; ``worst`` is the distance from chord and slope within a piece."""

    #: breakpoints, values, shape (pieces + 1,): both ends and all breakpoints as times in [0, 1], and :math:`f_\lambda`
    #: there.
    breakpoints: Array
    values: Array
    #: Shape (pieces,): what Algorithm 1 returns within each piece, times end − start.
    slopes: Array
    complete: bool  #: False if the search was given up because the answers do not fit a concave function or never end.

    @property
    def pieces(self) -> int:
        """Number of affine pieces found."""
        return len(self.slopes)

    @property
    def holds(self) -> bool:
        """Whether it is affine between breakpoints, with Algorithm 1's slope, and the solver minimises."""
        return super().holds and self.complete


def piecewise_affine(
    solver: Solver, gradient: ArrayLike, lam: float, start: ArrayLike, end: ArrayLike
) -> PiecewiseAffine:
    r"""Find all breakpoints of :math:`f_\lambda` along a segment, and check that it is affine in between.

    The parameters are those of `continuity`. m is concave along a segment, so the lines of the answers at both ends
    meet in between; either the answer there lies on both lines, and this is the only breakpoint, or it lies below, and
    each half is treated alike. Breakpoints are exact up to rounding; beyond 10,000 the search is given up. Two calls of
    the solver a piece, for m at the scores and at the shifted scores each. Explained in chapter 2.
    Source: RaMBO Eq. 10; RaMBO Fig. 1.

    >>> ranking = lambda y: 1.0 + np.argsort(np.argsort(-y, kind="stable"))
    >>> finding = piecewise_affine(ranking, [1.0, 0.0], 1.0, [-1.0, 1.0], [3.0, 1.0])
    >>> finding.holds, finding.breakpoints.tolist(), finding.values.tolist()
    (True, [0.0, 0.25, 0.5, 1.0], [2.0, 2.0, 1.0, 1.0])
    """
    a, b = vector(start, "start"), vector(end, "end", like=start)
    probe = Probe(solver, gradient, lam, np.stack([a, b]))
    own, ok = probe.breakpoints(a, b)
    shifted, shifted_ok = probe.breakpoints(a + probe.shift, b + probe.shift)
    times = np.unique(np.concatenate([own, shifted]))
    inner = times[1:-1]
    apart = (np.diff(times[:-1]) > 1e-12) & (inner < 1 - 1e-12)
    times = np.concatenate([[0.0], inner[apart], [1.0]])
    values = probe.values(a + times[:, None] * (b - a))
    worst, slopes = 0.0, np.zeros(len(times) - 1)
    for k, (left, right) in enumerate(pairwise(times)):
        inside = left + (right - left) * np.array([0.21, 0.5, 0.83])
        points = a + inside[:, None] * (b - a)
        chord = np.interp(inside, [left, right], values[k : k + 2])
        slopes[k] = probe.algorithm_1(points[1]) @ (b - a)
        rise = abs(values[k + 1] - values[k] - slopes[k] * (right - left))
        worst = max(worst, float(np.abs(probe.values(points) - chord).max()), float(rise))
    return PiecewiseAffine(
        **probe.shared(partial(piecewise_affine, solver, gradient, lam, start, end)),
        breakpoints=times,
        values=values,
        slopes=slopes,
        worst=worst,
        allowed=8 * probe.rounding() / probe.lam + 1e-12 * float(np.abs(slopes).max()),
        complete=ok and shifted_ok,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Gradient(Finding):
    """Finding of `gradient`; ``worst`` is the largest difference between the two, nan if all points were skipped."""

    #: differences, claimed, shape (m, n): central differences, nan where skipped, and the gradients beside them.
    differences: Array
    claimed: Array
    differentiable: NDArray[np.bool_]  #: Shape (m,): False for points that were skipped.

    @property
    def skipped(self) -> int:
        """Number of points at which the answers were not seen to be constant, about which nothing is said."""
        return int((~self.differentiable).sum())

    @property
    def holds(self) -> bool:
        """Whether something was compared, all of it agrees, and the solver minimises."""
        return bool(self.differentiable.any()) and super().holds


def gradient(
    solver: Solver,
    gradient: ArrayLike,
    lam: float,
    points: ArrayLike,
    *,
    claimed: Callable[[Array], ArrayLike] | None = None,
    step: float = 1e-3,
) -> Gradient:
    r"""Compare central differences of :math:`f_\lambda` with the gradient that Algorithm 1 returns.

    Parameters
    ----------
    solver, gradient, lam
        As in `continuity`.
    points : array_like, shape (n,) or (m, n)
    claimed : callable, optional
        The gradient to be examined; ndarray (n,) to (n,). Default: :math:`(\mathbf{s}_\lambda - \mathbf{s})/\lambda`.
    step : float
        First step to try, > 0. It is shortened tenfold, up to five times, until the solver answers the same on both
        sides in every coordinate. A point where it never does is skipped: a tie, or one too near.

    Notes
    -----
    It does not hold if all points are skipped. The function is affine between points with the same pair of answers, so
    the differences are exact up to rounding. O(m · n) calls of the solver. Explained in chapter 2.
    Source: RaMBO Eq. 10; RaMBO Alg. 1.

    >>> ranking = lambda y: 1.0 + np.argsort(np.argsort(-y, kind="stable"))
    >>> finding = gradient(ranking, [1.0, 0.0], 2.0, [[0.5, 1.5], [1.0, 1.0]])
    >>> finding.holds, finding.claimed[0].tolist(), finding.skipped
    (True, [-0.5, 0.5], 1)
    """
    if not step > 0:
        raise ValueError(f"step must be > 0, got {step}")
    probe = Probe(solver, gradient, lam, points)
    differences = np.full(probe.points.shape, np.nan)
    shortest = step
    for i, y in enumerate(probe.points):
        for h in step * 0.1 ** np.arange(6):
            around = y + h * np.concatenate([np.eye(len(y)), -np.eye(len(y))])
            if probe.constant(np.vstack([y, around])):
                up, down = np.split(probe.values(around), 2)
                differences[i] = (up - down) / (2 * h)
                shortest = min(shortest, float(h))
                break
    claim = probe.algorithm_1 if claimed is None else claimed
    stated = np.stack([vector(claim(y.copy()), "claimed(point)", like=y) for y in probe.points])
    differentiable = ~np.isnan(differences[:, 0])
    errors = np.abs(differences - stated)[differentiable]
    return Gradient(
        **probe.shared(partial(_gradient, solver, gradient, lam, points, claimed=claimed, step=step)),
        differences=differences,
        claimed=stated,
        differentiable=differentiable,
        worst=float(errors.max()) if errors.size else float("nan"),
        allowed=4 * probe.rounding() / (probe.lam * shortest),
    )


_gradient = gradient  # whose own name is that of its parameter in there


@dataclass(frozen=True, kw_only=True, eq=False)
class Bracket(Finding):
    """Finding of `bracket`; ``worst`` is the largest distance outside the bracket."""

    #: lower, values, upper, shape (m,): :math:`\mathbf{c} \cdot \mathbf{s}_\lambda`, :math:`f_\lambda`,
    #: :math:`\mathbf{c} \cdot \mathbf{s}`.
    lower: Array
    values: Array
    upper: Array


def bracket(solver: Solver, gradient: ArrayLike, lam: float, points: ArrayLike) -> Bracket:
    r"""Check :math:`\mathbf{c} \cdot \mathbf{s}_\lambda \le f_\lambda(\mathbf{y}) \le \mathbf{c} \cdot \mathbf{s}`.

    The parameters are those of `gradient`. 2m calls of the solver, O(m² · n) to compare its answers.
    Explained in chapter 2.
    Source: RaMBO Eq. 10; RaMBO Sec. 3.2.

    >>> ranking = lambda y: 1.0 + np.argsort(np.argsort(-y, kind="stable"))
    >>> finding = bracket(ranking, [1.0, 0.0], 2.0, [0.5, 1.5])
    >>> finding.holds, finding.lower.tolist(), finding.values.tolist(), finding.upper.tolist()
    (True, [1.0], [1.5], [2.0])
    """
    probe = Probe(solver, gradient, lam, points)
    values = probe.values(probe.points)
    upper = np.array([probe.c @ probe.solve(y) for y in probe.points])
    lower = np.array([probe.c @ probe.solve(y + probe.shift) for y in probe.points])
    worst = float(np.maximum(lower - values, values - upper).max())
    allowed = 4 * probe.rounding() / probe.lam
    shared = probe.shared(partial(bracket, solver, gradient, lam, points))
    return Bracket(**shared, lower=lower, values=values, upper=upper, worst=worst, allowed=allowed)


@dataclass(frozen=True, kw_only=True, eq=False)
class Agreement(Finding):
    """Finding of `agreement_region`; ``worst`` counts where agreement is lost at the next smaller λ."""

    lams: Array  #: Shape (l,): sorted from the largest to the smallest.
    agrees: NDArray[np.bool_]  #: Shape (l, m): whether :math:`f_\lambda = f` at each point.
    shares: Array  #: Shape (l,): share of the points that agree.

    @property
    def reaches_one(self) -> bool:
        """Whether all points agree at the smallest λ examined; so they do if it is small enough and none is a tie."""
        return bool(self.shares[-1] == 1)


def agreement_region(solver: Solver, gradient: ArrayLike, lams: Sequence[float], points: ArrayLike) -> Agreement:
    r"""Measure where :math:`f_\lambda` equals the staircase f, for a falling λ, and whether the points nest (fact 6).

    The parameters are those of `gradient`, but one or more ``lams``, in any order. Agreement means that the gap,
    :math:`\lambda (f - f_\lambda)`, is no larger than its rounding. O(l · m) calls of the solver, O((l · m)² · n) to
    compare its answers. A point with several minimisers may never agree. Explained in chapter 2.
    Source: RaMBO Eq. 10; RaMBO Fig. 1.

    >>> ranking = lambda y: 1.0 + np.argsort(np.argsort(-y, kind="stable"))
    >>> finding = agreement_region(ranking, [1.0, 0.0], [4.0, 0.5, 0.1], [[0.0, 1.0], [0.0, 0.2], [1.0, 0.0]])
    >>> finding.holds, finding.shares.round(2).tolist(), finding.reaches_one
    (True, [0.33, 0.67, 1.0], True)
    """
    if len(lams) == 0:
        raise ValueError("lams must have at least one entry, got none")
    falling = sorted((float(lam) for lam in lams), reverse=True)
    probes = [Probe(solver, gradient, lam, points) for lam in falling]
    gaps = np.array([[(y + p.shift) @ p.solve(y) - p.least(y + p.shift) for y in p.points] for p in probes])
    pool = probes[0]
    for probe in probes[1:]:
        pool.seen.update(probe.seen)
    agrees = gaps <= 4 * pool.rounding()
    shared = pool.shared(partial(agreement_region, solver, gradient, lams, points))
    lost = float((agrees[:-1] & ~agrees[1:]).sum())
    shares = agrees.mean(axis=1)
    return Agreement(**shared, lams=np.array(falling), agrees=agrees, shares=shares, worst=lost, allowed=0.0)
