"""Two smoothings of one ranking, on the hexagon of three items."""

from __future__ import annotations

import numpy as np
import torch
from matplotlib.figure import Figure

from rankbook.ch03_ranking_is_a_solver.study import HEXAGON, HEXAGON_RANKS, plane
from rankbook.kit import style
from rankbook.kit.ranks import Array, ranks_of
from ranklab.contestants import ProjectionRanker


@style.style()
def two_smoothings(scores: tuple[float, float, float] = (0.5, 0.42, 0.1)) -> Figure:
    """Three items: the projection moves the solution into the hexagon; blackbox jumps between two of its corners."""
    figure, (left, right) = style.figure(1, 2, width=7.2, height=4.0)
    for axis in (left, right):
        axis.fill(*HEXAGON.T, facecolor="#EEF2F6", edgecolor=style.BLACK, linewidth=1.2)
        for corner, ranks in zip(HEXAGON, HEXAGON_RANKS, strict=True):
            axis.text(*(1.3 * corner), " ".join(map(str, ranks)), ha="center", va="center", fontsize=11)
        axis.set(xlim=(-2.35, 2.35), ylim=(-2.1, 2.3), aspect="equal")
        axis.axis("off")
    y = np.array(scores)
    path = np.array([_project(y, strength) for strength in np.geomspace(30, 0.02, 400)])
    left.plot(*plane(path).T, color=style.PURPLE, linewidth=4, solid_capstyle="round")
    marked = (0.6, 0.18, 0.12, 0.06)
    ray = plane(-y[None] / np.array(marked)[:, None])
    far = np.abs(ray).max(1) < 2.4
    left.plot([0, *ray[far][:, 0]], [0, *ray[far][:, 1]], color=style.GREY, linewidth=1, linestyle="--", zorder=1)
    for strength, outside in zip(marked, ray, strict=True):
        inside = plane(_project(y, strength))
        left.plot(*inside, "D", color=style.PURPLE, markersize=7, zorder=4)
        if np.abs(outside).max() < 2.4:
            left.plot([outside[0], inside[0]], [outside[1], inside[1]], color=style.GREY, linewidth=1)
            left.plot(*outside, "o", color=style.GREY, markersize=5)
    left.set_title("projection: $-\\mathbf{y}/\\varepsilon$ is brought\nback to the nearest point")
    c, lam = np.array([0.0, 0.0, 1.0]), 0.6
    before, after = (plane(ranks_of(z)) for z in (y, y + lam * c))
    for at_corner, label, shift in (
        (before, "$\\mathbf{rk}(\\mathbf{y})$", 0.55),
        (after, "$\\mathbf{rk}(\\mathbf{y}_\\lambda)$", 0.55),
    ):
        right.plot(*at_corner, "o", color=style.BLUE, markersize=11, zorder=4)
        right.text(*(at_corner * (1 - shift)), label, ha="center", va="center", color=style.BLUE)
    right.annotate("", after, before, arrowprops={"arrowstyle": "-|>", "color": style.BLUE, "linewidth": 2.5,
                                                    "shrinkA": 7, "shrinkB": 7})  # fmt: skip
    right.set_title("blackbox: two corners, and λ times\nthe gradient is the way between")
    shown = "; ".join(
        f"ε = {strength:g}: {', '.join(f'{r:.2f}' for r in _project(y, strength))}" for strength in marked
    )
    return style.describe(
        figure,
        "Twice the hexagon whose corners are the six rankings of three items. Left, the soft ranks of the scores "
        f"{', '.join(f'{s:g}' for s in scores)} by projection: from the centre straight to an edge, then along the "
        f"edge into the corner 1 2 3 ({shown}). Right, blackbox: an arrow from the corner "
        f"{' '.join(str(int(r)) for r in ranks_of(y))} to the corner "
        f"{' '.join(str(int(r)) for r in ranks_of(y + lam * c))}.",
    )


def _project(scores: Array, strength: float) -> Array:
    return np.asarray(ProjectionRanker(strength)(torch.from_numpy(scores)).numpy())
