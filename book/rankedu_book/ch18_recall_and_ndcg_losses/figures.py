"""Figures of chapter 18: how much an item counts, by its rank."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rankedu_book.kit import style


def window(axes: Axes, k: int, temperature: float) -> None:
    """Draw what an item at a rank adds to recall at k: the step, the sigmoid, and a bound from below."""
    rank = np.linspace(0.5, 2 * k + 4, 400)
    inside = 1 / (1 + np.exp((rank - k) / temperature))
    bound = 1 - 2 / (1 + np.exp((k + 1 - rank) / temperature))
    axes.step([0.5, k + 0.5, 2 * k + 4], [1, 1, 0], where="pre", color=style.GREY, label="recall@k")
    axes.plot(rank, inside, color=style.ORANGE, label="σ((k − R)/T)")
    axes.plot(rank, bound, color=style.BLUE, linestyle="--", label="1 − 2σ((R − k − 1)/T)")
    axes.set(xlabel="rank R of a relevant item", ylabel="counts as", ylim=(-1.1, 1.1), xlim=(0.5, 2 * k + 4))


def two_windows(k: int = 4) -> Figure:
    """Draw how much a relevant item counts in recall at 4, for a small and a large T."""
    figure, axes = style.figure(1, 2, width=6.4, height=3.2, sharey=True)
    for axis, temperature in zip(axes, (0.25, 1.5), strict=True):
        window(axis, k, temperature)
        axis.set_title(f"T = {temperature:g}")
    axes[1].set_ylabel("")
    style.legend_below(figure, axes[0], columns=3)
    return style.describe(
        figure,
        f"Two panels, T = 0.25 and T = 1.5. Recall at {k} is a step from 1 to 0 after rank {k}. The sigmoid is one "
        f"half at rank {k} in both panels, and is above the step beyond it. The dashed curve is 0 at rank {k + 1} and "
        "is nowhere above the step at a whole rank.",
    )
