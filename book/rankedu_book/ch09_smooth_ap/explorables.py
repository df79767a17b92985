"""Explorable of chapter 9: which items of a batch Smooth-AP moves."""

import functools
from typing import Any

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from rankedu.losses import SmoothAPLoss
from rankedu.metrics import average_precision
from rankedu_book.ch09_smooth_ap.study import EACH, items, operating_width
from rankedu_book.kit import style
from rankedu_book.kit.explorable import choice, explorable, goal, log_slider, tell

SIZES = (16, 32, 64, 128, 256, 512)
#: A larger step of descent is felt.
FELT = 1e-3
SMALL: dict[str, Any] = {**style.mark(False), "markeredgewidth": 1.0, "antialiased": False}


@functools.cache
def similarities() -> tuple[Tensor, Tensor]:
    """Cosines of all items with the first one, and which are of its class."""
    return items()[1:] @ items()[0], torch.arange(1, len(items())) < EACH


@functools.lru_cache(maxsize=64)
def measure(temperature: float, size: int) -> tuple[float, float, float, Tensor]:
    """For the query and the first items: AP, its smooth version, P±, and minus the gradient of the loss."""
    cosines, relevant = similarities()
    scores, relevance = cosines[: size - 1], relevant[: size - 1]  # the query is one of the batch
    leaf = scores.clone().requires_grad_()
    loss = SmoothAPLoss(temperature)(leaf, relevance)
    (slope,) = torch.autograd.grad(loss, leaf)
    apart = (scores[relevance][:, None] - scores[~relevance]).abs()
    share = (apart < operating_width(temperature)).double().mean().item()
    return average_precision(scores, relevance).item(), 1 - loss.item(), share, -slope


@goal(
    "Stay at τ = 0.01, and let four times as many items move as with 64.",
    lambda at: at.temperature == 0.01 and at.moved >= 4 * at.moved_64,
    "{moved} move by more than 0.001, and {moved_64} with 64 items; P± is {share:.3f} instead of {share_64:.3f}. Of a "
    "longer list about as large a share is near, so more items.",
)
@goal(
    "Bring P± above 0.85, and keep smooth AP within 0.05 of AP.",
    lambda at: at.share > 0.85 and abs(at.exact - at.smooth) < 0.05,
    "P± = {share:.2f}, and the value is off by {off:.2f}. It works with few items: with 512 the same τ gives a smooth "
    "AP of {smooth_512:.2f} where AP is {exact_512:.2f}. Hundreds of items far below add a little each.",
)
@goal(
    "Have all pairs in the region, and fewer than ten items that move.",
    lambda at: at.share > 0.9995 and at.moved < 10,
    "P± = {share:.2f}, and {moved} of {others} items move by more than 0.001. The ramp is so wide that its slope is "
    "small everywhere: a pair in the region has a gradient, but not a large one.",
)
@explorable(
    temperature=log_slider(1e-3, 1, default=0.01, steps=31, stops=7, label="temperature τ"),
    size=choice(SIZES, default=64, label="batch size m"),
)
def who_learns(temperature: float, size: int) -> Figure:
    """One query of a batch: its scores, and the gradient that Smooth-AP gives to each."""
    exact, smooth, share, push = measure(temperature, size)
    cosines, relevant = similarities()
    scores, relevance = cosines[: size - 1], relevant[: size - 1]
    moved, (_, _, share_64, push_64) = int((push.abs() > FELT).sum()), measure(temperature, 64)
    exact_512, smooth_512, _, _ = measure(temperature, 512)
    figure, (top, bottom) = style.figure(2, 1, width=6.2, height=4.6)
    tell(figure, exact=exact, smooth=smooth, off=abs(exact - smooth), exact_512=exact_512, smooth_512=smooth_512)
    tell(figure, moved=moved, moved_64=int((push_64.abs() > FELT).sum()), others=size - 1)
    tell(figure, share=share, share_64=share_64)
    style.place(figure, (0.16, 0.6, 0.82, 0.3), (0.16, 0.12, 0.82, 0.36))
    _cloud(top, scores, relevance)
    top.set_title(f"AP {exact:.2f}, smooth AP {smooth:.2f}, P± = {share:.2f}")
    bottom.axhline(0, color=style.GREY, linewidth=1)
    felt = push.abs() > FELT
    bottom.vlines(scores[relevance], 0, push[relevance], color=style.POSITIVE, linewidth=1.5)
    bottom.plot(scores[relevance], push[relevance], linestyle="none", markersize=6, **style.mark(True))
    down = ~relevance & felt
    bottom.plot(scores[down], push[down], linestyle="none", markersize=4, **SMALL)
    bottom.set_yscale("symlog", linthresh=1e-3)
    bottom.set(xlim=(-0.75, 1.02), ylim=(-100, 100), xlabel="cosine with the query", ylabel="descent")
    bottom.set_yticks([-10, -0.1, 0, 0.1, 10], ["−10", "−0.1", "0", "0.1", "10"])
    return style.describe(
        figure,
        f"The scores of {size - 1} items for one query, {int(relevance.sum())} of them relevant. AP is {exact:.3f}, at "
        f"τ = {temperature:.3g} smooth AP is {smooth:.3f}, and P±, the share of the pairs that are near, is "
        f"{share:.3f}. Below, the step of descent of every score, upwards for relevant and downwards for irrelevant "
        f"ones: {moved} of {size - 1} are larger than 0.001, and the largest is {push.abs().max():.2g}.",
    )


def _cloud(axis: Axes, scores: Tensor, relevance: Tensor) -> None:
    """The relevant scores on a line; the irrelevant ones on seven, in turn, so that many do not become a bar."""
    axis.plot(scores[relevance], torch.ones(int(relevance.sum())), linestyle="none", markersize=7, **style.mark(True))
    others = scores[~relevance].sort().values
    lines = torch.arange(len(others)) * 3 % 7
    axis.plot(others, lines / 7 - 0.6, linestyle="none", markersize=4, **SMALL)
    axis.set(xlim=(-0.75, 1.02), ylim=(-0.8, 1.5))
    axis.set_yticks([-0.15, 1], ["irrelevant", "relevant"])
    axis.set_xticklabels([])
