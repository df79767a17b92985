"""Where the book's own data lies: it comes with a checkout, not with the installed package."""

from __future__ import annotations

from pathlib import Path

import rankedu

CHECKOUT = Path(rankedu.__file__).resolve().parents[1]


def in_checkout(path: Path) -> Path:
    """The path, if something is there."""
    if not path.exists():
        raise FileNotFoundError(
            f"the book's data must have {path.name}, found none in {path.parent} (it comes with a checkout, the "
            "installed package does not hold it: run `pip install -e .` in one)"
        )
    return path
