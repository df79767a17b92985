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


class _Tiles:
    """The work on one tile: similarities, ranks of the relevant items, and what the formulas make of them."""

    def __init__(
        self, similarities: Similarities, relevant: Tree | SharedClasses, formulas: Formulas, where: Where
    ) -> None:
        self.similarities, self.relevant, self.formulas, self.where = similarities, relevant, formulas, where
        self.room, self.fast = local(), not READABLE.get()  # asked here: the work is done in other threads

    def __call__(self, start: int) -> list[tuple[dict[str, Floats], Ints]]:
        """Values, and numbers of relevant items, of the queries from ``start`` on."""
        if not hasattr(self.room, "tile"):
            self.room.tile = self.similarities.buffer()
        scores = self.similarities.tile(start, out=self.room.tile)
        queries = np.arange(start, start + len(scores))
        if self.relevant.own:
            scores[range(len(queries)), queries] = -torch.inf
        return [(self.formulas(found), found.size) for found in self._ranked(scores, queries)]

    def _ranked(self, scores: Tensor, queries: Ints) -> Iterator[Relevant]:
        tree = self.relevant
        if self.fast and isinstance(tree, Tree) and self.where is None and scores.device.type == "cpu":
            for piece in _pieces(tree.size[0, queries]):
                yield count_or_sort(scores[piece], tree, queries[piece])
            return
        levels = tree.levels(queries, scores.device)
        if self.where is not None:
            left_out = ~self._taking_part(queries).to(scores.device)
            scores.masked_fill_(left_out, -torch.inf)
            levels.masked_fill_(left_out, 0)
        yield sort_all(scores, levels, tree.n_levels)

    def _taking_part(self, queries: Ints) -> Tensor:
        chosen, shape = torch.from_numpy(queries), (len(queries), self.similarities.items)
        mask = self.where(chosen) if callable(self.where) else self.where[chosen]  # type: ignore[index]
        if not isinstance(mask, Tensor) or mask.shape != shape or mask.dtype != torch.bool:
            got = f"{tuple(mask.shape)} {mask.dtype}" if isinstance(mask, Tensor) else type(mask).__name__
            raise ValueError(f"where must give a bool Tensor of shape {shape} for {len(queries)} queries, got {got}")
        return mask


def stream(
    similarities: Similarities,
    relevant: Tree | SharedClasses,
    formulas: Formulas,
    where: Where,
    chunk_size: int,
    progress: bool,
) -> tuple[dict[str, Tensor], Tensor]:
    """Values of each metric, one a query, and numbers of relevant items by level, (q, L)."""
    height = similarities.height
    starts = range(0, len(similarities.embeddings), height)
    work = _Tiles(similarities, relevant, formulas, where)
    with _workers(similarities.device, chunk_size // height) as run:
        done = [part for tile in _shown(run(work, starts), len(starts), height, progress) for part in tile]
    values = {name: np.concatenate([found[name] for found, _ in done]) for name in formulas.metrics}
    counts = np.concatenate([count for _, count in done], axis=1).T
    return {name: torch.from_numpy(value) for name, value in values.items()}, torch.from_numpy(counts.copy())


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
