r"""H-rank is a weighted sum of ordinary ranks within nested sets, proved term by term in exact arithmetic.

Let :math:`r_1 < \dots < r_L` be the distinct relevances above :math:`r_0 = 0`. A number among them is the sum of the
steps that it reaches, and the smaller of two is the sum of the steps that both reach:

.. math:: \min(\mathrm{rel}_k, \mathrm{rel}_j)
          = \sum_t (r_t - r_{t-1})\, [\mathrm{rel}_k \ge r_t]\, [\mathrm{rel}_j \ge r_t].

Sum this over the items j ranked at or above k. The left side is HAPPIER's Eq. 2; on the right, each step is multiplied
by the rank of k among the items with relevance :math:`r_t` or more. So H-AP costs one ranking for each distinct
relevance, and any ranker can stand in for them.

A `Certificate` holds these ranks for one ranking; `Certificate.verify` recomputes both sides from their definitions,
each pair of items included.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

from rankedu.proofs._exact import _values, checked_permutation
from rankedu.proofs.rearrangement import _table

__all__ = [
    "Certificate",
    "Exhaustive",
    "certificate",
    "exhaustive",
]

_MOST = 20_000  # rankings that one call of exhaustive() examines


@dataclass(frozen=True)
class Certificate:
    """A proof, term by term, of what H-rank and H-AP are for one ranking. Made by `certificate`.

    Attributes
    ----------
    relevance : tuple of Fraction, length n
    permutation : tuple of int, length n
        The rank of each item; 1 is best.
    thresholds : tuple of Fraction, length L
        The distinct relevances above 0, ascending.
    within : tuple of n tuples of L int
        Rank of each item among those with relevance of at least each threshold; 0 for items that are not.
    h_ranks : tuple of Fraction, length n
    h_ap : Fraction
    """

    relevance: tuple[Fraction, ...]
    permutation: tuple[int, ...]
    thresholds: tuple[Fraction, ...]
    within: tuple[tuple[int, ...], ...]
    h_ranks: tuple[Fraction, ...]
    h_ap: Fraction

    @property
    def steps(self) -> tuple[Fraction, ...]:
        """How much each threshold exceeds the one before it, which are the weights of the ranks."""
        return tuple(b - a for a, b in pairwise((Fraction(0), *self.thresholds)))

    def verify(self) -> bool:
        """Recompute everything from ``relevance`` and ``permutation``, trusting no stored result.

        Returns
        -------
        bool
            True if the thresholds are the distinct relevances above 0; for every pair of items the smaller relevance is
            the sum of the steps that both reach; ``within`` are the ranks that counting gives; ``h_ranks`` are Eq. 2's
            and also the sums of steps times ranks; ``h_ap`` is Eq. 3's, is 1 less the sum over inversions, lies in
            [0, 1], is 1 exactly if the ranking is sorted by relevance, and is AP if there is one threshold. False for
            anything else, whatever was put into the fields.

        Source
        ------
        HAPPIER Eq. 2; HAPPIER Eq. 3.

        Notes
        -----
        O(n² L) exact operations. Explained in chapter 13.

        Examples
        --------
        >>> import dataclasses
        >>> proof = certificate([1, 2, 0], [1, 2, 3])
        >>> proof.verify(), dataclasses.replace(proof, h_ap=proof.h_ap + 1).verify()
        (True, False)
        """
        return _safely(lambda: _verify(self))

    def explain(self, names: Sequence[str] | None = None) -> str:
        """Write the proof as a table, one line an item, best rank first.

        Parameters
        ----------
        names : sequence of str, length n, optional
            What to call the items. Default: their indices.

        Returns
        -------
        str
            For every item its rank, its relevance, each step times its rank within that step's set, their sum, and the
            share that the item adds to H-AP.

        Raises
        ------
        ValueError
            If there are not as many names as items.

        Source
        ------
        HAPPIER Eq. 2; HAPPIER Eq. 3.

        Notes
        -----
        O(n L). Explained in chapter 13.

        Examples
        --------
        >>> print(certificate([1, 2, 0], [1, 2, 3]).explain(names="abc"))
        item | rank | rel | 1 x rk{rel >= 1} | 1 x rk{rel >= 2} | H-rank | H-rank/rank
        -----|------|-----|------------------|------------------|--------|------------
        a    | 1    | 1   | 1 x 1            |                  | 1      | 1
        b    | 2    | 2   | 1 x 2            | 1 x 1            | 3      | 3/2
        c    | 3    | 0   |                  |                  | 0      | 0
        H-AP = 5/2 / 3 = 5/6
        """
        labels = [str(i) for i in range(len(self.relevance))] if names is None else [str(name) for name in names]
        if len(labels) != len(self.relevance):
            raise ValueError(f"names must have one entry an item, expected {len(self.relevance)}, got {len(labels)}")
        steps = [f"{step} x rk{{rel >= {t}}}" for step, t in zip(self.steps, self.thresholds, strict=True)]
        rows: list[tuple[str, ...]] = [("item", "rank", "rel", *steps, "H-rank", "H-rank/rank")]
        for k in sorted(range(len(labels)), key=lambda i: self.permutation[i]):
            ranks = (f"{s} x {r}" if r else "" for s, r in zip(self.steps, self.within[k], strict=True))
            rank, value = self.permutation[k], self.h_ranks[k]
            rows.append((labels[k], str(rank), str(self.relevance[k]), *ranks, str(value), str(value / rank)))
        total = sum(self.relevance, Fraction(0))
        return _table(rows) + f"\nH-AP = {self.h_ap * total} / {total} = {self.h_ap}"


def certificate(relevance: Iterable[Any], permutation: Iterable[Any]) -> Certificate:
    r"""Take H-rank apart into ranks within nested sets, for these relevances and ranks.

    Parameters
    ----------
    relevance : iterable of int, float, Fraction or Decimal; array or tensor, shape (n,)
        Finite, ≥ 0, one of them > 0; equal ones allowed. A float is taken as the exact binary fraction that it is.
    permutation : iterable of int; array or tensor, shape (n,)
        The rank of each item, each of 1, …, n once.

    Returns
    -------
    Certificate
        Thresholds, ranks within their sets, H-ranks and H-AP.

    Raises
    ------
    ValueError
        If a relevance is negative or not finite, none is > 0, the lengths differ, or ``permutation`` is not one.
    TypeError
        If the input is not one-dimensional or holds something else than numbers.

    Source
    ------
    HAPPIER Eq. 2; HAPPIER Eq. 3; HAPPIER Fig. 3.

    Notes
    -----
    O(n L) exact operations after sorting. Explained in chapter 13.

    Examples
    --------
    Fig. 3: an item of level 2, or of level 1, stands before one of level 3.

    >>> from fractions import Fraction
    >>> certificate([Fraction(2, 3), 1], [1, 2]).h_ranks[1], certificate([Fraction(1, 3), 1], [1, 2]).h_ranks[1]
    (Fraction(5, 3), Fraction(4, 3))
    """
    exact = _exact_relevance(relevance)
    ranks = checked_permutation(permutation, len(exact))
    thresholds = tuple(sorted({value for value in exact if value > 0}))
    within = [[0] * len(thresholds) for _ in exact]
    for t, threshold in enumerate(thresholds):
        members = [i for i, value in enumerate(exact) if value >= threshold]
        for place, item in enumerate(sorted(members, key=lambda i: ranks[i]), start=1):
            within[item][t] = place
    steps = [b - a for a, b in pairwise((Fraction(0), *thresholds))]
    h_ranks = tuple(sum((s * r for s, r in zip(steps, row, strict=True)), Fraction(0)) for row in within)
    h_ap = sum((h / r for h, r in zip(h_ranks, ranks, strict=True)), Fraction(0)) / sum(exact)
    return Certificate(exact, ranks, thresholds, tuple(map(tuple, within)), h_ranks, h_ap)


@dataclass(frozen=True)
class Exhaustive:
    """What a check of all rankings of n items found. Made by `exhaustive`.

    Attributes
    ----------
    n : int
    values : tuple of Fraction
        The relevances that an item can have.
    rankings : int
        Lists of n relevances, read from rank 1 to n, in which one is > 0.
    certified : int
        Those whose certificate verifies.
    perfect, ordered : int
        Those with H-AP = 1, and those sorted by relevance.
    binary, binary_equal : int
        Those with one distinct relevance above 0, and among them those whose H-AP is AP.
    least : Fraction
        The smallest H-AP found.
    """

    n: int
    values: tuple[Fraction, ...]
    rankings: int
    certified: int
    perfect: int
    ordered: int
    binary: int
    binary_equal: int
    least: Fraction

    @property
    def holds(self) -> bool:
        """Whether all was as stated, for every ranking."""
        whole = self.rankings > 0 and self.certified == self.rankings and self.least > 0
        return whole and self.perfect == self.ordered and self.binary == self.binary_equal


def exhaustive(n: int, values: Iterable[Any] = (0, Fraction(1, 3), Fraction(1, 2), 1)) -> Exhaustive:
    """Certify every ranking of n items whose relevances are taken from a few values.

    Parameters
    ----------
    n : int
        At least 1.
    values : iterable of numbers
        What a relevance can be: finite, ≥ 0, one of them > 0.

    Returns
    -------
    Exhaustive
        Counts, and the verdict.

    Raises
    ------
    ValueError
        If ``n`` < 1, there are more than 20,000 rankings, or a value is negative or not finite.
    TypeError
        If ``n`` is not an integer, or a value is not a number.

    Source
    ------
    HAPPIER Eq. 1; HAPPIER Eq. 2; HAPPIER Eq. 3.

    Notes
    -----
    O(len(values)ⁿ · n² L). Items are named by their rank, so that each list of relevances stands for all permutations
    of its items. Explained in chapter 13.

    Examples
    --------
    >>> found = exhaustive(3, [0, 1, 2])
    >>> found.rankings, found.certified, found.perfect, found.holds
    (26, 26, 9, True)
    """
    if isinstance(n, bool) or not isinstance(n, int):
        raise TypeError(f"n must be an int, got {n!r} ({type(n).__name__})")
    allowed = tuple(sorted(set(_exact_relevance(values, name="values"))))
    if n < 1 or len(allowed) ** n > _MOST:
        raise ValueError(
            f"n must be at least 1 and len(values)**n at most {_MOST:,}, got n = {n} and {len(allowed)} values "
            "(use certificate() on single rankings)"
        )
    counts = dict.fromkeys(("rankings", "certified", "perfect", "ordered", "binary", "binary_equal"), 0)
    least = Fraction(1)
    ranks = tuple(range(1, n + 1))
    for listed in product(allowed, repeat=n):
        if not any(listed):
            continue
        proof = certificate(listed, ranks)
        least = min(least, proof.h_ap)
        binary = len(proof.thresholds) == 1
        counts["rankings"] += 1
        counts["certified"] += proof.verify()
        counts["perfect"] += proof.h_ap == 1
        counts["ordered"] += all(a >= b for a, b in pairwise(listed))
        counts["binary"] += binary
        counts["binary_equal"] += binary and proof.h_ap == _average_precision([value > 0 for value in listed], ranks)
    return Exhaustive(n, allowed, **counts, least=least)


def _verify(proof: Certificate) -> bool:
    relevance, ranks, thresholds = proof.relevance, proof.permutation, proof.thresholds
    if _exact_relevance(relevance) != relevance or checked_permutation(ranks, len(relevance)) != ranks:
        return False
    if thresholds != tuple(sorted(set(relevance) - {0})) or not len(relevance) == len(proof.within) == len(
        proof.h_ranks
    ):
        return False
    steps, items = proof.steps, range(len(relevance))
    for k, j in product(items, repeat=2):
        shared = (s for s, t in zip(steps, thresholds, strict=True) if relevance[k] >= t and relevance[j] >= t)
        if min(relevance[k], relevance[j]) != sum(shared):
            return False
    short = Fraction(0)
    for k in items:
        above = [j for j in items if ranks[j] < ranks[k]]
        counted = tuple((1 + sum(relevance[j] >= t for j in above)) * (relevance[k] >= t) for t in thresholds)
        eq_2 = relevance[k] + sum(min(relevance[k], relevance[j]) for j in above)
        summed = sum((s * r for s, r in zip(steps, proof.within[k], strict=True)), Fraction(0))
        if proof.within[k] != counted or not eq_2 == summed == proof.h_ranks[k]:
            return False
        wrong = sum((max(relevance[k] - relevance[j], Fraction(0)) for j in above), Fraction(0))
        if ranks[k] * relevance[k] - eq_2 != wrong:
            return False
        short += wrong / ranks[k]
    return _verify_h_ap(proof, short / sum(relevance))


def _verify_h_ap(proof: Certificate, short: Fraction) -> bool:
    """Whether H-AP is right, falls ``short`` of 1 by the inversions, and is AP if relevance is binary."""
    relevance, ranks = proof.relevance, proof.permutation
    eq_3 = sum((h / r for h, r in zip(proof.h_ranks, ranks, strict=True)), Fraction(0)) / sum(relevance)
    ranked = [value for _, value in sorted(zip(ranks, relevance, strict=True))]
    ordered = all(a >= b for a, b in pairwise(ranked))
    if not proof.h_ap == eq_3 == 1 - short or not 0 <= eq_3 <= 1 or (eq_3 == 1) != ordered:
        return False
    return len(proof.thresholds) > 1 or eq_3 == _average_precision([value > 0 for value in relevance], ranks)


def _safely(check: Callable[[], bool]) -> bool:
    """Whatever was put into the fields, the answer is yes or no."""
    try:
        return check()
    except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError):
        return False


def _average_precision(positive: Sequence[bool], ranks: Sequence[int]) -> Fraction | None:
    """Eq. 1: the mean over positives of the rank among them over the rank among all; None if there are none."""
    own = sorted(rank for rank, yes in zip(ranks, positive, strict=True) if yes)
    return sum((Fraction(i, rank) for i, rank in enumerate(own, start=1)), Fraction(0)) / len(own) if own else None


def _exact_relevance(relevance: Iterable[Any], name: str = "relevance") -> tuple[Fraction, ...]:
    """Finite numbers >= 0 as fractions, one of them > 0."""
    exact = []
    for i, value in enumerate(_values(relevance, name)):
        try:
            if isinstance(value, (str, bytes)):
                raise TypeError
            exact.append(Fraction(value))
        except TypeError:
            what = f"got {value!r} ({type(value).__name__}) at index {i}"
            raise TypeError(f"{name} must be one-dimensional and hold real numbers, {what}") from None
        except (ValueError, OverflowError):
            raise ValueError(f"{name} must be finite, got {value!r} at index {i}") from None
        if exact[-1] < 0:
            raise ValueError(f"{name} must be >= 0, got {value!r} at index {i}")
    if not any(exact):
        raise ValueError(f"{name} must have an entry > 0, got {len(exact)} times 0")
    return tuple(exact)
