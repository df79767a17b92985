"""The two smoothings of chapter 12 on the hexagon of three items."""

import numpy as np
import torch
from matplotlib.figure import Figure

from rankedu_book.ch03_ranking_is_a_solver.study import HEXAGON, HEXAGON_RANKS, plane
from rankedu_book.kit import style
from rankedu_book.kit.ranks import Array, ranks_of
from rankedu_lab.contestants import ProjectionRanker


def two_smoothings(scores: tuple[float, float, float] = (0.5, 0.42, 0.1)) -> Figure:
    """Draw how a projection moves the solution into the hexagon, and how blackbox jumps between two corners."""
    figure, (left, right) = style.figure(1, 2, width=7.2, height=4.0)
    for axis in (left, right):
        axis.fill(*HEXAGON.T, facecolor="#EEF2F6", edgecolor=style.BLACK, linewidth=1.2)
        for corner, ranks in zip(HEXAGON, HEXAGON_RANKS, strict=True):
            style.write(axis, 1.3 * corner[0], 1.3 * corner[1], " ".join(map(str, ranks)))
        style.bare(axis, xlim=(-2.35, 2.35), ylim=(-2.1, 2.3), aspect="equal")
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
