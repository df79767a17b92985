r"""Ranking minimises :math:`\mathbf{y} \cdot \pi` over permutations, proved swap by swap in exact arithmetic.

Let two neighbours hold the ranks :math:`r` and :math:`r + 1`, the upper one scoring :math:`b`, the lower one :math:`a`.
Exchanging them saves :math:`b\,r + a\,(r+1) - a\,r - b\,(r+1) = a - b`. Whoever sorts by exchanging neighbours that
stand in the wrong order therefore never pays, and ends at :math:`\mathbf{rk}(\mathbf{y})`. Tied items are exchanged, at
gain 0, if the earlier one stands below the later one. With distinct scores every gain is > 0.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from math import factorial, prod
from typing import Any

from rankedu import reference
from rankedu.proofs.exact import checked_permutation, exact_numbers, import_sympy, verdict, whole_number

__all__ = ["Certificate", "Exhaustive", "Swap", "TwoElementLemma", "certificate", "exhaustive", "two_element_lemma"]


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

        Another order of swaps that also sorts is another valid proof. O(n + swaps) exact operations.
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

    Scores are n finite numbers, in a list, array or tensor; a float is the exact binary fraction that it is.
    ``permutation``, :math:`\pi`, is the rank of each item, each of 1, …, n once. Insertion sort: O(n + inversions)
    exact operations. Ties go by position. Explained in chapter 3.
    Raises ValueError or TypeError for scores that are no finite numbers, or a ``permutation`` that is none of n.
    Source: RaMBO Thm. 1; RaMBO Prop. 1; RaMBO Eq. 11; RaMBO Eq. 12; RaMBO Eq. 13.

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


@dataclass(frozen=True)
class TwoElementLemma:
    """The algebra of one swap, as SymPy expressions. Made by `two_element_lemma`."""

    higher: Any  #: higher, lower, rank: the two scores, :math:`a \ge b`, and the upper of the two ranks.
    lower: Any
    rank: Any
    before: Any  #: before, after: the two items' share of the objective before and after the swap.
    after: Any
    gain: Any  #: What the swap is claimed to save.

    def verify(self) -> bool:
        """Check ``before − after = gain`` for all reals, and that ``gain`` is ≥ 0 for a ≥ b and > 0 for a > b."""
        sympy = import_sympy()
        a, b, r = self.higher, self.lower, self.rank
        zero = self.before - a * (r + 1) - b * r, self.after - a * r - b * (r + 1), self.before - self.after - self.gain
        slack, strict = sympy.Symbol("d", nonnegative=True), sympy.Symbol("d", positive=True)
        gains = [sympy.expand(self.gain.subs(a, b + d)) for d in (slack, strict)]
        true = all(sympy.expand(term) == 0 for term in zero)
        return bool(true and gains[0].is_nonnegative and gains[1].is_positive)


def two_element_lemma() -> TwoElementLemma:
    """State the two-element case for any neighbouring ranks: the higher score belongs on the better rank.

    The general theorem is this lemma, applied once a swap. Explained in chapter 3. Raises ImportError without SymPy.
    Source: RaMBO Thm. 1.

    >>> lemma = two_element_lemma()
    >>> lemma.before, lemma.after, lemma.gain
    (a*(r + 1) + b*r, a*r + b*(r + 1), a - b)
    """
    a, b, r = import_sympy().symbols("a b r", real=True)
    return TwoElementLemma(a, b, r, before=a * (r + 1) + b * r, after=a * r + b * (r + 1), gain=a - b)


@dataclass(frozen=True)
class Exhaustive:
    """What a check of all n! permutations found. Made by `exhaustive`."""

    n: int  #: n, permutations: number of items, and n!.
    permutations: int
    scores: tuple[Fraction, ...]
    #: Permutations whose certificate, against the sorted scores, verifies and agrees with the plain sums.
    certified: int
    minimisers: tuple[tuple[int, ...], ...]  #: All permutations that attain the least ``scores · permutation``.
    expected_minimisers: int  #: The product of the factorials of the tie sizes: 1 if the scores are distinct.
    #: theorem, proposition: whether they held. With ties ``rk(y)`` is one of the expected number of minimisers.
    theorem: bool
    proposition: bool

    @property
    def holds(self) -> bool:
        """Whether both statements held for every permutation."""
        return self.theorem and self.proposition


def exhaustive(n: int, scores: Iterable[Any] | None = None) -> Exhaustive:
    """Check Theorem 1 and Proposition 1 against all n! permutations, exactly, n from 1 to 9.

    The scores are by default 1, …, n, the even ones first. Theorem 1 takes them in descending order, Proposition 1 as
    they are. O(n! · n²). Ties go by position in ``rk(y)``; every way to order tied items minimises.
    Explained in chapter 3. Raises ValueError or TypeError if ``n`` is no int from 1 to 9, or not the number of scores.
    Source: RaMBO Thm. 1; RaMBO Prop. 1; RaMBO Eq. 11.

    >>> exhaustive(4).permutations, exhaustive(4).minimisers
    (24, ((3, 1, 4, 2),))
    >>> exhaustive(3, [1, 1, 0]).minimisers
    ((1, 2, 3), (2, 1, 3))
    """
    if whole_number(n, "n", least=1) > 9:
        raise ValueError(f"n must be at most 9, got {n} (there are n! permutations: use certificate() on single ones)")
    exact = exact_numbers([*range(2, n + 1, 2), *range(1, n + 1, 2)] if scores is None else scores, "scores")
    if len(exact) != n:
        raise ValueError(f"scores must have n = {n} entries, got {len(exact)}")
    descending, identity = sorted(exact, reverse=True), tuple(range(1, n + 1))
    least, distinct = _dot(descending, identity), len(set(exact)) == n
    certified, theorem, values = 0, True, {}
    for ranks in permutations(identity):
        plain, proof = _dot(descending, ranks), certificate(descending, ranks)
        certified += proof.verify() and (proof.start_value, proof.end_value) == (plain, least)
        theorem &= least <= plain and not (distinct and plain == least and ranks != identity)
        values[ranks] = _dot(exact, ranks)
    best = min(values.values())
    minimisers = tuple(ranks for ranks, value in values.items() if value == best)
    expected = prod(map(factorial, Counter(exact).values()))
    proposition = tuple(reference.rank(exact)) in minimisers and len(minimisers) == expected
    complete = certified == factorial(n)
    return Exhaustive(n, factorial(n), exact, certified, minimisers, expected, theorem and complete, proposition)


def _wrong(y: Sequence[Fraction], above: int, below: int) -> bool:
    """Whether these two neighbours stand in the wrong order: the lower one scores more, or ties and comes earlier."""
    return y[below] > y[above] or (y[below] == y[above] and below < above)


def _exchange(order: list[int], swap: Swap) -> None:
    order[swap.rank - 1], order[swap.rank] = swap.up, swap.down


def _dot(y: Sequence[Fraction], ranks: Sequence[int]) -> Fraction:
    return sum((a * r for a, r in zip(y, ranks, strict=True)), Fraction(0))


def _order(ranks: Sequence[int]) -> list[int]:
    """Items from the best rank to the worst."""
    return sorted(range(len(ranks)), key=ranks.__getitem__)
