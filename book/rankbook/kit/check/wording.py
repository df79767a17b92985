"""Put values, inputs and exceptions into words: plain numbers, rounded, the same text on every machine."""

import inspect
import re
import traceback
from collections.abc import Callable
from typing import Any

from rankbook.kit.check.compare import as_array


def show_value(value: Any) -> str:
    """Write a value so that it can be read: plain numbers, rounded, the same text each time."""
    if callable(value) and not hasattr(value, "shape"):
        return str(getattr(value, "__name__", type(value).__name__))
    try:
        array = as_array(value, None)
    except Exception:  # not numbers, or an object with a hostile __array__
        return _short(value)
    return _short(_rounded(array.tolist()) if array.dtype.kind in "biuf" else value)


def show_case(case: dict[str, Any]) -> str:
    """Write the arguments of a case as ``name=value, …``."""
    return ", ".join(f"{key}={show_value(value)}" for key, value in case.items())


def failure(error: BaseException, case: dict[str, Any], answer: Callable[..., Any], arguments: list[str]) -> str:
    """Put an exception of the reader's function into words, with the line of the function that raised it."""
    said = _plain(str(error))
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


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(entry) for entry in value]
    return float(f"{value:.6g}") + 0.0 if isinstance(value, float) else value


def _short(value: Any, limit: int = 200) -> str:
    try:
        text = _plain(repr(value))
    except Exception:
        text = f"a {type(value).__name__}"
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r" at 0x[0-9a-fA-F]+", "", text)).strip()
