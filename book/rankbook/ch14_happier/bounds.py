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

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rankbook.ch14_happier.exact_steps import (
    DIGITS,
    MOST_DIGITS,
    Infimum,
    Interval,
    Step,
    hard_loss,
    interval,
    surrogate_loss,
)
from rankedu.proofs.exact import exact_numbers, exact_relevance, import_sympy, verdict

__all__ = [
    "Comparison",
    "Jump",
    "LowerBound",
    "Piece",
    "RatioLemma",
    "UpperBound",
    "compare",
    "explain_bound",
    "lower_bound",
    "ratio_lemma",
    "upper_bound",
]

ZERO, HALF, ONE = Fraction(0), Fraction(1, 2), Fraction(1)


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

    Scores and relevance are exact numbers, as many of either; the relevance is ≥ 0, and not 0 for all. The other
    parameters are those of the `SupremumRanker` and, if the step in the numerator is not hard, of the `InfimumStep`.
    With ``ties`` "optimistic" or "pessimistic", tied items stand in the true loss with the largest relevance first, or
    last. O(n²) exact operations. Explained in chapter 14.
    Raises ValueError or TypeError for other input; ArithmeticError if thousands of digits do not tell the losses apart.
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
    return _compare(y, rel, step, None if below is None else Infimum.exact(below, above), ties)


def _compare(
    scores: tuple[Fraction, ...],
    relevance: tuple[Fraction, ...],
    step: Step,
    lower: Infimum | None = None,
    ties: str = "optimistic",
) -> Comparison:
    """The same for checked input, with as many digits as it takes."""
    hard = hard_loss(scores, relevance, ties)
    digits = DIGITS
    while digits <= MOST_DIGITS:
        surrogate = surrogate_loss(scores, relevance, step, lower, digits)
        if not surrogate.low < hard <= surrogate.high:
            return Comparison(scores, relevance, step, lower, ties, hard, surrogate)
        digits *= 2
    raise ArithmeticError(f"scores must give losses that differ, got equal ones to {digits // 2} digits (move a score)")


@dataclass(frozen=True)
class Piece:
    """One part of a step, held against the Heaviside function."""

    where: str  #: The part of the line, such as "x > delta".
    extreme: Interval  #: Infimum of an upper, supremum of a lower step there, a limit at one end.
    heaviside: int  #: H(x) there.
    witness: Fraction | None  #: An x where the step is not on its side of H.

    @property
    def holds(self) -> bool:
        """Whether the step is on its side of H there."""
        return self.witness is None


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
    #: Rankings without ties whose loss is below the true one: for AP, and for H-AP. Empty if the bound holds.
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


def upper_bound(
    temperature: Any = 0.01, slope: Any = 100, delta: Any = 0.05, offset: Any = None, start: Any = 0.5
) -> UpperBound:
    """Decide whether a setting of the `SupremumRanker` keeps the bound, and prove it, or give a counter-example.

    The parameters are those of :class:`~rankedu.rankers.SupremumRanker`: ``upper_bound(**PRESETS["happier"])``. A float
    is the exact binary fraction that it is. Explained in chapter 14.
    Raises ValueError or TypeError for a parameter that is not a finite number, or out of range.
    Source: HAPPIER Sec. 3.2.

    >>> bound = upper_bound()
    >>> bound.holds, bound.monotone, bound.continuous
    (True, True, False)
    >>> [float(score) for score in upper_bound(offset=1, start=0).counterexamples[0].scores]
    [0.0025, 0.0]
    """
    return _upper_bound(Step.exact(temperature=temperature, slope=slope, delta=delta, offset=offset, start=start))


def explain_bound(found: UpperBound) -> str:
    """Write the proof, or the counter-example, line by line.

    >>> print(explain_bound(upper_bound(offset=1.44)))
    x < 0: step > 0, H = 0: holds
    0 < x <= delta: step > 1, H = 1: holds
    x > delta: step > 1.44, H = 1: holds
    at 0 it jumps from 0.5 to 1
    at 0.05 it falls from 1.4933 to 1.44
    so the loss is at least 1 - AP and 1 - H-AP, without ties
    >>> print(explain_bound(upper_bound(offset=1, start=0)).splitlines()[-1])
    scores 0.0025, 0 of relevance 1, 2: loss 0.026534 < 1 - H-AP = 0.16667
    """
    lines = []
    for piece in found.pieces:
        verdict = "holds" if piece.witness is None else f"fails, as at x = {float(piece.witness):.6g}"
        lines.append(f"{piece.where}: step > {_short(piece.extreme.low)}, H = {piece.heaviside}: {verdict}")
    for jump in found.jumps:
        verb = "jumps" if jump.up else "falls"
        lines.append(f"at {float(jump.at):.6g} it {verb} from {_short(jump.left.low)} to {_short(jump.right.low)}")
    if found.holds:
        lines.append("so the loss is at least 1 - AP and 1 - H-AP, without ties")
    for example, metric in zip(found.counterexamples, ("AP", "H-AP"), strict=False):
        scores, grades = (", ".join(f"{float(v):.6g}" for v in x) for x in (example.scores, example.relevance))
        loss = f"loss {_short(example.surrogate.low)} < 1 - {metric} = {_short(example.hard)}"
        lines.append(f"scores {scores} of relevance {grades}: {loss}")
    return "\n".join(lines)


