"""The surrogates of chapter 12 on maps: a walk, which way each says is down, and the hexagon of three items."""

import math
from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm
from matplotlib.figure import Figure

from rankbook.ch03_ranking_is_a_solver.study import HEXAGON, HEXAGON_RANKS, plane
from rankbook.ch12_surrogates_side_by_side import surrogates as known
from rankbook.ch12_surrogates_side_by_side.quality import at, quality, strength_at
from rankbook.ch12_surrogates_side_by_side.surrogates import EXTENT, SURROGATES, loss_of, section, surrogate
from rankbook.kit import style
from rankbook.kit.ranks import Array, ranks_of
from rankbook.kit.style import in_words
from rankedu.landscapes import Section
from ranklab.contestants import ProjectionRanker

#: Of height, on the maps.
BANDS = 10


def one_walk(weak: float = 0.08, strong: float = 0.3) -> Figure:
    """The same walk through the section, as every ranker sees it, at two strengths."""
    a = np.linspace(-EXTENT, EXTENT, 601)
    points = section(2).origin + a[:, None] * section(2).u
    truth = loss_of(points)
    panels = {}
    for name, how in SURROGATES.items():
        strengths = [strength_at(name, distortion) for distortion in (weak, strong)]
        panels[name] = {how.label(strength): how.make(strength) for strength in strengths}
    panels["LSTM"] = {"no strength to turn": known.sorter()}
    rows = math.ceil((len(panels) + 1) / 2)
    figure, axes = style.figure(rows, 2, width=6.8, height=2.2 * rows, sharex=True, sharey=True)
    facts = []
    for axis, (name, rankers) in zip(axes.flat, panels.items(), strict=False):
        axis.plot(a, truth, color=style.GREY, linewidth=1.2, label="the loss itself")
        lifts = []
        for ranker, share, line in zip(rankers.values(), (weak, strong), ("-", "--"), strict=False):
            values = surrogate(ranker, points)[0]
            lifts.append((truth - values).mean())
            axis.plot(a, values + lifts[-1], line, color=known.LOOKS[name]["color"], label=f"distorted by {share:.0%}")
        axis.set_title(f"{name}: {' and '.join(rankers)}")
        facts.append(f"{name} {' and '.join(rankers)}, moved by {' and '.join(f'{lift:+.0f}' for lift in lifts)}")
    for free in axes.flat[len(panels) :]:
        free.set_axis_off()
    figure.supxlabel("way along u", fontsize=12)
    figure.supylabel("loss", fontsize=12)
    axes.flat[len(panels)].legend(*axes.flat[0].get_legend_handles_labels(), loc="center")
    return style.describe(
        figure,
        f"{in_words(len(panels)).capitalize()} panels with the same grey staircase of "
        f"{len(np.unique(truth.round(9)))} heights along a straight walk, and over it what a ranker makes of it, "
        "weakly and strongly smoothed, each moved up or down to the staircase's mean height: "
        f"{'; '.join(facts)}. The weak curves follow the hills, the strong ones only the slope; the LSTM's one curve "
        "lies between.",
    )


def gradient_fields(distortion: float = 0.15) -> Figure:
    """Which way is down: every ranker on the same map, and the direction that truly gains most."""
    few = section(7, 0.86 * EXTENT)
    fields, facts = {}, []
    for name, ranker in ({name: at(name, distortion) for name in SURROGATES} | {"LSTM": known.sorter()}).items():
        gained, down = quality(ranker).gained, known.down_in_plane(ranker, few)
        fields[f"{name}\ngains {gained:.0%} of the best"] = down
        facts.append(f"{name} {gained:.0%}, no arrow at {known.no_gradient(down).sum()} of 49 places")
    fields[f"the best step of {known.STEP:g},\nfound by trying"] = known.best_in_plane(few)
    rows = math.ceil(len(fields) / 3)
    figure, axes = style.figure(rows, 3, width=7.2, height=2.6 * rows, sharex=True, sharey=True)
    height = loss_of(section(160).points())
    for axis, (title, down) in zip(axes.flat, fields.items(), strict=False):
        draw_map(axis, height, height)
        draw_arrows(axis, few, down)
        axis.set_title(title)
    for free in axes.flat[len(fields) :]:
        free.set_axis_off()
    figure.supxlabel("along u", fontsize=12)
    figure.supylabel("along v", fontsize=12)
    return style.describe(
        figure,
        f"{in_words(len(fields)).capitalize()} maps of the same loss in {BANDS} bands of height, with arrows downhill. "
        f"In {in_words(len(facts))}, the arrows of a surrogate, {in_words(len(SURROGATES))} of them at the strength "
        f"that distorts the loss by {distortion:.0%}; in the last, the direction in which a step of {known.STEP:g} "
        f"lowers the true loss most. What a step gains, as a share of the best: {'; '.join(facts)}.",
    )


def draw_map(axis: Axes, height: Array, loss: Array) -> None:
    """Paint a surface on the section, in a few bands of equal height between the least and the largest loss."""
    side, edges = (-EXTENT, EXTENT), np.linspace(loss.min(), loss.max(), BANDS + 1)
    look: dict[str, Any] = {"cmap": style.bands(BANDS), "norm": BoundaryNorm(edges, BANDS), "interpolation": "nearest"}
    axis.imshow(height, origin="lower", extent=side * 2, **look)
    axis.set(xlim=side, ylim=side, xticks=(-2, 0, 2), yticks=(-2, 0, 2))


def draw_arrows(axis: Axes, places: Section, down: Array) -> None:
    """Draw arrows of one length, dots where there is no gradient."""
    (a, b), still = np.meshgrid(*places.axes()), known.no_gradient(down)
    u, v = (down[~still] / np.linalg.norm(down[~still], axis=-1, keepdims=True)).T
    axis.quiver(a[~still], b[~still], u, v, scale=13, width=0.011, pivot="mid", antialiased=False)
    axis.plot(a[still], b[still], "o", color="black", markersize=2.5, antialiased=False)


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
        right.plot(*corner, "o", color=style.BLUE, markersize=11, zorder=4)
        look = {"ha": "center", "va": "center", "color": style.BLUE}
        right.text(*(0.45 * corner), f"$\\mathbf{{rk}}(\\mathbf{{{label})$", **look)
    arrow = {"arrowstyle": "-|>", "color": style.BLUE, "linewidth": 2.5, "shrinkA": 7, "shrinkB": 7}
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
