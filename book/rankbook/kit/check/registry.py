"""All exercises by name."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from rankbook.kit.check.spec import Exercise
from rankbook.kit.folders import modules


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
    folders = [module.split(".")[1] for module in modules("exercises.py")]
    return {int(folder[2:4]): import_module(f"rankbook.{folder}.exercises").EXERCISES for folder in folders}
