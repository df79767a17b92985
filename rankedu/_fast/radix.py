"""Exact ranks of the positives, and the blackbox gradient for a loss of these alone, on packed keys.

The gradient needs no second sort of everything: a loss that depends on the positives' ranks moves the positives alone,
so they are put back by binary search. For that the rest need not even be one sorted list: of a long one only pieces
are sorted, and a rank is the sum of what stands above in each of them. Where a query has only a few positives,
counting beats sorting.

The definition is `rankedu.rankers.BlackboxRanker`; this gives exactly its ranks, and its gradient.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from rankedu._fast import sorting
from rankedu._fast.gradient import wanted, with_gradient
from rankedu._fast.sorting import Bools, Floats, Ints, blocks, pack
from rankedu._fast.tiles import Part, value_and_slopes

FEW = 9  # positives of one query that are counted, not sorted
LONG = 4096  # items of a query for which a loop over queries costs nothing
DENSE = 0.25  # share of positives from which sorting twice is faster than merging
PIECE = 1 << 19  # items that are sorted together, at least: they stay in the cache
PIECES = 8  # of a query, at most
EXACT = 1 << 24  # float32 counts so far
NOBODY = np.iinfo(np.int64).max


class _Sorted:
    """Queries with many positives. The positives are listed from the best to the worst, query by query."""

    def __init__(self, keys: Ints, positive: Bools, *, merging: bool) -> None:
        self.keys, self.merging = keys, merging
        self.size = max(PIECE, -(-keys.shape[1] // PIECES)) if merging else keys.shape[1]
        if merging:
            self._list(*np.divmod(np.flatnonzero(positive), keys.shape[1]))  # by position
            self._sort_pieces()
            self._sort_positives()
        else:
            self._sort_pieces()
            self._list_by_rank()
        self.rank = self.place + 1
        self.within = np.arange(1, len(self.place) + 1) - self.start[self.query]

    def _sort_pieces(self) -> None:
        for start in range(0, self.keys.shape[1], self.size):
            sorting.sort(self.keys[:, start : start + self.size])

    def _list_by_rank(self) -> None:
        """The rows are sorted, so that place is rank; from 0."""
        labels = (sorting.low(self.keys) & 1).view(np.int32)
        query, self.place = np.divmod(np.flatnonzero(labels), self.keys.shape[1])
        self._list(query, self.place)

    def _list(self, query: Ints, column: Ints) -> None:
        self.query, self.key = query, self.keys[query, column]
        self.start = np.searchsorted(query, np.arange(len(self.keys) + 1))

    def _sort_positives(self) -> None:
        """Then a place is the sum of what stands above in each piece."""
        for own in self._queries():
            self.key[own].sort()
        self.above = self._above()
        self.place = self.above.sum(0, dtype=np.int64)

    def _queries(self) -> Iterator[slice]:
        """Where the positives of each query stand in their list."""
        return (slice(*edges) for edges in zip(self.start[:-1], self.start[1:], strict=True))

    def _pieces(self, row: int) -> Iterator[Ints]:
        return (self.keys[row, at : at + self.size] for at in range(0, self.keys.shape[1], self.size))

    def _above(self) -> npt.NDArray[np.int32]:
        """How many items of each piece stand above each positive; shape (pieces, p)."""
        above = np.empty((-(-self.keys.shape[1] // self.size), len(self.key)), np.int32)
        for row, own in enumerate(self._queries()):
            for found, piece in zip(above, self._pieces(row), strict=True):
                found[own] = np.searchsorted(piece, self.key[own])
        return above

    def displacement(self, moved: Ints) -> Floats:
        """By how much every item's rank grows when the positives move to these keys."""
        if not self.merging:
            return self._sort_again(moved)
        change = np.zeros(self.keys.shape, np.float32)
        for row, own in enumerate(self._queries()):
            order = np.argsort(moved[own])
            new, old = moved[own][order], self.key[own]
            above = np.zeros(len(new), np.int64)
            for piece, passed in zip(self._pieces(row), self.above[:, own], strict=True):
                above += _pass(piece, passed, new, out=change[row])
            rank = above - np.searchsorted(old, new) + np.arange(len(new))
            change[row, sorting.low(old)[order] >> 1] = rank - self.place[own][order]
        return change

    def _sort_again(self, moved: Ints) -> Floats:
        keys, item = np.empty_like(self.keys), sorting.low(self.keys) >> 1
        np.put_along_axis(keys, item, self.keys, axis=-1)
        keys[self.query, item[self.query, self.place]] = moved
        sorting.sort(keys)
        rows, n = keys.shape
        change, places = np.empty((rows, n), np.float32), np.arange(n, dtype=np.int32)
        after = np.empty((rows, n), np.int32)
        np.put_along_axis(after, sorting.low(keys) >> 1, places[None], axis=-1)
        np.put_along_axis(change, item, np.take_along_axis(after, item, axis=-1) - places, axis=-1)
        return change


def _pass(piece: Ints, before: npt.NDArray[np.int32], moved: Ints, *, out: Floats) -> Ints:
    """Count the items of a sorted piece above each moved positive; write, in item order, how far each falls."""
    n, above = len(piece), np.searchsorted(piece, moved)
    change = np.bincount(above, minlength=n + 1)
    change -= np.bincount(before, minlength=n + 1)
    np.cumsum(change, out=change)
    low = sorting.low(piece)
    for begin in range(0, n, sorting.CHUNK):
        part = change[begin : min(n, begin + sorting.CHUNK)]
        changed = np.flatnonzero(part)
        out[low[begin : begin + sorting.CHUNK][changed] >> 1] = part[changed]
    return above


