"""Explorables of chapter 14: which steps keep the bound, and what their gradient sees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from rankedu.book.explorables import choice, explorable, log_slider, slider
from rankedu.book.figures import style
from rankedu.book.figures.happier import _parts, arrows
from rankedu.book.studies.happier import example, losses
from rankedu.losses import HAPLoss
from rankedu.proofs.bounds import UpperBound, upper_bound
from rankedu.rankers import SupremumRanker

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from torch import Tensor

LOW, HIGH = -0.04, 0.07


def decide(start: float, offset: float) -> tuple[UpperBound, str]:
    """The exact verdict on a setting with τ = 0.01, ρ = 100 and δ = 0.05, and how the figure words it."""
    found = upper_bound(start=start, offset=offset)
    falls = "" if found.monotone else f", {'but' if found.holds else 'and'} it falls at δ"
    return found, ("an upper bound" if found.holds else "no upper bound") + falls


@explorable(
    start=slider(0, 1, default=0.5, steps=21, stops=5),
    offset=slider(0.5, 2, default=1.44, steps=31, stops=7),
)
@style.style()
def step_and_bound(start: float, offset: float) -> Figure:
    """Set the step by its start and its offset: when does the loss stay above the metric?"""
    found, verdict = decide(start, offset)
    ranker = SupremumRanker(start=start, offset=offset)
    figure, (left, right) = style.figure(1, 2, width=6.4, height=3.7)
    figure.set_layout_engine("none")
    left.set_position((0.08, 0.15, 0.4, 0.64))
    right.set_position((0.58, 0.15, 0.4, 0.64))
    figure.text(0.5, 0.93, verdict, ha="center", weight="bold", color=style.BLACK if found.holds else style.RED)
    for x in _parts(ranker, LOW, HIGH):
        y = ranker.step(x)
        _curve(left, x, y, (x > 0).double())
        pair = torch.stack([x, torch.zeros_like(x)], -1), torch.tensor([0.0, 1.0]).double().expand(len(x), 2)
        _curve(right, x, losses(*pair, ranker.step), losses(*pair))
    for axis, one in ((left, 1.0), (right, 0.5)):
        axis.step([LOW, 0, HIGH], [0, 0, one], where="pre", color=style.BLACK, linewidth=1.2, zorder=1)
        axis.axvline(0.05, color=style.GREY, linewidth=1, linestyle=":", zorder=0)
        axis.set(xlim=(LOW, HIGH), xlabel="$x = s_j - s_k$")
        axis.set_xticks((0, 0.05), ("0", "δ"))
    left.set(ylim=(-0.1, 2.6), title="what $j$ adds to rank($k$)")
    right.set(ylim=(-0.04, 0.8), title="loss; black: 1 − AP")
    jumps = [f"{'jumps up' if jump.up else 'falls'} at {float(jump.at):g}" for jump in found.jumps]
    worst = f"At worst it adds {float(min(p.extreme.low for p in found.pieces[1:])):.4g} where a rank adds 1"
    return style.describe(
        figure,
        f"The step with start {start:g} and offset {offset:g}: {verdict}. It {' and '.join(jumps) or 'has no jump'}. "
        f"{worst}, for an item that stands above. Beside it, the loss of two items, one relevant, the other x above "
        "it, against 1 − AP, which is 0 for x < 0 and 0.5 for x > 0.",
    )


def _curve(axes: Axes, x: Tensor, y: Tensor, floor: Tensor) -> None:
    """A curve, red and thick where it lies below the floor."""
    below = (y < floor - 1e-9).numpy()
    axes.plot(x, np.where(below, np.nan, y), color=style.BLUE, antialiased=True)
    axes.plot(x, np.where(below, y, np.nan), color=style.RED, linewidth=4)


def pushes(temperature: float, slope: float) -> tuple[float, float, Tensor]:
    """The loss of the eight items, their 1 − H-AP, and the negative gradient."""
    scores, relevance = example()
    leaf = scores.clone().requires_grad_()
    value = HAPLoss(SupremumRanker(temperature, slope))(leaf, relevance)
    (gradient,) = torch.autograd.grad(value, leaf)
    return value.item(), losses(scores, relevance).item(), -gradient


@explorable(
    temperature=log_slider(0.001, 0.1, default=0.01, steps=21, stops=7),
    slope=choice((0, 1, 10, 100, 1000), default=100, label="slope ρ"),
)
@style.style()
def who_moves(temperature: float, slope: float) -> Figure:
    """Temperature and slope: which of the mistakes in one ranking are felt, and how hard?"""
    value, hard, push = pushes(temperature, slope)
    scores, relevance = example()
    ranker = SupremumRanker(temperature, slope)
    figure, (top, bottom) = style.figure(2, 1, width=6.4, height=4.8)
    figure.set_layout_engine("none")
    top.set_position((0.13, 0.6, 0.83, 0.27))
    bottom.set_position((0.13, 0.11, 0.83, 0.3))
    largest = push.abs().max().item()
    figure.text(0.04, 0.94, f"loss {value:.2f}   1 − H-AP {hard:.2f}   longest arrow {largest:.2g}")
    arrows(top, scores, relevance, push / max(largest, 1e-30))
    top.set_xlabel("score   (arrow up: raised by a descent step)")
    for x in _parts(ranker, -0.75, 0.75):
        bottom.plot(x, ranker.slope(x).clamp(min=1e-12).log10(), color=style.BLACK)
    wrong = mistakes()
    bottom.plot(wrong, ranker.slope(wrong).clamp(min=1.3e-3).log10(), "v", color=style.RED, markersize=8, zorder=3)
    bottom.set(ylim=(-3, 3.4), xlim=(-0.75, 0.75), xlabel="$x = s_j - s_k$   (triangles: the wrong pairs)")
    bottom.set_yticks((-2, 0, 2), ("0.01", "1", "100"))
    bottom.set_ylabel("slope")
    look = {"loc": "upper right", "fontsize": 10, "handletextpad": 0.2, "borderaxespad": 0.1}
    figure.legend(*top.get_legend_handles_labels(), **look)
    felt = int((ranker.slope(wrong) > 1e-3).sum())
    lowest = push[-1].item()
    return style.describe(
        figure,
        f"Eight items, τ = {temperature:g}, ρ = {slope:g}: the loss is {value:.3g}, 1 − H-AP {hard:.2f}. The step has "
        f"a slope above 0.001 at {felt} of the {len(wrong)} pairs that stand wrongly. The longest arrow is "
        f"{largest:.2g}; the item of relevance 2 at the far end, score 0.2, is raised by {lowest + 0.0:.2g}.",
    )


def mistakes() -> Tensor:
    """Differences of the pairs in which an item of lower relevance stands above."""
    scores, relevance = example()
    difference = scores.unsqueeze(0) - scores.unsqueeze(1)
    wrong = (relevance.unsqueeze(0) < relevance.unsqueeze(1)) & (difference > 0)
    return difference[wrong]
