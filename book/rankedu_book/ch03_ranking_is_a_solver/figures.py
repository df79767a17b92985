"""The figures of chapter 3: a bar with five weights, a sort with price tags, and the polytope of all rankings."""

from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import BoundaryNorm
from matplotlib.figure import Figure
from matplotlib.patches import Polygon, Rectangle, Wedge
from scipy.spatial import ConvexHull

from rankedu.proofs.rearrangement import certificate
from rankedu_book.ch03_ranking_is_a_solver.study import (
    HEXAGON_RANKS,
    NAMES,
    SCORES,
    SOLID_RANKS,
    SOLID_SCORES,
    frame,
    in_front,
    plane,
    section_levels,
    section_of_five,
    solid,
    walk,
)
from rankedu_book.kit import style
from rankedu_book.kit.ranks import Array

#: The book's sequential map.
MAP = colormaps[style.LANDSCAPE]


def decimal(value: Fraction | float, digits: int = 1) -> str:
    """A number as the figures print it, with a true minus sign and without a negative zero."""
    text = f"{float(value):.{digits}f}"
    return text.replace("-", "" if float(text) == 0 else "−")


def _shade(score: Fraction) -> tuple[Any, str]:
    """Fill and text colour of an item: the heavier, the darker."""
    share = float(score) / float(max(SCORES))
    return MAP(1.0 - 0.95 * share), "white" if share > 0.5 else style.BLACK


def lever() -> Figure:
    """Draw the same five weights hung twice on a hinged bar: as they came, and with the least turning moment."""
    figure, axes = style.figure(2, 1, width=6.4, height=4.6, sharex=True)
    proof = certificate(SCORES, range(1, 6))
    values = (proof.start_value, proof.end_value)
    for axis, ranks, value, title in zip(
        axes, (proof.permutation, proof.target), values, ("as they came", "with the least moment"), strict=True
    ):
        axis.plot([0, 5.6], [0, 0], color=style.BLACK, linewidth=5, solid_capstyle="butt")
        axis.plot(0, 0, marker="o", markersize=13, color="white", markeredgecolor=style.BLACK, markeredgewidth=2)
        axis.text(-0.28, 0, "hinge", ha="right", va="center")
        for name, score, distance in zip(NAMES, SCORES, ranks, strict=True):
            fill, ink = _shade(score)
            size = 0.34 + 0.42 * float(score)
            axis.plot([distance, distance], [0, -0.35], color=style.BLACK, linewidth=1.2)
            box = Rectangle((distance - size / 2, -0.35 - size), size, size, facecolor=fill, edgecolor=style.BLACK)
            axis.add_patch(box)
            style.write(axis, distance, -0.35 - size / 2, name, color=ink)
            axis.text(distance, 0.14, str(distance), ha="center")
            axis.text(distance, -0.47 - size, decimal(score), ha="center", va="top")
        axis.text(5.75, -0.05, f"moment\n{decimal(value)}", va="center", fontsize=13, weight="bold")
        axis.set(xlim=(-1.0, 6.9), ylim=(-1.55, 0.45))
        axis.set_title(title, loc="left")
        axis.axis("off")
    best = ", ".join(f"{name} at {rank}" for name, rank in zip(NAMES, proof.target, strict=True))
    return style.describe(
        figure,
        f"A bar with a hinge at its left end and five pegs at distances 1 to 5. Five weights hang on it: A 0.7, B 0.2, "
        f"C 0.9, D 0.4, E 0.5. In the order in which they came the turning moment is {decimal(values[0])}. "
        f"The arrangement with the least moment, {decimal(values[1])}, is {best}: heavier is closer to the hinge.",
    )


def rank_and_order() -> Figure:
    """Draw one matching of items and ranks, read from left to right (the ranks) and from right to left (the order)."""
    figure, axis = style.figure(width=6.4, height=3.7)
    ranks = certificate(SCORES, range(1, 6)).target
    order = [ranks.index(place) + 1 for place in range(1, 6)]
    for item, (name, score, rank) in enumerate(zip(NAMES, SCORES, ranks, strict=True), 1):
        fill, ink = _shade(score)
        axis.plot([0, 2], [-item, -rank], color=style.GREY, linewidth=2, zorder=1)
        axis.scatter([0, 2], [-item, -rank], s=560, color=[fill], edgecolor=style.BLACK, zorder=2)
        style.write(axis, 0, -item, name, color=ink)
        style.write(axis, 2, -rank, str(rank), color=ink)
        axis.text(-0.22, -item, f"item {item}, score {decimal(score)}", ha="right", va="center")
        style.write(axis, -2.15, -item, f"$\\pi({item}) = {rank}$", color=style.BLUE)
        style.write(axis, 2.62, -rank, f"$\\pi^{{-1}}({rank}) = {item}$", color=style.PURPLE)
    axis.text(-2.15, -0.2, "read →", ha="center", color=style.BLUE, weight="bold")
    axis.text(2.62, -0.2, "← read", ha="center", color=style.PURPLE, weight="bold")
    axis.text(0, -0.2, "items", ha="center")
    axis.text(2, -0.2, "ranks", ha="center")
    style.bare(axis, xlim=(-2.65, 3.15), ylim=(-5.6, 0.2))
    return style.describe(
        figure,
        "Five items on the left, five ranks on the right, one line from each item to its rank. Read from left to "
        f"right, the lines give the ranks of items 1 to 5: {style.listed(ranks)}. Read from right to left, they give "
        f"the items at ranks 1 to 5: {style.listed(order)}. The two lists differ.",
    )


