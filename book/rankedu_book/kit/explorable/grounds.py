"""Maps that a ball can roll on: which way is down at each of their places, and how large the loss is there.

A place takes two letters, one for each, so that a page can keep a map with every frame; `roll.js` rolls the ball. It
goes the same short way at each step, as the arrows of the pictures do: what is kept is a direction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from rankedu_book.kit.ranks import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Places along each side of a map.
SIDE = 41
#: The letters from the space to ~. As a direction, the first says that there is none; the others share a full turn.
FIRST, LETTERS = 32, 95


class Ground(NamedTuple):
    """What a picture keeps of its map: rows from the lowest to the highest, each from left to right."""

    box: list[float]  #: Left, top, width and height, as shares of the picture.
    way: str  #: Which way is down, a letter a place.
    loss: str  #: The loss, a letter a place, from the lowest to the highest.
    low: float
    high: float


def ground(axes: Axes, down: Array, loss: Array) -> None:
    """Let the reader roll a ball over what these axes show.

    ``down`` is minus the gradient at places that span the axes, shape (SIDE, SIDE, 2), rows go up; ``loss`` the loss
    itself there, (SIDE, SIDE).
    """
    vars(axes.figure)["_rankedu_ground"] = (axes, down, loss)


def ground_of(figure: Figure) -> Ground | None:
    """What :func:`ground` keeps of a picture that has been drawn."""
    if "_rankedu_ground" not in vars(figure):
        return None
    axes, down, loss = vars(figure)["_rankedu_ground"]
    x, y, width, height = axes.get_position().bounds
    low, high = float(loss.min()), float(loss.max())
    levels = np.rint((loss - low) / max(high - low, 1e-12) * (LETTERS - 1)).astype(int)
    box = [round(share, 4) for share in (x, 1 - y - height, width, height)]
    return Ground(box, _letters(directions(down)), _letters(levels), round(low, 3), round(high, 3))


def directions(down: Array) -> npt.NDArray[np.int64]:
    """0 where there is no way down, else 1 + its direction from the right by the left, in 94ths of a turn."""
    parts = np.rint(np.arctan2(down[..., 1], down[..., 0]) / (2 * np.pi) * (LETTERS - 1)).astype(np.int64)
    return np.where((down == 0).all(-1), 0, 1 + parts % (LETTERS - 1))


def _letters(numbers: npt.NDArray[np.int64]) -> str:
    return "".join(chr(FIRST + number) for number in numbers.ravel())
