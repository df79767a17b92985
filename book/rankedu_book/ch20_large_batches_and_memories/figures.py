"""Figures of chapter 20: a rank that is averaged over small batches."""

import numpy as np
from matplotlib.figure import Figure

from rankedu_book.ch20_large_batches_and_memories.batches import averaged_ranks
from rankedu_book.kit import style


def averages() -> Figure:
    """Draw what 400 small batches say of a rank, with and without an average."""
    figure, panels = style.figure(1, 2, width=6.4, height=3.0, sharey=True)
    spread = []
    for axes, gamma in zip(panels, (1.0, 0.05), strict=True):
        ranks = averaged_ranks(gamma)
        spread.append(np.std(ranks[100:]))
        axes.plot(ranks, color=style.BLUE, linewidth=1.2)
        axes.axhline(31, color=style.GREY, linestyle="--")
        axes.set(xlabel="batch", ylim=(0, 125), title=f"γ = {gamma:g}")
    panels[0].set_ylabel("estimated rank")
    return style.describe(
        figure,
        "Two panels, each with a curve over 400 batches and a dashed line at the true rank, 31. Without memory the "
        f"curve jumps, with a standard deviation of {spread[0]:.0f}; averaged with γ = 0.05 its standard deviation is "
        f"{spread[1]:.0f}.",
    )
