"""The surrogates of chapter 12 on maps: which way each says is down, and the hexagon of three items."""

from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm
from matplotlib.figure import Figure
from torch import nn

from rankedu_book.ch03_ranking_is_a_solver.study import HEXAGON, HEXAGON_RANKS, plane
from rankedu_book.ch12_surrogates_side_by_side import surrogates as known
from rankedu_book.ch12_surrogates_side_by_side.study import floor
from rankedu_book.ch12_surrogates_side_by_side.surrogates import (
    EXTENT,
    surrogate,
)
from rankedu_book.kit import style
from rankedu_book.kit.landscapes import Section
from rankedu_book.kit.ranks import Array, ranks_of
from rankedu_lab.contestants import ProjectionRanker

#: Of height, on the maps.
BANDS = 10


def draw_map(axis: Axes, height: Array, loss: Array) -> None:
    """Paint a surface on the section, in a few bands of equal height between the least and the largest loss."""
    side, edges = (-EXTENT, EXTENT), np.linspace(loss.min(), loss.max(), BANDS + 1)
    look: dict[str, Any] = {"cmap": style.bands(BANDS), "norm": BoundaryNorm(edges, BANDS), "interpolation": "nearest"}
    axis.imshow(height, origin="lower", extent=side * 2, **look)
    style.edges(axis, height, edges, EXTENT)
    axis.set(xlim=side, ylim=side, xticks=(-2, 0, 2), yticks=(-2, 0, 2))


def draw_arrows(axis: Axes, places: Section, down: Array) -> None:
    """Draw arrows of one length, dots where there is no gradient."""
    (a, b), still = np.meshgrid(*places.axes()), ~down.any(-1)
    u, v = (down[~still] / np.linalg.norm(down[~still], axis=-1, keepdims=True)).T
    axis.quiver(a[~still], b[~still], u, v, scale=13, width=0.011, pivot="mid", antialiased=False)
    axis.plot(a[still], b[still], "o", color="black", markersize=2.5, antialiased=False)


def down_in_plane(ranker: nn.Module, places: Section) -> Array:
    """Minus the part of a surrogate's gradient that lies in the plane, (side, side, 2); 0 where there is none."""
    gradients = surrogate(ranker, places.points())[1]
    down = -gradients @ np.stack([places.u, places.v], axis=1)
    return np.where(known.no_gradient(gradients, floor(ranker))[..., None], 0.0, down)


def two_smoothings(scores: tuple[float, float, float] = (0.5, 0.42, 0.1)) -> Figure:
    """Three items: the projection moves the solution into the hexagon; blackbox jumps between two of its corners."""
    figure, (left, right) = style.figure(1, 2, width=7.2, height=4.0)
    for axis in (left, right):
        axis.fill(*HEXAGON.T, facecolor="#EEF2F6", edgecolor=style.BLACK, linewidth=1.2)
        for corner, ranks in zip(HEXAGON, HEXAGON_RANKS, strict=True):
            axis.text(*(1.3 * corner), " ".join(map(str, ranks)), ha="center", va="center", fontsize=11)
        axis.set(xlim=(-2.35, 2.35), ylim=(-2.1, 2.3), aspect="equal")
        axis.axis("off")
    y, marked = np.array(scores), (0.6, 0.18, 0.12, 0.06)
    path = plane(np.array([_project(y, strength) for strength in np.geomspace(30, 0.02, 400)]))
    left.plot(*path.T, color=style.PURPLE, linewidth=4, solid_capstyle="round")
    ray, soft = (plane(np.array(points)) for points in ([-y / s for s in marked], [_project(y, s) for s in marked]))
    left.plot(*soft.T, "D", color=style.PURPLE, markersize=7, zorder=4)
    left.plot(*ray.T, "o", color=style.GREY, markersize=5)
    left.plot(*zip((0, 0), ray[-1], strict=True), color=style.GREY, linewidth=1, linestyle="--", zorder=1)
    for outside, inside in zip(ray[:3], soft, strict=False):
        left.plot(*zip(outside, inside, strict=True), color=style.GREY, linewidth=1)
    left.set_title("projection: $-\\mathbf{y}/\\varepsilon$ is brought\nback to the nearest point")
    c, lam = np.array([0.0, 0.0, 1.0]), 0.6
    corners = [plane(ranks_of(z)) for z in (y, y + lam * c)]
    for corner, label in zip(corners, ("y}", "y}_\\lambda"), strict=True):
        right.plot(*corner, "o", color=style.AHEAD, markersize=11, zorder=4)
        look = {"ha": "center", "va": "center", "color": style.AHEAD}
        right.text(*(0.45 * corner), f"$\\mathbf{{rk}}(\\mathbf{{{label})$", **look)
    arrow = {"arrowstyle": "-|>", "color": style.AHEAD, "linewidth": 2.5, "shrinkA": 7, "shrinkB": 7}
    right.annotate("", corners[1], corners[0], arrowprops=arrow)
    right.set_title("blackbox: two corners, and λ times\nthe gradient is the way between")
    shown = "; ".join(f"ε = {s:g}: {', '.join(f'{r:.2f}' for r in _project(y, s))}" for s in marked)
    return style.describe(
        figure,
        "Twice the hexagon whose corners are the six rankings of three items. Left, the soft ranks of the scores "
        f"{', '.join(f'{s:g}' for s in scores)} by projection: from the centre straight to an edge, then along the "
        f"edge into the corner 1 2 3 ({shown}). Right, blackbox: an arrow from the corner "
        f"{' '.join(map(str, ranks_of(y)))} to the corner {' '.join(map(str, ranks_of(y + lam * c)))}.",
    )


def _project(scores: Array, strength: float) -> Array:
    return np.asarray(ProjectionRanker(strength)(torch.from_numpy(scores)).numpy())
