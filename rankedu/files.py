"""A file that is complete or not there, whatever happens while it is written and whoever else writes it."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["written"]


@contextmanager
def written(path: Path) -> Iterator[Path]:
    """Give the name of a new file, to be written in the block, then moved to its place, or removed if that raises."""
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
