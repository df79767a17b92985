"""Metrics of many queries at once, as formulas of the ranks and levels of their relevant items.

The lists of all queries stand one after the other, and `numpy.bincount` adds up, always in the same order.
"""

from typing import Any, NamedTuple

import numpy as np
import torch

from rankedu.hierarchy import relevance
from rankedu.metrics._relevant import Floats, Ints, Relevant
from rankedu.metrics.names import GRADED, OF_ONE_LEVEL, Metric


class Formulas:
    """The chosen metrics of queries with at most so many candidates; alpha and monotone are of H-AP's relevance."""

    def __init__(self, metrics: dict[str, Metric], n_levels: int, items: int, alpha: float, monotone: bool) -> None:
        self.metrics, self.n_levels, self.monotone = metrics, n_levels, monotone
        self.weight = relevance(torch.arange(n_levels + 1), alpha, n_levels).numpy()[1:]  # of a lone item at each level
        self.discount = 1 / np.log2(np.arange(2.0, items + 2))
        self.ideal = np.concatenate([[0.0], np.cumsum(self.discount)])  # of the first so many places

    def __call__(self, found: Relevant) -> dict[str, Floats]:
        """One value for each query and level, (q, L), or for a graded metric for each query, (q,); nan if undefined."""
        with np.errstate(invalid="ignore"):
            levels: list[_AtLevel] = []
            if any(metric.kind in OF_ONE_LEVEL for metric in self.metrics.values()):
                levels = [_at_level(found, level) for level in range(1, self.n_levels + 1)]
            values = {}
            for name, (kind, k) in self.metrics.items():
                if kind == "ndcg":
                    values[name] = self._ndcg(found, k)
                elif kind in GRADED:
                    values[name] = self._h_ap(found) if kind == "h_ap" else self._asi(found)
                else:
                    values[name] = np.stack([_binary(kind, k, at_level) for at_level in levels], axis=1)
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
            total += (step - below) * np.bincount(query, _number(query, size) / rank, len(total))
            below = step
        value: Floats = np.minimum(total / (count * table).sum(0), 1.0)
        return value

    def table(self, count: Ints) -> Floats:
        """The relevance of an item of each level, for each query, (L, q), from the items of each level or finer."""
        share = count if self.monotone else exactly(count)
        table: Floats = self.weight[:, None] / np.maximum(share, 1)
        return table

    def _asi(self, found: Relevant) -> Floats:
        """ASI: which level stands at each depth up to R, then the sets of the top k level by level."""
        reach = found.size[0]
        start = np.cumsum(reach) - reach
        near = found.rank <= reach[found.query]
        here = np.zeros(len(found.rank), np.int16)
        here[(start[found.query] + found.rank - 1)[near]] = found.level[near]
        depth = _number(found.query, reach)
        common = np.zeros(len(here), np.int64)
        above = np.zeros(len(reach), np.int64)  # items of a finer level
        for level, count in reversed(list(enumerate(exactly(found.size), start=1))):
            so_far = np.concatenate([[0], np.cumsum(here == level)])
            inside = so_far[1:] - so_far[start][found.query]
            common += np.minimum(inside, np.maximum(depth - above[found.query], 0))  # inside <= count as it is
            above = above + count
        value: Floats = np.bincount(found.query, common / depth, len(reach)) / reach
        return value

    def _ndcg(self, found: Relevant, k: int | None) -> Floats:
        """NDCG with gain 2^level − 1 over the whole list, or its first k places."""
        gain = 2.0 ** np.arange(self.n_levels + 1) - 1
        near = slice(None) if k is None else found.rank <= k
        gained = gain[found.level[near]] * self.discount[found.rank[near] - 1]
        reached = np.bincount(found.query[near], gained, found.size.shape[1])
        best = np.zeros(found.size.shape[1])
        above = np.zeros(found.size.shape[1], np.int64)
        for level, count in reversed(list(enumerate(exactly(found.size), start=1))):
            places = above, above + count
            begin, end = places if k is None else (np.minimum(place, k) for place in places)
            best += gain[level] * (self.ideal[end] - self.ideal[begin])
            above = above + count
        value: Floats = np.minimum(reached / best, 1.0)
        return value


class _AtLevel(NamedTuple):
    """The items of a level or finer."""

    query: Ints
    rank: Ints
    number: Ints  # among those of the query, from 1
    size: Ints  # (q,) how many each query has


def _at_level(found: Relevant, level: int) -> _AtLevel:
    query, rank, size = found.query, found.rank, found.size[level - 1]
    if level > 1:
        positive = found.level >= level
        query, rank = query[positive], rank[positive]
    return _AtLevel(query, rank, _number(query, size), size)


def _binary(kind: str, k: int | None, items: _AtLevel) -> Floats:
    """A metric of one level: a sum over the relevant items that stand near enough, and what it is divided by."""
    query, rank, number, size = items
    near: Any = slice(None) if k is None else rank <= k
    if kind in ("map_at_r", "r_precision"):
        near = rank <= size[query]
    weight = None
    if kind in ("average_precision", "map_at_r"):
        weight = number[near] / rank[near]
    elif kind == "mrr":
        weight = (number == 1) / rank
    total = np.bincount(query[near], weight, len(size))
    if kind == "recall":
        total = np.minimum(total, 1)
    divisor: Any = {"recall": 1, "mrr": 1, "precision": k}.get(kind, size)
    return np.where(size > 0, total / divisor, np.nan)


def _number(query: Ints, size: Ints) -> Ints:
    """The places of all items in the lists of their queries, from 1."""
    number: Ints = np.arange(1, len(query) + 1) - (np.cumsum(size) - size)[query]
    return number


def exactly(count: Ints) -> Ints:
    """From the items of each level or finer to those of each level."""
    exact = count.copy()
    exact[:-1] -= count[1:]
    return exact
