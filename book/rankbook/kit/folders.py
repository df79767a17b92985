"""The folders beside this one: one a chapter, named as its text, and one for each page or lab that draws."""

from pathlib import Path

import rankbook
from ranklab import CHECKOUT

__all__ = ["CHECKOUT", "modules"]

_PACKAGE = Path(rankbook.__file__).resolve().parent


def modules(file: str) -> list[str]:
    """The dotted names of all modules of a file name, or pattern, in the order of the book.

    >>> modules("exercises.py")[0]
    'rankbook.ch01_rank_based_metrics.exercises'
    """
    found = sorted(path.relative_to(_PACKAGE).with_suffix("") for path in _PACKAGE.glob(f"[!k]*/{file}"))
    return [".".join(["rankbook", *path.parts]) for path in found]
