r"""Ranking minimises :math:`\mathbf{y} \cdot \pi` over permutations, proved swap by swap in exact arithmetic.

The whole proof is one line of algebra, repeated. Let two neighbours of a ranking hold the ranks :math:`r` and
:math:`r + 1`, the upper one scoring :math:`b`, the lower one :math:`a`. Exchanging them changes the objective from
:math:`b\,r + a\,(r+1)` to :math:`a\,r + b\,(r+1)`, that is, it saves exactly :math:`a - b`. Whoever sorts by exchanging
neighbours that stand in the wrong order therefore never pays, and ends at :math:`\mathbf{rk}(\mathbf{y})`.

A `Certificate` is the list of these exchanges. Its gains telescope to the whole difference
:math:`\mathbf{y} \cdot \pi - \mathbf{y} \cdot \mathbf{rk}(\mathbf{y})`, and `Certificate.verify` recomputes all of it.

Ties go by position, as in ``rankedu.rank(..., ties="ordinal")``: of two equal scores the earlier item gets the better
rank. An exchange of two tied items gains 0 and is still made when the earlier item stands below the later one, so that
every path ends at the one target :math:`\mathbf{rk}(\mathbf{y})`. With distinct scores every gain is > 0, so the
difference is 0 for :math:`\pi = \mathbf{rk}(\mathbf{y})` alone: the "moreover" of RaMBO's Theorem 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby, pairwise, permutations
from math import factorial, prod
from typing import Any

from rankedu.proofs._exact import checked_permutation, exact_scores

__all__ = ["Certificate", "Exhaustive", "Swap", "TwoElementLemma", "certificate", "exhaustive", "two_element_lemma"]


@dataclass(frozen=True)
class Swap:
    """One exchange of two neighbours in the ranking.

    Attributes
    ----------
    rank : int
        The upper of the two ranks; the other one is ``rank + 1``.
    down : int
        Index of the item that falls from ``rank`` to ``rank + 1``.
    up : int
        Index of the item that rises from ``rank + 1`` to ``rank``.
    gain : Fraction
        By how much the objective falls: ``scores[up] - scores[down]``, never negative.
    """

    rank: int
    down: int
    up: int
    gain: Fraction


@dataclass(frozen=True)
class Certificate:
    """A proof, swap by swap, that ``y · rk(y) <= y · permutation``. Made by `certificate`.

    Attributes
    ----------
    scores : tuple of Fraction, length n
    permutation : tuple of int, length n
        The rank that each item starts with.
    target : tuple of int, length n
        The ranks of the scores, ties by position.
    swaps : tuple of Swap
        As many as ``permutation`` has pairs in the wrong order.
    start_value, end_value, total_gain : Fraction
        ``y · permutation``, ``y · target`` and their difference.
    """

    scores: tuple[Fraction, ...]
    permutation: tuple[int, ...]
    target: tuple[int, ...]
    swaps: tuple[Swap, ...]
    start_value: Fraction
    end_value: Fraction
    total_gain: Fraction

    @property
    def distinct(self) -> bool:
        """Whether no two scores are equal; then ``total_gain`` is 0 only if ``permutation`` is ``target``."""
        return len(set(self.scores)) == len(self.scores)

    def verify(self) -> bool:
        """Recompute everything from ``scores`` and ``permutation``, trusting no stored result.

        Returns
        -------
        bool
            True if the ranks are a permutation; each swap exchanges the two items that then hold neighbouring ranks,
            puts a pair into the right order, and has the stored gain, which is not negative; the values are those
            before the first and after the last swap; the gains sum to their difference; the end is ``target`` and is
            sorted, ties by position; and, with distinct scores, the gain is 0 for ``target`` alone. False for anything
            else, whatever was put into the fields. Another order of swaps that also sorts is another valid proof.

        Source
        ------
        RaMBO Thm. 1; RaMBO Prop. 1.

        Notes
        -----
        O(n + number of swaps) exact operations. Explained in chapter 3.

        Examples
        --------
        >>> import dataclasses
        >>> proof = certificate([0.5, 0.25], [2, 1])
        >>> proof.verify(), dataclasses.replace(proof, swaps=()).verify()
        (True, False)
        """
        try:
            return _verify(self)
        except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError):
            return False

    def explain(self, names: Sequence[str] | None = None) -> str:
        """Write the proof as a table, one line a swap.

        Parameters
        ----------
        names : sequence of str, length n, optional
            What to call the items. Default: their indices.

        Returns
        -------
        str
            The ranking (best first) and the objective after each swap, with its gain.

        Raises
        ------
        ValueError
            If there are not as many names as scores.

        Source
        ------
        RaMBO Thm. 1.

        Notes
        -----
        Ties go by position. O(n · number of swaps), it prints the whole ranking each time. Explained in chapter 3.

        Examples
        --------
        >>> print(certificate([0.5, 0.25, 1], [3, 2, 1]).explain(names="abc"))
        step | ranking, best first | swap     | gain | y·π
        -----|---------------------|----------|------|-----
        0    | c b a               |          |      | 3
        1    | c a b               | a over b | 1/4  | 11/4
        total gain 1/4 = 3 − 11/4, so rk(y) costs no more than this permutation
        """
        labels = [str(i) for i in range(len(self.scores))] if names is None else [str(name) for name in names]
        if len(labels) != len(self.scores):
            raise ValueError(f"names must have one entry a score, expected {len(self.scores)}, got {len(labels)}")
        order = _order(self.permutation)
        value = self.start_value
        rows = [("step", "ranking, best first", "swap", "gain", "y·π")]
        rows.append(("0", " ".join(labels[i] for i in order), "", "", str(value)))
        for step, swap in enumerate(self.swaps, 1):
            order[swap.rank - 1], order[swap.rank] = swap.up, swap.down
            value -= swap.gain
            move = f"{labels[swap.up]} over {labels[swap.down]}"
            rows.append((str(step), " ".join(labels[i] for i in order), move, str(swap.gain), str(value)))
        end = f"total gain {self.total_gain} = {self.start_value} − {self.end_value}, "
        return _table(rows) + f"\n{end}so rk(y) costs no more than this permutation"


def certificate(scores: Iterable[Any], permutation: Iterable[Any]) -> Certificate:
    r"""Prove :math:`\mathbf{y} \cdot \mathbf{rk}(\mathbf{y}) \le \mathbf{y} \cdot \pi` for these scores and ranks.

    Parameters
    ----------
    scores : iterable of int, float, Fraction or Decimal; array or tensor, shape (n,)
        In any order, ties allowed, finite. A float is taken as the exact binary fraction that it is.
    permutation : iterable of int; array or tensor, shape (n,)
        :math:`\pi`: the rank of each item, each of 1, …, n once.

    Returns
    -------
    Certificate
        The swaps of neighbours that lead from ``permutation`` to :math:`\mathbf{rk}(\mathbf{y})`, with exact gains.

    Raises
    ------
    ValueError
        If a score is not finite, the lengths differ, or ``permutation`` is not one.
    TypeError
        If the input is not one-dimensional or holds something else than numbers.

    Source
    ------
    RaMBO Thm. 1; RaMBO Prop. 1; RaMBO Eq. 11; RaMBO Eq. 12; RaMBO Eq. 13.

    Notes
    -----
    Insertion sort: O(n + inversions) exact operations, at most n(n − 1)/2 swaps. Ties go by position: tied items are
    swapped, at gain 0, only if the earlier one stands below the later one. Explained in chapter 3.

    Examples
    --------
    >>> proof = certificate([0.5, 0.25, 1], [1, 2, 3])
    >>> proof.target, len(proof.swaps), proof.total_gain, proof.verify()
    ((2, 3, 1), 2, Fraction(5, 4), True)
    """
    exact = exact_scores(scores)
    start = checked_permutation(permutation, len(exact))
    order = _order(start)
    swaps = []
    for place in range(1, len(order)):
        rank = place  # of the item above
        while rank >= 1 and _wrong(exact, order[rank - 1], order[rank]):
            down, up = order[rank - 1], order[rank]
            swaps.append(Swap(rank, down, up, exact[up] - exact[down]))
            order[rank - 1], order[rank] = up, down
            rank -= 1
    target = _ranks(order)
    before, after = _dot(exact, start), _dot(exact, target)
    return Certificate(exact, start, target, tuple(swaps), before, after, before - after)


@dataclass(frozen=True)
class TwoElementLemma:
    """The algebra of one swap, as SymPy expressions. Made by `two_element_lemma`.

    Attributes
    ----------
    higher, lower, rank : sympy.Symbol
        The two scores, :math:`a \\ge b`, and the upper of the two ranks.
    before, after : sympy.Expr
        The two items' share of the objective before and after the swap.
    gain : sympy.Expr
        What the swap is claimed to save.
    """

    higher: Any
    lower: Any
    rank: Any
    before: Any
    after: Any
    gain: Any

    def verify(self) -> bool:
        """Check the identity ``before − after = gain`` and the sign of the gain, symbolically.

        Returns
        -------
        bool
            True if the identity holds for all reals and ``gain`` is ≥ 0 for a ≥ b and > 0 for a > b.

        Source
        ------
        RaMBO Thm. 1.

        Notes
        -----
        The sign is read off after writing a = b + d with d ≥ 0, and d > 0 for the strict case. Explained in chapter 3.

        Examples
        --------
        >>> two_element_lemma().verify()
        True
        """
        sympy = _sympy()
        higher_below = self.higher * (self.rank + 1) + self.lower * self.rank
        higher_above = self.higher * self.rank + self.lower * (self.rank + 1)
        stated = sympy.expand(self.before - higher_below) == 0 and sympy.expand(self.after - higher_above) == 0
        identity = sympy.expand(self.before - self.after - self.gain) == 0
        slack, strict = sympy.Symbol("d", nonnegative=True), sympy.Symbol("d", positive=True)
        gain_if = [sympy.expand(self.gain.subs(self.higher, self.lower + d)) for d in (slack, strict)]
        return bool(stated and identity and gain_if[0].is_nonnegative and gain_if[1].is_positive)


def two_element_lemma() -> TwoElementLemma:
    """State the two-element case for any neighbouring ranks: the higher score belongs on the better rank.

    Returns
    -------
    TwoElementLemma
        With r = 1 it is Theorem 1 for n = 2: a ≥ b implies 1·a + 2·b ≤ 2·a + 1·b.

    Raises
    ------
    ImportError
        Without SymPy.

    Source
    ------
    RaMBO Thm. 1.

    Notes
    -----
    The general theorem is this lemma applied once a swap, see `certificate`. Explained in chapter 3.

    Examples
    --------
    >>> lemma = two_element_lemma()
    >>> lemma.before, lemma.after, lemma.gain
    (a*(r + 1) + b*r, a*r + b*(r + 1), a - b)
    """
    a, b, r = _sympy().symbols("a b r", real=True)
    return TwoElementLemma(a, b, r, before=a * (r + 1) + b * r, after=a * r + b * (r + 1), gain=a - b)


@dataclass(frozen=True)
class Exhaustive:
    """What a check of all n! permutations found. Made by `exhaustive`.

    Attributes
    ----------
    n, permutations : int
        Number of items, and n!.
    scores : tuple of Fraction, length n
    certified : int
        Permutations whose certificate, against the sorted scores, verifies and agrees with the plain sums.
    minimisers : tuple of tuple of int
        All permutations that attain the least ``scores · permutation``.
    expected_minimisers : int
        The product of the factorials of the tie sizes: 1 if the scores are distinct.
    theorem, proposition : bool
        Whether Theorem 1 and Proposition 1 held (ties: ``rk(y)`` is one of the expected number of minimisers).
    """

    n: int
    permutations: int
    scores: tuple[Fraction, ...]
    certified: int
    minimisers: tuple[tuple[int, ...], ...]
    expected_minimisers: int
    theorem: bool
    proposition: bool

    @property
    def holds(self) -> bool:
        """Whether both statements held for every permutation."""
        return self.theorem and self.proposition


def exhaustive(n: int, scores: Iterable[Any] | None = None) -> Exhaustive:
    """Check Theorem 1 and Proposition 1 against all n! permutations, exactly.

    Parameters
    ----------
    n : int
        From 1 to 9.
    scores : iterable of numbers, length n, optional
        Default: 1, …, n, the even ones first. Theorem 1 takes them in descending order, Proposition 1 as they are.

    Returns
    -------
    Exhaustive
        Counts, all minimisers, and the two verdicts.

    Raises
    ------
    ValueError
        If ``n`` is out of range or not the number of scores.
    TypeError
        If ``n`` is not an integer.

    Source
    ------
    RaMBO Thm. 1; RaMBO Prop. 1; RaMBO Eq. 11.

    Notes
    -----
    O(n! · n²). Ties go by position in ``rk(y)``; every way to order tied items minimises. Explained in chapter 3.

    Examples
    --------
    >>> exhaustive(4).permutations, exhaustive(4).minimisers
    (24, ((3, 1, 4, 2),))
    >>> exhaustive(3, [1, 1, 0]).minimisers
    ((1, 2, 3), (2, 1, 3))
    """
    if isinstance(n, bool) or not isinstance(n, int):
        raise TypeError(f"n must be an int, got {n!r} ({type(n).__name__})")
    if not 1 <= n <= 9:
        raise ValueError(
            f"n must be from 1 to 9, got {n} (there are n! permutations: use certificate() on single ones)"
        )
    exact = exact_scores([*range(2, n + 1, 2), *range(1, n + 1, 2)] if scores is None else scores)
    if len(exact) != n:
        raise ValueError(f"scores must have n = {n} entries, got {len(exact)}")
    descending = sorted(exact, reverse=True)
    identity = tuple(range(1, n + 1))
    least, distinct = _dot(descending, identity), len(set(exact)) == n
    certified, theorem = 0, True
    values = {}
    for ranks in permutations(identity):
        plain = _dot(descending, ranks)
        proof = certificate(descending, ranks)
        certified += proof.verify() and (proof.start_value, proof.end_value) == (plain, least)
        theorem &= least <= plain and not (distinct and plain == least and ranks != identity)
        values[ranks] = _dot(exact, ranks)
    best = min(values.values())
    minimisers = tuple(ranks for ranks, value in values.items() if value == best)
    expected = prod(factorial(len(list(tied))) for _, tied in groupby(descending))
    proposition = certificate(exact, identity).target in minimisers and len(minimisers) == expected
    complete = certified == factorial(n)
    return Exhaustive(n, factorial(n), exact, certified, minimisers, expected, theorem and complete, proposition)


def _verify(proof: Certificate) -> bool:
    y = proof.scores
    n = len(y)
    numbers = (*y, proof.start_value, proof.end_value, proof.total_gain, *(s.gain for s in proof.swaps))
    whole = (*proof.permutation, *proof.target, *(k for s in proof.swaps for k in (s.rank, s.down, s.up)))
    if not all(type(x) is Fraction for x in numbers) or not all(type(k) is int for k in whole):
        return False
    if len(proof.permutation) != n or set(proof.permutation) != set(range(1, n + 1)):
        return False
    order = _order(proof.permutation)
    value = _dot(y, proof.permutation)
    if value != proof.start_value:
        return False
    for swap in proof.swaps:
        if not 1 <= swap.rank < n or (order[swap.rank - 1], order[swap.rank]) != (swap.down, swap.up):
            return False
        gain = y[swap.down] * swap.rank + y[swap.up] * (swap.rank + 1)
        gain -= y[swap.up] * swap.rank + y[swap.down] * (swap.rank + 1)
        if gain != swap.gain or gain < 0 or not _wrong(y, swap.down, swap.up):
            return False
        order[swap.rank - 1], order[swap.rank] = swap.up, swap.down
        value -= gain
    if any(_wrong(y, above, below) for above, below in pairwise(order)) or _ranks(order) != proof.target:
        return False
    if not value == _dot(y, proof.target) == proof.end_value or proof.total_gain != proof.start_value - value:
        return False
    return not proof.distinct or (proof.total_gain == 0) == (proof.permutation == proof.target)


def _wrong(y: Sequence[Fraction], above: int, below: int) -> bool:
    """Whether these two neighbours stand in the wrong order: the lower one scores more, or ties and comes earlier."""
    return y[below] > y[above] or (y[below] == y[above] and below < above)


def _dot(y: Sequence[Fraction], ranks: Sequence[int]) -> Fraction:
    return sum((a * r for a, r in zip(y, ranks, strict=True)), Fraction(0))


def _order(ranks: Sequence[int]) -> list[int]:
    """Items from the best rank to the worst: the inverse permutation."""
    order = [0] * len(ranks)
    for item, rank in enumerate(ranks):
        order[rank - 1] = item
    return order


def _ranks(order: Sequence[int]) -> tuple[int, ...]:
    ranks = [0] * len(order)
    for place, item in enumerate(order):
        ranks[item] = place + 1
    return tuple(ranks)


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [" | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    lines.insert(1, "-|-".join("-" * width for width in widths))
    return "\n".join(lines)


def _sympy() -> Any:
    try:
        import sympy
    except ImportError:
        raise ImportError("two_element_lemma() needs SymPy: pip install 'rankedu[lab]'") from None
    return sympy
