"""What wrong answers have in common: a relation to the right ones on every input, or where they are wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from rankbook.kit.check.compare import Array, same
from rankbook.kit.check.spec import Case

#: An input, the right value and the one returned, as arrays of one shape.
Answer = tuple[Case, Array, Array]


def relation(answers: Sequence[Answer]) -> str:
    """Say how every returned value follows from the right one; empty if in no way that is known here.

    >>> case = {"scores": np.zeros(4)}
    >>> relation([(case, np.array(v), np.array(1 - v)) for v in (0.25, 0.5, 0.75)])
    'On every input it is one minus what was asked for.'
    >>> relation([(case, np.array(v), np.array(3 * v)) for v in (0.25, 0.5, 0.75)])
    'On every input it is too large by the same factor.'
    """
    if len(answers) < 3:
        return ""
    for text, transform in _RELATIONS:
        if all(_follows(answer, transform) for answer in answers):
            return f"On every input it is {text}" + ("" if text.endswith("?") else ".")
    return _constant(answers)


def where_wrong(right: Iterable[Case], wrong: Iterable[Case]) -> str:
    """Say what the inputs that went wrong share, if none of those that went right does; else empty.

    >>> tied, plain = {"scores": np.array([0.5, 0.5])}, {"scores": np.array([0.5, 0.1])}
    >>> where_wrong(right=[plain, plain], wrong=[tied])
    'It goes wrong where entries of scores are equal, and only there.'
    """
    right, wrong = list(right), list(wrong)
    if len(right) < 2 or not wrong:
        return ""
    for key in wrong[0]:
        for text, holds in _TRAITS:
            if all(holds(case[key]) for case in wrong) and not any(holds(case[key]) for case in right):
                return f"It goes wrong where {text.format(key)}, and only there."
    return ""


def _follows(answer: Answer, transform: Callable[[Case, Array], Any]) -> bool:
    case, right, given = answer
    try:
        with np.errstate(all="ignore"):
            return same(np.asarray(transform(case, right), dtype=np.float64), given)
    except (AttributeError, IndexError, KeyError, ValueError):  # this relation says nothing about such an input
        return False


def _constant(answers: Sequence[Answer]) -> str:
    with np.errstate(all="ignore"):
        offsets = np.concatenate([(given - right).reshape(-1) for _, right, given in answers])
        ratios = np.concatenate([(given / right)[right != 0].reshape(-1) for _, right, given in answers])
    zeros = all(same(given[right == 0], right[right == 0]) for _, right, given in answers)
    for values, even, kind, holds in ((ratios, 1.0, "factor", zeros), (offsets, 0.0, "amount", True)):
        if holds and len(values) and same(values, np.full_like(values, values[0])) and np.isfinite(values[0]):
            size = "large" if abs(values[0]) > even or (kind == "amount" and values[0] > 0) else "small"
            size = ("large" if values[0] > 0 else "small") if kind == "amount" else size
            return f"On every input it is too {size} by the same {kind}."
    return ""


def _items(case: Case) -> int:
    arrays = [value for value in case.values() if isinstance(value, np.ndarray)]
    return len(arrays[0]) if arrays else int(case["n"])


def _positives(case: Case) -> int:
    return int(case["relevance"].sum())


_RELATIONS: tuple[tuple[str, Callable[[Case, Array], Any]], ...] = (
    ("the right value with the sign turned round", lambda case, right: -right),
    ("too large by exactly one", lambda case, right: right + 1),
    ("too small by exactly one", lambda case, right: right - 1),
    ("one minus what was asked for", lambda case, right: 1 - right),
    ("the right list back to front", lambda case, right: right[::-1]),
    ("the whole part of the right value: is there a // or an array of integers?", lambda case, right: np.floor(right)),
    ("the right value times the number of items: a sum and not a mean?", lambda case, right: right * _items(case)),
    ("the right value divided once more by the number of items", lambda case, right: right / _items(case)),
    ("a mean over all items, where the relevant ones were asked for",
     lambda case, right: right * _positives(case) / case["relevance"].size),
    ("the right value times the number of relevant items", lambda case, right: right * _positives(case)),
    ("the right value divided once more by the number of relevant items", lambda case, right: right / _positives(case)),
    ("one over what was asked for", lambda case, right: 1 / right),
    ("the square of what was asked for", lambda case, right: right**2),
    ("e to minus the right value: a logarithm is missing", lambda case, right: np.exp(-right)),
    ("the root of what was asked for", lambda case, right: np.sqrt(right)),
)  # fmt: skip

_TRAITS: tuple[tuple[str, Callable[[Any], bool]], ...] = (
    ("there is one entry of {} only", lambda value: isinstance(value, np.ndarray) and value.size == 1),
    ("entries of {} are equal", lambda value: _scores(value) and len(np.unique(value)) < value.size),
    ("{} has negative entries", lambda value: _scores(value) and bool((value < 0).any())),
    ("{} begins with a zero", lambda value: isinstance(value, np.ndarray) and not np.ravel(value)[0]),
    ("all of {} is true", lambda value: _marks(value) and bool(value.all())),
    ("one entry of {} alone is true", lambda value: _marks(value) and int(value.sum()) == 1),
    ("several entries of {} are true", lambda value: _marks(value) and int(value.sum()) > 1),
    ("{} is 0", lambda value: isinstance(value, (int, float)) and value == 0),
    ("{} is 1", lambda value: isinstance(value, (int, float)) and value == 1),
)


def _scores(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"


def _marks(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == "b"
