"""Explorable of chapter 8: two classes in two lists, and in one."""

from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from rankedu.losses import MAPLoss
from rankedu.metrics import average_precision
from rankedu.rankers import BlackboxRanker
from rankedu_book.kit import style
from rankedu_book.kit.explorable import Control, explorable, goal, hold, slider, tell

#: Seven photographs and their scores for foxes and for badgers.
SCORES = torch.tensor(
    [[0.92, 0.44], [0.70, 0.36], [0.58, 0.29], [0.82, 0.22], [0.50, 0.15], [0.41, 0.09], [0.33, 0.03]],
    dtype=torch.float64,
)
RELEVANT = torch.tensor([[1, 1], [1, 0], [1, 1], [0, 0], [0, 0], [0, 0], [0, 0]]).bool()

#: Between two stops of the slider the picture changes at every one of its shifts.
LAMS = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 50.0, 70.0, 100.0)


def measure(shift: float) -> tuple[list[float], float]:
    """AP of each class, and APC, with the badger scores shifted."""
    scores = (SCORES + shift * torch.tensor([0.0, 1.0])).T
    by_class = average_precision(scores, RELEVANT.T)
    return by_class.tolist(), float(average_precision(scores.flatten(), RELEVANT.T.flatten()))


def places(shift: float, lam: float, weight: float) -> Tensor:
    """Places that each score gains within the step: −λ times the gradient; the weight is that of APC."""
    scores = (SCORES + shift * torch.tensor([0.0, 1.0])).requires_grad_()
    loss = MAPLoss(BlackboxRanker(lam), class_agnostic_weight=weight)
    (gradient,) = torch.autograd.grad(loss(scores, RELEVANT), scores)
    return -lam * gradient


@goal(
    "Find the shift at which APC is largest.",
    lambda at: at.apc > at.apc_best - 1e-9,
    "At a shift of {shift:g} APC is {apc:.2f}; mAP is {map:.2f} at every shift. APC does not reach 1, because the "
    "mistakes within the classes remain.",
)
@goal(
    "Let a step raise the badgers as a whole, by five places or more.",
    lambda at: at.badgers >= 5,
    "In the lower panel the badgers gain {badgers:.0f} places together, and the foxes lose as many. In the upper panel "
    "the arrows of each class cancel, at every setting.",
)
@goal(
    "Let nothing move at all.",
    lambda at: not at.moving,
    "The pushes of AP are small. With λ = {lam:g} no score overtakes another within the step, so a larger λ is needed.",
)
@explorable(
    shift=slider(-0.2, 0.6, default=0.0, steps=41, stops=9, label="shift of the badger scores"),
    lam=Control(LAMS, (1.0, 2.0, 5.0, 10.0, 100.0), 10.0, None, "{:g}".format),
)
def two_classes(shift: float, lam: float) -> Figure:
    """One list per class (mAP) or one list for all (APC): which scores a descent step raises and lowers."""
    by_class, one = measure(shift)
    mean = sum(by_class) / 2
    figure, axes = style.figure(2, 1, width=6.0, height=4.8, sharex=True)
    style.place(figure, (0.13, 0.575, 0.85, 0.36), (0.13, 0.11, 0.85, 0.36))
    two, all_in_one = places(shift, lam, 0.0), places(shift, lam, 1.0)
    _row(axes[0], two, shift, f"two lists: mAP = ({by_class[0]:.2f} + {by_class[1]:.2f}) / 2 = {mean:.2f}")
    _row(axes[1], all_in_one, shift, f"one list: APC = {one:.2f}")
    axes[0].tick_params(axis="x", length=0)
    axes[1].set_xlabel("score   (arrow up: raised by a descent step; length: places)")
    hold(axes[1], shift=lambda shift: (float(SCORES[0, 1]) + shift, 0.0))
    moved = (all_in_one.sum(0)[1]).round().item()
    moving = bool(two.any() or all_in_one.any())
    best = max(measure(stop)[1] for stop in two_classes.controls["shift"].stops)
    tell(figure, map=mean, apc=one, apc_best=best, badgers=moved + 0.0, moving=moving)
    return style.describe(
        figure,
        f"Scores of seven photographs for foxes and for badgers, the badgers shifted by {shift:g}. AP of the foxes "
        f"{by_class[0]:.2f}, of the badgers {by_class[1]:.2f}, mAP {mean:.2f}; APC, all in one list, {one:.2f}. At "
        f"λ = {lam:g} mAP moves {int((two != 0).sum())} of 14 scores and the badgers as a whole by 0 places; APC moves "
        f"{int((all_in_one != 0).sum())}, and the badgers as a whole by {moved + 0.0:+.0f} places.",
    )


def _row(axes: Axes, gained: Tensor, shift: float, title: str) -> None:
    """Two classes, each on its own line; an arrow for every score that moves."""
    for column, base in ((0, 1.0), (1, 0.0)):
        x = (SCORES[:, column] + column * shift).numpy()
        positive, gain = RELEVANT[:, column].numpy(), gained[:, column].numpy()
        axes.axhline(base, color=style.GREY, linewidth=1, zorder=0)
        for mask, relevant in ((positive, True), (~positive, False)):
            look: Any = {"linestyle": "none", "markersize": 8, "antialiased": False, **style.mark(relevant)}
            axes.plot(x[mask], np.full(mask.sum(), base), **look)
            moves = mask & (np.abs(gain) > 0.5)
            length = np.sign(gain) * (0.16 + 0.04 * np.minimum(np.abs(gain), 7))
            zero, arrow = 0 * x[moves], dict[str, Any](angles="xy", scale_units="xy", scale=1, width=0.006)
            axes.quiver(x[moves], base + zero, zero, length[moves], color=look["color"], antialiased=False, **arrow)
    axes.set(xlim=(-0.22, 1.1), ylim=(-0.55, 1.5), title=title, yticks=(1, 0), yticklabels=("fox", "badger"))
    axes.tick_params(axis="y", length=0)
