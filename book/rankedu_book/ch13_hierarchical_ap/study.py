"""Compute what chapter 13 shows: four metrics of a ranking by levels, and the order that a relevance makes."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, permutations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from rankedu import reference
from rankedu.hierarchy import levels as common_levels
from rankedu.hierarchy import relevance
from rankedu.metrics import average_precision, average_set_intersection, hierarchical_average_precision, ndcg
from rankedu.proofs.hierarchical import certificate
from rankedu_lab.datasets.glyphs import UnicodeGlyphs

#: The character of the query, and the characters of the ranked pictures in two orders.
QUERY = "é"
MILD = "éééèéêéëEgAmЖβ→"
SEVERE = "éééЖéβéèêëEgAm→"


def order_of(length: int) -> Tensor:
    """Return scores for a list that is written down from rank 1 to rank n."""
    return torch.arange(length, 0, -1, dtype=torch.float64)


def measure(listed: Sequence[int] | Tensor, alpha: float = 1.0, n_levels: int = 3) -> dict[str, Tensor]:
    """Return AP of the leaves, H-AP, ASI and NDCG of rankings, given as levels from rank 1 to rank n; (..., n)."""
    levels = torch.as_tensor(listed)
    scores = order_of(levels.shape[-1]).expand(levels.shape)
    graded = relevance(levels, alpha, n_levels=n_levels)
    return {
        "AP": average_precision(scores, levels == n_levels),
        "H-AP": hierarchical_average_precision(scores, graded),
        "ASI": average_set_intersection(scores, levels),
        "NDCG": ndcg(scores, 2.0**levels - 1),
    }


def glyph_rankings() -> tuple[Tensor, Tensor, tuple[Tensor, Tensor]]:
    """Return the query's picture, the pictures of both rankings (2, 15, 32, 32) and their levels, from the labels."""
    data = UnicodeGlyphs("all", characters=set(QUERY + MILD))
    name, path = data.names[2], data.labels
    of = {character: (path[:, 2] == name.index(character)).nonzero()[:, 0].tolist() for character in set(MILD)}
    query, *of[QUERY] = of[QUERY]
    chosen = []
    for text in (MILD, SEVERE):
        used = {character: iter(indices) for character, indices in of.items()}
        chosen.append([next(used[character]) for character in text])
    index = torch.tensor(chosen)
    found = common_levels(path[[query]], path)[0]
    return data.images[query], data.images[index], (found[index[0]], found[index[1]])


def level_weights(counts: Sequence[int], alpha: float) -> npt.NDArray[np.float64]:
    """Return the weights of the APs of level 1, …, L in H-AP with Eq. 4, for these numbers of items; they sum to 1."""
    size = np.array(counts, dtype=float)
    near = size[::-1].cumsum()[::-1]
    rel = (np.arange(1, len(size) + 1) / len(size)) ** alpha / size
    weight = np.diff(rel, prepend=0.0) * near
    return np.asarray(weight / weight.sum())


def swaps(counts: Sequence[int] = (2, 2, 2, 2), alpha: float = 1.0) -> dict[str, tuple[float, int]]:
    """Swap two neighbours so that the nearer one is first: share of no change, and number of falls, for each metric.

    This is done at every place of every distinct order of items, counts[l] of level l.
    """
    levels = [level for level, count in enumerate(counts) for _ in range(count)]
    orders = torch.tensor(sorted(set(permutations(levels))))
    old, new = [], []
    for place in range(orders.shape[1] - 1):
        wrong = orders[orders[:, place] < orders[:, place + 1]]
        right = wrong.clone()
        right[:, [place, place + 1]] = wrong[:, [place + 1, place]]
        old.append(wrong)
        new.append(right)
    before, after = (measure(torch.cat(listed), alpha, len(counts) - 1) for listed in (old, new))
    gains = {name: (after[name] - before[name]).double() for name in before}
    return {
        name: ((gain.abs() < 1e-9).double().mean().item(), int((gain < -1e-9).sum())) for name, gain in gains.items()
    }


class LevelRelevance(NamedTuple):
    """The relevance of each level by Eq. 4 and by its monotone variant, as `level_relevance` returns it."""

    eq_4: tuple[Fraction, ...]  #: eq_4, monotone: relevance of one item of each level; 0 for a level without items.
    monotone: tuple[Fraction, ...]
    #: Pairs of levels (coarse, fine), with items, of which Eq. 4 gives the finer one less.
    inverted: tuple[tuple[int, int], ...]
    #: fine_first, coarse_first: H-AP, by Eq. 4's relevance, of the finest level first, and of the coarsest first.
    fine_first: Fraction
    coarse_first: Fraction


def level_relevance(counts: Sequence[int], alpha: int = 1) -> LevelRelevance:
    """Give each level its relevance by Eq. 4, and find the levels whose order it inverts.

    The counts say how many items level 1 (the coarsest), …, L (the leaves) have; alpha is whole, so that all is exact.
    The monotone variant divides by the number of items at least as near.
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
