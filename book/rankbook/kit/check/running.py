"""Run a reader's function on one input after the other; nothing it does gets out."""

from __future__ import annotations

import copy
import io
import sys
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankbook.kit.check.compare import difference
from rankbook.kit.check.spec import Case, Exercise
from rankbook.kit.check.wording import UNFINISHED, exception, failure, show_case

_KINDS = {"numpy": "NumPy arrays", "torch": "torch tensors"}


@dataclass(frozen=True)
class Outcome:
    """What became of one input."""

    case: Case
    value: Any = None
    problem: str | None = None
    stopped: bool = False  # nothing to compare: the problem is the whole message
    raised: BaseException | None = None


def outcomes(exercise: Exercise, answer: Callable[..., Any]) -> list[Outcome]:
    """Run every input, with the first kind of array with which the function gets through the first input."""
    cases, kinds = exercise.cases(), exercise.arrays
    first = [_call(exercise, answer, cases[0], kinds[0])]
    if not first[0].raised:
        return first + [_call(exercise, answer, case, kinds[0]) for case in cases[1:]]
    for kind in kinds[1:]:
        first.append(_call(exercise, answer, cases[0], kind))
        if not first[-1].raised:
            return [first[-1]] + [_call(exercise, answer, case, kind) for case in cases[1:]]
    return [_both(first, kinds)] + [_call(exercise, answer, case, kinds[0]) for case in cases[1:]]


def value_of(exercise: Exercise, answer: Callable[..., Any], given: Case) -> Any:
    """What is compared: the value of the function, or what comes of using it, without warnings, which show paths."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if exercise.use is None:
            return answer(*given.values())
        return exercise.use(lambda *inputs: _something(answer(*inputs)), *given.values())


class _NothingError(Exception):
    """A function that is to be used returned nothing."""


def _something(value: Any) -> Any:
    if value is None or value is ... or value is NotImplemented:
        raise _NothingError(value)
    return value


def _both(first: list[Outcome], kinds: Any) -> Outcome:
    """Neither kind of array went through: say so, for a function in torch must not be told of NumPy alone."""
    kinds_of_error = {type(outcome.raised) for outcome in first}
    if len(kinds_of_error) == 1:
        return first[0]
    others = (f"with {_KINDS[kind]} {exception(o.raised)}" for kind, o in zip(kinds, first, strict=True) if o.raised)
    problem = f"{str(first[0].problem).removesuffix('.')}. Every kind of array was tried: {', '.join(others)}."
    return Outcome(first[0].case, problem=problem, stopped=True, raised=first[0].raised)


def _call(exercise: Exercise, answer: Callable[..., Any], case: Case, kind: str) -> Outcome:
    given = {key: _CONVERT[kind](value) for key, value in copy.deepcopy(case).items()}
    before = copy.deepcopy(given)
    watch = _Watch(sys.stdout)
    try:
        with redirect_stdout(watch):
            value = _something(value_of(exercise, answer, given))
    except (_NothingError, NotImplementedError) as nothing:
        return Outcome(case, problem=_nothing(answer, nothing, watch, case), stopped=True)
    except (Exception, SystemExit) as error:
        problem = failure(error, case, answer, exercise.arguments)
        return Outcome(case, problem=problem, stopped=True, raised=error)
    arrays = [key for key in given if not isinstance(given[key], list)]
    changed = [key for key in arrays if difference(before[key], given[key]) is not None]
    if changed:
        problem = f"your function changed its argument {changed[0]} in place (for {show_case(case)}): work on a copy."
        return Outcome(case, problem=problem, stopped=True)
    try:
        return Outcome(case, value, _judged(exercise, case, value))
    except (Exception, SystemExit) as error:  # an object with a hostile __eq__, __array__ or __len__
        return Outcome(case, problem=failure(error, case, answer, exercise.arguments), stopped=True)


def _nothing(answer: Callable[..., Any], nothing: Exception, watch: _Watch, case: Case) -> str:
    """Why there is no value: not begun, printed instead of returned, or a path without a return."""
    value = nothing.args[0] if isinstance(nothing, _NothingError) else NotImplemented
    if watch.seen and value is not NotImplemented:
        return f"for {show_case(case)} your function printed something and returned nothing: return it instead."
    code = getattr(answer, "__code__", None)
    if value is None and code is not None and len(code.co_code) > _LENGTH_OF_A_STUB:
        return f"nothing returned yet: for {show_case(case)} your function ends without a value. Add a `return`."
    return UNFINISHED


def _judged(exercise: Exercise, case: Case, value: Any) -> str | None:
    if exercise.judge is not None:
        return exercise.judge(case, value)
    return difference(exercise.right(case), value)


class _Watch(io.TextIOBase):
    """Passes on what is printed, and remembers that something was."""

    def __init__(self, out: Any) -> None:
        self.out, self.seen = out, False

    def write(self, text: str) -> int:
        self.seen = True
        return int(self.out.write(text) or 0)

    def flush(self) -> None:
        self.out.flush()


def _as_torch(value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    import torch

    return torch.from_numpy(value.copy())


_LENGTH_OF_A_STUB = 8  # bytes of bytecode: load None, return it
_CONVERT: dict[str, Callable[[Any], Any]] = {"numpy": lambda value: value, "torch": _as_torch}
