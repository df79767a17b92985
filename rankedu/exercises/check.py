"""`check`: run a reader's function beside the definition, and say what kind of mistake it makes.

The answer itself is not given away: the feedback names the input, what the function returned, and, where the returned
values are those of a known mistake on *every* input, that mistake.
"""

from __future__ import annotations

import copy
import inspect
import re
import textwrap
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import numpy as np

import rankedu.exercises
from rankedu.exercises.compare import UNFINISHED, difference, failure, show_case, show_value
from rankedu.exercises.spec import Case, Exercise


@dataclass(frozen=True, repr=False)
class Feedback:
    """What `check` found. It prints as a short message, and counts as true if the function is right.

    Attributes
    ----------
    name : str
        The exercise.
    passed : bool
        Whether every case was right.
    message : str
        What came of it: one line if right, otherwise the first input that went wrong and what came out.
    hint : str
        The kind of mistake, if it is a known one; else empty.
    right, cases : int
        Cases that were right, and all of them.
    """

    name: str
    passed: bool
    message: str
    hint: str = ""
    right: int = 0
    cases: int = 0

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        return f"{'✓' if self.passed else '✗'} {self.name}: {self.message}" + (f"\n  {self.hint}" if self.hint else "")

    __repr__ = __str__

    def _repr_markdown_(self) -> str:
        hint = f"\n\n{_escaped(self.hint)}" if self.hint else ""
        return f"{'✓' if self.passed else '✗'} `{self.name}`: {_escaped(self.message)}{hint}"


def check(name: str, answer: Any) -> Feedback:
    """Tell whether a function solves an exercise, and what it got wrong.

    Parameters
    ----------
    name : str
        One of `names`.
    answer : callable
        The reader's function. It is called with copies of the inputs, in the order of the statement.

    Returns
    -------
    Feedback
        Never an exception of the reader's function: those are part of the feedback.

    Raises
    ------
    ValueError
        If there is no such exercise.

    Notes
    -----
    Deterministic: the same function gets the same feedback. Arrays come as NumPy float64 unless the statement says
    otherwise; a function that raises with NumPy arrays is tried with torch tensors. It may return floats, lists,
    arrays or tensors.

    Examples
    --------
    >>> check("lam_code", lambda lam_paper, n: lam_paper / n)
    ✓ lam_code: right on all 5 inputs.
    >>> check("lam_code", lambda lam_paper, n: lam_paper * n)
    ✗ lam_code: for lam_paper=4.0, n=20 you returned 80.0, which is too large.
      That is what comes out when one multiplies by n instead of dividing. (Right on 1 of 5 inputs.)
    >>> check("lam_code", lambda lam_paper, n: ...)
    ✗ lam_code: nothing returned yet: put your own code in place of the three dots, then run the check again.
    """
    exercise = _find(name)
    if not callable(answer):
        got = f"got {show_value(answer)} ({type(answer).__name__})"
        advice = f'pass the function itself, without calling it: check("{name}", your_function); {got}.'
        return Feedback(name, False, advice)
    cases = exercise.cases()
    outcomes = _run(exercise, answer, cases)
    wrong = [outcome for outcome in outcomes if outcome.problem is not None]
    if not wrong:
        return Feedback(name, True, f"right on all {len(cases)} inputs.", right=len(cases), cases=len(cases))
    right = len(cases) - len(wrong)
    first = wrong[0]
    message = str(first.problem)
    hint = ""
    if not first.stopped:
        message = f"for {show_case(first.case)} you returned {show_value(first.value)}, {first.problem}."
        known = _diagnose(exercise, outcomes)
        hint = (
            f"That is what comes out when one {known}. " if known else ""
        ) + f"(Right on {right} of {len(cases)} inputs.)"
    return Feedback(name, False, message, hint, right, len(cases))


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
    return _find(name).reference


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
    return textwrap.dedent(inspect.getsource(_find(name).reference)).strip()


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
    return _find(name).statement


@dataclass(frozen=True)
class _Outcome:
    case: Case
    value: Any = None
    problem: str | None = None
    stopped: bool = False  # nothing to compare: the problem is the whole message
    raised: bool = False


@cache
def _registry() -> list[tuple[str, Exercise]]:
    found = sorted(info.name for info in iter_modules(rankedu.exercises.__path__) if info.name.startswith("chapter_"))
    modules = {chapter: import_module(f"rankedu.exercises.{chapter}") for chapter in found}
    return [(chapter, exercise) for chapter, module in modules.items() for exercise in module.EXERCISES]


def _find(name: str) -> Exercise:
    for _, exercise in _registry():
        if exercise.name == name:
            return exercise
    raise ValueError(f"name must be one of {', '.join(names())}; got {name!r}")


def _run(exercise: Exercise, answer: Callable[..., Any], cases: list[Case]) -> list[_Outcome]:
    """Try one kind of array after the other until the function gets through its first input."""
    convert = _CONVERT[exercise.arrays[0]]
    if _call(exercise, answer, cases[0], convert).raised:
        for kind in exercise.arrays[1:]:
            if not _call(exercise, answer, cases[0], _CONVERT[kind]).raised:
                convert = _CONVERT[kind]
                break
    return [_call(exercise, answer, case, convert) for case in cases]


def _call(exercise: Exercise, answer: Callable[..., Any], case: Case, convert: Callable[[Any], Any]) -> _Outcome:
    given = {key: convert(value) for key, value in copy.deepcopy(case).items()}
    before = copy.deepcopy(given)
    try:
        value = _quietly(answer, given)
    except NotImplementedError:
        return _Outcome(case, problem=UNFINISHED, stopped=True)
    except (Exception, SystemExit) as error:
        return _Outcome(case, problem=failure(error, case, answer), stopped=True, raised=True)
    if value is None or value is ... or value is NotImplemented:
        return _Outcome(case, problem=UNFINISHED, stopped=True)
    changed = [key for key in given if difference(before[key], given[key]) is not None]
    if changed:
        problem = f"your function changed its argument {changed[0]} in place (for {show_case(case)}): work on a copy."
        return _Outcome(case, problem=problem, stopped=True)
    try:
        return _Outcome(case, value, _judged(exercise, case, value))
    except (Exception, SystemExit) as error:  # an object with a hostile __eq__, __array__ or __len__
        return _Outcome(case, problem=failure(error, case, answer), stopped=True)


def _quietly(function: Callable[..., Any], given: Case) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter(
            "ignore"
        )  # a warning shows paths and line numbers: the feedback stays the same everywhere
        return function(*given.values())


def _judged(exercise: Exercise, case: Case, value: Any) -> str | None:
    if exercise.judge is not None:
        return exercise.judge(case, value)
    return difference(exercise.reference(*copy.deepcopy(case).values()), value)


def _diagnose(exercise: Exercise, outcomes: list[_Outcome]) -> str:
    """Hint of the first known mistake that returns what the reader's function returned, on every input."""
    for mistake in exercise.mistakes:
        answered = [outcome for outcome in outcomes if not outcome.stopped]
        try:
            values = [_quietly(mistake.function, copy.deepcopy(outcome.case)) for outcome in answered]
            if all(difference(v, outcome.value) is None for v, outcome in zip(values, answered, strict=True)):
                return mistake.hint
        except (Exception, SystemExit):  # this mistake can't be made on these inputs, or the value can't be compared
            continue
    return ""


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_<>$|#~])", r"\\\1", text)


def _as_torch(value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    import torch

    return torch.from_numpy(value.copy())


_CONVERT: dict[str, Callable[[Any], Any]] = {"numpy": lambda value: value, "torch": _as_torch}