def _short(value: Fraction) -> str:
    return f"{float(value):.5g}"


def _upper_bound(step: Step) -> UpperBound:
    pieces = [Piece("x < 0", interval(0), 0, None)]
    if step.delta > 0:
        witness = None if step.start >= HALF else _near_zero(step)
        pieces.append(Piece("0 < x <= delta", interval(step.start + HALF), 1, witness))
    begin = step.begin(step.decided(ONE))
    witness = None
    if begin.low < 1:  # an x > δ where the affine part is still below 1
        witness = step.delta + (min(ONE, (1 - begin.high) / (2 * step.slope)) if step.slope else ONE)
    pieces.append(Piece("x > delta", begin, 1, witness))
    witnesses = [piece.witness for piece in pieces if piece.witness is not None]
    violations = [_compare((x, ZERO), rel, step) for x in witnesses[:1] for rel in ((ZERO, ONE), (ONE, Fraction(2)))]
    return UpperBound(step, tuple(pieces), _jumps(step), tuple(violations), _tied(step))


def _near_zero(step: Step) -> Fraction:
    """An x in (0, δ] with start + σ(x/τ) < 1: there is one, for the limit at 0 is below 1."""
    x = min(step.delta, step.temperature / 4)
    while step.at(x, DIGITS).high >= 1:
        x /= 2
    return x


def _jumps(step: Step) -> tuple[Jump, ...]:
    half, begin = interval(HALF), step.begin(DIGITS)
    if step.delta == 0:
        return () if begin == half else (Jump(ZERO, half, begin),)
    jumps = [] if step.start == 0 else [Jump(ZERO, half, interval(step.start + HALF))]
    if step.offset is not None:
        jumps.append(Jump(step.delta, step.end(step.decided(step.offset)), begin))
    return tuple(jumps)


def _tied(step: Step) -> tuple[Comparison, ...]:
    """An irrelevant item tied with a relevant one; and p tied relevant items just below an irrelevant one."""
    found = [_compare((ZERO, ZERO), (ZERO, ONE), step, ties="pessimistic")]
    above = min(step.delta, step.temperature / 4) or step.temperature / 1000
    for p in (2, 4, 8, 16, 32):
        example = _compare((above, *[ZERO] * p), (ZERO, *[ONE] * p), step)
        if not example.holds:
            return (*found, example)
    return tuple(found)


@dataclass(frozen=True)
class LowerBound:
    """That the step in the numerator of H-AP lies below the Heaviside function. Made by `lower_bound`."""

    lower: Infimum
    pieces: tuple[Piece, ...]  #: Its two parts; ``extreme`` is the supremum.
    jumps: tuple[Jump, ...]  #: It jumps from 0 to 1/2 at 0.
    #: A ranking whose loss exceeds 1, as an H-rank is negative. None if ``below`` is 0, when that cannot be.
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
    lower = Infimum.exact(below, above)
    largest = interval(ONE if lower.above else HALF)
    pieces = (Piece("x <= 0", interval(ZERO), 0, None), Piece("x > 0", largest, 1, None))
    example = None
    if lower.below:
        far = 4 / lower.below  # the H-rank of the item of relevance 1 is then 1 − 4
        step = Step.exact(temperature=0.01, slope=100, delta=0.05, offset=None, start=0.5)
        example = _compare((far, ZERO), (ONE, Fraction(2)), step, lower)
    return LowerBound(lower, pieces, (Jump(ZERO, interval(ZERO), interval(HALF)),), example)


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

    A is an H-rank, B a rank. Explained in chapter 14. Raises ImportError without SymPy.
    Source: HAPPIER Sec. 3.2.

    >>> ratio_lemma().gap
    (A*e + B*d)/(B*(B + e))
    """
    symbols = import_sympy().symbols
    a, d, e = symbols("A d e", nonnegative=True)
    b = symbols("B", positive=True)
    return RatioLemma(hard=a / b, surrogate=(a - d) / (b + e), gap=(a * e + b * d) / (b * (b + e)))
