r"""When does a loss that counts with a step lie above 1 − AP, or 1 − H-AP? Decided exactly, for any setting.

Without ties, the loss is at least 1 − H-AP (so at least 1 − AP) for every ranking and every relevance if and only if
step(x) ≥ 1 for all x > 0; chapter 14 proves it. The step's parts rise, so two conditions decide: start + 1/2 ≥ 1 just
above 0, and offset ≥ 1 at δ. The first makes the step jump at 0: **no setting is both an upper bound and continuous**.
The sigmoid of a rational number other than 0 is transcendental (Lindemann), so an offset that is a number never meets
it at δ > 0: only ``offset=None`` does.

A tied item of lower level counts σ(0) = 1/2, whatever the setting: the bound is then that of the ranking in which the
higher level stands first. Tied items of one level count each other, as no ranking does, and the bound fails.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rankedu.proofs._comparison import Comparison, compare, compare_checked
from rankedu.proofs._exact import import_sympy, verdict
from rankedu.proofs._steps import DIGITS, HALF, MOST_DIGITS, Infimum, Interval, Step, interval

__all__ = [
    "Comparison",
    "Jump",
    "LowerBound",
    "Piece",
    "RatioLemma",
    "UpperBound",
    "compare",
    "lower_bound",
    "ratio_lemma",
    "upper_bound",
]


@dataclass(frozen=True)
class Piece:
    """One part of a step, held against the Heaviside function."""

    where: str  #: The part of the line, such as "x > delta".
    extreme: Interval  #: Infimum of an upper, supremum of a lower step there, a limit at one end.
    heaviside: int  #: H(x) there.
    holds: bool  #: Whether the step is on its side of H there.
    witness: Fraction | None  #: An x where it is not.


@dataclass(frozen=True)
class Jump:
    """Where a step is not continuous: the limit from the left, which is its value there, and that from the right."""

    at: Fraction
    left: Interval
    right: Interval

    @property
    def up(self) -> bool:
        return self.left.high < self.right.low


@dataclass(frozen=True)
class UpperBound:
    """Whether a setting of the `SupremumRanker` keeps the bound. Made by `upper_bound`."""

    step: Step
    pieces: tuple[Piece, ...]  #: The parts of the step for x ≠ 0.
    jumps: tuple[Jump, ...]  #: All places where it is not continuous.
    #: Rankings whose loss is below the true one, without ties: for AP, and for H-AP with two levels. Empty if the bound
    #: holds.
    counterexamples: tuple[Comparison, ...]
    #: What ties do, whatever the setting: an irrelevant item tied with a relevant one, which the true loss puts first;
    #: and tied relevant items.
    tied: tuple[Comparison, ...]

    @property
    def holds(self) -> bool:
        """Whether loss ≥ 1 − H-AP for all rankings without ties."""
        return all(piece.holds for piece in self.pieces)

    @property
    def continuous(self) -> bool:
        """Whether the step has no jump."""
        return not self.jumps

    @property
    def monotone(self) -> bool:
        """Whether the step never falls."""
        return all(jump.up for jump in self.jumps)

    @verdict
    def verify(self) -> bool:
        """Decide again, and compute every counter-example again: each must be a violation."""
        examples = (*self.counterexamples, *self.tied)
        same = self == _upper_bound(self.step) and self.holds == (not self.counterexamples)
        return same and all(example.verify() and not example.holds for example in examples)

    def explain(self) -> str:
        """Write the proof, or the counter-example, line by line.

        >>> print(upper_bound(offset=1.44).explain())
        x < 0: step > 0, H = 0: holds
        0 < x <= delta: step > 1, H = 1: holds
        x > delta: step > 1.44, H = 1: holds
        at 0 it jumps from 0.5 to 1
        at 0.05 it falls from 1.4933 to 1.44
        so the loss is at least 1 - AP and 1 - H-AP, without ties
        """
        lines = []
        for piece in self.pieces:
            verdict = "holds" if piece.holds else f"fails, as at x = {float(piece.witness or 0):.6g}"
            lines.append(f"{piece.where}: step > {_short(piece.extreme)}, H = {piece.heaviside}: {verdict}")
        for jump in self.jumps:
            verb = "jumps" if jump.up else "falls"
            lines.append(f"at {float(jump.at):.6g} it {verb} from {_short(jump.left)} to {_short(jump.right)}")
        if self.holds:
            return "\n".join([*lines, "so the loss is at least 1 - AP and 1 - H-AP, without ties"])
        for example, metric in zip(self.counterexamples, ("AP", "H-AP"), strict=True):
            scores, grades = ([f"{float(v):.6g}" for v in values] for values in (example.scores, example.relevance))
            lines.append(
                f"scores {', '.join(scores)} of relevance {', '.join(grades)}: "
                f"loss {_short(example.surrogate)} < 1 - {metric} = {float(example.hard):.5g}"
            )
        return "\n".join(lines)


def upper_bound(
    temperature: Any = 0.01, slope: Any = 100, delta: Any = 0.05, offset: Any = None, start: Any = 0.5
) -> UpperBound:
    """Decide whether a setting of the `SupremumRanker` keeps the bound, and prove it, or give a counter-example.

    The parameters are those of :class:`~rankedu.rankers.SupremumRanker`: ``upper_bound(**PRESETS["happier"])``. A float
    is taken as the exact binary fraction that it is. Sigmoids are known between bounds of 30 or more digits.
    Explained in chapter 14.
    Raises ValueError or TypeError for a parameter that is not a finite number, or out of range.
    Source: HAPPIER Sec. 3.2.

    >>> bound = upper_bound()
    >>> bound.holds, bound.monotone, bound.continuous
    (True, True, False)
    >>> print(upper_bound(offset=1, start=0).explain().splitlines()[-1])
    scores 0.0025, 0 of relevance 1, 2: loss 0.026534 < 1 - H-AP = 0.16667
    """
    return _upper_bound(Step.exact(temperature=temperature, slope=slope, delta=delta, offset=offset, start=start))


def _upper_bound(step: Step) -> UpperBound:
    pieces = [Piece("x < 0", interval(0), 0, True, None)]
    if step.delta > 0:
        witness = None if step.start >= HALF else _near_zero(step)
        pieces.append(Piece("0 < x <= delta", interval(step.start + HALF), 1, witness is None, witness))
    begin = step.begin(_decisive(step, Fraction(1)))
    witness = None if begin.low >= 1 else _beyond_delta(step)
    pieces.append(Piece("x > delta", begin, 1, witness is None, witness))
    witnesses = [piece.witness for piece in pieces if piece.witness is not None]
    grades = [(Fraction(0), Fraction(1)), (Fraction(1), Fraction(2))]
    violations = [compare_checked((x, Fraction(0)), relevance, step) for x in witnesses[:1] for relevance in grades]
    return UpperBound(step, tuple(pieces), _jumps(step), tuple(violations), _tied(step))


def _decisive(step: Step, value: Fraction) -> int:
    """Digits that tell whether start + σ(δ/τ) is at least so much; they end, for the two are equal only if δ = 0."""
    digits = DIGITS
    while step.end(digits).low < value <= step.end(digits).high and digits < MOST_DIGITS:
        digits *= 2
    return digits


def _near_zero(step: Step) -> Fraction:
    """An x in (0, δ] with start + σ(x/τ) < 1: there is one, for the limit at 0 is below 1."""
    x = min(step.delta, step.temperature / 4)
    while step.at(x, DIGITS).high >= 1:
        x /= 2
    return x


def _beyond_delta(step: Step) -> Fraction:
    """An x > δ where the affine part is below 1, as its limit at δ is."""
    missing = 1 - step.begin(_decisive(step, Fraction(1))).high
    return step.delta + (min(Fraction(1), missing / (2 * step.slope)) if step.slope else Fraction(1))


def _jumps(step: Step) -> tuple[Jump, ...]:
    half, begin = interval(HALF), step.begin(DIGITS)
    if step.delta == 0:
        return () if begin == half else (Jump(step.delta, half, begin),)
    jumps = [] if step.start == 0 else [Jump(Fraction(0), half, interval(step.start + HALF))]
    if step.offset is not None:
        jumps.append(Jump(step.delta, step.end(_decisive(step, step.offset)), begin))
    return tuple(jumps)


def _tied(step: Step) -> tuple[Comparison, ...]:
    """An irrelevant item tied with a relevant one; and p tied relevant items just below an irrelevant one."""
    zero, one = Fraction(0), Fraction(1)
    found = [compare_checked((zero, zero), (zero, one), step, ties="pessimistic")]
    above = min(step.delta, step.temperature / 4) or step.temperature / 1000
    for p in (2, 4, 8, 16, 32):
        example = compare_checked((above, *[zero] * p), (zero, *[one] * p), step)
        if not example.holds:
            return (*found, example)
    return tuple(found)


@dataclass(frozen=True)
class LowerBound:
    """That the step in the numerator of H-AP lies below the Heaviside function. Made by `lower_bound`."""

    lower: Infimum
    pieces: tuple[Piece, ...]  #: Its two parts; ``extreme`` is the supremum.
    jumps: tuple[Jump, ...]  #: It jumps from 0 to 1/2 at 0.
    #: A ranking whose loss exceeds 1, as an H-rank is negative: then a larger rank makes the loss *smaller*, and the
    #: gradient pulls items of lower level up. None if ``below`` is 0, when that cannot be.
    above_one: Comparison | None

    @property
    def holds(self) -> bool:
        """Whether the step is at most H everywhere, at 0 for H(0) = 0 too; so it is for all slopes ≥ 0."""
        return all(piece.holds for piece in self.pieces)

    @verdict
    def verify(self) -> bool:
        """Decide again, and compute the example again."""
        example = self.above_one
        sound = example is None or (example.verify() and example.holds and example.surrogate.low > 1)
        return sound and self.holds and self == lower_bound(self.lower.below, self.lower.above)


def lower_bound(below: Any = 10, above: Any = 25) -> LowerBound:
    """Prove that an `InfimumStep` with these slopes lies below the Heaviside function.

    Explained in chapter 14. Raises ValueError or TypeError for a slope that is not a finite number ≥ 0.
    Source: HAPPIER Sec. 3.2.

    >>> proof = lower_bound()
    >>> proof.holds, [str(piece.extreme) for piece in proof.pieces]
    (True, ['0', '1'])
    >>> float(proof.above_one.surrogate.low) > 1  # the price: H-rank can be negative
    True
    """
    lower, zero, one = Infimum.exact(below, above), Fraction(0), Fraction(1)
    largest = one if lower.above else HALF
    pieces = (Piece("x <= 0", interval(zero), 0, True, None), Piece("x > 0", interval(largest), 1, True, None))
    example = None
    if lower.below:
        far = 4 / lower.below  # the H-rank of the item of relevance 1 is then 1 − 4
        step = Step.exact(temperature=0.01, slope=100, delta=0.05, offset=None, start=0.5)
        example = compare_checked((far, zero), (one, Fraction(2)), step, lower)
    return LowerBound(lower, pieces, (Jump(zero, interval(zero), interval(HALF)),), example)


@dataclass(frozen=True)
class RatioLemma:
    """One term of the theorem, as SymPy expressions: a ≤ A and b ≥ B > 0, A ≥ 0 imply a/b ≤ A/B."""

    hard: Any  #: hard, surrogate: A/B and a/b, written with a = A − d and b = B + e, where d, e ≥ 0.
    surrogate: Any
    gap: Any  #: What their difference is claimed to be.

    def verify(self) -> bool:
        """Check the identity, and that the gap, (A e + B d) / (B (B + e)), has no part that can be negative."""
        difference = import_sympy().simplify(self.hard - self.surrogate - self.gap)
        return bool(difference == 0 and self.gap.is_nonnegative)


def ratio_lemma() -> RatioLemma:
    """State that a ratio falls as its numerator falls and its denominator grows, whatever the new numerator's sign.

    A is an H-rank, B a rank. Explained in chapter 14.
    Raises ImportError without SymPy.
    Source: HAPPIER Sec. 3.2.

    >>> ratio_lemma().gap
    (A*e + B*d)/(B*(B + e))
    """
    symbols = import_sympy().symbols
    a, d, e = symbols("A d e", nonnegative=True)
    b = symbols("B", positive=True)
    return RatioLemma(hard=a / b, surrogate=(a - d) / (b + e), gap=(a * e + b * d) / (b * (b + e)))


def _short(interval: Interval) -> str:
    return f"{float(interval.low):.5g}"
