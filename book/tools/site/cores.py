"""Work on all cores at once: one process a core, each with its own interpreter."""

import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager

CORES = os.cpu_count() or 1


@contextmanager
def pool(workers: int = CORES) -> Iterator[ProcessPoolExecutor]:
    """Offer a pool of processes; after an error, tasks that have not begun are cancelled."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # more threads than cores would wait for each other
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as executor:
        try:
            yield executor
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            raise
