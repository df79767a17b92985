"""A ranking's true loss and the loss that counts with a step, both exactly: which is larger?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rankedu.proofs._exact import exact_scores
from rankedu.proofs._steps import DIGITS, MOST_DIGITS, Infimum, Interval, Step, hard_loss, surrogate_loss

__all__ = ["Comparison", "compare", "compare_checked"]


@dataclass(frozen=True)
class Comparison:
    """A ranking's two losses, exactly. Made by `compare`.

    Attributes
    ----------
    scores, relevance : tuple of Fraction, length n
    step : Step
        The setting of the ranker.
    lower : Infimum or None
        The setting of the step in the numerator.
    ties : str
        The order of tied items in ``hard``.
    hard : Fraction
        1 − H-AP; 1 − AP if all relevances are 0 or 1.
    surrogate : Interval
        Bounds of the loss that counts with the step, narrow enough to tell it from ``hard``.
    """

    scores: tuple[Fraction, ...]
    relevance: tuple[Fraction, ...]
    step: Step
    lower: Infimum | None
    ties: str
    hard: Fraction
    surrogate: Interval

    @property
    def holds(self) -> bool:
        """Whether the surrogate is at least the true loss."""
        return self.surrogate.low >= self.hard

    def verify(self) -> bool:
        """Compute both losses again, the surrogate to twice as many digits, and demand that they fit.

        Returns
        -------
        bool
            True if ``hard`` is right, ``surrogate`` holds the new bounds, and both give the same verdict.

        Notes
        -----
        O(n²) exact operations. Explained in chapter 14.

        Examples
        --------
        >>> compare([0.5, 0.25], [0, 1]).verify()
        True
        """
        try:
            return _verify(self)
        except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError):
            return False


def _verify(found: Comparison) -> bool:
    claimed, (below, above) = found.hard, found.surrogate
    if not all(type(value) is Fraction for value in (*found.scores, *found.relevance, claimed, below, above)):
        return False
    if hard_loss(found.scores, found.relevance, found.ties) != claimed:
        return False
    for digits in (2 * DIGITS, 2 * MOST_DIGITS):
        low, high = surrogate_loss(found.scores, found.relevance, found.step, found.lower, digits)
        if below <= low <= high <= above:
            return low >= claimed if found.holds else above < claimed
        if high < below or above < low:
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
    r"""Compare a ranking's true loss with the loss that counts with a step, exactly.

    Parameters
    ----------
    scores, relevance : iterable of int, float, Fraction or Decimal; array or tensor, shape (n,)
        Finite; the relevance is ≥ 0, and not 0 for all. A float is taken as the exact binary fraction that it is.
    temperature, slope, delta, offset, start : number
        The setting of the `SupremumRanker`: ``**PRESETS["happier_inat"]`` is a published one.
    below, above : number, optional
        The setting of the `InfimumStep` in the numerator. Default: it is hard.
    ties : {"optimistic", "pessimistic"}
        In the true loss, tied items stand with the largest relevance first, or last.

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError, TypeError
        For numbers that are none or out of range, tuples of unequal length, or an unknown ``ties``.
    ArithmeticError
        If thousands of digits do not tell the losses apart: σ(x) + σ(−x) = 1 can make them equal.

    Source
    ------
    HAPPIER Eq. 5.

    Notes
    -----
    O(n²) exact operations. Ties in the surrogate: see the head of :mod:`~rankedu.proofs.bounds`. Explained in chapter
    14.

    Examples
    --------
    >>> found = compare([1, 0.766, 0.767, -1], [1, 1, 0, 0], offset=1, start=0)  # the iNaturalist setting
    >>> found.hard, round(float(found.surrogate.high), 4), found.holds
    (Fraction(1, 6), 0.104, False)
    """
    y, rel = exact_scores(scores), exact_scores(relevance)
    if len(y) != len(rel):
        raise ValueError(f"relevance must have one entry a score, expected {len(y)}, got {len(rel)}")
    if min(rel) < 0 or not any(rel):
        raise ValueError(f"relevance must be >= 0 and not 0 for all items, got {[float(r) for r in rel]}")
    if ties not in ("optimistic", "pessimistic"):
        raise ValueError(f"ties must be one of 'optimistic', 'pessimistic', got {ties!r}")
    if (below is None) != (above is None):
        raise ValueError("below and above must be given together, got one of them (or leave out both)")
    step = Step.exact(temperature, slope, delta, offset, start)
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
