"""Figures of chapter 8: how hard each relevant item is pushed, and two lists or one."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from rankedu.metrics import average_precision
from rankedu_book.kit import style
from rankedu_book.kit.ranks import Array

#: Five photographs, scored for foxes and for badgers: each class is ranked perfectly, on a scale of its own.
CLASSES = ("fox", "badger")
SCORES = ((0.90, 0.35), (0.80, 0.25), (0.60, 0.15), (0.50, 0.10), (0.40, 0.05))
RELEVANT = ((True, True), (True, True), (False, False), (False, False), (False, False))


def push_by_place(places: Sequence[int] = (1, 3, 10), most: int = 100) -> Figure:
    """Draw how hard AP and the logarithmic recall loss push a relevant item, by the irrelevant ones above it."""
    r = np.arange(0, most + 1)
    figure, axes = style.figure(height=4.0)
    axes.plot(1 + r, 1 / (1 + r), "--", color=style.BLACK, label="recall, log: any relevant item")
    facts = []
    for k, colour, marker in zip(places, (style.BLUE, style.GREEN, style.PURPLE), "osD", strict=True):
        push = k / (k + r) ** 2
        look = {"color": colour, "marker": marker, "label": f"AP: relevant item no. {k}"}
        axes.plot(1 + r, push, markevery=0.12, markersize=6, **look)
        facts.append(f"no. {k} from {push[0]:.2g} with no irrelevant item above to {push[-1]:.2g} with {most}")
    axes.set(xscale="log", yscale="log")
    axes.set(xlabel="1 + irrelevant items above", ylabel="push $dL/d\\mathbf{rk}$, times |rel|")
    style.xticks(axes, (1, 2, 5, 10, 20, 50, 100))
    style.name_lines(axes, ["recall, log", *(f"AP, no. {k}" for k in places)])
    return style.describe(
        figure,
        "Push of a relevant item against one plus the number of irrelevant ones above it, both logarithmic. Under the "
        f"logarithmic recall loss it falls from 1 to {1 / (1 + most):.2g}, in proportion to 1/(1 + r). Under AP it "
        f"depends on the place among the relevant items and falls like the square in the end: {'; '.join(facts)}.",
    )


def two_lists_and_one() -> Figure:
    """Draw the same scores as one list per class, and as a single list."""
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
    style.write(axes, 5, -0.7, "rank 1 is at the left; hatched = irrelevant")
    axes.axis("off")
    return style.describe(
        figure,
        "Three rows of tiles, best score first; each tile names its class and score. "
        f"{'; '.join(facts)}: all relevant tiles come first. In the single list of both classes the three irrelevant "
        f"foxes, 0.60 to 0.40, come before the two relevant badgers, 0.35 and 0.25: APC {value:.2f}.",
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
