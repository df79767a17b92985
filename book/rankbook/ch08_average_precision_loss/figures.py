"""Figures of chapter 8: how hard each positive is pushed, two lists and one, and the stopped gradient."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from rankbook.ch08_average_precision_loss.study import descend
from rankbook.kit import style
from rankbook.kit.ranks import Array
from rankedu.metrics import average_precision

#: Five photographs, scored for foxes and for badgers: each class is ranked perfectly, on a scale of its own.
CLASSES = ("fox", "badger")
SCORES = ((0.90, 0.35), (0.80, 0.25), (0.60, 0.15), (0.50, 0.10), (0.40, 0.05))
RELEVANT = ((True, True), (True, True), (False, False), (False, False), (False, False))


def push_by_place(places: Sequence[int] = (1, 3, 10), most: int = 100) -> Figure:
    """How hard AP and the logarithmic recall loss push a positive, by the number of negatives above it."""
    r = np.arange(0, most + 1)
    figure, axes = style.figure(height=4.0)
    axes.plot(1 + r, 1 / (1 + r), "--", color=style.BLACK, label="recall, log: any positive")
    facts = []
    for k, colour, marker in zip(places, (style.BLUE, style.GREEN, style.PURPLE), "osD", strict=True):
        push = k / (k + r) ** 2
        axes.plot(1 + r, push, color=colour, marker=marker, markevery=0.12, markersize=6, label=f"AP: positive no. {k}")
        facts.append(f"no. {k} from {push[0]:.2g} without negatives to {push[-1]:.2g} below {most} of them")
    axes.set(xscale="log", yscale="log", xlabel="1 + negatives above", ylabel="push $dL/d\\mathbf{rk}$, times |rel|")
    style.xticks(axes, (1, 2, 5, 10, 20, 50, 100))
    axes.legend(loc="lower left")
    return style.describe(
        figure,
        "Push of a positive against one plus the number of negatives above it, both axes logarithmic. Under the "
        f"logarithmic recall loss it falls from 1 to {1 / (1 + most):.2g}, in proportion to 1/(1 + r). Under AP it "
        f"depends on the place among the positives and falls like the square in the end: {'; '.join(facts)}.",
    )


def two_lists_and_one() -> Figure:
    """The same scores as one list a class, and as a single list."""
    scores, relevant = np.array(SCORES), np.array(RELEVANT)
    figure, axes = style.figure(width=7.2, height=2.9)
    facts = []
    for row, (name, y, rel) in enumerate(zip(CLASSES, scores.T, relevant.T, strict=True)):
        value = _strip(axes, 2 - row, y, rel, [name[0].upper()] * len(y))
        axes.text(-0.15, 2 - row, f"{name}\nAP = {value:.2f}", ha="right", va="center")
        facts.append(f"{name}: AP {value:.2f}")
    one = scores.T.reshape(-1), relevant.T.reshape(-1)
    value = _strip(axes, 0, *one, [name[0].upper() for name in CLASSES for _ in SCORES])
    axes.text(-0.15, 0, f"one list\nAPC = {value:.2f}", ha="right", va="center")
    axes.set(xlim=(-1.75, 10.1), ylim=(-0.75, 2.55))
    axes.text(5, -0.7, "rank 1 stands at the left; hatched = irrelevant", ha="center", va="center")
    axes.axis("off")
    return style.describe(
        figure,
        "Three rows of tiles, best score first; each tile names its class and score. "
        f"{'; '.join(facts)}: all relevant tiles stand first. In the single list of both classes the three irrelevant "
        f"foxes, 0.60 to 0.40, stand before the two relevant badgers, 0.35 and 0.25: APC {value:.2f}.",
    )


def _strip(axes: Axes, height: float, y: Array, relevant: npt.NDArray[np.bool_], names: list[str]) -> float:
    """Draw a ranked list as tiles; return its AP."""
    order = np.argsort(-y, kind="stable")
    for place, i in enumerate(order):
        colour = style.POSITIVE if relevant[i] else style.NEGATIVE
        tile = Rectangle((place, height - 0.38), 0.94, 0.76, facecolor=colour, alpha=0.35, edgecolor=colour)
        tile.set_hatch("" if relevant[i] else "//")
        axes.add_patch(tile)
        text = axes.text(place + 0.47, height, f"{names[i]}\n.{round(100 * y[i]):02d}", ha="center", va="center")
        text.set_bbox({"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 1})
    return float(average_precision(torch.from_numpy(y[None]), torch.from_numpy(relevant[None])))


def stopped_or_not(lams: Sequence[float] = (16.0, 64.0, 256.0)) -> Figure:
    """Training AP with and without the gradient through the ranks among the positives."""
    figure, axes = style.figure(1, len(lams), width=7.2, height=3.3, sharey=True)
    facts = []
    for axis, lam in zip(axes, lams, strict=True):
        for within, colour, line in ((False, style.ORANGE, "-"), (True, style.PURPLE, "--")):
            run = descend(within, lam)
            name = "both ranks" if within else "rk⁺ stopped"
            middle = style.draw_spread(axis, run.ap, name, color=colour, linestyle=line)
            facts.append(f"λ = {lam:g}, {name}: {middle[-1]:.2f}, perfect at some step in {run.reached()} of 20")
        axis.set(title=f"λ = {lam:g}", xlabel="step", ylim=(0.2, 1.02))
    axes[0].set_ylabel("training AP")
    axes[-1].legend(loc="lower right")
    return style.describe(
        figure,
        "Training AP against the step of gradient descent, median and middle half of 20 seeds, for three λ. Median at "
        f"the end: {'; '.join(facts)}.",
    )
