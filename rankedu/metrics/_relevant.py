"""The relevant items of each query: their ranks among all items, and their levels. All metrics are formulas of these.

The readable way is `sort_all`. On the CPU `count_or_sort` is faster: it counts few ranks, and sorts many by their bits.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from rankedu import hierarchy
from rankedu._fast.packed import order

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

CALL = 20_000  # measured on the CPU: a count costs a pass over the row, and calls worth so many entries;
SORT = 20  # a sort costs so many passes, and six times the calls
TIES = 16  # fewer tied items are counted one by one


class Relevant(NamedTuple):
    """The relevant items of some queries, query by query, each from the best to the worst."""

    query: Ints  # (m,) ascending from 0
    rank: Ints  # (m,) among all candidates, from 1
    level: npt.NDArray[np.int16]  # (m,) from 1
    size: Ints  # (L, q) how many are of level l or finer; the first row is of level 1


class Tree:
    """For every query and level, which items agree with its path that far.

    Without labels of a gallery the items are the queries, and no query is its own candidate.
    """

    def __init__(self, labels: Tensor, gallery_labels: Tensor | None = None) -> None:
        self.own = gallery_labels is None
        gallery_labels = labels if gallery_labels is None else gallery_labels
        hierarchy.levels(labels, gallery_labels[:1])  # these compare with one item only, but check everything
        hierarchy.levels(labels[:1], gallery_labels)
        paths = np.concatenate([x.detach().cpu().numpy().reshape(len(x), -1) for x in (labels, gallery_labels)])
        nodes = _nodes(paths.astype(np.int64))
        self.flat = [level for level in range(1, len(nodes)) if np.array_equal(nodes[level], nodes[level - 1])]
        self.n_levels, self.queries, self.gallery = len(nodes), nodes[:, : len(labels)], nodes[:, len(labels) :]
        self.items = [np.argsort(nodes, kind="stable") for nodes in self.gallery]
        self.begin, self.end = np.empty_like(self.queries), np.empty_like(self.queries)
        for level, items in enumerate(self.items):
            ascending = self.gallery[level][items]
            self.begin[level] = np.searchsorted(ascending, self.queries[level], side="left")
            self.end[level] = np.searchsorted(ascending, self.queries[level], side="right")
        self.begin[self.queries < 0] = self.end[self.queries < 0] = 0
        self.size = self.end - self.begin - (self.own & (self.queries >= 0))

    def members(self, level: int, query: int) -> Ints:
        """The items that agree to the level (from 0: the first) or further, by position, the query among them."""
        return self.items[level][self.begin[level, query] : self.end[level, query]]

    def members_of_many(self, queries: Ints) -> tuple[Ints, Ints]:
        """The same for the first level and several queries, without the queries: number of the query, and item."""
        begin, size = self.begin[0, queries], (self.end - self.begin)[0, queries]
        number = np.repeat(np.arange(len(queries)), size)
        item = self.items[0][np.arange(len(number)) + np.repeat(begin - (np.cumsum(size) - size), size)]
        if not self.own:
            return number, item
        other = item != queries[number]
        return number[other], item[other]

    def levels(self, queries: Ints, device: torch.device) -> Tensor:
        """Levels of these queries with all items, (q, g) int16; a query's own is 0."""
        asked, others = (torch.from_numpy(x).to(device) for x in (self.queries[:, queries], self.gallery))
        levels = torch.zeros(len(queries), others.shape[1], dtype=torch.int16, device=device)
        for own, other in zip(asked, others, strict=True):
            levels += (own[:, None] == other) & (own[:, None] >= 0)
        return _without_own(levels, queries) if self.own else levels

    def agree(self, queries: Ints, items: Ints) -> npt.NDArray[np.int16]:
        """Levels of pairs."""
        own, others = self.queries[:, queries], self.gallery[:, items]
        common: npt.NDArray[np.int16] = ((own == others) & (own >= 0)).sum(0, dtype=np.int16)
        return common


def _nodes(paths: Ints) -> Ints:
    """Number the prefixes of all paths, (L, n); −1 below the end of a path."""
    node = np.zeros(len(paths), np.int64)
    nodes = np.empty(paths.shape[::-1], np.int64)
    for level, ids in enumerate(paths.T):
        _, number = np.unique(ids, return_inverse=True)
        _, node = np.unique(node * (number.max() + 1) + number, return_inverse=True)
        nodes[level] = np.where(ids < 0, -1, node)
    return nodes


