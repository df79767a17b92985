"""How many positives each negative passes in the most violated ranking: two ways to find it, the derivation is there.

See :func:`rankedu_lab.contestants.most_violated_ranking`. Both are given the positives from the worst to the best, and
the negatives in any order, and maximise :math:`f_j` for each negative j, counted from the best.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Pairs compared at a time.
TILE = 1 << 16


class Part(NamedTuple):
    """Some negatives, in ascending order, and what is known of them."""

    items: Ints
    ahead: int  #: negatives that are better than all of these
    low: int  #: each passes as many positives or more
    high: int  #: and as many or fewer


def yue(positives: Floats, negatives: Floats) -> Ints:
    """Return how many positives, the worst first, each negative passes: maximise every f_j over all places."""
    passes = np.zeros(len(negatives), dtype=np.int64)
    _try_all(positives, negatives, Part(np.arange(len(negatives)), 0, 0, len(positives)), passes)
    return passes


def mohapatra(positives: Floats, negatives: Floats) -> Ints:
    """Return the same by divide and conquer, as in quicksort: no negative passes more positives than a better one."""
    random = np.random.default_rng(0)
    passes = np.zeros(len(negatives), dtype=np.int64)
    parts = [Part(np.arange(len(negatives)), 0, 0, len(positives))]
    while parts:
        items, ahead, low, high = part = parts.pop()
        if len(items) * (high - low) <= TILE:
            _try_all(positives, negatives, part, passes)
            continue
        pivot = items[random.integers(len(items))]
        better = (negatives[items] > negatives[pivot]) | ((negatives[items] == negatives[pivot]) & (items < pivot))
        place = ahead + int(better.sum())
        _try_all(positives, negatives, Part(items[items == pivot], place, low, high), passes)
        best = int(passes[pivot])
        parts.append(Part(items[better], ahead, best, high))
        parts.append(Part(items[~better & (items != pivot)], place + 1, low, best))
    return passes


def _try_all(positives: Floats, negatives: Floats, part: Part, passes: Ints) -> None:
    """Maximise f_j at all places within the bounds for the negatives of a part; the first of equal places counts."""
    n, size = len(negatives), max(1, TILE // max(part.high - part.low, 1))
    i = len(positives) - np.arange(part.low, part.high, dtype=np.float64)
    best_first = part.items[np.argsort(-negatives[part.items], kind="stable")]
    for start in range(0, len(best_first), size):
        here = best_first[start : start + size]
        j = part.ahead + np.arange(start + 1.0, start + len(here) + 1)[:, None]
        gains = n * i / ((i + j - 1) * (i + j)) + 2 * (negatives[here, None] - positives[part.low : part.high])
        f = np.zeros((len(here), len(i) + 1))
        np.cumsum(gains, axis=1, out=f[:, 1:])
        passes[here] = part.low + f.argmax(1)


INFERENCE: dict[str, Callable[[Floats, Floats], Ints]] = {"mohapatra": mohapatra, "yue": yue}
