"""Explorable of chapter 10: what FastAP does to one score, in few bins and in many."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from rankedu.metrics import average_precision
from rankedu_book.ch10_fastap_histograms.figures import draw_counts
from rankedu_book.ch10_fastap_histograms.study import fast_ap, soft_rank_ap
from rankedu_book.kit import style
from rankedu_book.kit.explorable import choice, explorable, goal, hold, slider, tell

#: The scores that stay where they are, the relevant ones first. One more relevant item moves.
FIXED = torch.tensor([0.6215, 0.0775, 0.8135, 0.7045, 0.4525, 0.3325, 0.1735, -0.1065, -0.3455], dtype=torch.float64)
RELEVANT = torch.arange(10) < 3
LEAST, LARGEST = -0.6, 0.96  # and the slider stops at no centre, where the slope has two sides


def losses(scores: Tensor, bins: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return one minus AP, FastAP and AP of soft ranks, with the moving item at each of the scores."""
    rows = torch.cat([scores.unsqueeze(-1), FIXED.expand(*scores.shape, -1)], dim=-1)
    relevance = RELEVANT.expand_as(rows)
    exact = average_precision(rows.detach(), relevance)
    return 1 - exact, 1 - fast_ap(rows, relevance, bins), 1 - soft_rank_ap(rows, relevance, bins)


def slopes(scores: Sequence[float], bins: int) -> Tensor:
    """Return the slopes of FastAP's loss at some scores."""
    leaf = torch.tensor(scores, dtype=torch.float64, requires_grad=True)
    (found,) = torch.autograd.grad(losses(leaf, bins)[1].sum(), leaf)
    return found


def at(score: float, bins: int) -> tuple[float, float, float, float]:
    """Return the three losses at a score, and the slope of FastAP's loss."""
    exact, fast, soft = losses(torch.tensor([score], dtype=torch.float64), bins)
    return exact.item(), fast.item(), soft.item(), slopes([score], bins).item() + 0.0


@goal(
    "Let the gradient move the relevant item down.",
    lambda at: at.slope > 0.05,
    "A slope of {slope:.2f}: descent lowers an item that should rise. With {bins} bins it does so at {wrong} of "
    "{positions} positions of the item.",
)
@goal(
    "Find a number of bins with which it is never moved down.",
    lambda at: at.wrong == 0,
    "With {bins} bins the loss falls all the way, but gently: its steepest slope is {steepest:.1f}. "
    "With 80 bins it is {steepest_80:.1f}, and the item is moved down at {wrong_80} of {positions} positions.",
)
@goal(
    "Bring all three losses within 0.01 of each other.",
    lambda at: at.apart < 0.01,
    "They are {apart:.3f} apart, with {bins} bins. With many bins the dashed curve is close to the staircase nearly "
    "everywhere, while FastAP's curve is above it in arcs and reaches it only between two arcs.",
)
@explorable(
    bins=choice((2, 4, 7, 10, 20, 40, 80), default=10),
    score=slider(-0.487, 0.893, default=0.413, steps=47, stops=7, label="score of the moving item"),
)
def one_score(bins: int, score: float) -> Figure:
    """A relevant item moves through a list: the bins that it falls into, and three losses along its way."""
    exact, fast, soft, slope = at(score, bins)
    figure, (above, below) = style.figure(2, 1, width=6.2, height=5.0, sharex=True)
    style.place(figure, (0.11, 0.655, 0.87, 0.27), (0.11, 0.11, 0.87, 0.49))
    most = _histogram(above, bins, score)
    line = torch.linspace(LEAST, LARGEST, 625, dtype=torch.float64)
    three = losses(line, bins)
    looks = (("AP", style.BLACK, "-"), ("FastAP", style.SKY, "-"), ("AP of soft ranks", style.PURPLE, "--"))
    for values, (name, colour, dash) in zip(three, looks, strict=True):
        below.plot(line, values, dash, color=colour, label=name, linewidth=1.6, antialiased=False)
    run = min(0.12, 0.12 / (1e-9 + abs(slope)))
    ends = (score - run, score + run), (fast - run * slope, fast + run * slope)
    below.plot(*ends, color=style.BLUE, linewidth=4, antialiased=False)
    below.plot(score, fast, "o", color=style.BLUE, markersize=9, antialiased=False)
    below.set(xlim=(-0.66, 1.04), ylim=(0.2, 0.85), xlabel="score of the moving item", ylabel="loss")
    hold(below, score=lambda score: (score, np.interp(score, line, three[1])))
    below.legend(loc="lower left", ncols=3, handlelength=1.4, columnspacing=1.0)
    apart, positions = max(exact, fast, soft) - min(exact, fast, soft), one_score.controls["score"].values
    here, with_80 = slopes(positions, bins).numpy(), slopes(positions, 80).numpy()
    tell(figure, slope=slope, apart=apart, positions=len(positions), wrong=int((here > 1e-9).sum()))
    tell(figure, steepest=abs(here).max(), wrong_80=int((with_80 > 1e-9).sum()), steepest_80=abs(with_80).max())
    way = "up" if slope < -1e-9 else "down" if slope > 1e-9 else "nowhere"
    above.set_title(f"FastAP's loss {fast:.2f}, AP's {exact:.2f}; the gradient moves it {way}")
    return style.describe(
        figure,
        f"Above, the soft histogram of ten scores in {bins} bins, three of them relevant, one of these at {score:g}; "
        f"the fullest bin counts {most:.2f}. Below, three losses against that score. Here AP's loss is {exact:.3f}, "
        f"FastAP's {fast:.3f} with a slope of {slope:.2f}, and that of soft ranks {soft:.3f}. A descent step moves the "
        f"score {way}.",
    )


def _histogram(axes: Axes, bins: int, score: float) -> float:
    """Draw soft counts, with the scores themselves below, and return the largest count."""
    scores = torch.cat([torch.tensor([score], dtype=torch.float64), FIXED])
    everything, _ = draw_counts(axes, scores, RELEVANT, bins, min(0.1, 1.4 / bins), antialiased=False, linewidth=0)
    for mask, relevant in ((RELEVANT, True), (~RELEVANT, False)):
        x = scores[mask].numpy()
        look: Any = {"linestyle": "none", "markersize": 6, **style.mark(relevant)}
        axes.plot(x, np.full(x.shape, -0.55), antialiased=False, **look)
    axes.plot(score, -0.55, "o", color=style.BLUE, markersize=11, markerfacecolor="none", antialiased=False)
    axes.set(ylim=(-1, 7), yticks=(0, 2, 4, 6), ylabel="count")
    axes.axhline(0, color=style.BLACK, linewidth=0.8)
    axes.tick_params(axis="x", length=0)
    return float(everything.max())
