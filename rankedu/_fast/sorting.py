"""Sort scores together with what belongs to them, as fast as the CPU allows.

On a CPU torch does not vectorise its sort of floats, and NumPy only that of plain numbers. So a score (float32), its
position and its label are packed into one int64 that sorts as they do: the better score first, ties by position.
Sorting the keys carries position and label along. Of a long row torch can sort the scores' bits alone, digit by digit;
on some processors that takes a fifth of NumPy's time, on others twice as much, so both are tried once.
"""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
Bools = npt.NDArray[np.bool_]

CHUNK = 1 << 16  # items worked on at once: their temporaries stay in the cache
LONG = 1 << 15  # from here on torch sorts integers in one dimension digit by digit
LONGEST = 1 << 24  # more would take too much memory beside the keys: 28 bytes an item
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


def pack(scores: Floats, positive: Bools | None, where: Bools | None, margin: float = 0.0) -> Ints:
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


def sort(keys: Ints) -> None:
    """Sort every row in place; the items must stand in their positions' order."""
    if LONG <= keys.shape[-1] <= LONGEST and _digit_by_digit():
        for row in keys:
            _sort_by_digits(row)
    else:
        keys.sort(axis=-1)


def descending(scores: Tensor) -> tuple[Tensor, Tensor]:
    """Sort each row, (q, n), from the best to the worst, ties by position: the scores, and where they stood."""
    if not packable(scores):
        ordered, place = scores.sort(dim=-1, descending=True, stable=True)
        return ordered, place
    keys = pack(scores.numpy(), None, None)
    sort(keys)
    return torch.from_numpy(score(keys)), torch.from_numpy((low(keys) >> 1).astype(np.int64))


def _sort_by_digits(keys: Ints) -> None:
    """Sort one row: torch sorts the scores' bits, ties by position, and says where position and label have gone."""
    bits = torch.from_numpy(_high(keys).copy())
    place = torch.empty(len(keys), dtype=torch.int64)
    torch.sort(bits, stable=True, out=(bits, place))
    _high(keys)[:] = bits.numpy()
    del bits  # its room is that of the copy
    low(keys)[:] = low(keys).copy().take(place.numpy())


@functools.cache
def _digit_by_digit() -> bool:
    """Whether that is faster here; each has three tries, of a few milliseconds in all."""
    keys = pack(np.random.default_rng(0).standard_normal((1, 2 * LONG), dtype=np.float32), None, None)

    def seconds(by_digits: bool) -> float:
        times = []
        for _ in range(3):
            row = keys[0].copy()
            start = time.perf_counter()
            _sort_by_digits(row) if by_digits else row.sort()
            times.append(time.perf_counter() - start)
        return min(times)

    return seconds(True) < seconds(False)


def ranks(scores: Floats, where: Bools | None) -> Ints:
    """Rank the items of every row, ties by position; 0 outside ``where``. The keys become the result.

    Once they are sorted their scores are needed no more: there the ranks go, each to the position of its item.
    """
    keys = pack(scores, None, where)
    sort(keys)
    for rows, columns in blocks(*scores.shape):
        place = np.arange(columns.start + 1, columns.stop + 1, dtype=np.int32)
        np.put_along_axis(_high(keys)[rows], low(keys[rows, columns]) >> 1, place[None], axis=-1)
    keys >>= 32
    if where is not None:
        keys[~where] = 0
    return keys
