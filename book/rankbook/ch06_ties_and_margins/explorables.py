"""The explorable of chapter 6: a collapse, frame by frame, and what a margin makes of it."""

import functools
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rankbook.ch06_ties_and_margins.study import EVERY, MARGINS, STEPS, relevant, train
from rankbook.kit import style
from rankbook.kit.explorable import choice, dial, explorable, goal, hold, tell
from rankbook.kit.ranks import Array

FRAMES = 12
#: So many items of each class are drawn.
POSITIVES, NEGATIVES = 8, 16
#: Which looks at the run are the frames.
LOOKS = np.arange(FRAMES) * (STEPS // EVERY) // (FRAMES - 1)


@goal(
    "Find a moment at which the spread is less than a tenth of what it was at first, and AP is above 0.93.",
    lambda at: at.spread < 0.1 * at.first and at.ap > 0.93,
    "AP is {ap:.2f}, and the spread is down from {first:.2f} to {spread:.2f}. AP shows nothing of it.",
)
@goal(
    "Find the margin with which the spread ends between 0.2 and 0.5.",
    lambda at: at.last and 0.2 < at.spread < 0.5,
    "With a margin of {margin:g} it ends at {spread:.2f}. Half of the margin ends near half of that, twice near twice.",
)
@explorable(step=dial(0, FRAMES - 1, label="frame", play=True), margin=choice(MARGINS))
def collapse_film(step: int, margin: float) -> Figure:
    """A training run in twelve frames: the scores of 24 items, as they are and under a magnifying glass."""
    runs, setting, look = train(), MARGINS.index(margin), LOOKS[step]
    spread, value, scores = (each[:, setting] for each in _measures())
    figure, (plain, glass, below) = style.figure(3, 1, width=5.6, height=5.2)
    tell(figure, ap=float(value[look]), spread=float(spread[look]), first=float(spread[0]), last=step == FRAMES - 1)
    style.place(figure, *((0.15, bottom, 0.82, 0.2) for bottom in (0.745, 0.425, 0.11)))
    mask = relevant(scores.shape[-1])
    _strip(plain, scores[look], mask, 5.0, "score")
    _strip(glass, scores[look] / spread[look], mask, 3.0, "score / spread")
    plain.set_title(f"step {runs.steps[look]}:  AP = {value[look]:.2f},  spread {spread[look]:.2f}", fontsize=12)
    below.set_yscale("log")
    below.plot(runs.steps, spread, color=style.GREY, linewidth=1, antialiased=False)
    below.plot(runs.steps[: look + 1], spread[: look + 1], color=style.BLACK, antialiased=False)
    below.plot(runs.steps[look], spread[look], "o", color=style.BLACK)
    below.set(xlim=(-50, STEPS + 50), xticks=(0, 1000, 2000, 3000, 4000), ylabel="spread")
    below.set(ylim=(0.005, 3), yticks=(0.01, 0.1, 1), yticklabels=("0.01", "0.1", "1"))
    below.minorticks_off()
    hold(below, step=lambda frame: (runs.steps[LOOKS[frame]], spread[LOOKS[frame]]))
    below.set_xlabel("step of gradient descent", labelpad=1)
    return style.describe(
        figure,
        f"Margin {margin:g}, step {runs.steps[look]} of {STEPS}. Two rows of dots on the score axis, positives in blue "
        f"above negatives in red: as they are, with a standard deviation of {spread[look]:.2f}, and divided by it. "
        f"AP of the run's test items is {value[look]:.2f}. Below, the standard deviation over the whole run, from "
        f"{spread[0]:.2f} to {spread[-1]:.2f}.",
    )


@functools.cache
def _measures() -> tuple[Array, Array, Array]:
    """The spread and AP of the first start, at each look, and its scores."""
    runs = train()
    return runs.spread()[..., 0], runs.average_precision()[..., 0], runs.scores()[:, :, 0]


def _strip(axis: Axes, scores: Array, relevance: npt.NDArray[np.bool_], limit: float, label: str) -> None:
    """The first positives in the upper row, the first negatives in the lower one."""
    look: dict[str, Any] = {"linestyle": "none", "markersize": 9, "antialiased": False}
    axis.axhline(0.5, color="0.85", linewidth=1, zorder=0)
    for good, count in ((True, POSITIVES), (False, NEGATIVES)):
        row = float(good) + 0.28 * (np.arange(count) % 3 - 1)
        axis.plot(scores[relevance == good][:count], row, **look, **style.mark(good))
    axis.set(xlim=(-limit, limit), ylim=(-0.65, 1.65), xticks=(-limit + 1, 0, limit - 1))
    axis.set_yticks((0, 1), ("neg.", "pos."))
    axis.set_xlabel(label, labelpad=1)
