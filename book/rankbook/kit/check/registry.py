"""All exercises by name."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

import rankbook.kit.check
from rankbook.kit.check.spec import Exercise


def names(chapter: int | None = None) -> list[str]:
    """Names of the exercises in the order of the book, of one chapter or of all.

    >>> names(4)[0]
    'blackbox_rank'
    """
    return [one.name for number, exercises in _chapters().items() for one in exercises if chapter in (None, number)]


def find(name: str) -> Exercise:
    """Return the exercise of this name, with its statement, its inputs and the right values.

    >>> find("lam_code").reference(4.0, 20)
    0.2
    """
    for exercises in _chapters().values():
        for exercise in exercises:
            if exercise.name == name:
                return exercise
    raise ValueError(f"name must be one of {', '.join(names())}; got {name!r}")


@cache
def _chapters() -> dict[int, tuple[Exercise, ...]]:
    modules = sorted(info.name for info in iter_modules(rankbook.kit.check.__path__))
    found = [name for name in modules if name.startswith("chapter_")]
    return {int(name[-2:]): import_module(f"rankbook.kit.check.{name}").EXERCISES for name in found}
