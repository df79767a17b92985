"""The explorable of chapter 15: one embedding of the batch moves along the arc, under the loss of your choice."""

import functools
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure

from rankedu_book.ch15_baselines import figures as batch
from rankedu_book.ch15_baselines import study
from rankedu_book.kit import style
from rankedu_book.kit.explorable import Control, explorable, goal, hold, slider, tell
from rankedu_book.kit.ranks import Array

#: The item that moves: a3, which is among the items of b and next to c1.
MOVES = 2
OPTIONS = ("contrastive", "triplet_semihard", "normalized_softmax", "smooth_ap", "roadmap", "happier")
GRID = np.arange(0.75, 180.0, 1.5)


def angles_with(angle: float) -> list[float]:
    """Return the angles of the batch with a3 at another angle."""
    return [*study.ANGLES[:MOVES], float(angle), *study.ANGLES[MOVES + 1 :]]


@functools.cache
def step(loss: str, angle: float) -> tuple[float, Array]:
    """Return the value of the loss and the step of descent of each item in the plane, with fixed proxies."""
    value, steps = study.descent(study.make(loss), study.embed(angles_with(angle)))
    return value, steps[:, :2].numpy()


@functools.cache
def losses_along_the_arc(loss: str) -> Array:
    """Return the value of the loss for every place on the grid."""
    with torch.no_grad():
        made = study.make(loss)
        return np.array([made(study.embed(angles_with(angle)), study.PATHS).item() for angle in GRID])


@functools.cache
def metrics_at(angle: float) -> tuple[float, float]:
    """Return mean AP and mean H-AP."""
    return study.measures(study.embed(angles_with(angle)))


@functools.cache
def metrics_along_the_arc() -> Array:
    """Return mean AP and mean H-AP for every place on the grid, shape (places, 2)."""
    return np.array([metrics_at(float(angle)) for angle in GRID])


def turn(loss: str, angle: float) -> float:
    """Return the step of the item that moves, along the arc; > 0 towards larger angles."""
    direction = np.deg2rad(angle)
    return float(step(loss, angle)[1][MOVES] @ [-np.sin(direction), np.cos(direction)])


@functools.cache
def longest(loss: str) -> float:
    """Return the longest step that the loss gives to any item at any place of the slider, the scale of its arrows."""
    return max(float(np.linalg.norm(step(loss, at)[1], axis=1).max()) for at in one_item_moves.controls["angle"].values)


def share(loss: str, angle: float) -> float:
    """Return the step of the item that moves, as a share of the longest of the nine."""
    return abs(turn(loss, angle)) / max(float(np.linalg.norm(step(loss, angle)[1], axis=1).max()), 1e-12)


@goal(
    "At its place in the batch, 72 degrees, find the loss that sends a3 away from its class.",
    lambda at: at.angle == 72 and at.turn > 1e-6,
    "It is {name}. Along the arc it has {minima} local minima, and from here the way down leads away from the class. "
    "The step is short, {share:.0%} of the longest.",
)
@goal(
    "At 115 degrees, far from its class, find the loss that gives a3 the longest step of all nine items.",
    lambda at: at.angle == 115 and at.share > 1 - 1e-9,
    "The {name}: a proxy acts on items that are far away. Smooth-AP, with its small τ, gives a3 {smooth:.0%} of its "
    "longest step. This is a reason to mix them, as HAPPIER does.",
)
@goal(
    "Find a loss that is lowest far from the places where AP is best.",
    lambda at: at.least > at.best[1] + 30,
    "The loss {name} is lowest at {least:.0f} degrees; AP is best between {best[0]:.0f} and {best[1]:.0f}, among the "
    "class. A mean whose terms are chosen anew for each place does not measure progress.",
)
@explorable(
    loss=Control(OPTIONS, OPTIONS, "contrastive", "loss", study.title),
    angle=slider(5, 175, default=72, steps=35, stops=7, label="angle of a3"),
)
def one_item_moves(loss: str, angle: float) -> Figure:
    """Item a3 moves along the arc: the step that a loss gives to each item, and its value beside AP and H-AP."""
    value, steps = step(loss, angle)
    ap, hap = metrics_at(angle)
    curve, metrics = losses_along_the_arc(loss), metrics_along_the_arc()
    figure, axes = style.figure(2, 1, width=5.6, height=4.7)
    style.place(figure, (0.1, 0.5, 0.86, 0.44), (0.13, 0.12, 0.84, 0.35))
    angles = angles_with(angle)
    batch.draw_items(axes[0], angles, size=10, smooth=False)
    hold(axes[0], angle=lambda angle: (np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))))
    here = np.deg2rad(angle)
    axes[0].plot(np.cos(here), np.sin(here), "o", markersize=17, fillstyle="none", color=style.BLACK, antialiased=False)
    batch.draw_steps(axes[0], angles, steps, full=longest(loss), width=0.007, smooth=False)
    axes[0].set(xlim=(-1.75, 1.75), ylim=(-0.1, 1.5))
    axes[0].set_title(f"{study.title(loss)}: {value:.3f}    AP {ap:.2f}    H-AP {hap:.2f}")
    plain: Any = {"antialiased": False}  # the frames weigh a third less
    x = 180 - GRID  # so that the axis runs as the arc does, small angles at the right
    axes[1].plot(x, curve / curve.max(), color=style.BLACK, label="loss / its maximum", **plain)
    axes[1].plot(x, 1 - metrics[:, 0], "--", color=style.BLUE, linewidth=1.5, label="1 − AP", **plain)
    axes[1].plot(x, 1 - metrics[:, 1], ":", color=style.RED, label="1 − H-AP", **plain)
    axes[1].axvline(180 - angle, color=style.GREY, linewidth=1)
    axes[1].set_xticks([0, 45, 90, 135, 180], ["180", "135", "90", "45", "0"])
    axes[1].set(xlim=(0, 180), ylim=(0, 1.08), xlabel="angle of a3, degrees (its class: 0 and 22)")
    axes[1].legend(loc="lower left", ncols=3, fontsize=10, columnspacing=1.0, handlelength=1.6, borderpad=0.1)
    goes = turn(loss, angle)
    length = np.linalg.norm(steps, axis=1)
    tell(figure, name=study.title(loss), turn=goes, share=share(loss, angle), smooth=share("smooth_ap", angle))
    best, even = GRID[metrics[:, 0] > metrics[:, 0].max() - 1e-9], np.round(curve, 9)
    minima = int(((even[1:-1] < even[:-2]) & (even[1:-1] < even[2:])).sum())
    tell(figure, minima=minima, least=float(GRID[int(curve.argmin())]), best=(float(best.min()), float(best.max())))
    where = "does not move" if abs(goes) < 1e-6 else f"is sent to {'larger' if goes > 0 else 'smaller'} angles"
    return style.describe(
        figure,
        f"{study.title(loss)} with a3 at {angle:g} degrees: loss {value:.3f}, mean AP {ap:.2f}, mean H-AP {hap:.2f}. "
        f"Item a3 {where}; {int((length > 0.02 * longest(loss)).sum())} of 9 items have a step. Below, the "
        f"loss, 1 − AP and 1 − H-AP for every place of a3; along the arc the loss is least at "
        f"{GRID[int(curve.argmin())]:g} degrees, 1 − AP is between {1 - metrics[:, 0].max():.2f} and "
        f"{1 - metrics[:, 0].min():.2f}.",
    )
