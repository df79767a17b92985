"""A file that is complete or not there, whatever happens while it is written and whoever else writes it."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["written"]


@contextmanager
def written(path: Path) -> Iterator[Path]:
    """Give the name of a new file beside the final one, which is moved there when all has gone well.

    The folder is made if absent. What stood there stays until the new file is complete, and if it never is. The new
    file, of a name that no other writer gets, is to be written and closed within the block. Whatever is raised there
    goes on, and the unfinished file is removed; OSError if the folder cannot be made, or the file not be moved.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "new" / "words.txt"
    ...     with written(path) as part:
    ...         _ = part.write_text("complete")
    ...     path.read_text()
    'complete'
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{secrets.token_hex(8)}.part")
    try:
        yield part
        with part.open("rb+") as file:
            os.fsync(file.fileno())  # a name must not be there before its contents
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