def swap_path(start: tuple[int, ...] = (1, 2, 3, 4, 5)) -> Figure:
    """Draw a sort by swaps of neighbours, each with its price tag, above the objective that falls with every swap."""
    proof = certificate(SCORES, start)
    figure, (above, below) = style.figure(2, 1, width=6.8, height=5.6, sharex=True, height_ratios=[2, 1])
    path, values = walk(proof)
    steps = np.arange(len(path))
    for name, score, line in zip(NAMES, SCORES, zip(*path, strict=True), strict=True):
        fill, ink = _shade(score)
        above.plot(steps, line, color=fill, linewidth=5, solid_joinstyle="round", zorder=1)
        for step in (0, steps[-1]):
            above.scatter(step, line[step], s=480, color=[fill], edgecolor=style.BLACK, zorder=3)
            style.write(above, step, line[step], name, color=ink, zorder=4)
    tag = {"boxstyle": "round,pad=0.25", "facecolor": "white", "edgecolor": style.BLACK}
    for step, swap in enumerate(proof.swaps):
        style.write(above, step + 0.5, swap.rank + 0.5, decimal(swap.gain), bbox=tag)
    above.set(ylim=(len(start) + 0.5, 0.5), yticks=range(1, len(start) + 1), ylabel="rank")
    above.set_title("what each exchange saves", loc="left")
    below.step(steps, [float(value) for value in values], where="mid", color=style.BLACK)
    for step, value in zip(steps, values, strict=True):
        below.text(step, float(value) + 0.08, decimal(value), ha="center")
    low, high = float(values[-1]), float(values[0])
    below.set(ylim=(low - 0.3, high + 0.55), xticks=steps, xlabel="swaps made", ylabel="y · π")
    gains = style.listed([decimal(swap.gain) for swap in proof.swaps])
    return style.describe(
        figure,
        f"Five lines, one per item, run from the starting ranks {style.listed(proof.permutation)} to the final ranks "
        f"{style.listed(proof.target)}. They cross {len(proof.swaps)} times, always between neighbours, and each "
        f"crossing carries what it saves: {gains}. Below, the objective falls in the same steps from "
        f"{decimal(values[0])} to {decimal(values[-1])}.",
    )


def fan_and_section() -> Figure:
    """Draw where scores have the same ranking: six cones for three items; a section through the cones of five items."""
    figure, (fan, section) = style.figure(1, 2, width=7.6, height=4.2)
    tints = ("#e8eef4", "#f7f0e0")
    for number, ranks in enumerate(HEXAGON_RANKS):
        middle = -plane(ranks)  # the cone around −π holds the scores whose ranks are π
        angle = float(np.degrees(np.arctan2(middle[1], middle[0])))
        fan.add_patch(Wedge((0, 0), 2.6, angle - 30, angle + 30, facecolor=tints[number % 2], edgecolor="none"))
        wall = np.radians(angle - 30)
        fan.plot([0, 2.6 * np.cos(wall)], [0, 2.6 * np.sin(wall)], color=style.BLACK, linewidth=1.2)
        style.write(fan, 1.55 * middle[0], 1.55 * middle[1], " ".join(map(str, ranks)), weight="bold")
    start = 1.3 * np.array([np.cos(np.radians(12)), np.sin(np.radians(12))])
    for scale in (0.45, 1.0, 1.55):
        fan.plot(*(scale * start), marker="o", color=style.BLACK, markersize=6)
    fan.plot([0, 1.9 * start[0]], [0, 1.9 * start[1]], color=style.BLACK, linewidth=1, linestyle=":")
    step = np.array([-0.5, -0.85])
    look = {"arrowstyle": "-|>", "color": style.AHEAD, "linewidth": 2.4, "shrinkA": 0, "shrinkB": 0}
    fan.annotate("", start + step, start, arrowprops=look, zorder=8)
    fan.text(start[0] + 0.1, start[1] + 0.17, "y", fontsize=13)
    fan.text(start[0] + step[0] + 0.1, start[1] + step[1] - 0.12, "y + λc", color=style.AHEAD, fontsize=13)
    fan.set(xlim=(-2.75, 2.75), ylim=(-2.75, 2.75), aspect="equal")
    fan.set_title("three items: six cones", loc="left")
    fan.axis("off")
    _draw_section(section)
    return style.describe(
        figure,
        "Left: the plane of three scores that sum to 0, cut by three straight lines through the origin into six equal "
        "cones, each labelled with the ranking that all scores in it share. Three points on one ray lie in one cone; "
        f"an arrow from y to y + λc crosses one line and ends in the neighbouring cone. Right: a square section of the "
        f"scores of five items, coloured by a weighted sum of the ranks that takes {section_levels()} different values "
        "there; its boundaries are ten straight lines, one for each pair of items that tie.",
    )


