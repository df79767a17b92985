"""All exercises by name: their statements, definitions and solutions."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import rankedu.book.exercises
from rankedu.book.exercises.spec import Exercise


def names(chapter: int | None = None) -> list[str]:
    """Names of the exercises, in the order of the book.

    Parameters
    ----------
    chapter : int, optional
        Only those of this chapter.

    Returns
    -------
    list of str

    Examples
    --------
    >>> names(2)
    ['blackbox_gradient', 'interpolated_value']
    """
    only = None if chapter is None else f"chapter_{chapter:02d}"
    return [exercise.name for module, exercise in _registry() if only in (None, module)]


def reference(name: str) -> Callable[..., Any]:
    """Return the definition that `check` compares with, as a callable.

    Parameters
    ----------
    name : str
        One of `names`.

    Returns
    -------
    callable

    Raises
    ------
    ValueError
        If there is no such exercise.

    Examples
    --------
    >>> reference("lam_code")(4.0, 20)
    0.2
    """
    return find(name).reference


def solution(name: str) -> str:
    """Return the source text of a solution, which runs as it stands after ``import numpy as np``.

    Parameters
    ----------
    name : str
        One of `names`.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If there is no such exercise.

    Examples
    --------
    >>> print(solution("lam_code").splitlines()[0])
    def lam_code(lam_paper, n):
    """
    return textwrap.dedent(inspect.getsource(find(name).reference)).strip()


def statement(name: str) -> str:
    """Return what an exercise asks for, in one sentence.

    Parameters
    ----------
    name : str
        One of `names`.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If there is no such exercise.

    Examples
    --------
    >>> statement("lam_code")
    'lam_code(lam_paper, n): the λ for the released code, whose ranks are divided by n, from that of the paper.'
    """
    return find(name).statement


def find(name: str) -> Exercise:
    """Return the exercise of this name, or raise ValueError with all names."""
    for _, exercise in _registry():
        if exercise.name == name:
            return exercise
    raise ValueError(f"name must be one of {', '.join(names())}; got {name!r}")


@cache
def _registry() -> list[tuple[str, Exercise]]:
    found = sorted(
        info.name for info in iter_modules(rankedu.book.exercises.__path__) if info.name.startswith("chapter_")
    )
    modules = {chapter: import_module(f"rankedu.book.exercises.{chapter}") for chapter in found}
    return [(chapter, exercise) for chapter, module in modules.items() for exercise in module.EXERCISES]
