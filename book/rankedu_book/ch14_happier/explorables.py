"""The explorable of chapter 14: which mistakes the gradient of the step feels."""

import functools

import numpy as np
import torch
from matplotlib.figure import Figure
from torch import Tensor

from rankedu.losses import HAPLoss
from rankedu.rankers import SupremumRanker
from rankedu_book.ch14_happier.figures import arrows, broken_line
from rankedu_book.ch14_happier.study import example, losses
from rankedu_book.kit import style
from rankedu_book.kit.explorable import choice, explorable, goal, hold, log_slider, tell

#: The push whose arrow fills its half of the panel, which no setting exceeds, and the shortest arrow that is drawn.
#: The length of an arrow is the root of the push, so that a tenth of the longest push is still visible.
LONGEST, LEAST = 0.5, 0.02


@functools.lru_cache(maxsize=128)
def pushes(temperature: float, slope: float) -> tuple[float, float, Tensor]:
    """Return the loss of the eight items, their 1 − H-AP, and the negative gradient."""
    scores, relevance = example()
    leaf = scores.clone().requires_grad_()
    value = HAPLoss(SupremumRanker(temperature, slope))(leaf, relevance)
    (gradient,) = torch.autograd.grad(value, leaf)
    return value.item(), losses(scores, relevance).item(), -gradient


@goal(
    "Make the gradient so small that no arrow is left.",
    lambda at: at.longest < LEAST,
    "The largest push is {largest:.1g}. With ρ = 0 the step is flat beyond δ, like a sigmoid, and only pairs that are "
    "close in units of τ have a gradient.",
)
@goal(
    "With τ = 0.01, push the disc at 0.2 as hard as you can.",
    lambda at: at.temperature == 0.01 and at.far > at.far_best - 1e-9,
    "{far:.3f} at ρ = {slope}. For an item this far away a steeper line gives a weaker push, because it inflates the "
    "rank, whose square divides. The steep line pushes items with few and small mistakes.",
)
@explorable(
    temperature=log_slider(0.001, 0.1, default=0.01, steps=21, stops=7),
    slope=choice((0, 1, 10, 100, 1000), default=100, label="slope ρ"),
)
def who_moves(temperature: float, slope: float) -> Figure:
    """Which mistakes of one ranking have a gradient, and how large is it?"""
    value, hard, push = pushes(temperature, slope)
    scores, relevance = example()
    ranker = SupremumRanker(temperature, slope)
    figure, (top, bottom) = style.figure(2, 1, width=6.4, height=4.8)
    style.place(figure, (0.13, 0.6, 0.83, 0.27), (0.13, 0.11, 0.83, 0.3))
    largest = push.abs().max().item()
    figure.text(0.04, 0.94, f"loss {value:.2f}   1 − H-AP {hard:.2f}   largest push {largest:.2g}")
    length = push.sign() * (push.abs() / LONGEST).sqrt()
    arrows(top, scores, relevance, length)
    top.set_xlabel("score   (arrow up: raised; its length is the root of the push)")
    x = broken_line(ranker, -0.75, 0.75)
    bottom.plot(x, ranker.slope(x).clamp(min=1e-12).log10(), color=style.BLACK)
    wrong = mistakes()
    bottom.plot(wrong, ranker.slope(wrong).clamp(min=1.3e-3).log10(), "v", color=style.RED, markersize=8, zorder=3)
    bottom.set(ylim=(-3, 3.4), xlim=(-0.75, 0.75), xlabel="$x = s_j - s_k$   (triangles: the wrong pairs)")
    bottom.set_yticks((-2, 0, 2), ("0.01", "1", "100"))
    bottom.set_ylabel("slope")
    hold(bottom, slope=lambda slope: (0.6, np.log10(max(slope, 1e-3))))
    look = {"loc": "upper right", "fontsize": 10, "handletextpad": 0.2, "borderaxespad": 0.1}
    figure.legend(*top.get_legend_handles_labels(), **look)
    felt = int((ranker.slope(wrong) > 1e-3).sum())
    lowest = push[-1].item()
    far = [pushes(temperature, stop)[2][-1].item() for stop in who_moves.controls["slope"].stops]
    tell(figure, largest=largest, longest=length.abs().max().item(), far=lowest, far_best=max(far))
    return style.describe(
        figure,
        f"Eight items, τ = {temperature:g}, ρ = {slope:g}: the loss is {value:.3g}, 1 − H-AP {hard:.2f}. The step has "
        f"a slope above 0.001 at {felt} of the {len(wrong)} pairs that stand wrongly. The largest push is "
        f"{largest:.2g}; the item of relevance 2 at the far end, score 0.2, is raised by {lowest + 0.0:.2g}.",
    )


def mistakes() -> Tensor:
    """Return the differences of the pairs in which an item of lower relevance ranks above."""
    scores, relevance = example()
    difference = scores.unsqueeze(0) - scores.unsqueeze(1)
    wrong = (relevance.unsqueeze(0) < relevance.unsqueeze(1)) & (difference > 0)
    return difference[wrong]
