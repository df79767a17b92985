"""The step of HAPPIER and ROADMAP between exact bounds, and the losses that count with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any, NamedTuple

__all__ = ["Infimum", "Interval", "Step", "hard_loss", "sigmoid", "surrogate_loss"]

#: Beyond this argument, exp(-10000), the sigmoid is only known to lie between 0 and its value here.
FAR = 10_000
#: Digits of the bounds; more are taken where these do not decide, up to the second number.
DIGITS, MOST_DIGITS = 30, 2000
HALF = Fraction(1, 2)


class Interval(NamedTuple):
    """Two exact numbers with the true one between them; equal if it is rational and known."""

    low: Fraction
    high: Fraction

    def __str__(self) -> str:
        return str(self.low) if self.low == self.high else f"{float(self.low):.4f}…"


def exactly(value: Fraction) -> Interval:
    return Interval(value, value)


def sigmoid(x: Fraction, digits: int) -> Interval:
    """Bounds of 1/(1 + exp(−x)) to about so many digits; the sigmoid of a rational x ≠ 0 is never rational."""
    if x == 0:
        return exactly(HALF)
    if abs(x) > FAR:
        low = sigmoid(Fraction(FAR), digits).low
        return Interval(low, Fraction(1)) if x > 0 else Interval(Fraction(0), 1 - low)
    down, up = (_context(digits, rounding) for rounding in (ROUND_FLOOR, ROUND_CEILING))
    numerator, denominator = Decimal(-x.numerator), Decimal(x.denominator)
    # Decimal's exp is correctly rounded, to nearest in any context: one unit more on each side is a bound.
    least = down.next_minus(down.exp(down.divide(numerator, denominator)))
    most = up.next_plus(up.exp(up.divide(numerator, denominator)))
    return Interval(1 / (1 + Fraction(most)), 1 / (1 + Fraction(least)))


def _context(digits: int, rounding: str) -> Context:
    return Context(prec=digits, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX)


@dataclass(frozen=True)
class Step:
    """The setting of a `SupremumRanker`, exactly; ``offset=None`` joins the last two parts."""

    temperature: Fraction
    slope: Fraction
    delta: Fraction
    offset: Fraction | None
    start: Fraction

    @classmethod
    def exact(cls, temperature: Any, slope: Any, delta: Any, offset: Any, start: Any) -> Step:
        """Check the parameters and take each float as the binary fraction that it is."""
        step = cls(
            _number(temperature, "temperature", "> 0"),
            _number(slope, "slope"),
            _number(delta, "delta"),
            None if offset is None else _number(offset, "offset"),
            _number(start, "start"),
        )
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
            begin = self.begin(digits)
            return Interval(*(self.slope * (x - self.delta) + value for value in begin))
        value = sigmoid(x / self.temperature, digits)
        return value if x <= 0 else Interval(self.start + value.low, self.start + value.high)

    def end(self, digits: int) -> Interval:
        """Bounds of the sigmoid's part at δ, or just above 0 if δ is 0."""
        value = sigmoid(self.delta / self.temperature, digits)
        return Interval(self.start + value.low, self.start + value.high)

    def begin(self, digits: int) -> Interval:
        """Bounds of the affine part at δ."""
        return self.end(digits) if self.offset is None else exactly(self.offset)


@dataclass(frozen=True)
class Infimum:
    """The setting of an `InfimumStep`, exactly."""

    below: Fraction
    above: Fraction

    @classmethod
    def exact(cls, below: Any, above: Any) -> Infimum:
        return cls(_number(below, "below"), _number(above, "above"))

    def at(self, x: Fraction) -> Fraction:
        return min(self.above * x + HALF, Fraction(1)) if x > 0 else self.below * x


def _number(value: Any, name: str, bound: str = ">= 0") -> Fraction:
    try:
        if isinstance(value, (str, bytes, bool)):
            raise TypeError
        number = Fraction(value)
    except TypeError:
        raise TypeError(f"{name} must be a number, got {value!r}") from None
    except (ValueError, OverflowError):
        raise ValueError(f"{name} must be finite, got {value!r}") from None
    if number < 0:
        raise ValueError(f"{name} must be {bound}, got {value!r}")
    return number


def hard_loss(scores: Sequence[Fraction], relevance: Sequence[Fraction], ties: str) -> Fraction:
    """Compute 1 − H-AP of the ranking, by the definition (HAPPIER Eq. 2–3); 1 − AP if all relevances are 0 or 1.

    Tied items stand in the order of their relevance: the larger first ("optimistic") or last ("pessimistic").
    """
    sign = -1 if ties == "optimistic" else 1
    order = sorted(range(len(scores)), key=lambda i: (-scores[i], sign * relevance[i], i))
    total = Fraction(0)
    for place, k in enumerate(order):
        h_rank = relevance[k] + sum((min(relevance[k], relevance[j]) for j in order[:place]), Fraction(0))
        total += h_rank / (place + 1)
    return 1 - total / sum(relevance)


def surrogate_loss(
    scores: Sequence[Fraction], relevance: Sequence[Fraction], step: Step, lower: Infimum | None, digits: int
) -> Interval:
    """Bound the loss in which an item of strictly lower relevance counts with the step, and with `lower` a higher one.

    All others are counted: of equal relevance with H(0) = 1, and a tied item of higher relevance stands above.
    """
    low = high = Fraction(0)
    for k in (i for i, value in enumerate(relevance) if value > 0):
        h_rank = relevance[k] + sum(_h_ranks(scores, relevance, k, lower), Fraction(0))
        ranks = [Fraction(1)] * 2
        for j in (j for j in range(len(scores)) if j != k):
            x = scores[j] - scores[k]
            value = step.at(x, digits) if relevance[j] < relevance[k] else exactly(Fraction(x >= 0))
            ranks = [ranks[0] + value.low, ranks[1] + value.high]
        ratios = [h_rank / rank for rank in ranks]
        low, high = low + min(ratios), high + max(ratios)
    total = sum(relevance)
    return Interval(1 - high / total, 1 - low / total)


def _h_ranks(
    scores: Sequence[Fraction], relevance: Sequence[Fraction], k: int, lower: Infimum | None
) -> Iterator[Fraction]:
    """What each other item adds to the H-rank of item k."""
    for j in (j for j in range(len(scores)) if j != k):
        x, shared = scores[j] - scores[k], min(relevance[k], relevance[j])
        if relevance[j] < relevance[k]:
            yield shared * (x > 0)
        elif relevance[j] > relevance[k] and lower is not None:
            yield shared * lower.at(x)
        else:
            yield shared * (x >= 0)
