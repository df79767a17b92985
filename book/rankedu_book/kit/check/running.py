"""Run a reader's function on one input after the other; nothing it does gets out."""

import copy
import inspect
import io
import sys
import traceback
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankedu_book.kit.check.compare import difference
from rankedu_book.kit.check.spec import Case, Exercise
from rankedu_book.kit.check.wording import changed, plain, show_case, unfinished


@dataclass(frozen=True)
class Outcome:
    """What became of one input."""

    case: Case
    value: Any = None
    problem: str | None = None
    stopped: bool = False  # nothing to compare: the problem is the whole message
    raised: type[BaseException] | None = None


def outcomes(exercise: Exercise, answer: Callable[..., Any]) -> list[Outcome]:
    """Run every input, with the first kind of array with which the function gets through the first input."""
    case, *others = exercise.cases()
    problems: dict[Any, str] = {}
    for kind in exercise.arrays:
        first = _call(exercise, answer, case, kind)
        if first.raised is None:
            break
        problems.setdefault(first.raised, str(first.problem))
    else:  # a function written in torch must not be told of NumPy arrays alone
        first = replace(first, problem=" With torch tensors: ".join(problems.values()))
    return [first, *(_call(exercise, answer, case, kind) for case in others)]


def value_of(exercise: Exercise, answer: Callable[..., Any], given: Case) -> Any:
    """What is compared: the value of the function, or what comes of using it, without warnings, which show paths."""

    def something(*inputs: Any) -> Any:
        value = answer(*inputs)
        if value is None or value is ... or value is NotImplemented:
            raise NotImplementedError
        return value

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return something(*given.values()) if exercise.use is None else exercise.use(something, *given.values())


def _call(exercise: Exercise, answer: Callable[..., Any], case: Case, kind: str) -> Outcome:
    given = {key: _as(kind, value) for key, value in copy.deepcopy(case).items()}
    before, printed = copy.deepcopy(given), io.StringIO()
    try:
        with redirect_stdout(printed):
            value = value_of(exercise, answer, given)
        problem = exercise.judge(case, value) if exercise.judge else difference(exercise.right(case), value)
    except NotImplementedError:
        said = unfinished(case, bool(printed.getvalue()))
        return Outcome(case, problem=said, stopped=True)
    except (Exception, SystemExit) as error:  # also of an object with a hostile __eq__, __array__ or __len__
        said = failure(error, case, answer, exercise.arguments)
        return Outcome(case, problem=said, stopped=True, raised=type(error))
    finally:
        sys.stdout.write(printed.getvalue())
    for key, now in given.items():
        if not isinstance(now, list) and difference(before[key], now) is not None:
            return Outcome(case, problem=changed(key, case), stopped=True)
    return Outcome(case, value, problem)


def _as(kind: str, value: Any) -> Any:
    if kind == "numpy" or not isinstance(value, np.ndarray):
        return value
    import torch

    return torch.from_numpy(value.copy())


def failure(error: BaseException, case: dict[str, Any], answer: Callable[..., Any], arguments: list[str]) -> str:
    """Put an exception of the reader's function into words, with the line of the function that raised it."""
    said = plain(str(error))
    if isinstance(error, TypeError) and not _accepts(answer, len(arguments)):
        return f"your function can't be called with the arguments {', '.join(arguments)}: {said}."
    name = type(error).__name__
    return f"for {show_case(case)} your function raised {f'{name}: {said}' if said else name}{_place(error, answer)}."


def _place(error: BaseException, answer: Callable[..., Any]) -> str:
    """The line of the function, counted from its first, at which things went wrong."""
    code = getattr(answer, "__code__", None)
    if code is None:
        return ""
    here = [line - code.co_firstlineno for at, line in traceback.walk_tb(error.__traceback__) if at.f_code is code]
    return f" (line {here[0] + 1} of your function)" if any(here[:1]) else ""


def _accepts(answer: Callable[..., Any], count: int) -> bool:
    try:
        inspect.signature(answer).bind(*range(count))
    except ValueError:  # a builtin without a signature
        return True
    except TypeError:
        return False
    return True
