r"""Ranking minimises :math:`\mathbf{y} \cdot \pi` over permutations, proved swap by swap in exact arithmetic.

Let two neighbours have the ranks :math:`r` and :math:`r + 1`, the upper one the score :math:`b`, the lower one
:math:`a`. Exchanging them saves :math:`b\,r + a\,(r+1) - a\,r - b\,(r+1) = a - b`. So sorting by exchanges of
neighbours in the wrong order never costs anything, and it ends at :math:`\mathbf{rk}(\mathbf{y})`. Tied items are
exchanged, at gain 0, if the earlier one ranks below the later one. If the scores are distinct, every gain is > 0.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rankedu import reference
from rankedu.proofs.exact import checked_permutation, exact_numbers, verdict

__all__ = ["Certificate", "Swap", "certificate"]


@dataclass(frozen=True)
class Swap:
    """One exchange of two neighbours in the ranking."""

    rank: int  #: The upper of the two ranks; the other one is ``rank + 1``.
    down: int  #: down, up: indices of the item that falls from ``rank`` and of the one that rises to it.
    up: int
    gain: Fraction  #: ``scores[up] - scores[down]``, by which the objective falls; never negative.


@dataclass(frozen=True)
class Certificate:
    """A proof, swap by swap, that ``y · rk(y) <= y · permutation``. Made by `certificate`."""

    scores: tuple[Fraction, ...]
    #: permutation, target: the ranks at the start, and those of the scores, ties by position.
    permutation: tuple[int, ...]
    target: tuple[int, ...]
    swaps: tuple[Swap, ...]  #: As many as ``permutation`` has pairs in the wrong order.
    #: start_value, end_value, total_gain: ``y · permutation``, ``y · target`` and their difference.
    start_value: Fraction
    end_value: Fraction
    total_gain: Fraction

    @property
    def distinct(self) -> bool:
        """Whether no two scores are equal; then ``total_gain`` is 0 only if ``permutation`` is ``target``."""
        return len(set(self.scores)) == len(self.scores)

    @verdict
    def verify(self) -> bool:
        """Recompute everything from ``scores`` and ``permutation``: each swap, its gain, the end, and both values.

        Swaps in another order that also sorts are another valid proof. O(n + swaps) exact operations.
        """
        y, n = self.scores, len(self.scores)
        numbers = (*y, self.start_value, self.end_value, self.total_gain, *(s.gain for s in self.swaps))
        whole = (*self.permutation, *self.target, *(k for s in self.swaps for k in (s.rank, s.down, s.up)))
        if not all(type(x) is Fraction for x in numbers) or not all(type(k) is int for k in whole):
            return False
        order = _order(checked_permutation(self.permutation, n))
        value = start = _dot(y, self.permutation)
        for swap in self.swaps:
            if not 1 <= swap.rank < n or (order[swap.rank - 1], order[swap.rank]) != (swap.down, swap.up):
                return False
            before = y[swap.down] * swap.rank + y[swap.up] * (swap.rank + 1)
            after = y[swap.up] * swap.rank + y[swap.down] * (swap.rank + 1)
            if not before - after == swap.gain >= 0 or not _wrong(y, swap.down, swap.up):
                return False
            _exchange(order, swap)
            value -= swap.gain
        if order != reference.order(y) or self.target != tuple(reference.rank(y)):
            return False
        if (self.start_value, self.end_value, self.total_gain) != (start, reference.optimal_value(y), start - value):
            return False
        return value == self.end_value and (not self.distinct or (start == value) == (self.permutation == self.target))


def certificate(scores: Iterable[Any], permutation: Iterable[Any]) -> Certificate:
    r"""Prove :math:`\mathbf{y} \cdot \mathbf{rk}(\mathbf{y}) \le \mathbf{y} \cdot \pi` for these scores and ranks.

    Insertion sort, O(n + inversions) exact operations. Ties go by position. Explained in chapter 3.

    Parameters
    ----------
    scores : sequence of n finite numbers
        A list, array or tensor; a float is the exact binary fraction that it is.
    permutation : sequence of n whole numbers
        :math:`\pi`, the rank of each item, each of 1, …, n once.

    Returns
    -------
    Certificate

    Raises
    ------
    ValueError, TypeError
        For scores that are no finite numbers, or no permutation.

    References
    ----------
    RaMBO Thm. 1; RaMBO Prop. 1; RaMBO Eq. 11; RaMBO Eq. 12; RaMBO Eq. 13

    Examples
    --------
    >>> proof = certificate([0.5, 0.25, 1], [1, 2, 3])
    >>> proof.target, len(proof.swaps), proof.total_gain, proof.verify()
    ((2, 3, 1), 2, Fraction(5, 4), True)
    """
    exact = exact_numbers(scores, "scores")
    start = checked_permutation(permutation, len(exact))
    order, swaps = _order(start), []
    for place in range(1, len(order)):
        for rank in range(place, 0, -1):
            down, up = order[rank - 1], order[rank]
            if not _wrong(exact, down, up):
                break
            swaps.append(Swap(rank, down, up, exact[up] - exact[down]))
            _exchange(order, swaps[-1])
    before, after = _dot(exact, start), reference.optimal_value(exact)
    return Certificate(exact, start, tuple(reference.rank(exact)), tuple(swaps), before, after, before - after)


def _wrong(y: Sequence[Fraction], above: int, below: int) -> bool:
    """Whether two neighbours are in the wrong order: the lower one has the larger score, or ties and comes earlier."""
    return y[below] > y[above] or (y[below] == y[above] and below < above)


def _exchange(order: list[int], swap: Swap) -> None:
    order[swap.rank - 1], order[swap.rank] = swap.up, swap.down


def _dot(y: Sequence[Fraction], ranks: Sequence[int]) -> Fraction:
    return sum((a * r for a, r in zip(y, ranks, strict=True)), Fraction(0))


def _order(ranks: Sequence[int]) -> list[int]:
    """Items from the best rank to the worst."""
    return sorted(range(len(ranks)), key=ranks.__getitem__)