class _Counted:
    """Queries with few positives each, listed by position: compare every item with each of them."""

    def __init__(self, keys: Ints, positive: Bools) -> None:
        self.keys = keys
        rows, n = keys.shape
        self.query, self.item = np.divmod(np.flatnonzero(positive), n)
        self.slot = np.arange(len(self.query)) - np.searchsorted(self.query, np.arange(rows))[self.query]
        self.key = keys[self.query, self.item]
        old = self._table(self.key)
        above = np.zeros(old.shape, np.int64)
        for block in self._row_blocks():
            for slot in range(old.shape[1]):
                above[block, slot] = (keys[block] < old[block, slot, None]).sum(-1)
        self.rank = above[self.query, self.slot] + 1
        self.within = self._pick(old[:, None, :] <= old[:, :, None])

    def _table(self, values: Ints) -> Ints:
        """One row a query, one column a positive."""
        table = np.full((self.keys.shape[0], self.slot.max(initial=0) + 1), NOBODY)
        table[self.query, self.slot] = values
        return table

    def _pick(self, table: Bools) -> Ints:
        return np.asarray(table.sum(-1)[self.query, self.slot], np.int64)

    def _row_blocks(self) -> Iterator[slice]:
        return (rows for rows, columns in blocks(*self.keys.shape) if columns.start == 0)

    def displacement(self, moved: Ints) -> Floats:
        """By how much every item's rank grows when the positives move to these keys."""
        old, new = self._table(self.key), self._table(moved)
        above = np.zeros(new.shape, np.int64)
        change = np.zeros(self.keys.shape, np.float32)
        for block in self._row_blocks():
            keys = self.keys[block]
            passed = np.zeros(keys.shape, np.int8)
            for slot in range(new.shape[1]):
                before, now = keys < old[block, slot, None], keys < new[block, slot, None]
                above[block, slot] = now.sum(-1)
                passed += before.view(np.int8)
                passed -= now.view(np.int8)
            change[block] = passed
        overtaken = self._pick(old[:, None, :] < new[:, :, None])
        rank = above[self.query, self.slot] - overtaken + self._pick(new[:, None, :] <= new[:, :, None])
        change[self.query, self.item] = rank - self.rank
        return change


def loss_of_positives(
    part: Part, scores: Tensor, positive: Tensor, where: Tensor | None, *, margin: float, lam: float, normalized: bool
) -> Tensor:
    """Sum up what the positives, at least one, add to the loss after the shift by the margin.

    The scores are `packable`; ``part`` is as for the tiles; ``normalized`` says whether λ is in the scale of rk/n. The
    gradient, that of Algorithm 1 for the loss itself, is made here. O(n log n), or O(p n) for at most 9 positives a
    query. At the peak 8 bytes a score are taken by keys and 4 by the gradient, which is kept.
    """
    n = scores.shape[-1]
    positive, where = positive.reshape(-1, n), None if where is None else where.reshape(-1, n)
    label, here = positive.numpy(), None if where is None else where.numpy()
    found = _find(pack(scores.detach().reshape(-1, n).numpy(), label, here, margin), label)
    dtype = np.float32 if n <= EXACT else np.float64
    ranks, within = (torch.from_numpy(x.astype(dtype)) for x in (found.rank, found.within))
    query = torch.from_numpy(found.query)
    size = torch.bincount(query, minlength=len(positive))[query]
    if not wanted(scores):
        return part(ranks, within, size)
    value, slopes = value_and_slopes(part, ranks, within, size)
    if slopes is None:
        return value
    gradient = _gradient(found, slopes[0], lam, _count(positive, where) if normalized else None)
    if where is not None:
        gradient.masked_fill_(~where, 0.0)
    return with_gradient(value, scores, gradient, where)


def _count(positive: Tensor, where: Tensor | None) -> Tensor:
    """How many take part in each row."""
    n = positive.shape[1]
    return torch.full((len(positive),), float(n)) if where is None else where.sum(-1).float().clamp(min=1)


def _find(keys: Ints, positive: Bools) -> _Counted | _Sorted:
    """Rank the positives, in the way that suits their number."""
    count = positive.sum(-1, dtype=np.int64)
    if count.max() <= FEW:
        return _Counted(keys, positive)
    return _Sorted(keys, positive, merging=keys.shape[1] >= LONG and count.sum() <= DENSE * keys.size)


def _gradient(found: _Counted | _Sorted, slope: Tensor, lam: float, count: Tensor | None) -> Tensor:
    """Algorithm 1: move the positives by λ times the slope, rank again, and divide what has changed by λ."""
    step = lam if count is None else lam * count[torch.from_numpy(found.query)]  # of rk/n, n of each row
    moved = torch.from_numpy(sorting.score(found.key)) + step * slope
    if moved.isnan().any():
        return torch.full(found.keys.shape, torch.nan)
    change = torch.from_numpy(found.displacement(sorting.with_score(found.key, moved.float().numpy())))
    change /= lam if count is None else lam * count[:, None]
    return change
