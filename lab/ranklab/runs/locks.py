"""One lock for each run: its folder belongs to one process, until that ends, however it ends."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rankedu._extras import needed

__all__ = ["is_locked", "lock_run", "locks_folder"]


def locks_folder(runs: Path) -> Path:
    """Where the locks are: beside the labs' folders, one small file for each run."""
    return runs / ".locks"


def _file_lock(folder: Path) -> Any:
    locks = locks_folder(folder.parent.parent)
    locks.mkdir(parents=True, exist_ok=True)
    name = f"{folder.parent.name}-{folder.name}.lock"
    return needed("filelock", "labs need filelock").FileLock(locks / name, poll_interval=0.5)


@contextmanager
def lock_run(folder: Path) -> Iterator[None]:
    """Hold the lock of ``runs/<lab>/<hash>``; wait, with a warning, while another process holds it.

    The system gives it back when its process ends, even if that is killed; between machines only on such as NFS 4.
    """
    from filelock import Timeout

    lock = _file_lock(folder)
    try:
        lock.acquire(timeout=1)
    except Timeout:
        warnings.warn(f"{folder} is being run by another process: waiting for it", stacklevel=4)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def is_locked(folder: Path) -> bool:
    """Whether a process is at work on this run."""
    from filelock import Timeout

    try:
        with _file_lock(folder).acquire(blocking=False):
            return False
    except Timeout:
        return True
