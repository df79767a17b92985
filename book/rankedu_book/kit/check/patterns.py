"""What wrong answers have in common: a relation to the right ones on every input, or where they are wrong."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from rankedu_book.kit.check.compare import same
from rankedu_book.kit.check.spec import Array, Case

#: An input, the right value and the one returned, as arrays of one shape.
Answer = tuple[Case, Array, Array]

#: What is returned on every input → it from the right value and the numbers of items and of relevant ones.
_RELATIONS: dict[str, Callable[[Array, float, float], Array]] = {
    "the right value with the sign turned round.": lambda right, n, p: -right,
    "one minus what was asked for.": lambda right, n, p: 1 - right,
    "the whole part of the right value: is there a // or an array of integers?": lambda right, n, p: np.floor(right),
    "the right value times the number of items: a sum and not a mean?": lambda right, n, p: right * n,
    "the right value divided once more by the number of items.": lambda right, n, p: right / n,
    "a mean over all items, where the relevant ones were asked for.": lambda right, n, p: right * p / n,
    "the right value times the number of relevant items.": lambda right, n, p: right * p,
    "the right value divided once more by the number of relevant items.": lambda right, n, p: right / p,
}
#: What inputs may share → whether this value of an argument is such a one.
_TRAITS: dict[str, Callable[[Any], bool]] = {
    "there is one entry of {} only": lambda value: _kind(value) in "fib" and value.size == 1,
    "entries of {} are equal": lambda value: _kind(value) == "f" and len(np.unique(value)) < value.size,
    "{} has negative entries": lambda value: _kind(value) == "f" and bool((value < 0).any()),
    "all of {} is true": lambda value: _kind(value) == "b" and bool(value.all()),
    "one entry of {} alone is true": lambda value: _kind(value) == "b" and value.sum() == 1,
    "several entries of {} are true": lambda value: _kind(value) == "b" and value.sum() > 1,
    "{} is 0": lambda value: isinstance(value, (int, float)) and value == 0,
    "{} is 1": lambda value: isinstance(value, (int, float)) and value == 1,
}


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
    with np.errstate(all="ignore"):
        for text, turned in _RELATIONS.items():
            if all(same(np.asarray(turned(right, *_counts(case))).tolist(), v.tolist()) for case, right, v in answers):
                return f"On every input it is {text}"
        right = np.concatenate([right.ravel() for _, right, _ in answers])
        given = np.concatenate([given.ravel() for _, _, given in answers])
        at = np.abs(right).argmax()
        factor, amount = given[at] / right[at], given[at] - right[at]
        if same((factor * right).tolist(), given.tolist()):
            return f"On every input it is too {'large' if abs(factor) > 1 else 'small'} by the same factor."
        if same((right + amount).tolist(), given.tolist()):
            return f"On every input it is too {'large' if amount > 0 else 'small'} by the same amount."
    return ""


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
        for text, holds in _TRAITS.items():
            if all(holds(case[key]) for case in wrong) and not any(holds(case[key]) for case in right):
                return f"It goes wrong where {text.format(key)}, and only there."
    return ""


def _counts(case: Case) -> tuple[float, float]:
    """How many items an input has and how many relevant ones, as far as it says so; else not a number."""
    arrays = [value for value in case.values() if isinstance(value, np.ndarray)]
    n = len(arrays[0]) if arrays else case.get("n", np.nan)
    return n, np.sum(case.get("relevance", np.nan))


def _kind(value: Any) -> str:
    return value.dtype.kind if isinstance(value, np.ndarray) else "none"
