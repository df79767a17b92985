"""Scores sorted together with what belongs to them; exact ranks of the positives, and Algorithm 1 for a loss of these.

On a CPU torch does not vectorise its sort of floats, and NumPy only that of plain numbers. So a score (float32), its
position and its label are packed into one int64 that sorts as they do: the better score first, ties by position.

The gradient needs no second sort of everything: a loss that depends on the positives' ranks moves the positives alone,
so they are put back by binary search. For that the rest need not even be one sorted list: of a long one only pieces
are sorted, and a rank is the sum of what stands above in each of them. Where a query has only a few positives,
counting beats sorting. Ranks are exactly those of `rankedu.rankers.BlackboxRanker`, and so is the gradient.
"""

import sys
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from rankedu._fast.gradient import Part, as_ranked, strength, with_gradient

if TYPE_CHECKING:
    from rankedu.rankers.blackbox import BlackboxRanker
    from rankedu.rankers.identity import IdentityRanker

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
Bools = npt.NDArray[np.bool_]

CHUNK = 1 << 16  # items worked on at once: their temporaries stay in the cache
FEW = 9  # positives of one query that are counted, not sorted
LONG = 4096  # items of a query for which a loop over queries costs nothing
DENSE = 0.25  # share of positives from which sorting twice is faster than merging
PIECE = 1 << 19  # items that are sorted together, at least: they stay in the cache
PIECES = 8  # of a query, at most
EXACT = 1 << 24  # float32 counts so far
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
    high = bits >> 31
    high &= 0x7FFFFFFF
    high ^= bits
    np.invert(high, out=high)
    return high


def score(keys: Ints) -> Floats:
    """The scores that the keys were made of."""
    bits = ~(keys >> 32).astype(np.int32)
    return (bits ^ ((bits >> 31) & 0x7FFFFFFF)).view(np.float32)


def low(keys: Ints) -> npt.NDArray[np.uint32]:
    """Position and label: twice the position, and 1 for a positive. A view."""
    return keys.view(np.uint32)[..., _LOW::2]


def _high(keys: Ints) -> npt.NDArray[np.int32]:
    """What the score became. A view."""
    return keys.view(np.int32)[..., 1 - _LOW :: 2]


def with_score(keys: Ints, scores: Floats) -> Ints:
    """The same items with other scores."""
    return (_descending(scores + np.float32(0)).astype(np.int64) << 32) | low(keys)