def _draw_section(axis: Any) -> None:
    a, values, pairs = section_of_five()
    levels = np.unique(values.round(9))
    bounds = np.concatenate([[levels[0] - 1], (levels[1:] + levels[:-1]) / 2, [levels[-1] + 1]])
    norm = BoundaryNorm(bounds.tolist(), MAP.N)
    axis.pcolormesh(a, a, values, cmap=MAP, norm=norm, shading="nearest", rasterized=True)
    for constant, along_u, along_v in pairs:  # the line y_i = y_j in the section's own coordinates
        axis.plot([-2, 2], [-(constant + along_u * p) / along_v for p in (-2, 2)], color="white", linewidth=1.2)
    axis.grid(visible=False)
    axis.set(xlim=(-2, 2), ylim=(-2, 2), aspect="equal", xticks=[-2, 0, 2], yticks=[-2, 0, 2])
    axis.set(xlabel="along u", ylabel="along v")
    axis.set_title("five items: a section", loc="left")


def solid_corners(turn: float = 52) -> Figure:
    """Draw the permutahedron of four items; edges that exchange the same two items are parallel and have one price."""
    figure, axis = style.figure(width=6.8, height=4.9)
    x, z = draw_solid(axis, turn)
    edges, (_, front) = solid()[0], in_front(turn)
    colors = (style.BLUE, style.ORANGE, style.GREEN, style.RED, style.PURPLE, style.SKY)
    prices = []
    for pair, color in zip(combinations(range(4), 2), colors, strict=True):
        first, second = pair
        prices.append(f"{NAMES[first]} and {NAMES[second]}: {decimal(abs(SOLID_SCORES[first] - SOLID_SCORES[second]))}")
        axis.plot([], [], color=color, linewidth=3, label=prices[-1])
        for start, end in edges:
            edge, ranks = (start, end), zip(SOLID_RANKS[start], SOLID_RANKS[end], strict=True)
            if [item for item, (before, after) in enumerate(ranks) if before != after] == [*pair]:
                width, line = (3.0, "-") if edge in front else (1.0, ":")
                axis.plot(x[[*edge]], z[[*edge]], line, color=color, linewidth=width, zorder=width)
    style.legend_beside(axis, title="items that change\nplaces, and the price")
    return style.describe(
        figure,
        f"A truncated octahedron with {len(SOLID_RANKS)} corners, {len(edges)} edges and {len(solid()[1])} faces, "
        "drawn so that height is the cost y·π. Each corner carries the ranks of items A to D. Every edge exchanges two "
        "items that are neighbours in the ranking; edges that exchange the same two are parallel: "
        f"{'; '.join(prices)}. "
        f"The lowest corner is {''.join(map(str, certificate(SOLID_SCORES, range(1, 5)).target))}.",
    )


def draw_solid(axis: Any, turn: float) -> tuple[Array, Array]:
    """Draw the faces and the corners in front, height being cost; returns where the corners are."""
    across, _, up = frame(turn)
    corners = np.array(SOLID_RANKS, dtype=float) - 2.5
    x, z = corners @ across, corners @ up
    facets, _ = in_front(turn)
    for facet in facets:
        ring = np.stack([x[facet], z[facet]], axis=1)
        tint = "#eef2f6" if len(facet) == 6 else "#f8f1e2"
        axis.add_patch(Polygon(ring[ConvexHull(ring).vertices], facecolor=tint, edgecolor="none", zorder=0))
    for i in sorted({i for facet in facets for i in facet}):
        axis.plot(x[i], z[i], marker="o", markersize=4, color="#777777", zorder=9)
        left = x[i] < 0
        back = {"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.6}
        place = {"ha": "right" if left else "left", "va": "center", "fontsize": 12.5, "bbox": back}
        axis.text(x[i] + (-0.1 if left else 0.1), z[i] + 0.04, "".join(map(str, SOLID_RANKS[i])), zorder=10, **place)
    scores = np.array(SOLID_SCORES, dtype=float)
    size_of_scores = float(np.linalg.norm(scores - scores.mean()))
    costs = np.arange(4.5, 6.6, 0.5)
    axis.set(xlim=(-2.8, 2.8), ylim=(-2.45, 2.45), aspect="equal", xticks=[])
    axis.set_yticks((costs - 2.5 * scores.sum()) / size_of_scores, [decimal(cost) for cost in costs])
    axis.set_ylabel("cost y · π")
    axis.spines["bottom"].set_visible(False)
    return x, z
