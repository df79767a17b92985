"""One lock for each run and each table: it belongs to one process, until that ends, however it ends."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rankedu.extras import needed


def locks_folder(runs: Path) -> Path:
    """Where the locks are: beside the labs' folders, or the tables, one small file for each run or table."""
    return runs / ".locks"


def _file_lock(beside: Path, name: str) -> Any:
    file_lock = needed("filelock", "labs need filelock").FileLock
    locks = locks_folder(beside)
    locks.mkdir(parents=True, exist_ok=True)
    return file_lock(locks / f"{name}.lock", poll_interval=0.1)


def _run_lock(folder: Path) -> Any:
    return _file_lock(folder.parent.parent, f"{folder.parent.name}-{folder.name}")


def lock_table(table: Path) -> Any:
    """The lock of a table, to be held (``with``) while it is written anew; a short time, so that nobody is warned."""
    return _file_lock(table.parent, table.name)


@contextmanager
def lock_run(folder: Path) -> Iterator[None]:
    """Hold the lock of ``runs/<lab>/<hash>``; wait, with a warning, while another process holds it.

    The system gives it back when its process ends, even if that is killed; between machines only on such as NFS 4.
    """
    from filelock import Timeout

    lock = _run_lock(folder)
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
        with _run_lock(folder).acquire(blocking=False):
            return False
    except Timeout:
        return True
