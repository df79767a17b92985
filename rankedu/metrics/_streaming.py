"""Tiles of queries in, one value a query and metric out; on the CPU by several threads, with a progress bar."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from threading import local
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rankedu._fast.switch import READABLE
from rankedu.metrics._formulas import Formulas
from rankedu.metrics._relevant import Floats, Ints, Relevant, SharedClasses, Tree, count_or_sort, sort_all
from rankedu.metrics._similarities import Similarities

LIST = 1 << 17  # relevant items whose formulas are computed at once: their temporaries stay in the cache

Where = Tensor | Callable[[Tensor], Tensor] | None


def stream(
    similarities: Similarities,
    relevant: Tree | SharedClasses,
    formulas: Formulas,
    where: Where,
    chunk_size: int,
    progress: bool,
) -> tuple[dict[str, Tensor], Tensor]:
    """Values of each metric, one a query, and numbers of relevant items by level, (q, L)."""
    height, room, fast = similarities.height, local(), not READABLE.get()  # asked here: the work is in other threads

    def work(start: int) -> list[tuple[dict[str, Floats], Ints]]:
        """Of one tile: similarities, ranks of the relevant items, and what the formulas make of them."""
        if not hasattr(room, "tile"):
            room.tile = similarities.buffer()
        scores = similarities.tile(start, out=room.tile)
        queries = np.arange(start, start + len(scores))
        if relevant.own:
            scores[range(len(queries)), queries] = -torch.inf
        lists: Iterator[Relevant]
        if fast and isinstance(relevant, Tree) and where is None and scores.device.type == "cpu":
            pieces = _pieces(relevant.size[0, queries])
            lists = (count_or_sort(scores[piece], relevant, queries[piece]) for piece in pieces)
        else:
            lists = iter([_sorted(scores, queries, relevant, where)])
        return [(formulas(found), found.size) for found in lists]

    starts = range(0, len(similarities.embeddings), height)
    with _workers(similarities.device, chunk_size // height) as run:
        done = [part for tile in _shown(run(work, starts), len(starts), height, progress) for part in tile]
    values = {name: np.concatenate([found[name] for found, _ in done]) for name in formulas.metrics}
    counts = np.concatenate([count for _, count in done], axis=1).T
    return {name: torch.from_numpy(value) for name, value in values.items()}, torch.from_numpy(counts.copy())


def _sorted(scores: Tensor, queries: Ints, relevant: Tree | SharedClasses, where: Where) -> Relevant:
    """By the definition: each row is sorted, after those who are no candidates have been put at its end."""
    levels = relevant.levels(queries, scores.device)
    if where is not None:
        chosen = torch.from_numpy(queries)
        mask = where(chosen) if callable(where) else where[chosen]
        if not isinstance(mask, Tensor) or mask.shape != scores.shape or mask.dtype != torch.bool:
            got = f"{tuple(mask.shape)} {mask.dtype}" if isinstance(mask, Tensor) else type(mask).__name__
            shape = tuple(scores.shape)
            raise ValueError(f"where must give a bool Tensor of shape {shape} for {len(queries)} queries, got {got}")
        left_out = ~mask.to(scores.device)
        scores.masked_fill_(left_out, -torch.inf)
        levels.masked_fill_(left_out, 0)
    return sort_all(scores, levels, relevant.n_levels)


def _pieces(sizes: Ints) -> Iterator[slice]:
    """Cut a tile where the lists of its queries become long."""
    number = np.cumsum(sizes) // LIST
    cuts = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), len(sizes)]
    return (slice(begin, end) for begin, end in pairwise(cuts))


@contextmanager
def _workers(device: torch.device, most: int) -> Iterator[Any]:
    """A map() over threads that compute with one thread each, or the plain one where a device does the work."""
    if device.type != "cpu":
        yield map
        return
    threads = torch.get_num_threads()
    pool = ThreadPoolExecutor(max(1, min(threads, most)), initializer=torch.set_num_threads, initargs=(1,))
    try:
        yield pool.map
    finally:
        pool.shutdown(cancel_futures=True)
        torch.set_num_threads(threads)  # a thread that starts later would inherit the workers' number


def _shown(tiles: Any, number: int, height: int, shown: bool) -> Any:
    """The results of the tiles, with a progress bar after two seconds, if tqdm is installed."""
    try:
        from tqdm import tqdm
    except ImportError:
        return tiles
    off = None if shown else True
    return tqdm(tiles, "retrieval", number, unit="query", unit_scale=height, delay=2.0, disable=off)
