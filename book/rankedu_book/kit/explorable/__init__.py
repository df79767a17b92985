"""Explorables: one Python function is the figure, the live widget and the static slider."""

import importlib

from rankedu_book.kit import modules
from rankedu_book.kit.explorable.controls import Control, choice, dial, log_slider, slider
from rankedu_book.kit.explorable.core import Explorable, explorable, goal
from rankedu_book.kit.explorable.grounds import ground
from rankedu_book.kit.explorable.kept import hold, pick, tell

__all__ = ["Control", "Explorable", "all_explorables", "choice", "dial", "explorable", "goal", "ground", "hold", "load"]
__all__ += ["log_slider", "pick", "slider", "tell"]


def all_explorables() -> dict[str, Explorable]:
    """Every explorable of the book, by its address ``module:function``."""
    found = {}
    for name in modules("explorables.py"):
        module = importlib.import_module(name)
        for value in vars(module).values():
            if isinstance(value, Explorable) and value.module == module.__name__:
                found[value.address] = value
    return dict(sorted(found.items()))


def load(address: str) -> Explorable:
    """The explorable at ``module:function``."""
    module, _, name = address.partition(":")
    return getattr(importlib.import_module(module), name)
