"""The controls of an explorable: each is a short, ordered list of values, so none can be driven out of range."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

#: How the book writes an identifier; a control that is not listed is labelled with its own name.
SYMBOLS = {
    "lam": "λ",
    "margin": "margin α",
    "alpha": "exponent α",
    "temperature": "temperature τ",
    "batch_size": "batch size",
}


@dataclass(frozen=True)
class Control:
    """One slider."""

    values: tuple[Any, ...]  #: what the live slider can be set to, in order
    stops: tuple[Any, ...]  #: those of them that the static book renders
    default: Any  #: one of the stops
    label: str | None  #: what stands in front of it; by default the book's symbol for the parameter
    format: Callable[[Any], str]  #: value → what the reader sees beside the slider

    @property
    def names(self) -> bool:
        """Whether the values are names, to choose from, and not places on a scale."""
        return all(isinstance(value, str) for value in self.values)

    def named(self, name: str) -> str:
        """The label, given the name of the parameter that the control drives."""
        return self.label or SYMBOLS.get(name, name.replace("_", " "))


def slider(
    low: float, high: float, *, default: float, steps: int = 41, stops: int = 9, label: str | None = None
) -> Control:
    """A linear scale of ``steps`` values from ``low`` to ``high``; the static book shows ``stops`` of them."""
    return _scale(np.linspace(low, high, steps), default, stops, label)


def log_slider(
    low: float, high: float, *, default: float, steps: int = 41, stops: int = 11, label: str | None = None
) -> Control:
    """A logarithmic scale of ``steps`` values from ``low`` to ``high``, both > 0."""
    return _scale(np.geomspace(low, high, steps), default, stops, label)


def dial(low: int, high: int, *, default: int | None = None, label: str | None = None) -> Control:
    """Every whole number from ``low`` to ``high``: a seed, a step."""
    whole = tuple(range(low, high + 1))
    return Control(whole, whole, low if default is None else default, label, str)


def choice(options: Sequence[Any], *, default: Any = None, label: str | None = None) -> Control:
    """One of a few named options, in the order given."""
    listed = tuple(options)
    return Control(listed, listed, listed[0] if default is None else default, label, str)


def _scale(grid: np.ndarray[Any, Any], default: float, stops: int, label: str | None) -> Control:
    """Round a grid to three significant digits, keep the default on it and thin it out to the static stops."""
    values = sorted({_round(value) for value in grid} | {_round(default)})
    wanted = np.linspace(0, len(values) - 1, stops).round().astype(int)
    chosen = [values[i] for i in dict.fromkeys(wanted.tolist())]
    if _round(default) not in chosen:
        nearest = int(np.argmin([abs(values.index(v) - values.index(_round(default))) for v in chosen]))
        chosen[nearest] = _round(default)
    return Control(tuple(values), tuple(chosen), _round(default), label, lambda value: f"{value:g}")


def _round(value: float) -> float:
    return float(f"{value:.3g}")