def blocks(rows: int, n: int) -> Iterator[tuple[slice, slice]]:
    """Cut a matrix into pieces of about CHUNK entries, whole rows where they fit."""
    height = max(1, CHUNK // n)
    for row in range(0, rows, height):
        for column in range(0, n, CHUNK):
            yield slice(row, min(rows, row + height)), slice(column, min(n, column + CHUNK))


def pack(scores: Floats, positive: Bools | None = None, where: Bools | None = None, margin: float = 0.0) -> Ints:
    """Make one key an item; they sort from the best item to the worst, those outside ``where`` last."""
    keys = np.empty(scores.shape, np.int64)
    high_of, low_of = _high(keys), low(keys)
    position = np.arange(0, 2 * min(CHUNK, scores.shape[-1]), 2, dtype=np.uint32)
    half = np.float32(margin / 2)
    for block in blocks(*scores.shape):
        values = scores[block]
        if half and positive is not None:
            values = np.where(positive[block], values - half, values + half)
        high = _descending(values + np.float32(0))
        if where is not None:
            high[~where[block]] = np.iinfo(np.int32).max
        high_of[block] = high
        here = position[: high.shape[1]] + np.uint32(2 * block[1].start)
        low_of[block] = here if positive is None else here | positive[block]
    return keys


def descending(scores: Tensor) -> tuple[Tensor, Tensor]:
    """Sort each row, (q, n), from the best to the worst, ties by position: the scores, and where they stood."""
    if not packable(scores):
        ordered, place = scores.sort(dim=-1, descending=True, stable=True)
        return ordered, place
    keys = pack(scores.numpy())
    keys.sort(axis=-1)
    return torch.from_numpy(score(keys)), torch.from_numpy((low(keys) >> 1).astype(np.int64))


def order(scores: npt.NDArray[Any]) -> Ints:
    """Where the items of one list stand from the best to the worst, ties by position: the bits, 16 at a time."""
    ints = np.dtype(f"i{scores.itemsize}")
    bits = (scores + 0).view(ints)  # -0.0 becomes 0.0
    bits ^= ~(bits >> (8 * scores.itemsize - 1)) & np.iinfo(ints).max  # as unsigned, they rise as the scores fall
    place: Ints = bits.astype(np.uint16).argsort(kind="stable")
    for shift in range(16, 8 * scores.itemsize, 16):
        digit = (bits >> shift).astype(np.uint16)
        place = place.take(digit.take(place).argsort(kind="stable"))
    return place


def ranks(scores: Floats, where: Bools | None) -> Ints:
    """Rank the items of every row, ties by position; 0 outside ``where``. The keys become the result.

    Once they are sorted their scores are needed no more: there the ranks go, each to the position of its item.
    """
    keys = pack(scores, where=where)
    keys.sort(axis=-1)
    for rows, columns in blocks(*scores.shape):
        place = np.arange(columns.start + 1, columns.stop + 1, dtype=np.int32)
        np.put_along_axis(_high(keys)[rows], low(keys[rows, columns]) >> 1, place[None], axis=-1)
    keys >>= 32
    if where is not None:
        keys[~where] = 0
    return keys


class _Sorted:
    """Queries with many positives, listed from the best to the worst: everything is sorted, and sorted again."""

    def __init__(self, keys: Ints, positive: Bools) -> None:
        keys.sort(axis=-1)
        self.keys = keys
        self.query, place = np.divmod(np.flatnonzero((low(keys) & 1).view(np.int32)), keys.shape[1])
        self.key, self.rank = keys[self.query, place], place + 1
        self.within = np.arange(1, len(place) + 1) - np.searchsorted(self.query, np.arange(len(keys)))[self.query]

    def displacement(self, moved: Ints) -> Floats:
        """By how much every item's rank grows when the positives move to these keys."""
        keys, item = self.keys.copy(), low(self.keys) >> 1
        keys[self.query, self.rank - 1] = moved
        keys.sort(axis=-1)
        change, places = np.empty(keys.shape, np.float32), np.arange(keys.shape[1], dtype=np.int32)
        after = np.empty(keys.shape, np.int32)
        np.put_along_axis(after, low(keys) >> 1, places[None], axis=-1)
        np.put_along_axis(change, item, np.take_along_axis(after, item, axis=-1) - places, axis=-1)
        return change


class _Merged:
    """Long lists, not many of them positives, listed as above: pieces are sorted, and places found by binary search."""

    def __init__(self, keys: Ints, positive: Bools) -> None:
        rows, n = keys.shape
        self.query, column = np.divmod(np.flatnonzero(positive), n)
        self.key, size = keys[self.query, column], max(PIECE, -(-n // PIECES))
        self.keys, self.pieces = keys, [slice(at, at + size) for at in range(0, n, size)]
        for piece in self.pieces:
            keys[:, piece].sort(axis=-1)
        start = np.searchsorted(self.query, np.arange(rows + 1))
        self.own = [slice(*edges) for edges in pairwise(start)]  # where the positives of each query stand in the list
        self.above = np.empty((len(self.pieces), len(self.key)), np.int32)  # how many of each piece above each positive
        for row, own in enumerate(self.own):
            self.key[own].sort()
            for above, piece in zip(self.above, self.pieces, strict=True):
                above[own] = np.searchsorted(keys[row, piece], self.key[own])
        self.rank = self.above.sum(0, dtype=np.int64) + 1
        self.within = np.arange(1, len(self.key) + 1) - start[self.query]

    def displacement(self, moved: Ints) -> Floats:
        """By how much every item's rank grows when the positives move to these keys."""
        change = np.zeros(self.keys.shape, np.float32)
        for row, own in enumerate(self.own):
            order = np.argsort(moved[own])
            new, old = moved[own][order], self.key[own]
            rank = np.arange(1, len(new) + 1) - np.searchsorted(old, new)
            for piece, passed in zip(self.pieces, self.above[:, own], strict=True):
                rank += _pass(self.keys[row, piece], passed, new, out=change[row])
            change[row, low(old)[order] >> 1] = rank - self.rank[own][order]
        return change


def _pass(piece: Ints, before: npt.NDArray[np.int32], moved: Ints, *, out: Floats) -> Ints:
    """Count the items of a sorted piece above each moved positive; write, in item order, how far each falls."""
    n, above = len(piece), np.searchsorted(piece, moved)
    change = np.bincount(above, minlength=n + 1)
    change -= np.bincount(before, minlength=n + 1)
    np.cumsum(change, out=change)
    twice = low(piece)
    for begin in range(0, n, CHUNK):
        part = change[begin : min(n, begin + CHUNK)]
        changed = np.flatnonzero(part)
        out[twice[begin : begin + CHUNK][changed] >> 1] = part[changed]
    return above


class _Counted:
    """Queries with few positives each, listed by position: compare every item with each of them."""

    def __init__(self, keys: Ints, positive: Bools) -> None:
        rows, n = keys.shape
        height = max(1, CHUNK // n)
        self.keys, self.blocks = keys, [slice(row, row + height) for row in range(0, rows, height)]
        self.query, self.item = np.divmod(np.flatnonzero(positive), n)
        self.slot = np.arange(len(self.query)) - np.searchsorted(self.query, np.arange(rows))[self.query]
        self.key = keys[self.query, self.item]
        old = self._table(self.key)
        above = np.zeros(old.shape, np.int64)
        for block in self.blocks:
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

    def displacement(self, moved: Ints) -> Floats:
        """By how much every item's rank grows when the positives move to these keys."""
        old, new = self._table(self.key), self._table(moved)
        above = np.zeros(new.shape, np.int64)
        change = np.zeros(self.keys.shape, np.float32)
        for block in self.blocks:
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
    ranker: "BlackboxRanker | IdentityRanker",
    part: Part,
    scores: Tensor,
    positive: Tensor,
    where: Tensor | None,
    margin: float,
    size: Tensor | None = None,
) -> Tensor:
    """Sum up what the positives, at least one, add to the loss after the shift by the margin.

    The scores are `packable`. The gradient is that for the loss itself: Algorithm 1's, or what `IdentityRanker` makes
    of the slopes. O(n log n), or O(p n) for at most 9 positives a query. At the peak keys take 8 bytes a score, and the
    gradient, which is kept, 4.
    """
    n = scores.shape[-1]
    positive, where = positive.reshape(-1, n), None if where is None else where.reshape(-1, n)
    label, here = positive.numpy(), None if where is None else where.numpy()
    found = _find(pack(scores.detach().reshape(-1, n).numpy(), label, here, margin), label)
    dtype = np.float32 if n <= EXACT else np.float64
    ranks, within = (torch.from_numpy(x.astype(dtype)) for x in (found.rank, found.within))
    query, item = torch.from_numpy(found.query), torch.from_numpy((low(found.key) >> 1).astype(np.int64))
    each = torch.bincount(query, minlength=len(positive))[query] if size is None else size.reshape(-1, n)[query, item]
    if not (scores.requires_grad and torch.is_grad_enabled()):
        return part(ranks, within, each)
    value, slopes = part.with_slopes(ranks, within, each)
    if slopes is None:
        return value
    from rankedu.rankers.identity import IdentityRanker  # which imports what imports this

    rows, own = scores.detach().reshape(-1, n), (query, item, slopes[0].float())
    if isinstance(ranker, IdentityRanker):
        return with_gradient(value, scores, ranker.backward_of(*as_ranked(rows, positive, margin, own), where), where)
    count = torch.ones(len(positive), 1)
    if ranker.normalized:  # then λ is that of rk/n, for the n items that take part in each row
        count *= n if where is None else where.sum(-1, keepdim=True).clamp(min=1)
    own = query, item, slopes[0].float() * count[query, 0]
    lam = strength(ranker, *as_ranked(rows, positive, margin, own), where) if ranker.auto else ranker.lam
    gradient = _gradient(found, slopes[0], lam * count)
    if not gradient[query, item].any():
        ranker.no_step(*as_ranked(rows, positive, margin, own), where)
    return with_gradient(value, scores, gradient, where)


def _find(keys: Ints, positive: Bools) -> _Counted | _Merged | _Sorted:
    """Rank the positives, in the way that suits their number."""
    count = positive.sum(-1, dtype=np.int64)
    if count.max() <= FEW:
        return _Counted(keys, positive)
    long = keys.shape[1] >= LONG and count.sum() <= DENSE * keys.size
    return _Merged(keys, positive) if long else _Sorted(keys, positive)


def _gradient(found: _Counted | _Merged | _Sorted, slope: Tensor, lam: Tensor) -> Tensor:
    """Algorithm 1: move the positives by their row's λ, (q, 1), times the slope, rank again, and divide by λ."""
    moved = torch.from_numpy(score(found.key)) + lam[torch.from_numpy(found.query), 0] * slope
    if moved.isnan().any():
        return torch.full(found.keys.shape, torch.nan)
    change = torch.from_numpy(found.displacement(with_score(found.key, moved.float().numpy())))
    return change.div_(lam)
