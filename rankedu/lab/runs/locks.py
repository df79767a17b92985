"""Whose a run's folder is while it runs: one process's, until it ends, however it ends."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["claim", "claims_folder"]


def claims_folder(runs: Path) -> Path:
    """Where the locks are: beside the labs' folders, one small file a run."""
    return runs / ".locks"


@contextmanager
def claim(folder: Path) -> Iterator[None]:
    """Wait until no other process has the folder of a run, and keep it for oneself.

    Parameters
    ----------
    folder : Path
        ``runs/<lab>/<hash>``.

    Raises
    ------
    ModuleNotFoundError
        Without filelock.

    Warns
    -----
    UserWarning
        If another process has it.

    Notes
    -----
    The system gives the lock back when its process ends, even if that is killed, so that no lock is left behind. On a
    network's file system this needs file locks that work between machines, as NFS 4 has.
    """
    try:
        from filelock import FileLock, Timeout
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "labs need filelock, which is not installed: pip install 'rankedu[lab]'", name=error.name
        ) from error
    place = claims_folder(folder.parent.parent)
    place.mkdir(parents=True, exist_ok=True)
    lock = FileLock(place / f"{folder.parent.name}-{folder.name}.lock", poll_interval=0.5)
    try:
        try:
            lock.acquire(timeout=1)
        except Timeout:
            warnings.warn(f"{folder} is being run by another process: waiting for it", stacklevel=4)
            lock.acquire()
        yield
    finally:
        lock.release()
