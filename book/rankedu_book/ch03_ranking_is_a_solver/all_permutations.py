"""Theorem 1 and Proposition 1 against every permutation of a few items."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from math import factorial, prod
from typing import Any

from rankedu import reference
from rankedu.proofs.exact import exact_numbers, whole_number
from rankedu.proofs.rearrangement import certificate


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
    """Check Theorem 1 and Proposition 1 against all n! permutations, exactly.

    Parameters
    ----------
    n : int
        From 1 to 9.
    scores : sequence of n finite numbers, optional
        Default: 1, …, n, the even ones first. Theorem 1 takes them in descending order, Proposition 1 as they are.

    Returns
    -------
    Exhaustive

    Raises
    ------
    ValueError or TypeError
        ``n`` is not an int from 1 to 9, or not the number of scores.

    Notes
    -----
    O(n! · n²). Ties go by position in ``rk(y)``; every way to order tied items minimises. Explained in chapter 3.

    References
    ----------
    RaMBO Thm. 1; RaMBO Prop. 1; RaMBO Eq. 11

    Examples
    --------
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


def _dot(y: Sequence[Fraction], ranks: Sequence[int]) -> Fraction:
    return sum((a * r for a, r in zip(y, ranks, strict=True)), Fraction(0))
