"""Work on all cores at once: one process a core, each with its own interpreter."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from typing import Any

CORES = os.cpu_count() or 1


@contextmanager
def pool(workers: int = CORES) -> Iterator[ProcessPoolExecutor]:
    """Processes to hand work to; what has not begun when the block is left by an error is not begun any more."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # more threads than cores would wait for each other
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as executor:
        try:
            yield executor
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            raise


def each(
    work: Callable[..., Any], jobs: Mapping[str, tuple[Any, ...]], workers: int = CORES
) -> Iterator[tuple[str, Future[Any]]]:
    """Do the work for every job, beginning in their order; yields name and outcome as they are done."""
    with pool(workers) as executor:
        futures = {executor.submit(work, *arguments): name for name, arguments in jobs.items()}
        for future in as_completed(futures):
            yield futures[future], future
