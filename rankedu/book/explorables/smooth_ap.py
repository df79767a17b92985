"""Explorable of chapter 9: who of a batch lies in the operating region, and what gradient that gives."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from rankedu.book.explorables import choice, explorable, log_slider, strip
from rankedu.book.figures import style
from rankedu.losses import SmoothAPLoss
from rankedu.metrics import average_precision
from rankedu.rankers import operating_region

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZES, PER_CLASS, DIM, SPREAD = (16, 32, 64, 128, 256, 512), 8, 16, 0.9


@functools.cache
def similarities() -> tuple[Tensor, Tensor]:
    """Cosines of 512 items in classes of eight around random directions, and which are of the first one's class."""
    generator = torch.Generator().manual_seed(4)
    centres = torch.nn.functional.normalize(torch.randn(max(SIZES) // PER_CLASS, DIM, generator=generator), dim=1)
    noise = torch.randn(max(SIZES), DIM, generator=generator) / DIM**0.5
    items = torch.nn.functional.normalize(centres.repeat_interleave(PER_CLASS, 0) + SPREAD * noise, dim=1).double()
    return items[1:] @ items[0], torch.arange(1, max(SIZES)) < PER_CLASS


def measure(temperature: float, size: int) -> tuple[float, float, float, Tensor]:
    """For the query and the first items: AP, its smooth version, P, and minus the gradient of the loss."""
    cosines, relevant = similarities()
    scores, relevance = cosines[: size - 1], relevant[: size - 1]  # the query is one of the batch
    leaf = scores.clone().requires_grad_()
    loss = SmoothAPLoss(temperature)(leaf, relevance)
    (slope,) = torch.autograd.grad(loss, leaf)
    share = operating_region(scores, temperature).item()
    return average_precision(scores, relevance).item(), 1 - loss.item(), share, -slope


@explorable(
    temperature=log_slider(1e-3, 1, default=0.01, steps=31, stops=7, label="temperature τ"),
    size=choice(SIZES, default=64, label="batch size m"),
)
@style.style()
def who_learns(temperature: float, size: int) -> Figure:
    """One query of a batch: its scores, and the gradient that Smooth-AP gives to each."""
    exact, smooth, share, push = measure(temperature, size)
    cosines, relevant = similarities()
    scores, relevance = cosines[: size - 1], relevant[: size - 1]
    moved = int((push.abs() > 1e-3).sum())
    figure, (top, bottom) = style.figure(2, 1, width=6.2, height=5.2)
    figure.set_layout_engine("none")
    top.set_position((0.16, 0.646, 0.82, 0.265))
    bottom.set_position((0.16, 0.221, 0.82, 0.318))
    _cloud(top, scores, relevance)
    top.set_title(f"AP {exact:.2f}, smooth AP {smooth:.2f}, P = {share:.2f}")
    bottom.axhline(0, color=style.GREY, linewidth=1)
    felt = push.abs() > 1e-3
    bottom.vlines(scores[relevance], 0, push[relevance], color=style.POSITIVE, linewidth=1.5)
    bottom.plot(scores[relevance], push[relevance], linestyle="none", markersize=6, **style.mark(True))
    down = ~relevance & felt
    bottom.plot(scores[down], push[down], linestyle="none", markersize=4, **_small())
    bottom.set_yscale("symlog", linthresh=1e-3)
    bottom.set(xlim=(-0.75, 1.02), ylim=(-100, 100), xlabel="cosine with the query", ylabel="descent")
    bottom.set_yticks([-10, -0.1, 0, 0.1, 10], ["−10", "−0.1", "0", "0.1", "10"])
    strip(figure, (0.16, 0.062, 0.34, 0.05), "temperature", temperature, (0.001, 0.03, 1), label="τ ", ends=(1e-3, 1))
    strip(figure, (0.62, 0.062, 0.34, 0.05), "size", size, (16, 64, 256), label="m ", ends=(SIZES[0], SIZES[-1]))
    return style.describe(
        figure,
        f"The scores of {size - 1} items for one query, {int(relevance.sum())} of them relevant. AP is {exact:.3f}, at "
        f"τ = {temperature:.3g} smooth AP is {smooth:.3f}, and P, the share of pairs in the operating region, is "
        f"{share:.3f}. Below, the step of descent of every score, upwards for relevant and downwards for irrelevant "
        f"ones: {moved} of {size - 1} are larger than 0.001, and the largest is {push.abs().max():.2g}.",
    )


def _small() -> dict[str, Any]:
    return {**style.mark(False), "markeredgewidth": 1.0, "antialiased": False}


def _cloud(axis: Axes, scores: Tensor, relevance: Tensor) -> None:
    """The relevant scores on a line; the irrelevant ones on seven, in turn, so that many do not become a bar."""
    axis.plot(scores[relevance], torch.ones(int(relevance.sum())), linestyle="none", markersize=7, **style.mark(True))
    others = scores[~relevance].sort().values
    lines = torch.arange(len(others)) * 3 % 7
    axis.plot(others, lines / 7 - 0.6, linestyle="none", markersize=4, **_small())
    axis.set(xlim=(-0.75, 1.02), ylim=(-0.8, 1.5))
    axis.set_yticks([-0.15, 1], ["irrelevant", "relevant"])
    axis.set_xticklabels([])
