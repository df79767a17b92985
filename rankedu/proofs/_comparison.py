"""A ranking's true loss and the loss that counts with a step, both exactly: which is larger?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rankedu.proofs._exact import exact_numbers, exact_relevance, verdict
from rankedu.proofs._steps import DIGITS, MOST_DIGITS, Infimum, Interval, Step, hard_loss, surrogate_loss


@dataclass(frozen=True)
class Comparison:
    """A ranking's two losses, exactly. Made by `compare`."""

    scores: tuple[Fraction, ...]
    relevance: tuple[Fraction, ...]
    step: Step  #: The setting of the ranker.
    lower: Infimum | None  #: The setting of the step in the numerator.
    ties: str  #: The order of tied items in ``hard``.
    hard: Fraction  #: 1 − H-AP; 1 − AP if all relevances are 0 or 1.
    surrogate: Interval  #: Bounds of the loss that counts with the step, narrow enough to tell it from ``hard``.

    @property
    def holds(self) -> bool:
        """Whether the surrogate is at least the true loss."""
        return self.surrogate.low >= self.hard

    @verdict
    def verify(self) -> bool:
        """Compute both losses again, the surrogate to twice as many digits, and demand that they fit; O(n²)."""
        bounds = self.surrogate
        if not all(type(value) is Fraction for value in (*self.scores, *self.relevance, self.hard)):
            return False
        if hard_loss(self.scores, self.relevance, self.ties) != self.hard:
            return False
        for digits in (2 * DIGITS, 2 * MOST_DIGITS):
            found = surrogate_loss(self.scores, self.relevance, self.step, self.lower, digits)
            if bounds.low <= found.low <= found.high <= bounds.high:
                return found.low >= self.hard if self.holds else bounds.high < self.hard
            if found.high < bounds.low or bounds.high < found.low:
                return False
        return False


def compare(
    scores: Iterable[Any],
    relevance: Iterable[Any],
    *,
    temperature: Any = 0.01,
    slope: Any = 100,
    delta: Any = 0.05,
    offset: Any = None,
    start: Any = 0.5,
    below: Any = None,
    above: Any = None,
    ties: str = "optimistic",
) -> Comparison:
    """Compare a ranking's true loss with the loss that counts with a step, exactly.

    Scores and relevance are finite exact numbers, lists of one length; the relevance is ≥ 0, and not 0 for all. The
    other parameters are those of the `SupremumRanker` (``**PRESETS["happier_inat"]`` is a published setting) and, if
    the step in the numerator is not hard, of the `InfimumStep`. With ``ties`` "optimistic" or "pessimistic", tied items
    stand in the true loss with the largest relevance first, or last. For ties in the surrogate see the head of
    :mod:`~rankedu.proofs.bounds`. O(n²) exact operations.
    Explained in chapter 14.
    Raises ValueError or TypeError for numbers that are none or out of range, lists of unequal length, or an unknown
    ``ties``; ArithmeticError if thousands of digits do not tell the losses apart: σ(x) + σ(−x) = 1 can make them equal.
    Source: HAPPIER Eq. 5.

    >>> found = compare([1, 0.766, 0.767, -1], [1, 1, 0, 0], offset=1, start=0)  # the iNaturalist setting
    >>> found.hard, round(float(found.surrogate.high), 4), found.holds
    (Fraction(1, 6), 0.104, False)
    """
    y, rel = exact_numbers(scores, "scores"), exact_relevance(relevance)
    if len(y) != len(rel):
        raise ValueError(f"relevance must have one entry a score, expected {len(y)}, got {len(rel)}")
    if ties not in ("optimistic", "pessimistic"):
        raise ValueError(f"ties must be one of 'optimistic', 'pessimistic', got {ties!r}")
    if (below is None) != (above is None):
        raise ValueError("below and above must be given together, got one of them (or leave out both)")
    step = Step.exact(temperature=temperature, slope=slope, delta=delta, offset=offset, start=start)
    return compare_checked(y, rel, step, None if below is None else Infimum.exact(below, above), ties)


def compare_checked(
    scores: tuple[Fraction, ...],
    relevance: tuple[Fraction, ...],
    step: Step,
    lower: Infimum | None = None,
    ties: str = "optimistic",
) -> Comparison:
    """Do so for checked input, with as many digits as it takes."""
    hard = hard_loss(scores, relevance, ties)
    digits = DIGITS
    while digits <= MOST_DIGITS:
        surrogate = surrogate_loss(scores, relevance, step, lower, digits)
        if not surrogate.low < hard <= surrogate.high:
            return Comparison(scores, relevance, step, lower, ties, hard, surrogate)
        digits *= 2
    raise ArithmeticError(f"scores must give losses that differ, got equal ones to {digits // 2} digits (move a score)")
