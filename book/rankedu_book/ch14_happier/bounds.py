"""Decide when HAPPIER's loss is at least 1 − H-AP for every ranking without ties, as chapter 14 proves.

Each part of the step rises, so the step is at least 1 for all x > 0 if and only if it is at least 1 just above 0, where
it is start + 1/2, and just beyond δ, where it is the offset. The first condition makes it jump at 0, so no bound is
continuous.
"""

from itertools import product
from typing import Any, NamedTuple

from rankedu import reference
from rankedu.rankers import SupremumRanker


class Piece(NamedTuple):
    """One part of a step, compared with the Heaviside function H."""

    where: str  #: The part of the line, such as "x > delta".
    low: float  #: The infimum of the step, its limit at the left end.
    heaviside: int  #: H(x) there.
    witness: float | None  #: An x where the step is below H.


class Jump(NamedTuple):
    """A place where a step is not continuous, and its limits from the left and from the right."""

    at: float
    left: float
    right: float

    @property
    def up(self) -> bool:
        return self.left < self.right


class UpperBound(NamedTuple):
    """The verdict of `upper_bound` on a setting of the `SupremumRanker`."""

    pieces: tuple[Piece, ...]  #: The parts of the step for x ≠ 0.
    jumps: tuple[Jump, ...]  #: All places where it is not continuous.
    #: Scores and relevance of two items, their loss, and 1 − AP or 1 − H-AP, which is larger; none if the bound holds.
    violations: tuple[tuple[tuple[float, float], tuple[float, float], float, float], ...]

    @property
    def holds(self) -> bool:
        """Whether loss ≥ 1 − H-AP for all rankings without ties."""
        return all(piece.witness is None for piece in self.pieces)

    @property
    def continuous(self) -> bool:
        return not self.jumps

    @property
    def monotone(self) -> bool:
        """Whether the step never falls."""
        return all(jump.up for jump in self.jumps)


def upper_bound(**setting: Any) -> UpperBound:
    """Decide whether a setting of the `SupremumRanker` keeps the bound, or give counter-examples.

    The setting is that of :class:`~rankedu.rankers.SupremumRanker`: ``upper_bound(**PRESETS["happier"])``. Explained in
    chapter 14. Source: HAPPIER Sec. 3.2.

    >>> bound = upper_bound()
    >>> bound.holds, bound.monotone, bound.continuous
    (True, True, False)
    >>> upper_bound(offset=1, start=0).violations[0][0]
    (0.0025, 0.0)
    """
    ranker = SupremumRanker(**setting)
    start, delta, offset = ranker.start, ranker.delta, ranker.offset

    def step(x: float) -> float:
        return float(reference.happier_step(x, ranker.temperature, ranker.rho, delta, offset, start))

    pieces, jumps = [Piece("x < 0", 0.0, 0, None)], [Jump(0.0, 0.5, start + 0.5 if delta else offset)]
    if delta:
        near = min(delta, ranker.temperature / 4)
        while start + 0.5 < 1 <= step(near):
            near /= 2
        pieces.append(Piece("0 < x <= delta", start + 0.5, 1, near if start + 0.5 < 1 else None))
        jumps.append(Jump(delta, offset - ranker.jump, offset))
    beyond = delta + (min(1, (1 - offset) / (2 * ranker.rho)) if ranker.rho else 1)
    pieces.append(Piece("x > delta", offset, 1, beyond if offset < 1 else None))
    pair, violations = [(piece.witness, 0.0) for piece in pieces if piece.witness is not None][:1], []
    for scores, relevance in product(pair, ((0.0, 1.0), (1.0, 2.0))):
        true = 1 - reference.hierarchical_average_precision(scores, relevance)
        violations.append((scores, relevance, reference.happier_loss(scores, relevance, step), true))
    return UpperBound(tuple(pieces), tuple(jump for jump in jumps if jump.left != jump.right), tuple(violations))


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
        verdict = "holds" if piece.witness is None else f"fails, as at x = {piece.witness:.6g}"
        lines.append(f"{piece.where}: step > {piece.low:.5g}, H = {piece.heaviside}: {verdict}")
    for jump in found.jumps:
        verb = "jumps" if jump.up else "falls"
        lines.append(f"at {jump.at:.6g} it {verb} from {jump.left:.5g} to {jump.right:.5g}")
    if found.holds:
        lines.append("so the loss is at least 1 - AP and 1 - H-AP, without ties")
    for (scores, relevance, loss, true), metric in zip(found.violations, ("AP", "H-AP"), strict=False):
        pair, grades = (", ".join(f"{value:.6g}" for value in values) for values in (scores, relevance))
        lines.append(f"scores {pair} of relevance {grades}: loss {loss:.5g} < 1 - {metric} = {true:.5g}")
    return "\n".join(lines)
