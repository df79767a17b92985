"""Metrics of many queries at once, as formulas of the ranks and levels of their relevant items.

Each is the definition of :mod:`rankedu.metrics` summed query by query: the lists of all queries stand one after the
other, and `numpy.bincount` adds up, always in the same order.
"""

from __future__ import annotations

import re

import numpy as np
import torch

from rankedu.hierarchy import relevance
from rankedu.metrics._relevant import Bools, Floats, Ints, Relevant

__all__ = ["Formulas", "is_graded", "parse"]

GRADED = ("h_ap", "asi", "ndcg")
PLAIN = ("average_precision", "map_at_r")
AT_K = re.compile(r"(recall|precision)_at_([1-9]\d*)")


def is_graded(metric: str) -> bool:
    """Whether a metric is of all levels together."""
    return metric in GRADED


def parse(metrics: object) -> tuple[str, ...]:
    """Names of metrics, each known, none twice."""
    if isinstance(metrics, str) or not isinstance(metrics, (tuple, list)) or not metrics:
        raise TypeError(f"metrics must be a tuple of names, got {metrics!r} (e.g. ('recall_at_1', 'map_at_r'))")
    for name in metrics:
        if not isinstance(name, str) or not (name in GRADED + PLAIN or AT_K.fullmatch(name)):
            raise ValueError(
                f"metrics must be among recall_at_K, precision_at_K, {', '.join(PLAIN + GRADED)}, got {name!r} "
                "(K is a number, e.g. recall_at_10)"
            )
    return tuple(dict.fromkeys(metrics))


class Formulas:
    """The chosen metrics.

    Parameters
    ----------
    metrics : tuple of str
    n_levels : int
        L.
    items : int
        Candidates of a query at most.
    alpha : float
        Exponent of the relevance, for H-AP.
    monotone : bool
        Which relevance, for H-AP.
    """

    def __init__(self, metrics: tuple[str, ...], n_levels: int, items: int, alpha: float, monotone: bool) -> None:
        self.metrics, self.n_levels, self.monotone = metrics, n_levels, monotone
        self.weight = relevance(torch.arange(n_levels + 1), alpha, n_levels).numpy()[1:]  # of a lone item at each level
        self.discount = 1 / np.log2(np.arange(2.0, items + 2))
        self.ideal = np.concatenate([[0.0], np.cumsum(self.discount)])  # of the first so many places

    def __call__(self, found: Relevant) -> dict[str, Floats]:
        """One value for each query and level, (q, L), or for a graded metric for each query, (q,); nan if undefined."""
        values = {m: np.empty(found.size.T.shape) for m in self.metrics if not is_graded(m)}
        with np.errstate(invalid="ignore"):
            if values:
                for level in range(self.n_levels):
                    for name, value in self._binary(found, level, list(values)).items():
                        values[name][:, level] = value
            graded = {"h_ap": self._h_ap, "asi": self._asi, "ndcg": self._ndcg}
            values.update({m: graded[m](found) for m in self.metrics if is_graded(m)})
        return {m: values[m] for m in self.metrics}

    def _binary(self, found: Relevant, level: int, metrics: list[str]) -> dict[str, Floats]:
        """Metrics for which the items of this level (from 0: the first) or finer are relevant, and no others."""
        query, rank, size = found.query, found.rank, found.size[level]
        if level:
            positive = found.level > level
            query, rank = query[positive], rank[positive]
        start = np.cumsum(size) - size
        precision = (np.arange(1, len(rank) + 1) - start[query]) / rank
        values = {}
        for name in metrics:
            if name == "average_precision":
                value = np.bincount(query, precision, len(size)) / size
            elif name == "map_at_r":
                near = rank <= size[query]
                value = np.bincount(query[near], precision[near], len(size)) / size
            else:
                kind, k = AT_K.fullmatch(name).groups()  # type: ignore[union-attr]
                hits = np.bincount(query[rank <= int(k)], minlength=len(size))
                value = (hits > 0).astype(float) if kind == "recall" else hits / int(k)
            values[name] = np.where(size > 0, value, np.nan)
        return values

    def _h_ap(self, found: Relevant) -> Floats:
        """H-AP as a sum over nested sets: for each step of the relevance, the sum of precisions within {rel ≥ r_t}."""
        count = exactly(found.size)
        table = self.table(found.size)
        graded = table[found.level - 1, found.query]
        total = np.zeros(count.shape[1])
        below = np.zeros(count.shape[1])
        for step in np.sort(np.where(count > 0, table, 0.0), axis=0):
            member = graded >= step[found.query]
            query, rank = found.query[member], found.rank[member]
            size = np.bincount(query, minlength=len(total))
            within = np.arange(1, len(rank) + 1) - (np.cumsum(size) - size)[query]
            total += (step - below) * np.bincount(query, within / rank, len(total))
            below = step
        value: Floats = np.minimum(total / (count * table).sum(0), 1.0)
        return value

    def table(self, count: Ints) -> Floats:
        """The relevance of an item of each level, for each query, (L, q), from the items of each level or finer."""
        share = count if self.monotone else exactly(count)
        table: Floats = self.weight[:, None] / np.maximum(share, 1)
        return table

    def inverted(self, count: Ints) -> Bools:
        """Whether a query's finer items are worth less than its coarser ones, (q,)."""
        occupied = exactly(count) > 0
        table = np.where(occupied, self.table(count), 0.0)
        less = table < np.maximum.accumulate(table, axis=0) * (1 - 1e-12)  # equal but for rounding is equal
        inverted: Bools = np.any(occupied & less, axis=0)
        return inverted

    def _asi(self, found: Relevant) -> Floats:
        """ASI: which level stands at each depth up to R, then the sets of the top k level by level."""
        reach = found.size[0]
        start = np.cumsum(reach) - reach
        near = found.rank <= reach[found.query]
        here = np.zeros(len(found.rank), np.int16)
        here[(start[found.query] + found.rank - 1)[near]] = found.level[near]
        depth = np.arange(1, len(here) + 1) - start[found.query]
        common = np.zeros(len(here), np.int64)
        above = np.zeros(len(reach), np.int64)  # items of a finer level
        for level, count in reversed(list(enumerate(exactly(found.size), start=1))):
            so_far = np.concatenate([[0], np.cumsum(here == level)])
            inside = so_far[1:] - so_far[start][found.query]
            common += np.minimum(inside, np.maximum(depth - above[found.query], 0))  # inside <= count as it is
            above = above + count
        value: Floats = np.bincount(found.query, common / depth, len(reach)) / reach
        return value

    def _ndcg(self, found: Relevant) -> Floats:
        """NDCG with gain 2^level − 1 over the whole list."""
        gain = 2.0 ** np.arange(self.n_levels + 1) - 1
        reached = np.bincount(found.query, gain[found.level] * self.discount[found.rank - 1], found.size.shape[1])
        best = np.zeros(found.size.shape[1])
        above = np.zeros(found.size.shape[1], np.int64)
        for level, count in reversed(list(enumerate(exactly(found.size), start=1))):
            best += gain[level] * (self.ideal[above + count] - self.ideal[above])
            above = above + count
        value: Floats = np.minimum(reached / best, 1.0)
        return value


def exactly(count: Ints) -> Ints:
    """From the items of each level or finer to those of each level."""
    exact = count.copy()
    exact[:-1] -= count[1:]
    return exact
