"""Compare what a reader's function returned with what was expected, and say in which way it is wrong."""

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def as_array(value: Any, dtype: Any = np.float64) -> Array:
    """Turn a number, list, array or tensor into an array; anything else raises TypeError or ValueError."""
    if hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    elif isinstance(value, (list, tuple)):
        value = [entry.item() if hasattr(entry, "item") and np.ndim(entry) == 0 else entry for entry in value]
    elif isinstance(value, (str, bytes, set, dict)) or callable(value):
        raise TypeError(f"a {type(value).__name__}")
    return np.asarray(value, dtype=dtype)


def same(a: Array, b: Array) -> bool:
    """Whether two arrays have one shape and agree to five digits (float32 is good enough); nan equals nan."""
    return a.shape == b.shape and bool(np.isclose(a, b, rtol=1e-5, atol=1e-6, equal_nan=True).all())


def difference(expected: Any, got: Any) -> str | None:
    """Say in what respect ``got`` differs from ``expected`` (without naming the right value), or None.

    >>> difference([1.0, 2.0], [1.0, 1.0])
    'whose entry 1 is too small'
    >>> difference([0.5, 0.2, 0.1], [-0.5, -0.2, -0.1])
    'which has the wrong sign'
    >>> difference([3, 1, 2, 2], [2, 2, 1, 3])
    'which holds the right numbers in reverse order'
    >>> difference(0.5, [0.5, 0.5])
    'where one number was expected, not shape (2,)'
    """
    if callable(expected) and not hasattr(expected, "shape"):
        return None
    right = as_array(expected)
    try:
        given = as_array(got)
    except (TypeError, ValueError):
        wanted = "one number was" if right.ndim == 0 else f"{right.size} numbers were"
        advice = " (return one thing alone)" if isinstance(got, tuple) else ""
        return f"a {type(got).__name__} that can't be read as numbers, where {wanted} expected{advice}"
    if right.ndim == 0 and given.size == 1:
        given = given.reshape(())
    if right.shape != given.shape:
        return _shapes(right, given)
    if same(given, right):
        return None
    if right.ndim == 0 and (
        isinstance(expected, (bool, np.bool_)) or str(getattr(got, "dtype", type(got).__name__)) == "bool"
    ):
        return "which is not so"
    return _how(right, given)


def _shapes(right: Array, given: Array) -> str:
    if right.ndim and given.shape == right.shape[::-1] and same(given.T, right):
        return f"which is transposed: shape {right.shape} was expected, not {given.shape}"
    if right.ndim and given.size == right.size and same(given.reshape(right.shape), right):
        return f"which holds the right numbers in the shape {given.shape}, where {right.shape} was expected"
    wanted = "one number was" if right.ndim == 0 else f"shape {right.shape} was"
    return f"where {wanted} expected, not shape {given.shape}"


def _how(right: Array, given: Array) -> str:
    """In which way a value is wrong: first what is true of all its entries, then the first wrong one."""
    known = [(-right, "which has the wrong sign")]
    known += [(np.round(right, digits), "which is right to two digits only: don't round") for digits in (2, 3)]
    if right.ndim:
        known += [(right + 1, "where every entry is too large by exactly one")]
        known += [(right - 1, "where every entry is too small by exactly one")]
        known += [(right[::-1], "which holds the right numbers in reverse order")]
    for value, said in known:
        if same(given, value):
            return said
    if right.ndim == 0:
        return f"which is {_size(given, right)}"
    if same(np.sort(given, axis=None), np.sort(right, axis=None)):
        return "which holds the right numbers in another order"
    off = np.argwhere(~np.isclose(given, right, rtol=1e-5, atol=1e-6, equal_nan=True)).tolist()
    first = tuple(off[0])
    how = f"whose entry {first if right.ndim > 1 else first[0]} is {_size(given[first], right[first])}"
    return how + (f" ({len(off)} entries are off)" if len(off) > 1 else "")


def _size(given: Any, right: Any) -> str:
    if np.isnan(given):
        return "not a number (is 0 divided by 0, or taken from infinity?)"
    if np.isinf(given):
        return "infinite (is something divided by 0?)"
    return "too small" if given < right else "too large"
