"""What all proofs share: exact input, and a verdict whatever a certificate holds."""

import functools
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any, TypeVar

T = TypeVar("T")


def exact_numbers(sequence: Iterable[Any], name: str, *, least: int | None = None) -> tuple[Fraction, ...]:
    """Read finite numbers as fractions; a float is the binary fraction that it is."""
    found = []
    for i, value in enumerate(_values(sequence, name)):
        try:
            if isinstance(value, (str, bytes)):
                raise TypeError
            found.append(Fraction(value))
        except TypeError:
            raise TypeError(f"{name}[{i}] must be a real number, got {value!r} ({type(value).__name__})") from None
        except (ValueError, OverflowError):
            raise ValueError(f"{name}[{i}] must be finite, got {value!r}") from None
        if least is not None and found[-1] < least:
            raise ValueError(f"{name}[{i}] must be >= {least}, got {value!r}")
    return tuple(found)


def exact_relevance(sequence: Iterable[Any], name: str = "relevance") -> tuple[Fraction, ...]:
    """Read finite numbers >= 0 as fractions, one of them > 0."""
    exact = exact_numbers(sequence, name, least=0)
    if not any(exact):
        raise ValueError(f"{name} must have an entry > 0, got {len(exact)} times 0")
    return exact


def whole_numbers(sequence: Iterable[Any], name: str) -> tuple[int, ...]:
    """Check ints that are at least 0."""
    values = _values(sequence, name)
    for i, value in enumerate(values):
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"{name}[{i}] must be an int, got {value!r} ({type(value).__name__})")
        if value < 0:
            raise ValueError(f"{name}[{i}] must be >= 0, got {value}")
    return tuple(values)


def checked_permutation(permutation: Iterable[Any], n: int) -> tuple[int, ...]:
    """Read each of the ranks 1, …, n once, as ints; whole floats are taken, too."""
    values = _values(permutation, "permutation")
    if len(values) != n:
        raise ValueError(f"permutation must have one rank an item, expected {n}, got {len(values)}")
    for i, value in enumerate(values):
        if not isinstance(value, (int, float, Fraction)):
            raise TypeError(f"permutation[{i}] must be a whole number, got {value!r}")
    if missing := sorted({*range(1, n + 1)}.difference(values)):
        shown = values if n <= 12 else [*values[:12], "…"]
        advice = "ranks start at 1" if 0 in values else "tied ranks must be made ordinal first"
        raise ValueError(f"permutation must hold 1, …, {n} once, got {shown}: {missing[0]} is missing ({advice})")
    return tuple(int(value) for value in values)


def _values(sequence: Iterable[Any], name: str) -> list[Any]:
    """Make plain Python numbers of a list, array or tensor of one dimension."""
    listed = sequence.tolist() if hasattr(sequence, "tolist") else sequence
    if isinstance(listed, (str, bytes)) or not isinstance(listed, Iterable):
        raise TypeError(f"{name} must be a one-dimensional sequence of numbers, got {sequence!r}")
    values = [value.item() if hasattr(value, "item") else value for value in listed]
    if not values:
        raise ValueError(f"{name} must have at least one entry, got none")
    return values


def verdict(check: Callable[[T], bool]) -> Callable[[T], bool]:
    """Make `verify` return True or False, whatever the fields contain."""

    @functools.wraps(check)
    def verify(self: T) -> bool:
        try:
            return bool(check(self))
        except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError):
            return False

    return verify
