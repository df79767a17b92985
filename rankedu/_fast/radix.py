"""Exact ranks of the positives, and the blackbox gradient for a loss of these alone, on packed keys.

The gradient needs no second sort of everything: a loss that depends on the positives' ranks moves the positives alone,
so they are put back by binary search. For that the rest need not even be one sorted list: of a long one only pieces
are sorted, and a rank is the sum of what stands above in each of them. Where a query has only a few positives,
counting beats sorting.

The definition is `rankedu.rankers.BlackboxRanker`; this gives exactly its ranks, and its gradient.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from rankedu._fast import sorting
from rankedu._fast.sorting import Bools, Floats, Ints, blocks, pack, packable

__all__ = ["packable", "ranks_of_positives"]

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
        rows, n = keys.shape
        self.keys, self.merging = keys, merging
        self.size = max(PIECE, -(-n // PIECES)) if merging else n
        if merging:
            self.query, item = np.divmod(np.flatnonzero(positive), n)
            self.key = keys[self.query, item]
        for start in range(0, n, self.size):
            sorting.sort(keys[:, start : start + self.size])
        if not merging:
            self.query, place = np.divmod(np.flatnonzero((sorting.low(keys) & 1).view(np.int32)), n)
            self.key = keys[self.query, place]
        self.start = np.searchsorted(self.query, np.arange(rows + 1))
        if merging:
            for mine in self._queries():
                self.key[mine].sort()
            self.above = self._above()
            place = self.above.sum(0, dtype=np.int64)
        self.place = place  # among all of the query, from 0
        self.rank = place + 1
        self.within = np.arange(1, len(place) + 1) - self.start[self.query]

    def _queries(self) -> Iterator[slice]:
        """Where the positives of each query stand in their list."""
        return (slice(*edges) for edges in zip(self.start[:-1], self.start[1:], strict=True))

    def _pieces(self, row: int) -> Iterator[Ints]:
        return (self.keys[row, at : at + self.size] for at in range(0, self.keys.shape[1], self.size))

    def _above(self) -> npt.NDArray[np.int32]:
        """How many items of each piece stand above each positive; shape (pieces, p)."""
        above = np.empty((-(-self.keys.shape[1] // self.size), len(self.key)), np.int32)
        for row, mine in enumerate(self._queries()):
            for found, piece in zip(above, self._pieces(row), strict=True):
                found[mine] = np.searchsorted(piece, self.key[mine])
        return above

    def displacement(self, moved: Ints) -> Floats:
        """By how much every item's rank grows when the positives move to these keys."""
        if not self.merging:
            return self._sort_again(moved)
        change = np.zeros(self.keys.shape, np.float32)
        for row, mine in enumerate(self._queries()):
            order = np.argsort(moved[mine])
            new, old = moved[mine][order], self.key[mine]
            above = np.zeros(len(new), np.int64)
            for piece, passed in zip(self._pieces(row), self.above[:, mine], strict=True):
                above += _pass(piece, passed, new, out=change[row])
            rank = above - np.searchsorted(old, new) + np.arange(len(new))
            change[row, sorting.low(old)[order] >> 1] = rank - self.place[mine][order]
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
    """Count the items of a sorted piece above each moved positive; write, in item order, by how many ranks each falls.

    An irrelevant item falls by one for each positive that passes it; ``before`` is the count before they moved. What is
    written for the positives themselves does not matter.
    """
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


class _RanksOfPositives(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        scores: Tensor,
        positive: Tensor,
        where: Tensor | None,
        margin: float,
        lam: float,
        scale: Tensor | None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        label, mask = positive.numpy(), None if where is None else where.numpy()
        keys = pack(scores.detach().numpy(), label, mask, margin)
        count = label.sum(-1, dtype=np.int64)
        found: _Counted | _Sorted
        if count.max() <= FEW:
            found = _Counted(keys, label)
        else:
            found = _Sorted(keys, label, merging=keys.shape[1] >= LONG and count.sum() <= DENSE * keys.size)
        ctx.found, ctx.where, ctx.lam, ctx.scale = found, where, lam, scale
        query = torch.from_numpy(found.query)
        dtype = np.float32 if keys.shape[1] <= EXACT else np.float64
        ranks, within = (torch.from_numpy(x.astype(dtype)) for x in (found.rank, found.within))
        ctx.mark_non_differentiable(within, query)
        return ranks, within, query

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor, *_: Any) -> tuple[Tensor | None, ...]:
        found, unit = ctx.found, 1.0
        if ctx.scale is not None:  # the ranker gives rk/n, so rk is n times that
            unit = ctx.scale[torch.from_numpy(found.query)]
        moved = torch.from_numpy(sorting.score(found.key)) + ctx.lam * (gradient * unit)
        if moved.isnan().any():  # an overflow on its way to a gradient scaler, which will skip the step
            change = torch.full(found.keys.shape, torch.nan)
        else:
            change = torch.from_numpy(found.displacement(sorting.with_score(found.key, moved.float().numpy())))
            change /= ctx.lam if ctx.scale is None else ctx.lam * ctx.scale[:, None]
        if ctx.where is not None:
            change.masked_fill_(~ctx.where, 0.0)
        return change, None, None, None, None, None


def ranks_of_positives(
    scores: Tensor, positive: Tensor, where: Tensor | None, *, margin: float, lam: float, normalized: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """Rank the positives of all queries, after the shift by the margin.

    Parameters
    ----------
    scores : Tensor, shape (..., n)
        `packable`, without NaN among those who take part.
    positive, where : Tensor of bool, shape (..., n)
        ``positive`` within ``where``, with at least one True; ``where`` may be None.
    margin, lam : float
    normalized : bool
        Whether λ is in the scale of rk/n.

    Returns
    -------
    tuple of Tensor, shape (p,)
        For each positive, in an order of its own: its rank, with the blackbox gradient for the scores; its rank within
        the positives, without one; how many positives its query has.

    Notes
    -----
    O(n log n), or O(p n) for at most 9 positives a query. 8 bytes a score are kept for the backward pass.
    """
    n = scores.shape[-1]
    scores, positive = scores.reshape(-1, n), positive.reshape(-1, n)
    where = None if where is None else where.reshape(-1, n)
    scale = None
    if normalized:
        scale = torch.full((len(scores),), float(n)) if where is None else where.sum(-1).float().clamp(min=1)
    ranks, within, query = _RanksOfPositives.apply(scores, positive, where, margin, lam, scale)
    return ranks, within, torch.bincount(query, minlength=len(scores))[query]
