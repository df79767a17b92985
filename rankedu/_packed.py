"""Exact ranks of the positives, and the blackbox gradient for a loss of these alone: NumPy instead of torch's sort.

On a CPU torch does not vectorise its sort, and NumPy only that of plain numbers. So a score (float32), its position and
its label are packed into one int64 that sorts as they do: the better score first, ties by position. Sorting the keys
carries the labels along. The gradient then needs no second sort: a loss that depends on the positives' ranks moves the
positives alone, so they are merged back by binary search. Where a query has only a few of them, counting beats sorting.

The definition is `rankedu.rankers.BlackboxRanker`; this gives exactly its ranks, and its gradient.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

__all__ = ["packable", "ranks_of_positives"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
Bools = npt.NDArray[np.bool_]

CHUNK = 1 << 16  # items worked on at once: their temporaries stay in the cache
FEW = 9  # positives of one query that are counted, not sorted
LONG = 4096  # items of a query for which a loop over queries costs nothing
DENSE = 0.25  # share of positives from which sorting twice is faster than merging
NOBODY = np.iinfo(np.int64).max
_LOW = 0 if sys.byteorder == "little" else 1


def packable(scores: Tensor) -> bool:
    """Whether these scores fit: float32 on the CPU, and a position fits into 31 bits."""
    return (
        scores.dtype == torch.float32
        and scores.device.type == "cpu"
        and scores.layout == torch.strided
        and scores.shape[-1] < 2**31
        and not torch.compiler.is_compiling()
    )


def _descending(values: Floats) -> npt.NDArray[np.int32]:
    """Integers in the opposite order of the floats; -0.0 must have been made 0.0."""
    bits = values.view(np.int32)
    return ~(bits ^ ((bits >> 31) & 0x7FFFFFFF))


def _score(keys: Ints) -> Floats:
    """The scores that the keys were made of."""
    bits = ~(keys >> 32).astype(np.int32)
    return (bits ^ ((bits >> 31) & 0x7FFFFFFF)).view(np.float32)


def _low(keys: Ints) -> npt.NDArray[np.uint32]:
    """Position and label, position first."""
    return keys.view(np.uint32)[..., _LOW::2]


def _with_score(keys: Ints, scores: Floats) -> Ints:
    """The same items with other scores."""
    return (_descending(scores + np.float32(0)).astype(np.int64) << 32) | _low(keys)


def _blocks(rows: int, n: int) -> Iterator[tuple[slice, slice]]:
    """Cut a matrix into pieces of about CHUNK entries, whole rows where they fit."""
    height = max(1, CHUNK // n)
    for row in range(0, rows, height):
        for column in range(0, n, CHUNK):
            yield slice(row, min(rows, row + height)), slice(column, min(n, column + CHUNK))


def pack(scores: Floats, positive: Bools, where: Bools | None, margin: float) -> Ints:
    """Make one key an item; they sort from the best item to the worst, those outside ``where`` last."""
    keys = np.empty(scores.shape, np.int64)
    low = np.arange(0, 2 * scores.shape[-1], 2, dtype=np.int64)
    half = np.float32(margin / 2)
    for block in _blocks(*scores.shape):
        values, label = scores[block], positive[block]
        if half:
            values = np.where(label, values - half, values + half)
        high = _descending(values + np.float32(0))
        if where is not None:
            high[~where[block]] = np.iinfo(np.int32).max
        part = high.astype(np.int64)
        part <<= 32
        part |= low[block[1]]
        part |= label
        keys[block] = part
    return keys


class _Sorted:
    """Queries with many positives. The positives are listed from the best to the worst, query by query."""

    def __init__(self, keys: Ints) -> None:
        keys.sort(axis=-1)
        self.keys = keys
        rows, n = keys.shape
        place = np.flatnonzero((_low(keys) & 1).astype(bool))
        self.query, self.place = np.divmod(place, n)
        self.start = np.searchsorted(self.query, np.arange(rows + 1))
        self.key = keys[self.query, self.place]
        self.rank = self.place + 1
        self.within = np.arange(1, len(place) + 1) - self.start[self.query]

    def displacement(self, moved: Ints) -> Floats:
        """By how much every item's rank grows when the positives move to these keys."""
        rows, n = self.keys.shape
        if n < LONG or len(moved) > DENSE * self.keys.size:
            return self._sort_again(moved)
        change = np.zeros((rows, n), np.float32)
        for row in range(rows):
            mine = slice(self.start[row], self.start[row + 1])
            _merge(self.keys[row], self.place[mine], self.key[mine], moved[mine], out=change[row])
        return change

    def _sort_again(self, moved: Ints) -> Floats:
        keys = self.keys.copy()
        keys[self.query, self.place] = moved
        keys.sort(axis=-1)
        rows, n = keys.shape
        change, places = np.empty((rows, n), np.float32), np.arange(n, dtype=np.int32)
        after = np.empty((rows, n), np.int32)
        np.put_along_axis(after, _low(keys) >> 1, places[None], axis=-1)
        item = _low(self.keys) >> 1
        np.put_along_axis(change, item, np.take_along_axis(after, item, axis=-1) - places, axis=-1)
        return change


def _merge(keys: Ints, place: Ints, old: Ints, moved: Ints, *, out: Floats) -> None:
    """Put the moved positives of one sorted query back by binary search; write the changes of rank in item order."""
    n, order = len(keys), np.argsort(moved)
    new = moved[order]
    above = np.searchsorted(keys, new)  # how many of the old list stand above
    change = np.zeros(n + 1, np.int32)  # an irrelevant item falls by one for each positive that passes it
    np.add.at(change, above, 1)
    np.subtract.at(change, place, 1)
    np.cumsum(change, out=change)
    rank = above - np.searchsorted(old, new) + np.arange(len(new))
    change[place[order]] = rank - place[order]
    low = _low(keys)
    for begin in range(0, n, CHUNK):
        part = change[begin : min(n, begin + CHUNK)]
        changed = np.flatnonzero(part)
        out[low[begin : begin + CHUNK][changed] >> 1] = part[changed]


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
        return (rows for rows, columns in _blocks(*self.keys.shape) if columns.start == 0)

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
        few = np.count_nonzero(label, axis=-1).max() <= FEW
        found = _Counted(keys, label) if few else _Sorted(keys)
        ctx.found, ctx.where, ctx.lam, ctx.scale = found, where, lam, scale
        query = torch.from_numpy(found.query)
        within = torch.from_numpy(found.within.astype(np.float32))
        ctx.mark_non_differentiable(within, query)
        return torch.from_numpy(found.rank.astype(np.float32)), within, query

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor, *_: Any) -> tuple[Tensor | None, ...]:
        found, unit = ctx.found, 1.0
        if ctx.scale is not None:  # the ranker gives rk/n, so rk is n times that
            unit = ctx.scale[torch.from_numpy(found.query)]
        moved = torch.from_numpy(_score(found.key)) + ctx.lam * (gradient * unit)
        if moved.isnan().any():  # an overflow on its way to a gradient scaler, which will skip the step
            change = torch.full(found.keys.shape, torch.nan)
        else:
            change = torch.from_numpy(found.displacement(_with_score(found.key, moved.numpy())))
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
