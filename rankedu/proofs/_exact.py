"""Exact input: any one-dimensional list, array or tensor as Python numbers, or an error that names what came."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import Any


def _values(sequence: Iterable[Any], name: str) -> list[Any]:
    """Plain Python numbers from a list, array or tensor of one dimension."""
    if isinstance(sequence, (str, bytes)):
        raise TypeError(f"{name} must be a one-dimensional sequence of numbers, got the text {sequence!r}")
    listed = sequence.tolist() if hasattr(sequence, "tolist") else sequence
    try:
        values = list(listed)
    except TypeError:
        raise TypeError(f"{name} must be a one-dimensional sequence of numbers, got {sequence!r}") from None
    if not values:
        raise ValueError(f"{name} must have at least one entry, got none")
    return [value.item() if hasattr(value, "item") else value for value in values]


def exact_scores(scores: Iterable[Any]) -> tuple[Fraction, ...]:
    """Finite scores as fractions; a float is the binary fraction that it is."""
    exact = []
    for i, value in enumerate(_values(scores, "scores")):
        try:
            if isinstance(value, (str, bytes)):
                raise TypeError
            exact.append(Fraction(value))
        except TypeError:
            what = f"got {value!r} ({type(value).__name__}) at index {i}"
            raise TypeError(f"scores must be one-dimensional and hold real numbers, {what}: pass one query") from None
        except (ValueError, OverflowError):
            raise ValueError(f"scores must be finite, got {value!r} at index {i}: remove it or replace it") from None
    return tuple(exact)


def checked_permutation(permutation: Iterable[Any], n: int) -> tuple[int, ...]:
    """Each of the ranks 1, …, n once, as ints; whole floats are taken too."""
    values = _values(permutation, "permutation")
    if len(values) != n:
        raise ValueError(f"permutation must have one rank a score, expected {n}, got {len(values)}")
    for i, value in enumerate(values):
        if not isinstance(value, (int, float, Fraction)):
            raise TypeError(f"permutation must hold whole numbers, got {value!r} at index {i}")
    count = Counter(values)
    missing = [rank for rank in range(1, n + 1) if rank not in count]
    if missing:
        shown = values if n <= 12 else [*values[:12], "…"]
        advice = "ranks start at 1: add 1" if set(values) == set(range(n)) else "tied ranks must be made ordinal first"
        raise ValueError(
            f"permutation must hold each of the ranks 1, …, {n} once, got {shown}: {missing[0]} is missing ({advice})"
        )
    return tuple(int(value) for value in values)
