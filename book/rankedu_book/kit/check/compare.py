"""Compare what a reader's function returned with what was expected, and say in which way it is wrong.

This file and `wording.py` are plain Python with `math` only, because the exercises in the page run the same files.
"""

import math
from typing import Any


def numbers(value: Any, kind: Any = float) -> Any:
    """Turn a number, list, array or tensor into a number or nested lists; anything else is a TypeError or ValueError.

    >>> numbers([(1, 2), [True, 0.5]])
    [[1.0, 2.0], [1.0, 0.5]]
    """
    if hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple, range)):
        found = [numbers(one, kind) for one in value]
        if len({shape(one) for one in found}) > 1:
            raise ValueError("rows of different lengths")
        return found
    if isinstance(value, (str, bytes, set, dict)) or callable(value):
        raise TypeError(f"a {type(value).__name__}")
    return kind(value)


def shape(value: Any) -> tuple[int, ...]:
    """The lengths of nested lists; () for a number."""
    return (len(value), *(shape(value[0]) if value else ())) if isinstance(value, list) else ()


def flat(value: Any) -> list[float]:
    """All numbers of nested lists in a row."""
    return [one for row in value for one in flat(row)] if isinstance(value, list) else [value]


def same(a: Any, b: Any) -> bool:
    """Whether two nested lists have one shape and agree to five digits (float32 is enough); nan equals nan."""
    return shape(a) == shape(b) and all(map(_close, flat(a), flat(b)))


def _close(a: float, b: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b)) or (math.isfinite(b) and abs(a - b) <= 1e-6 + 1e-5 * abs(b))


def agree(expected: Any, got: Any) -> bool:
    """Whether ``got`` is ``expected``, also as the only entry of a list; TypeError for what has no numbers."""
    if callable(expected) and not hasattr(expected, "shape"):
        return True
    right, given = numbers(expected), numbers(got)
    return same(flat(given)[0] if not isinstance(right, list) and len(flat(given)) == 1 else given, right)


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
    try:
        if agree(expected, got):
            return None
        right, given = numbers(expected), numbers(got)
    except (TypeError, ValueError):
        right = numbers(expected)
        wanted = f"{len(flat(right))} numbers were" if isinstance(right, list) else "one number was"
        advice = " (return one thing alone)" if isinstance(got, tuple) else ""
        return f"a {type(got).__name__} that can't be read as numbers, where {wanted} expected{advice}"
    if not isinstance(right, list) and len(flat(given)) == 1:
        given = flat(given)[0]
    if shape(right) != shape(given):
        return _shapes(right, given)
    yes_or_no = type(expected).__name__ in ("bool", "bool_") or str(getattr(got, "dtype", type(got).__name__)) == "bool"
    return "which is not so" if yes_or_no and not isinstance(right, list) else _how(right, given)


def _shapes(right: Any, given: Any) -> str:
    was, is_now = shape(right), shape(given)
    if len(was) == 2 and is_now == was[::-1] and same([list(row) for row in zip(*given)], right):  # noqa: B905
        return f"which is transposed: shape {was} was expected, not {is_now}"
    if was and same(flat(given), flat(right)):
        return f"which holds the right numbers in the shape {is_now}, where {was} was expected"
    wanted = f"shape {was} was" if was else "one number was"
    return f"where {wanted} expected, not shape {is_now}"


def _how(right: Any, given: Any) -> str:
    """In which way a value is wrong: first what is true of all its entries, then the first wrong one."""
    answer, definition = flat(given), flat(right)
    known = [([-one for one in definition], "which has the wrong sign")]
    for digits in (2, 3):
        known += [([_rounded(one, digits) for one in definition], "which is right to two digits only: don't round")]
    if isinstance(right, list):
        known += [([one + 1 for one in definition], "where every entry is too large by exactly one")]
        known += [([one - 1 for one in definition], "where every entry is too small by exactly one")]
        known += [(flat(right[::-1]), "which holds the right numbers in reverse order")]
    for value, said in known:
        if same(answer, value):
            return said
    if not isinstance(right, list):
        return f"which is {_size(given, right)}"
    if same(sorted(answer), sorted(definition)):
        return "which holds the right numbers in another order"
    off = [k for k in range(len(answer)) if not _close(answer[k], definition[k])]
    first, size = off[0], shape(right)
    at = [first // math.prod(size[axis + 1 :]) % size[axis] for axis in range(len(size))]
    how = f"whose entry {tuple(at) if len(at) > 1 else first} is {_size(answer[first], definition[first])}"
    return how + (f" ({len(off)} entries are off)" if len(off) > 1 else "")


def _rounded(value: float, digits: int) -> float:
    return round(value, digits) if math.isfinite(value) else value


def _size(given: float, right: float) -> str:
    if math.isnan(given):
        return "not a number (is 0 divided by 0, or taken from infinity?)"
    if math.isinf(given):
        return "infinite (is something divided by 0?)"
    return "too small" if given < right else "too large"
