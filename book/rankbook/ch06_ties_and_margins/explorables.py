"""The explorable of chapter 6: a collapse, frame by frame, and what a margin makes of it."""

import functools
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rankbook.ch06_ties_and_margins.study import EVERY, MARGINS, STEPS, train_scorer
from rankbook.kit import style
from rankbook.kit.explorable import choice, dial, explorable, goal, hold, tell
from rankbook.kit.ranks import Array

FRAMES, NOISE = 12, 0.1
#: So many items of each class are drawn.
POSITIVES, NEGATIVES = 8, 16
#: Which looks at the run are the frames.
LOOKS = np.arange(FRAMES) * (STEPS // EVERY) // (FRAMES - 1)


@goal(
    "Find a moment with an AP above 0.9 at which errors of 0.1 would cost more than 0.3 of it.",
    lambda at: at.ap > 0.9 and at.ap - at.noisy > 0.3,
    "AP is {ap:.2f}, and {noisy:.2f} with errors. The order is good, but the spread of all scores is down to "
    "{spread:.2f}. The glass shows little of it, and AP nothing.",
)
@goal(
    "Find the smallest margin with which errors cost less than 0.01 in the last frame.",
    lambda at: at.last and at.cost < 0.01 and min(at.smaller, default=1) >= 0.01,
    "A margin of {margin:g}: they cost {cost:.3f}, and the spread ends at {spread:.1f}. The next smaller one ends with"
    " a cost of {smaller[0]:.2f}, although its AP is as good. The margin chooses the scale.",
)
@explorable(step=dial(0, FRAMES - 1, label="frame", play=True), margin=choice(MARGINS))
def collapse_film(step: int, margin: float) -> Figure:
    """A training run in twelve frames: the scores of 24 items, as they are and under a magnifying glass."""
    run, look = train_scorer(margin), LOOKS[step]
    spread, exact, off = _measures(margin)
    value, noisy, scores = exact[look], off[look], run.weights[look] @ run.features.T
    figure, (plain, glass, below) = style.figure(3, 1, width=5.6, height=5.2)
    tell(figure, ap=float(value), noisy=float(noisy), spread=float(spread[look]), last=step == FRAMES - 1)
    costs = [_measures(other)[1:, look] @ (1, -1) for other in MARGINS if other <= margin]
    tell(figure, cost=float(costs[-1]), smaller=[float(cost) for cost in costs[-2::-1]])
    style.place(figure, *((0.15, bottom, 0.82, 0.2) for bottom in (0.745, 0.425, 0.11)))
    _strip(plain, scores, run.relevance, 5.0, "score")
    _strip(glass, scores / spread[look], run.relevance, 3.0, "score / spread")
    plain.set_title(f"step {run.steps[look]}:  AP = {value:.2f},  with errors of {NOISE:g}: {noisy:.2f}", fontsize=12)
    below.set_yscale("log")
    below.plot(run.steps, spread, color=style.GREY, linewidth=1, antialiased=False)
    below.plot(run.steps[: look + 1], spread[: look + 1], color=style.BLACK, antialiased=False)
    below.plot(run.steps[look], spread[look], "o", color=style.BLACK)
    below.set(xlim=(-50, STEPS + 50), xticks=(0, 1000, 2000, 3000), ylabel="spread")
    below.set(ylim=(0.02, 6), yticks=(0.1, 1), yticklabels=("0.1", "1"))
    below.minorticks_off()
    hold(below, step=lambda frame: (run.steps[LOOKS[frame]], spread[LOOKS[frame]]))
    below.set_xlabel("step of gradient descent", labelpad=1)
    return style.describe(
        figure,
        f"Margin {margin:g}, step {run.steps[look]} of {STEPS}. Two rows of dots on the score axis, positives in blue "
        f"above negatives in red: as they are, with a standard deviation of {spread[look]:.2f}, and divided by it. "
        f"AP of the run's test items is {value:.2f}; if every score is off by normal errors of "
        f"{NOISE:g}, it is {noisy:.2f}. Below, the standard deviation over the whole run, from {spread[0]:.2f} to "
        f"{spread[-1]:.2f}.",
    )


@functools.cache
def _measures(margin: float) -> Array:
    """The spread at each look, AP, and AP under errors."""
    run = train_scorer(margin)
    return np.stack([run.spread(), run.average_precision(), run.average_precision(NOISE)])


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
