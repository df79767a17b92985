"""Tiles of queries in, one value a query and metric out; on the CPU by several threads, with a progress bar."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from threading import local
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rankedu.metrics._formulas import Formulas
from rankedu.metrics._relevant import Floats, Ints, Tree, count_or_sort, sort_all
from rankedu.metrics._similarities import Similarities

__all__ = ["stream"]

LIST = 1 << 17  # relevant items whose formulas are computed at once: their temporaries stay in the cache


def stream(
    similarities: Similarities, tree: Tree, formulas: Formulas, shard: tuple[int, int], chunk_size: int, progress: bool
) -> dict[str, Tensor]:
    """Tile by tile: similarities, ranks of the relevant items, and what the formulas make of them."""
    height, n = similarities.height, len(similarities.embeddings)
    starts = range(0, n, height)
    mine = starts[shard[0] * len(starts) // shard[1] : (shard[0] + 1) * len(starts) // shard[1]]
    ranked = count_or_sort if similarities.device.type == "cpu" else sort_all
    room = local()

    def work(start: int) -> list[dict[str, Floats]]:
        if not hasattr(room, "tile"):
            room.tile = similarities.buffer()
        scores = similarities.tile(start, out=room.tile)
        queries = np.arange(start, start + len(scores))
        if tree.own:
            scores[range(len(queries)), queries] = -torch.inf
        pieces = _pieces(tree.size[0, queries])
        return [formulas(ranked(scores[piece], tree, queries[piece])) for piece in pieces]

    nobody = torch.empty(0, similarities.items)
    done = [formulas(count_or_sort(nobody, tree, np.arange(0)))]  # for the shapes, should the shard be empty
    sizes = [min(height, n - start) for start in mine]
    with _workers(similarities.device, chunk_size // height) as run, _bar(sum(sizes), progress) as bar:
        for size, values in zip(sizes, run(work, mine), strict=True):
            done += values
            bar.update(size)
    return {m: torch.from_numpy(np.concatenate([values[m] for values in done])) for m in formulas.metrics}


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


class _NoBar:
    def __enter__(self) -> _NoBar:
        return self

    def __exit__(self, *_: object) -> None: ...

    def update(self, _: int) -> None: ...


def _bar(total: int, shown: bool) -> Any:
    """A progress bar, after two seconds, if tqdm is installed."""
    try:
        from tqdm import tqdm
    except ImportError:
        return _NoBar()
    return tqdm(total=total, desc="retrieval", unit="query", delay=2.0, disable=None if shown else True)
