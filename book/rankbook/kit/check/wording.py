"""Put values, inputs and exceptions into words: plain numbers, rounded, the same text on every machine."""

from __future__ import annotations

import inspect
import re
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np

from rankbook.kit.check.compare import as_array

UNFINISHED = "nothing returned yet: put your own code in place of the three dots, then run the check again."


def show_value(value: Any) -> str:
    """Write a value so that it can be read: plain numbers, rounded, the same text each time."""
    if callable(value) and not hasattr(value, "shape"):
        return str(getattr(value, "__name__", type(value).__name__))
    if isinstance(value, (bool, int, np.bool_)):
        return str(bool(value)) if isinstance(value, np.bool_) else str(value)
    if isinstance(value, (list, tuple)) and not all(np.ndim(v) == 0 and not isinstance(v, str) for v in value):
        return _short(value)
    try:
        array = as_array(value)
    except (TypeError, ValueError):
        return _short(value)
    kind = str(value.dtype if hasattr(value, "dtype") else np.asarray(value).dtype)
    listed = array.astype(bool if "bool" in kind else int if "int" in kind else float).tolist()
    return _short(_rounded(listed))


def show_case(case: dict[str, Any]) -> str:
    """Write the arguments of a case as ``name=value, …``."""
    return ", ".join(f"{key}={show_value(value)}" for key, value in case.items())


def failure(error: BaseException, case: dict[str, Any], answer: Callable[..., Any], arguments: list[str]) -> str:
    """Put an exception of the reader's function into words, with the line of the function that raised it."""
    if isinstance(error, TypeError) and not _accepts(answer, len(arguments)):
        return f"your function can't be called with the arguments {', '.join(arguments)}: {_plain(str(error))}."
    return f"for {show_case(case)} your function raised {exception(error)}{_place(error, answer)}."


def exception(error: BaseException) -> str:
    """Write an exception as ``Kind: message``, without addresses."""
    return f"{type(error).__name__}: {_plain(str(error))}" if str(error) else type(error).__name__


def _place(error: BaseException, answer: Callable[..., Any]) -> str:
    """The line of the function, counted from its first, at which things went wrong."""
    code = getattr(answer, "__code__", None)
    if code is None:
        return ""
    here = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code is code]
    first = code.co_firstlineno
    return f" (line {here[0] - first + 1} of your function)" if here and here[0] > first else ""


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
