"""What the choice of a relevance makes of H-AP: a weighted mean of APs, or the wrong order of levels. Exact."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

from rankedu import reference
from rankedu.proofs.exact import checked_permutation, exact_relevance, verdict, whole_number, whole_numbers
from rankedu.proofs.hierarchical import certificate

__all__ = ["LevelRelevance", "WeightedAP", "level_relevance", "weighted_ap"]


@dataclass(frozen=True)
class WeightedAP:
    """A proof that H-AP is a weighted mean of APs, for one ranking. Made by `weighted_ap`."""

    levels: tuple[int, ...]
    permutation: tuple[int, ...]
    weights: tuple[Fraction, ...]
    relevance: tuple[Fraction, ...]  #: The relevance that does it.
    #: AP of each level, level l or finer being relevant; None where no item reaches it.
    averages: tuple[Fraction | None, ...]
    h_ap: Fraction

    @verdict
    def verify(self) -> bool:
        """Recompute all, H-AP by its definition, and compare it with the weighted mean of the APs; O(n² L)."""
        fresh = weighted_ap(self.levels, self.weights, self.permutation)
        defined = [(w, a) for w, a in zip(fresh.weights, fresh.averages, strict=True) if a is not None]
        mean = sum(w * a for w, a in defined) / sum(w for w, _ in defined)
        return fresh == self and certificate(fresh.relevance, fresh.permutation).verify() and fresh.h_ap == mean


def weighted_ap(levels: Iterable[Any], weights: Iterable[Any], permutation: Iterable[Any]) -> WeightedAP:
    r"""Show that H-AP is :math:`\sum_l w_l \mathrm{AP}^{(l)} / \sum_l w_l` for the relevance made for it.

    Levels are ints from 0, nothing in common, to L, the same leaf; the L weights, ≥ 0, go from the coarsest level to
    the leaves, and some item must reach one > 0; ``permutation`` is the rank of each item. Else ValueError or
    TypeError. Levels that no item reaches have no AP and are left out of both sums. O(n L). Explained in chapter 13.
    Source: HAPPIER Sec. 3.1.

    >>> found = weighted_ap([2, 0, 1], [1, 1], [2, 1, 3])
    >>> found.averages, found.h_ap
    ((Fraction(7, 12), Fraction(1, 2)), Fraction(13, 24))
    """
    exact, listed = exact_relevance(weights, "weights"), whole_numbers(levels, "levels")
    if max(listed) > len(exact):
        raise ValueError(f"levels must be from 0 to {len(exact)}, one weight a level, got {listed}")
    ranks = checked_permutation(permutation, len(listed))
    relevance = tuple(map(Fraction, reference.weighted_ap_relevance(listed, exact)))
    if not any(relevance):
        raise ValueError(f"levels must reach a level with a weight > 0, got {listed} with weights {exact}")
    reached = ([level >= depth for level in listed] for depth in range(1, len(exact) + 1))
    averages = tuple(
        reference.average_precision([Fraction(-rank) for rank in ranks], r) if any(r) else None for r in reached
    )
    return WeightedAP(listed, ranks, exact, relevance, averages, certificate(relevance, ranks).h_ap)


@dataclass(frozen=True)
class LevelRelevance:
    """What Eq. 4, and its monotone variant, give to each level. Made by `level_relevance`."""

    counts: tuple[int, ...]  #: Items of level 1, …, L.
    alpha: int
    eq_4: tuple[Fraction, ...]  #: eq_4, monotone: relevance of one item of each level; 0 for a level without items.
    monotone: tuple[Fraction, ...]
    #: Pairs of levels (coarse, fine), with items, of which Eq. 4 gives the finer one less.
    inverted: tuple[tuple[int, int], ...]
    #: fine_first, coarse_first: H-AP, by Eq. 4's relevance, of the finest level first, and of the coarsest first.
    fine_first: Fraction
    coarse_first: Fraction

    @verdict
    def verify(self) -> bool:
        r"""Recompute all; prove that the variant rises strictly, and that 1 is missed exactly if a pair is inverted.

        For levels m < l with :math:`C_m \ge C_l` items at least as near, the two summands of :math:`l^\alpha C_m -
        m^\alpha C_l = (l^\alpha - m^\alpha)\, C_m + m^\alpha (C_m - C_l)` must be > 0 and ≥ 0.
        """
        if self != level_relevance(self.counts, self.alpha) or (self.fine_first < 1) != bool(self.inverted):
            return False
        near = [sum(self.counts[i:]) for i in range(len(self.counts))]
        for m, f in combinations(range(1, len(near) + 1), 2):
            low, high = m**self.alpha, f**self.alpha
            parts = (high - low) * near[m - 1], low * (near[m - 1] - near[f - 1])
            if high * near[m - 1] - low * near[f - 1] != sum(parts) or (near[m - 1] and parts[0] <= 0) or parts[1] < 0:
                return False
            if self.counts[m - 1] and self.counts[f - 1] and self.monotone[m - 1] >= self.monotone[f - 1]:
                return False
        return True


def level_relevance(counts: Iterable[Any], alpha: int = 1) -> LevelRelevance:
    """Give each level its relevance by Eq. 4, and find where that inverts the order which it promises.

    The counts say how many items level 1 (the coarsest), …, L (the leaves) have; alpha is whole, so that all is exact.
    Beside Eq. 4's relevance stands that of the variant which divides by the number of items at least as near. O(n²).
    Explained in chapter 13. Raises ValueError or TypeError for counts that are no ints ≥ 0, all 0, or an alpha < 1.
    Source: HAPPIER Eq. 4.

    >>> found = level_relevance([2, 10])
    >>> found.eq_4, found.inverted
    ((Fraction(1, 4), Fraction(1, 10)), ((1, 2),))
    >>> round(float(found.fine_first), 3), found.coarse_first
    (0.826, Fraction(1, 1))
    >>> found.monotone
    (Fraction(1, 24), Fraction(1, 10))
    """
    numbers = whole_numbers(counts, "counts")
    if not any(numbers):
        raise ValueError(f"counts must not all be 0, got {numbers}")
    whole_number(alpha, "alpha", least=1)
    levels = [Fraction(level) for level, count in enumerate(numbers, 1) for _ in range(count)]
    eq_4, monotone = (reference.relevance(levels, alpha, len(numbers), kind) for kind in (False, True))
    of_level = [dict(zip(levels, values, strict=True)) for values in (eq_4, monotone)]
    tables = [tuple(known.get(Fraction(v), Fraction(0)) for v in range(1, len(numbers) + 1)) for known in of_level]
    occupied = [level for level, count in enumerate(numbers, 1) if count]
    inverted = tuple((m, f) for m, f in combinations(occupied, 2) if tables[0][f - 1] < tables[0][m - 1])
    ranks = range(1, len(levels) + 1)
    fine_first, coarse_first = (certificate(listed, ranks).h_ap for listed in (eq_4[::-1], eq_4))
    return LevelRelevance(numbers, alpha, tables[0], tables[1], inverted, fine_first, coarse_first)
