"""What the choice of a relevance makes of H-AP: a weighted mean of APs, or the wrong order of levels. Exact.

`weighted_ap` shows for one ranking that H-AP is a weighted mean of the APs of all levels, if the relevance is made for
it. `level_relevance` says, for given numbers of items per level, whether Eq. 4 keeps the order that it promises.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

from rankedu.proofs._exact import _values, checked_permutation
from rankedu.proofs.hierarchical import _average_precision, _exact_relevance, _safely, certificate

__all__ = ["LevelRelevance", "WeightedAP", "level_relevance", "weighted_ap"]


@dataclass(frozen=True)
class WeightedAP:
    """A proof that H-AP is a weighted mean of APs, for one ranking. Made by `weighted_ap`.

    Attributes
    ----------
    levels, permutation : tuple of int, length n
    weights : tuple of Fraction, length L
    relevance : tuple of Fraction, length n
        The relevance that does it.
    averages : tuple of length L
        AP of each level, level l or finer being relevant; None where no item reaches it.
    h_ap : Fraction
    """

    levels: tuple[int, ...]
    permutation: tuple[int, ...]
    weights: tuple[Fraction, ...]
    relevance: tuple[Fraction, ...]
    averages: tuple[Fraction | None, ...]
    h_ap: Fraction

    def verify(self) -> bool:
        """Recompute all, H-AP by its definition, and compare it with the weighted mean of the APs.

        Returns
        -------
        bool

        Source
        ------
        HAPPIER Sec. 3.1.

        Notes
        -----
        O(n² L). Explained in chapter 13.

        Examples
        --------
        >>> weighted_ap([2, 0, 1], [1, 1], [2, 1, 3]).verify()
        True
        """
        return _safely(lambda: _verify_weighted(self))


def weighted_ap(levels: Iterable[Any], weights: Iterable[Any], permutation: Iterable[Any]) -> WeightedAP:
    r"""Show that H-AP is :math:`\sum_l w_l \mathrm{AP}^{(l)} / \sum_l w_l` for the relevance made for it.

    Parameters
    ----------
    levels : iterable of int, length n
        From 0, nothing in common, to L, the same leaf.
    weights : iterable of numbers, length L
        ≥ 0, from the coarsest level to the leaves.
    permutation : iterable of int, length n
        The rank of each item, each of 1, …, n once.

    Returns
    -------
    WeightedAP

    Raises
    ------
    ValueError
        If a level lies outside 0, …, L, a weight is negative, no item reaches a level with a weight > 0, or
        ``permutation`` is not one.
    TypeError
        If the input is not one-dimensional or holds something else than numbers.

    Source
    ------
    HAPPIER Sec. 3.1.

    Notes
    -----
    O(n L). Levels that no item reaches have no AP and are left out of both sums. Explained in chapter 13.

    Examples
    --------
    >>> found = weighted_ap([2, 0, 1], [1, 1], [2, 1, 3])
    >>> found.averages, found.h_ap
    ((Fraction(7, 12), Fraction(1, 2)), Fraction(13, 24))
    """
    exact = _exact_relevance(weights, name="weights")
    listed = _whole(levels, "levels")
    if not all(0 <= level <= len(exact) for level in listed):
        raise ValueError(f"levels must be from 0 to {len(exact)}, one weight a level, got {listed}")
    ranks = checked_permutation(permutation, len(listed))
    relevance = _weighted_relevance(listed, exact)
    if not any(relevance):
        raise ValueError(f"levels must reach a level with a weight > 0, got {listed} with weights {exact}")
    averages = tuple(_average_precision([v >= p for v in listed], ranks) for p in range(1, len(exact) + 1))
    return WeightedAP(listed, ranks, exact, relevance, averages, certificate(relevance, ranks).h_ap)


@dataclass(frozen=True)
class LevelRelevance:
    """What Eq. 4, and its monotone variant, give to each level. Made by `level_relevance`.

    Attributes
    ----------
    counts : tuple of int, length L
        Items of level 1, …, L.
    alpha : int
    eq_4, monotone : tuple of Fraction, length L
        Relevance of one item of each level; 0 for a level without items.
    inverted : tuple of (int, int)
        Pairs of levels (coarse, fine), with items, of which Eq. 4 gives the finer one less.
    fine_first, coarse_first : Fraction
        H-AP with Eq. 4's relevance of the ranking from the finest level to the coarsest, and of its reverse.
    """

    counts: tuple[int, ...]
    alpha: int
    eq_4: tuple[Fraction, ...]
    monotone: tuple[Fraction, ...]
    inverted: tuple[tuple[int, int], ...]
    fine_first: Fraction
    coarse_first: Fraction

    def verify(self) -> bool:
        r"""Recompute all; prove that the monotone variant rises strictly from each level to every finer one.

        Returns
        -------
        bool
            True if the fields are right, the finest-first ranking falls short of 1 exactly if a pair is inverted, and,
            for every pair of levels m < l with :math:`C_m \ge C_l` items at least as near, the two summands of
            :math:`l^\alpha C_m - m^\alpha C_l = (l^\alpha - m^\alpha)\, C_m + m^\alpha (C_m - C_l)` are > 0 and ≥ 0.

        Source
        ------
        HAPPIER Eq. 4.

        Notes
        -----
        O(n² L). Explained in chapter 13.

        Examples
        --------
        >>> level_relevance([2, 10]).verify()
        True
        """
        return _safely(lambda: _verify_levels(self))


def level_relevance(counts: Iterable[Any], alpha: int = 1) -> LevelRelevance:
    r"""Give each level its relevance by Eq. 4, and find where that inverts the order which it promises.

    Parameters
    ----------
    counts : iterable of int, length L
        How many items level 1 (the coarsest), …, L (the leaves) have, not all 0.
    alpha : int
        Exponent, ≥ 1; whole, so that all is exact.

    Returns
    -------
    LevelRelevance
        Eq. 4's relevance, that of the variant which divides by the number of items at least as near, and H-AP of two
        rankings.

    Raises
    ------
    ValueError
        If a count is negative, all are 0, or alpha < 1.
    TypeError
        If a count or alpha is not a whole number.

    Source
    ------
    HAPPIER Eq. 4.

    Notes
    -----
    O(n L) for n items. Explained in chapter 13.

    Examples
    --------
    >>> found = level_relevance([2, 10])
    >>> found.eq_4, found.inverted
    ((Fraction(1, 4), Fraction(1, 10)), ((1, 2),))
    >>> round(float(found.fine_first), 3), found.coarse_first
    (0.826, Fraction(1, 1))
    >>> found.monotone
    (Fraction(1, 24), Fraction(1, 10))
    """
    numbers = _whole(counts, "counts")
    if min(numbers) < 0 or not any(numbers):
        raise ValueError(f"counts must be >= 0 and not all 0, got {numbers}")
    if isinstance(alpha, bool) or not isinstance(alpha, int):
        raise TypeError(f"alpha must be an int, got {alpha!r} (rankedu.hierarchy.relevance takes any number > 0)")
    if alpha < 1:
        raise ValueError(f"alpha must be >= 1, got {alpha}")
    size = len(numbers)
    weights = [Fraction(level, size) ** alpha for level in range(1, size + 1)]
    near = [sum(numbers[i:]) for i in range(size)]
    eq_4 = tuple(w / c if c else Fraction(0) for w, c in zip(weights, numbers, strict=True))
    monotone = tuple(w / m if c else Fraction(0) for w, m, c in zip(weights, near, numbers, strict=True))
    occupied = [level for level in range(1, size + 1) if numbers[level - 1]]
    inverted = tuple((m, f) for m, f in combinations(occupied, 2) if eq_4[f - 1] < eq_4[m - 1])
    coarse_first = [value for value, c in zip(eq_4, numbers, strict=True) for _ in range(c)]
    ranks = range(1, len(coarse_first) + 1)
    values = (certificate(order, ranks).h_ap for order in (coarse_first[::-1], coarse_first))
    return LevelRelevance(numbers, alpha, eq_4, monotone, inverted, *values)


def _verify_weighted(proof: WeightedAP) -> bool:
    fresh = weighted_ap(proof.levels, proof.weights, proof.permutation)
    defined = [(w, a) for w, a in zip(fresh.weights, fresh.averages, strict=True) if a is not None]
    mean = sum(w * a for w, a in defined) / sum(w for w, _ in defined)
    return fresh == proof and certificate(fresh.relevance, fresh.permutation).verify() and fresh.h_ap == mean


def _verify_levels(proof: LevelRelevance) -> bool:
    fresh = level_relevance(proof.counts, proof.alpha)
    if fresh != proof or (fresh.fine_first < 1) != bool(fresh.inverted):
        return False
    near = [sum(fresh.counts[i:]) for i in range(len(fresh.counts))]
    for m, f in combinations(range(1, len(near) + 1), 2):
        low, high = m**fresh.alpha, f**fresh.alpha
        parts = (high - low) * near[m - 1], low * (near[m - 1] - near[f - 1])
        if high * near[m - 1] - low * near[f - 1] != sum(parts) or (near[m - 1] and parts[0] <= 0) or parts[1] < 0:
            return False
        if fresh.counts[m - 1] and fresh.counts[f - 1] and fresh.monotone[m - 1] >= fresh.monotone[f - 1]:
            return False
    return True


def _weighted_relevance(levels: Sequence[int], weights: Sequence[Fraction]) -> tuple[Fraction, ...]:
    near = [sum(level >= p for level in levels) for p in range(1, len(weights) + 1)]
    return tuple(sum((weights[p] / near[p] for p in range(level)), Fraction(0)) for level in levels)


def _whole(numbers: Iterable[Any], name: str) -> tuple[int, ...]:
    values = _values(numbers, name)
    for i, value in enumerate(values):
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"{name} must hold whole numbers, got {value!r} at index {i}")
    return tuple(values)
