"""What Eq. 4 makes of the order of levels: relevances that rise towards the leaves, or fall. Exact."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

from rankedu import reference
from rankedu.proofs.hierarchical import certificate


class LevelRelevance(NamedTuple):
    """What Eq. 4, and its monotone variant, give to each level. Made by `level_relevance`."""

    eq_4: tuple[Fraction, ...]  #: eq_4, monotone: relevance of one item of each level; 0 for a level without items.
    monotone: tuple[Fraction, ...]
    #: Pairs of levels (coarse, fine), with items, of which Eq. 4 gives the finer one less.
    inverted: tuple[tuple[int, int], ...]
    #: fine_first, coarse_first: H-AP, by Eq. 4's relevance, of the finest level first, and of the coarsest first.
    fine_first: Fraction
    coarse_first: Fraction


def level_relevance(counts: Sequence[int], alpha: int = 1) -> LevelRelevance:
    """Give each level its relevance by Eq. 4, and find where that inverts the order which it promises.

    The counts say how many items level 1 (the coarsest), …, L (the leaves) have; alpha is whole, so that all is exact.
    Beside Eq. 4's relevance stands that of the variant which divides by the number of items at least as near.
    Source: HAPPIER Eq. 4.

    >>> found = level_relevance([2, 10])
    >>> found.eq_4, found.monotone, found.inverted
    ((Fraction(1, 4), Fraction(1, 10)), (Fraction(1, 24), Fraction(1, 10)), ((1, 2),))
    >>> round(float(found.fine_first), 3), found.coarse_first
    (0.826, Fraction(1, 1))
    """
    levels = [Fraction(level) for level, count in enumerate(counts, 1) for _ in range(count)]
    eq_4, monotone = (reference.relevance(levels, alpha, len(counts), kind) for kind in (False, True))
    of_level = [dict(zip(levels, values, strict=True)) for values in (eq_4, monotone)]
    tables = [tuple(known.get(Fraction(v), Fraction(0)) for v in range(1, len(counts) + 1)) for known in of_level]
    occupied = [level for level, count in enumerate(counts, 1) if count]
    inverted = tuple((m, f) for m, f in combinations(occupied, 2) if tables[0][f - 1] < tables[0][m - 1])
    ranks = range(1, len(levels) + 1)
    fine_first, coarse_first = (certificate(listed, ranks).h_ap for listed in (eq_4[::-1], eq_4))
    return LevelRelevance(tables[0], tables[1], inverted, fine_first, coarse_first)
