"""Figures of chapter 19: the soft rank of a moving item, and the slopes of all ranks by all scores."""

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from rankedu_book.ch19_differentiable_sorting.soft import SOFT
from rankedu_book.kit import style

STANDING = (0.8, 0.6, 0.1, 0.0, -0.5)  #: The scores that the moving item passes.
LIST = (0.3, *STANDING)


def moving(name: str, temperature: float, points: int = 401) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores of an item that moves past five others, and its soft rank at each."""
    x = torch.linspace(-1, 1.2, points, dtype=torch.float64)
    lists = torch.cat([x[:, None], torch.tensor(STANDING, dtype=torch.float64).expand(points, -1)], 1)
    return x.numpy(), SOFT[name](lists, temperature)[:, 0].numpy()


def draw_moving(axes: Axes, names: list[str], temperature: float) -> None:
    """Draw the rank of the moving item, and its soft rank by each method."""
    for name, look in style.looks(names).items():
        axes.plot(*moving(name, temperature), label=name, color=look["color"], linestyle=look["linestyle"])
    x = np.linspace(-1, 1.2, 401)
    axes.plot(x, 1 + (np.array(STANDING) > x[:, None]).sum(1), color=style.GREY, linewidth=1, zorder=0)
    axes.set(xlabel="score of the moving item", ylabel="its soft rank")


def soft_ranks(temperature: float = 0.1) -> Figure:
    """Draw the soft rank of an item that moves past five others, by three methods."""
    figure, axes = style.figure(width=6.0, height=3.4)
    names = ["sigmoid", "NeuralSort", "SoftSort"]
    draw_moving(axes, names, temperature)
    axes.legend(loc="upper right")
    rises = {name: (ranks := moving(name, temperature)[1]) - np.minimum.accumulate(ranks) for name in names}
    told = ", ".join(f"{name} by {rise.max():.2f}" for name, rise in rises.items())
    return style.describe(
        figure,
        f"A grey staircase from rank 6 down to rank 1, and three curves along it. On its way down, {told} rises.",
    )


def slopes(name: str, temperature: float = 0.1, scores: tuple[float, ...] = LIST) -> np.ndarray:
    """Return the slope of the soft rank of item i by the score of item j, at [i, j]."""
    y = torch.tensor(scores, dtype=torch.float64)
    return np.asarray(torch.autograd.functional.jacobian(lambda z: SOFT[name](z, temperature), y))


def wrong(found: np.ndarray) -> np.ndarray:
    """Return which slopes have the wrong sign: a larger score must not worsen its own rank or improve another's."""
    own = np.eye(len(found), dtype=bool)
    return np.where(own, found > 1e-9, found < -1e-9)


def wrong_slopes(temperature: float = 0.1) -> Figure:
    """Draw which ranks move the wrong way when one score of a list of six grows, by six methods."""
    figure, axes = style.figure(2, 3, width=6.4, height=4.6)
    best = np.argsort(LIST)[::-1]
    told = []
    for axis, name in zip(axes.flat, SOFT, strict=True):
        bad = wrong(slopes(name, temperature))[np.ix_(best, best)]
        axis.imshow(bad, cmap=ListedColormap(["#e6e6e6", style.RED]), vmin=0, vmax=1)
        axis.set_xticks(np.arange(-0.5, 6), minor=True)
        axis.set_yticks(np.arange(-0.5, 6), minor=True)
        axis.grid(visible=False)
        axis.grid(which="minor", color="white", linewidth=1.5)
        axis.set_xticks(range(6), range(1, 7))
        axis.set_yticks(range(6), range(1, 7))
        axis.set_title(f"{name}: {bad.sum()}")
        told.append(f"{name} {bad.sum()}")
    for axis in axes[:, 0]:
        axis.set_ylabel("rank of item")
    for axis in axes[1]:
        axis.set_xlabel("score of item")
    return style.describe(
        figure, f"Six grids of six by six cells, with a red cell for each slope of the wrong sign: {', '.join(told)}."
    )