class SharedClasses:
    """For every query, which items share a class with it: the relevance of items with several labels, bool, (n, C)."""

    n_levels = 1

    def __init__(self, labels: Tensor, gallery_labels: Tensor | None = None) -> None:
        self.own = gallery_labels is None
        self.queries, self.gallery = labels, labels if gallery_labels is None else gallery_labels

    def levels(self, queries: Ints, device: torch.device) -> Tensor:
        """1 where a class is shared, 0 elsewhere, (q, g) int16; a query's own is 0."""
        own, others = (x.to(device).float() for x in (self.queries[torch.from_numpy(queries)], self.gallery))
        levels = (own @ others.T > 0).short()
        return _without_own(levels, queries) if self.own else levels


def _without_own(levels: Tensor, queries: Ints) -> Tensor:
    levels[range(len(queries)), queries] = 0
    return levels


def sort_all(scores: Tensor, levels: Tensor, n_levels: int) -> Relevant:
    """Sort each row, (q, g): the definition, on any device. What is no candidate has the score −inf and the level 0."""
    size = torch.stack([(levels >= level).sum(1) for level in range(1, n_levels + 1)])
    order = (scores + 0.0).sort(dim=1, descending=True, stable=True).indices
    in_order = levels.gather(1, order)
    query, place = in_order.nonzero(as_tuple=True)
    level = in_order[query, place]
    return Relevant(query.cpu().numpy(), place.cpu().numpy() + 1, level.cpu().numpy(), size.cpu().numpy())


def count_or_sort(scores: Tensor, tree: Tree, queries: Ints) -> Relevant:
    """The same on the CPU, fast."""
    rows, size = scores.numpy(), tree.size[:, queries]
    n, total, end = rows.shape[1], size[0].sum(), np.cumsum(size[0])
    query = np.repeat(np.arange(len(queries)), size[0])
    found = Relevant(query, np.empty(total, np.int64), np.empty(total, np.int16), size)
    few = size[0] * (CALL + n) <= SORT * n + 6 * CALL
    _count(rows, tree, queries, few, found)
    levels = np.zeros(n, np.int16)
    for row in np.flatnonzero(~few):
        for level in range(tree.n_levels):
            levels[tree.members(level, queries[row])] = level + 1
        members = tree.members(0, queries[row])
        items = members[members != queries[row]] if tree.own else members
        part = slice(end[row] - size[0, row], end[row])
        in_order, found.rank[part] = _ranked(rows[row], items)
        found.level[part] = levels.take(in_order)
        levels[members] = 0
    return found


def _count(rows: npt.NDArray[Any], tree: Tree, queries: Ints, few: Bools, found: Relevant) -> None:
    """Write the ranks and levels of the queries with few relevant items."""
    chosen = np.flatnonzero(few)
    number, item = tree.members_of_many(queries[chosen])
    row = chosen[number]
    score = rows[row, item]
    order = np.lexsort((-score, row))  # stable: tied items stay in the order of their positions
    row, item, score = row[order], item[order], score[order]
    rank = np.empty(len(row), np.int64)
    for i, (r, j, s) in enumerate(zip(row.tolist(), item.tolist(), score, strict=True)):
        scores = rows[r]
        rank[i] = 1 + np.count_nonzero(scores[:j] >= s) + np.count_nonzero(scores[j + 1 :] > s)
    those = few[found.query]
    found.rank[those] = rank
    found.level[those] = tree.agree(queries[row], item)


def _ranked(scores: npt.NDArray[Any], items: Ints) -> tuple[Ints, Ints]:
    """Some items, given by position, from the best to the worst, and their ranks: scores are sorted, not who has them.

    NumPy sorts bare numbers four times as fast as it finds out where they stood. That is asked only where some tie.
    """
    n, chosen = len(scores), scores[items]
    best_first = order(chosen)
    best, ascending = chosen[best_first], np.sort(scores)
    not_above = np.searchsorted(ascending, best[::-1], side="right")[::-1]
    tied = np.flatnonzero((not_above > 1) & (ascending[not_above - 2] == best))
    if len(tied) > TIES:
        place = np.empty(n, np.int64)
        place[order(scores)] = np.arange(n)
        return items[best_first], place[items[best_first]] + 1
    rank = n - not_above + 1
    for i in tied:
        rank[i] += np.count_nonzero(scores[: items[best_first[i]]] == best[i])
    return items[best_first], rank
