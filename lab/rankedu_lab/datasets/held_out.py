"""The door to the held-out letters: closed, but within the one command that judges claims at the end."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

#: Set while the door is open, so that the runs that the command starts go through it, too.
VARIABLE = "RANKEDU_HELD_OUT"


@contextmanager
def opened() -> Iterator[None]:
    """Open the held-out split in this process and in those that it starts. A test knows who may call this."""
    os.environ[VARIABLE] = "open"
    try:
        yield
    finally:
        os.environ.pop(VARIABLE, None)


def check_open(split: str) -> None:
    """Refuse the held-out split to whoever trains, searches or selects."""
    if split == "held_out" and os.environ.get(VARIABLE) != "open":
        raise PermissionError(
            "split must not be 'held_out' before the end: what is chosen on it, it can't judge any more "
            "(train on 'fit', choose on 'val'; the command that judges the claims opens it)"
        )
