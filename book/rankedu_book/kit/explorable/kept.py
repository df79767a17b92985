"""What a picture keeps beside its description: where the reader can take hold of it, and the numbers that it shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from rankedu_book.kit.explorable.controls import Control

#: A value of a control → where it lies in the picture, in the coordinates of the axes.
Place = Callable[[Any], Sequence[Any]]


def _of(figure: Any, what: str) -> dict[str, Any]:
    """What is kept goes with the figure, so that it ends with it."""
    return vars(figure).setdefault(f"_rankedu_{what}", {})


def hold(axes: Axes, **places: Place) -> None:
    """Let the reader drag these controls along their places, as in ``hold(axes, score=lambda score: (score, 0))``."""
    _of(axes.figure, "holds").update({name: (axes, place, False) for name, place in places.items()})


def pick(axes: Axes, **places: Place) -> None:
    """Let the reader choose the value of these controls by a touch on its place."""
    _of(axes.figure, "holds").update({name: (axes, place, True) for name, place in places.items()})


def tell(figure: Figure, **numbers: Any) -> None:
    """Keep the numbers from which it is seen whether a goal is reached."""
    _of(figure, "numbers").update(numbers)


def numbers(figure: Figure) -> dict[str, Any]:
    """What :func:`tell` kept."""
    return dict(_of(figure, "numbers"))


def holds(figure: Figure, controls: Mapping[str, Control], *, finely: bool = False) -> dict[str, dict[str, Any]]:
    """Where the stops of each held control, or finely all its values, lie in a picture that has been drawn.

    By name, ``stops``: one [x, y] each, as shares of the picture from its upper left corner; and ``choice``, whether a
    touch chooses among them.
    """
    found = {}
    for name, (axes, place, choice) in _of(figure, "holds").items():
        stops = []
        for stop in controls[name].values if finely else controls[name].stops:
            x, y = figure.transFigure.inverted().transform(axes.transData.transform(place(stop)))
            if not (0 <= x <= 1 and 0 <= y <= 1):
                raise ValueError(f"{name} = {stop!r} must be held within the picture, got the place {x:.2f}, {y:.2f}")
            stops.append([round(float(x), 4), round(1 - float(y), 4)])
        found[name] = {"stops": stops, "choice": choice}
    return found
