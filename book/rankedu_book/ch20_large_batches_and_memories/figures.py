"""Figures of chapter 20: a rank that is averaged over small batches."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rankedu_book.ch20_large_batches_and_memories.batches import averaged_ranks
from rankedu_book.kit import style


def draw_average(axes: Axes, gamma: float) -> None:
    """Draw the averaged rank of one item over 400 batches, and its true rank."""
    axes.plot(averaged_ranks(gamma), color=style.BLUE, linewidth=1.2)
    axes.axhline(31, color=style.GREY, linestyle="--")
    axes.set(xlabel="batch", ylim=(0, 125), title=f"γ = {gamma:g}")


def averages() -> Figure:
    """What 400 small batches say of a rank, with and without an average."""
    made, axes = style.figure(1, 2, width=6.4, height=3.0, sharey=True)
    for axis, gamma in zip(axes, (1.0, 0.05), strict=True):
        draw_average(axis, gamma)
    axes[0].set_ylabel("estimated rank")
    spread = [np.std(averaged_ranks(gamma)[100:]) for gamma in (1.0, 0.05)]
    return style.describe(
        made,
        "Two panels, each with a curve over 400 batches and a dashed line at the true rank, 31. Without memory the "
        f"curve jumps, with a standard deviation of {spread[0]:.0f}; averaged with γ = 0.05 its standard deviation is "
        f"{spread[1]:.0f}.",
    )
