"""Maps that a ball can roll on: which way is down at each of their places, and how large the loss is there.

A place takes two letters, one for each, so that a page can keep a map with every frame. The ball goes the same short
way at each step, as the arrows of the pictures do: what is kept is a direction.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from rankbook.kit.ranks import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Places along each side of a map.
SIDE = 41
#: The letters from the space to ~. As a direction, the first says that there is none; the others share a full turn.
FIRST, LETTERS = 32, 95
#: The ball makes so many steps at most, each so long, in places; it has found a valley if so many of them lead nowhere.
STEPS, STEP, TURNING, NOWHERE = 200, 0.5, 10, 1.5
#: The same for the page, whose ``ball.js`` rolls where no Python runs.
RULES = {"first": FIRST, "letters": LETTERS, "steps": STEPS, "step": STEP, "turning": TURNING, "nowhere": NOWHERE}
#: What is said of where a ball has come to.
ENDS = {
    "flat": "There is no gradient here.",
    "edge": "It has left the map.",
    "valley": "It rolls to and fro.",
    "way": "It is still on its way.",
}


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
    for name, array, shape in (("down", down, (SIDE, SIDE, 2)), ("loss", loss, (SIDE, SIDE))):
        if array.shape != shape or not np.isfinite(array).all():
            raise ValueError(f"{name} must be finite, of shape {shape}, got shape {array.shape} (NaN or inf inside?)")
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


def roll(way: str, start: tuple[float, float]) -> tuple[list[tuple[float, float]], str]:
    """Where a ball goes, counted from the lower left corner, as ``ball.js`` rolls it, and its end, one of `ENDS`.

    >>> trail, end = roll((chr(FIRST + 1) * 3 + " " * (SIDE - 3)) * SIDE, (0, 5))  # to the right, then flat
    >>> trail[-1], len(trail), end
    ((2.5, 5.0), 6, 'flat')
    """
    trail = [start]
    while len(trail) <= STEPS:
        x, y = trail[-1]
        letter = ord(way[math.floor(y + 0.5) * SIDE + math.floor(x + 0.5)]) - FIRST
        if letter == 0:
            return trail, "flat"
        angle = 2 * math.pi * (letter - 1) / (LETTERS - 1)
        there = (x + STEP * math.cos(angle), y + STEP * math.sin(angle))
        trail.append((min(max(there[0], 0), SIDE - 1), min(max(there[1], 0), SIDE - 1)))
        if trail[-1] != there:
            return trail, "edge"
        if len(trail) > TURNING and math.dist(trail[-1], trail[-1 - TURNING]) < NOWHERE:
            return trail, "valley"
    return trail, "way"


def in_words(ground: Ground, trail: list[tuple[float, float]], end: str) -> str:
    """What is said of a ball that has rolled: where it ended, in how many steps, and the loss before and after."""

    def loss(place: tuple[float, float]) -> str:
        letter = ord(ground.loss[math.floor(place[1] + 0.5) * SIDE + math.floor(place[0] + 0.5)]) - FIRST
        return f"{ground.low + letter / (LETTERS - 1) * (ground.high - ground.low):.0f}".replace("-", "−")

    steps = f"{len(trail) - 1} {'step' if len(trail) == 2 else 'steps'}"
    return f"{ENDS[end]} {steps}; the loss itself: {loss(trail[0])} before, {loss(trail[-1])} after."
