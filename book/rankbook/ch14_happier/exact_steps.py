"""The steps of HAPPIER and ROADMAP between exact bounds: `rankedu.reference` in interval arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

from rankedu import reference
from rankedu.proofs.exact import exact_number

#: Beyond this argument, exp(-10000), the sigmoid is only known to lie between 0 and its value here.
FAR = 10_000
#: Digits of the bounds; more are taken where these do not decide, up to the second number.
DIGITS, MOST_DIGITS = 30, 2000


@dataclass(frozen=True)
class Interval:
    """Two exact numbers with the true one between them; equal if it is rational and known. A count is never below 0."""

    low: Fraction
    high: Fraction

    def __str__(self) -> str:
        return str(self.low) if self.low == self.high else f"{float(self.low):.4f}…"

    def __add__(self, other: Any) -> Interval:
        other = interval(other)
        return Interval(self.low + other.low, self.high + other.high)

    __radd__ = __add__

    def __rsub__(self, other: Any) -> Interval:
        return Interval(other - self.high, other - self.low)

    def __truediv__(self, positive: Fraction) -> Interval:
        return Interval(self.low / positive, self.high / positive)

    def __rtruediv__(self, numerator: Fraction) -> Interval:
        return Interval(*sorted((numerator / self.low, numerator / self.high)))


def interval(value: Any) -> Interval:
    """A number that is known, or already an interval."""
    return value if isinstance(value, Interval) else Interval(Fraction(value), Fraction(value))


def sigmoid(x: Fraction, digits: int) -> Interval:
    """Bounds of 1/(1 + exp(−x)) to about so many digits; the sigmoid of a rational x ≠ 0 is never rational."""
    if x == 0:
        return interval(Fraction(1, 2))
    if abs(x) > FAR:
        low = sigmoid(Fraction(FAR), digits).low
        return Interval(low, Fraction(1)) if x > 0 else Interval(Fraction(0), 1 - low)
    down, up = (Context(digits, rounding, MIN_EMIN, MAX_EMAX) for rounding in (ROUND_FLOOR, ROUND_CEILING))
    numerator, denominator = Decimal(-x.numerator), Decimal(x.denominator)
    # Decimal's exp is correctly rounded, to nearest in any context: one unit more on each side is a bound.
    least = down.next_minus(down.exp(down.divide(numerator, denominator)))
    most = up.next_plus(up.exp(up.divide(numerator, denominator)))
    return Interval(1 / (1 + Fraction(most)), 1 / (1 + Fraction(least)))


@dataclass(frozen=True)
class Step:
    """The setting of a `SupremumRanker`, exactly; ``offset=None`` joins the last two parts."""

    temperature: Fraction
    slope: Fraction
    delta: Fraction
    offset: Fraction | None
    start: Fraction

    @classmethod
    def exact(cls, **setting: Any) -> Step:
        """Check the parameters and take each float as the binary fraction that it is."""
        offset = setting.pop("offset")
        exact = {name: exact_number(value, name, least=0) for name, value in setting.items()}
        step = cls(**exact, offset=None if offset is None else exact_number(offset, "offset", least=0))
        if step.temperature == 0:
            raise ValueError("temperature must be finite and > 0, got 0 (0.01 is published)")
        if step.delta > 1000 * step.temperature:
            raise ValueError(
                f"delta must be at most 1000 temperatures, got {float(step.delta):g} with {float(step.temperature):g} "
                "(there the sigmoid differs from 1 in the 435th digit only)"
            )
        return step

    def at(self, x: Fraction, digits: int) -> Interval:
        """Bounds of the step at x."""
        if x > self.delta:
            return self.begin(digits) + self.slope * (x - self.delta)
        return sigmoid(x / self.temperature, digits) + (self.start if x > 0 else 0)

    def end(self, digits: int) -> Interval:
        """Bounds of the sigmoid's part at δ, or just above 0 if δ is 0."""
        return sigmoid(self.delta / self.temperature, digits) + self.start

    def begin(self, digits: int) -> Interval:
        """Bounds of the affine part at δ."""
        return self.end(digits) if self.offset is None else interval(self.offset)

    def decided(self, value: Fraction) -> int:
        """Digits that tell whether start + σ(δ/τ) is at least so much; they end, for equal they are only if δ = 0."""
        digits = DIGITS
        while self.end(digits).low < value <= self.end(digits).high and digits < MOST_DIGITS:
            digits *= 2
        return digits


@dataclass(frozen=True)
class Infimum:
    """The setting of an `InfimumStep`, exactly."""

    below: Fraction
    above: Fraction

    @classmethod
    def exact(cls, below: Any, above: Any) -> Infimum:
        return cls(exact_number(below, "below", least=0), exact_number(above, "above", least=0))

    def at(self, x: Fraction) -> Fraction:
        return Fraction(reference.happier_lower_step(x, self.below, self.above))


def hard_loss(scores: Sequence[Fraction], relevance: Sequence[Fraction], ties: str) -> Fraction:
    """1 − H-AP of the ranking; tied items stand with the larger relevance first ("optimistic") or last."""
    order = sorted(range(len(scores)), key=relevance.__getitem__, reverse=ties == "optimistic")
    y, rel = ([values[i] for i in order] for values in (scores, relevance))
    return 1 - Fraction(reference.hierarchical_average_precision(y, rel))


def surrogate_loss(
    scores: Sequence[Fraction], relevance: Sequence[Fraction], step: Step, lower: Infimum | None, digits: int
) -> Interval:
    """Bounds of the loss in which less relevant items count with the step, and with `lower` the more relevant ones."""
    at = None if lower is None else lower.at
    return interval(reference.happier_loss(scores, relevance, lambda x: step.at(x, digits), at))
