"""The certificates of `rankedu.proofs.interpolation`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


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
        same = all(
            np.array_equal(getattr(self, entry.name), getattr(fresh, entry.name), equal_nan=True)
            for entry in fields(self)
            if entry.name != "again"
        )
        return bool(same and fresh.holds and self.holds)


@dataclass(frozen=True, kw_only=True, eq=False)
class Continuity(Finding):
    """Finding of `continuity`; ``worst`` is by how much a step exceeds ``lipschitz`` times its length."""

    #: times, values, shape (steps + 1,): where on the segment (0 is the start, 1 the end), and :math:`f_\lambda` there.
    times: Array
    values: Array
    lipschitz: float  #: The constant, per unit of distance, that the step sizes were held against.


@dataclass(frozen=True, kw_only=True, eq=False)
class PiecewiseAffine(Finding):
    """Finding of `piecewise_affine`; ``worst`` is the distance from chord and slope within a piece."""

    #: breakpoints, values, shape (pieces + 1,): both ends and all breakpoints as times in [0, 1], and :math:`f_\lambda`
    #: there.
    breakpoints: Array
    values: Array
    #: Shape (pieces,): :math:`(\mathbf{s}_\lambda - \mathbf{s})/\lambda \cdot (\text{end} - \text{start})` within each
    #: piece.
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


@dataclass(frozen=True, kw_only=True, eq=False)
class Gradient(Finding):
    """Finding of `gradient`; ``worst`` is the largest difference between the two, nan if all points were skipped."""

    #: differences, claimed, shape (m, n): central differences (nan where skipped) and the gradients they are compared
    #: with.
    differences: Array
    claimed: Array
    #: Shape (m,): False for points skipped because the answers were not seen to be constant around them, at any step
    #: tried.
    differentiable: NDArray[np.bool_]

    @property
    def skipped(self) -> int:
        """Number of points at which the answers were not seen to be constant, about which nothing is said."""
        return int((~self.differentiable).sum())

    @property
    def holds(self) -> bool:
        """Whether something was compared, all of it agrees, and the solver minimises."""
        return bool(self.differentiable.any()) and super().holds


@dataclass(frozen=True, kw_only=True, eq=False)
class Bracket(Finding):
    """Finding of `bracket`; ``worst`` is the largest distance outside the bracket."""

    #: lower, values, upper, shape (m,): :math:`\mathbf{c} \cdot \mathbf{s}_\lambda`, :math:`f_\lambda`,
    #: :math:`\mathbf{c} \cdot \mathbf{s}`.
    lower: Array
    values: Array
    upper: Array


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
