"""Compare what a reader's function returned with what was expected, and put both into words."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np

UNFINISHED = "nothing returned yet: put your own code in place of the three dots, then run the check again."


def as_array(value: Any) -> np.ndarray[Any, Any]:
    """Turn a number, list, array or tensor into a float64 array; anything else raises TypeError or ValueError."""
    if hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    elif isinstance(value, (list, tuple)):
        value = [entry.item() if hasattr(entry, "item") and np.ndim(entry) == 0 else entry for entry in value]
    elif isinstance(value, (str, bytes, set, dict)) or callable(value):
        raise TypeError(f"a {type(value).__name__}")
    return np.asarray(value, dtype=np.float64)


def difference(expected: Any, got: Any) -> str | None:
    """Say in what respect ``got`` differs from ``expected`` (without naming the right value), or None.

    Parameters
    ----------
    expected, got : float, bool, list, array or tensor
        Compared as float64 to five digits (float32 is good enough); nan equals nan.

    Returns
    -------
    str or None

    Examples
    --------
    >>> difference([1.0, 2.0], [1.0, 1.0])
    'whose entry 1 is too small'
    >>> difference(0.5, [0.5, 0.5])
    'where one number was expected, not shape (2,)'
    """
    if callable(expected) and not hasattr(expected, "shape"):
        return None
    right = as_array(expected)
    try:
        given = as_array(got)
    except (TypeError, ValueError):
        wanted = "one number" if right.ndim == 0 else f"{right.size} numbers"
        return f"a {type(got).__name__} that can't be read as numbers, where {wanted} was expected"
    if right.ndim == 0 and given.size == 1:
        given = given.reshape(())
    if right.shape != given.shape:
        wanted = "one number was" if right.ndim == 0 else f"shape {right.shape} was"
        return f"where {wanted} expected, not shape {given.shape}"
    off = ~np.isclose(given, right, rtol=1e-5, atol=1e-6, equal_nan=True)
    if not off.any():
        return None
    if isinstance(expected, (bool, np.bool_)):
        return "which is not so"
    index = int(np.flatnonzero(off)[0])
    a, b = given.reshape(-1)[index], right.reshape(-1)[index]
    how = "not a number" if np.isnan(a) else "too small" if a < b else "too large"
    if right.ndim == 0:
        return f"which is {how}"
    return f"whose entry {index} is {how}" + (f" ({int(off.sum())} entries are off)" if off.sum() > 1 else "")


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


def failure(error: BaseException, case: dict[str, Any], answer: Callable[..., Any]) -> str:
    """Put an exception of the reader's function into words."""
    text = f"{type(error).__name__}: {_plain(str(error))}" if str(error) else type(error).__name__
    if isinstance(error, TypeError) and not _accepts(answer, len(case)):
        return f"your function can't be called with the arguments {', '.join(case)}: {_plain(str(error))}."
    return f"for {show_case(case)} your function raised {text}."


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
