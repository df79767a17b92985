"""Libraries that the core can do without: imported where they are needed, with a word on which extra brings them."""

import importlib
from typing import Any

__all__ = ["needed"]


def needed(module: str, purpose: str) -> Any:
    """Import a module; where it is missing, say what it is for and how to install it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{purpose}, which is not installed (run: pip install 'rankedu[lab]')", name=error.name
        ) from error
