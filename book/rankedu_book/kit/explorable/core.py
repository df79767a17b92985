"""The decorator that gives a figure function its two lives."""

from __future__ import annotations

import inspect
import itertools
import os
from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib.util import find_spec
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

from rankedu_book.kit.explorable import kept
from rankedu_book.kit.explorable.controls import Control
from rankedu_book.kit.explorable.grounds import Ground, ground_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The mime type by which the book finds an explorable among the outputs of a notebook.
MIME = "application/vnd.rankedu.explorable+json"


class Goal(NamedTuple):
    """What the reader is asked to bring about, how it is seen that it is, and what is then said."""

    text: str
    reached: Callable[[Any], bool]
    found: str


class Shown(NamedTuple):
    """One picture: PNG bytes, description, what is said of each goal that is reached, else None, holds and ground."""

    picture: bytes
    description: str
    answers: list[str | None]
    holds: dict[str, dict[str, Any]]
    ground: Ground | None


class Explorable:
    """A pure function of its controls that returns a described figure; a notebook cell shows it with sliders."""

    def __init__(self, draw: Callable[..., Figure], controls: dict[str, Control]) -> None:
        self.draw, self.controls = draw, controls
        self.goals: list[Goal] = []
        self.png = lru_cache(maxsize=128)(self._render)
        self.name, self.module = draw.__name__, draw.__module__
        self.__doc__ = draw.__doc__

    @property
    def address(self) -> str:
        """``module:function``, from which :func:`rankedu_book.kit.explorable.load` finds it again."""
        return f"{self.module}:{self.name}"

    @property
    def caption(self) -> str:
        """The first line of the docstring."""
        return (inspect.getdoc(self.draw) or "").splitlines()[0]

    @property
    def defaults(self) -> dict[str, Any]:
        """The values that the sliders start from."""
        return {name: control.default for name, control in self.controls.items()}

    def __call__(self, **values: Any) -> Figure:
        """Draw the figure; controls that are not named keep their default."""
        return self.draw(**{**self.defaults, **values})

    def grid(self) -> Iterator[dict[str, Any]]:
        """The values of every static frame; the last control moves fastest."""
        for values in itertools.product(*(control.stops for control in self.controls.values())):
            yield dict(zip(self.controls, values, strict=True))

    def answers(self, values: dict[str, Any], made: Figure) -> list[str | None]:
        """For each goal what is said if this picture reaches it, else None."""
        known = {**values, **kept.numbers(made)}
        return [goal.found.format(**known) if goal.reached(SimpleNamespace(**known)) else None for goal in self.goals]

    def _render(self, values: tuple[Any, ...]) -> Shown:
        """The picture at these values, which are in the order of the controls."""
        from rankedu_book.kit import style

        made = self.draw(*values)
        named = dict(zip(self.controls, values, strict=True))
        picture = style.png(made)
        holds = kept.holds(made, self.controls, finely=True)
        return Shown(picture, style.description(made), self.answers(named, made), holds, ground_of(made))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> tuple[dict[str, Any], dict[str, Any]]:
        """What a cell shows: sliders where a kernel runs, frames in the book, else a picture."""
        picture, text, *_ = self.png(tuple(self.defaults.values()))
        data: dict[str, Any] = {
            MIME: {"explorable": self.address},
            "image/png": picture,
            "text/plain": f"Explorable: {text}",
        }
        if is_live():
            from rankedu_book.kit.explorable.sliders import widget

            data["application/vnd.jupyter.widget-view+json"] = widget(self).get_view_spec()
        return data, {"image/png": {"alt": text}}


def explorable(**controls: Control) -> Callable[[Callable[..., Figure]], Explorable]:
    """Turn a pure function of its controls, one for each parameter and in order, into an explorable.

    >>> from rankedu_book.kit.explorable import dial, explorable
    >>> from rankedu_book.kit import style
    >>> @explorable(n=dial(1, 3))
    ... def power(n: int):
    ...     '''Powers of x.'''
    ...     figure, axes = style.figure()
    ...     _ = axes.plot([x**n for x in range(5)])
    ...     return style.describe(figure, f"x to the power of {n} for x from 0 to 4")
    >>> power.defaults, len(list(power.grid()))
    ({'n': 1}, 3)
    """
    return lambda draw: Explorable(draw, controls)


def goal(text: str, reached: Callable[[Any], bool], found: str) -> Callable[[Explorable], Explorable]:
    """Give an explorable a goal, above ``@explorable``; the first one is told first.

    ``reached`` gets the values of the controls and the numbers of :func:`~rankedu_book.kit.explorable.kept.tell` as
    attributes; ``found`` has them in braces.
    """

    def add(one: Explorable) -> Explorable:
        one.goals.insert(0, Goal(text, reached, found))
        return one

    return add


def is_live() -> bool:
    """Whether a kernel runs that can answer sliders, and shall: ``RANKEDU_EXPLORABLES=static`` leaves them out."""
    if os.environ.get("RANKEDU_EXPLORABLES") == "static" or not find_spec("ipywidgets"):
        return False
    from IPython import get_ipython

    return getattr(get_ipython(), "kernel", None) is not None
