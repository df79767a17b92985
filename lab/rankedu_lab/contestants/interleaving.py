"""How many positives each negative passes in the most violated ranking: two ways to find it, the derivation is there.

See :func:`rankedu_lab.contestants.most_violated_ranking`. Both are given the positives from the worst to the best, and
the negatives in any order, and maximise :math:`f_j` for each negative j, counted from the best.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Pairs compared at a time by Yue's inference.
TILE = 1 << 16


def yue(positives: Floats, negatives: Floats) -> Ints:
    """How many positives, the worst first, each negative passes: maximise every f_j over all places."""
    p, n = len(positives), len(negatives)
    best_first = np.argsort(-negatives, kind="stable")
    passes, i, size = np.zeros(n, dtype=np.int64), np.arange(p, 0, -1.0), max(1, TILE // max(p, 1))
    for start in range(0, n, size):
        here = best_first[start : start + size]
        j = np.arange(start + 1.0, start + len(here) + 1)[:, None]
        f = np.zeros((len(here), p + 1))
        np.cumsum(n * i / ((i + j - 1) * (i + j)) + 2 * (negatives[here, None] - positives), axis=1, out=f[:, 1:])
        passes[here] = f.argmax(1)  # the first, the fewest
    return passes


def mohapatra(positives: Floats, negatives: Floats) -> Ints:
    """The same by divide and conquer: some negatives, and the positives that they may pass, at a time."""
    p, n = len(positives), len(negatives)
    random = np.random.default_rng(0)
    passes, item = np.zeros(n, dtype=np.int64), np.arange(n)
    start, stop, low, high = (np.array([x]) for x in (0, n, 0, p))
    while True:
        settled = low == high
        part, at = _flat(start[settled], stop[settled])
        passes[item[at]] = low[settled][part]
        start, stop, low, high = (x[~settled & (start < stop)] for x in (start, stop, low, high))
        if not len(start):
            return passes
        pivot = item[start + (random.random(len(start)) * (stop - start)).astype(np.int64)]
        middle = start + _partition(item, negatives, pivot, start, stop)
        passes[pivot] = best = low + _best(positives, negatives[pivot], middle + 1, n, low, high)
        start, stop = np.concatenate([start, middle + 1]), np.concatenate([middle, stop])
        low, high = np.concatenate([best, low]), np.concatenate([high, best])


def _flat(start: Ints, stop: Ints) -> tuple[Ints, Ints]:
    """The numbers from start to stop of every part, one after the other, and the part of each."""
    sizes = stop - start
    part = np.repeat(np.arange(len(start)), sizes)
    return part, np.arange(len(part)) + np.repeat(start - sizes.cumsum() + sizes, sizes)


def _partition(item: Ints, negatives: Floats, pivot: Ints, start: Ints, stop: Ints) -> Ints:
    """Move, in every part, what is better than the pivot before it; return how many that is."""
    part, at = _flat(start, stop)
    items, values, limit = item[at], negatives[item[at]], negatives[pivot][part]
    better = (values > limit) | ((values == limit) & (items < pivot[part]))
    worse = ~better & (items != pivot[part])
    ahead = np.bincount(part[better], minlength=len(start))
    for group, first in ((better, start), (worse, start + ahead + 1)):
        members = part[group]
        sizes = np.bincount(members, minlength=len(start))
        item[_flat(first, first + sizes)[1]] = items[group]
    item[start + ahead] = pivot
    return ahead


def _best(positives: Floats, y: Floats, j: Ints, n: int, low: Ints, high: Ints) -> Ints:
    """How many positives beyond the ``low`` worst ones the j-th negative, of score y, should pass: the best of f_j."""
    part, at = _flat(low, high)
    i = len(positives) - at
    j_of, first = j[part], (high - low).cumsum() - (high - low)
    gain = n * i / ((i + j_of - 1.0) * (i + j_of)) + 2 * (y[part] - positives[at])
    f = gain.cumsum()
    f -= (f[first] - gain[first])[part]
    top = np.maximum.reduceat(f, first)
    count = np.where(f == top[part], at - low[part] + 1, len(positives) + 1)
    return np.where(top > 0, np.minimum.reduceat(count, first), 0)


INFERENCE: dict[str, Callable[[Floats, Floats], Ints]] = {"mohapatra": mohapatra, "yue": yue}
