"""Theorem 1 and Proposition 1 against every permutation of a few items."""

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import permutations
from math import factorial, prod
from typing import Any, NamedTuple

from rankedu import reference
from rankedu.proofs.exact import exact_numbers
from rankedu.proofs.rearrangement import certificate


class Exhaustive(NamedTuple):
    """What a check of all n! permutations found. Made by `exhaustive`."""

    scores: tuple[Fraction, ...]
    permutations: int  #: n!
    certified: int  #: How many have a certificate, against the sorted scores, that agrees with the plain sums.
    minimisers: tuple[tuple[int, ...], ...]  #: All permutations that attain the least ``scores · permutation``.
    expected_minimisers: int  #: The product of the factorials of the tie sizes: 1 if the scores are distinct.
    holds: bool  #: Whether both statements held for every permutation.


def exhaustive(n: int, scores: Iterable[Any] | None = None) -> Exhaustive:
    """Check Theorem 1 and Proposition 1 against all n! permutations, exactly; n is at most 9.

    The scores are 1, …, n by default, the even ones first. Theorem 1 takes them in descending order, Proposition 1 as
    they are. Ties go by position in ``rk(y)``; every way to order tied items minimises. Explained in chapter 3.
    Source: RaMBO Thm. 1; RaMBO Prop. 1; RaMBO Eq. 11

    >>> exhaustive(4).permutations, exhaustive(4).minimisers
    (24, ((3, 1, 4, 2),))
    >>> exhaustive(3, [1, 1, 0]).minimisers
    ((1, 2, 3), (2, 1, 3))
    """
    exact = exact_numbers([*range(2, n + 1, 2), *range(1, n + 1, 2)] if scores is None else scores, "scores")
    if not 1 <= n == len(exact) <= 9:
        raise ValueError(f"n must be from 1 to 9 and the number of scores, got {n} and {len(exact)} scores")
    descending, identity = sorted(exact, reverse=True), tuple(range(1, n + 1))
    least, distinct = _dot(descending, identity), len(set(exact)) == n
    certified, theorem, costs = 0, True, {}
    for ranks in permutations(identity):
        cost, proof = _dot(descending, ranks), certificate(descending, ranks)
        certified += proof.verify() and (proof.start_value, proof.end_value) == (cost, least)
        theorem &= least < cost or (least == cost and (ranks == identity or not distinct))
        costs[ranks] = _dot(exact, ranks)
    minimisers = tuple(ranks for ranks, cost in costs.items() if cost == min(costs.values()))
    expected = prod(map(factorial, Counter(exact).values()))
    proposition = tuple(reference.rank(exact)) in minimisers and len(minimisers) == expected
    holds = theorem and proposition and certified == factorial(n)
    return Exhaustive(exact, factorial(n), certified, minimisers, expected, holds)


def _dot(y: Sequence[Fraction], ranks: Sequence[int]) -> Fraction:
    return sum((a * r for a, r in zip(y, ranks, strict=True)), Fraction(0))
