"""Chapter 3: the permutahedron of three items, and of four with the proof of Theorem 1 walking down its edges."""

import functools
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from rankbook.ch03_ranking_is_a_solver.figures import arrow, decimal, draw_solid
from rankbook.ch03_ranking_is_a_solver.study import (
    HEXAGON,
    HEXAGON_RANKS,
    NAMES,
    SOLID_RANKS,
    SOLID_SCORES,
    plane,
    walk,
)
from rankbook.kit import style
from rankbook.kit.explorable import Control, explorable, goal, hold, pick, tell
from rankbook.kit.ranks import Array
from rankedu.proofs.rearrangement import certificate

Ranks = tuple[int, ...]
Box = tuple[float, float, float, float]

#: The gradient that comes in from the loss L = c·rk(y) of the hexagon, and the learning rate of the step drawn.
COEFFICIENTS = np.array([0.6, -0.1, -0.5])
LEARNING_RATE = 0.2

#: Of the six walls, at which two corners tie, one is a stop, 0°.
_directions = (0, 24, 48, 72, 96, 124, 144, 168, 192, 216, 244, 264, 288, 312, 336)
_angles = Control(tuple(range(0, 360, 4)), _directions, 216, "direction of −y", lambda degrees: f"{degrees}°")
_strengths = (0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0, 1.2, 1.5, 1.8, 2.1, 2.4)
_lams = Control(_strengths, (0.3, 0.6, 1.2, 2.4), 1.2, None, str)


@goal(
    "Turn −y until two corners cost the same.",
    lambda at: at.tied,
    "At {angle}° the grey line lies along a whole edge. Both of its ends cost the same, and the position in the list "
    "decides; turned by the least bit, −y decides.",
)
@goal(
    "Make the gradient as long as you can.",
    lambda at: at.length > at.longest - 1e-9,
    "Its length is {length:.1f}. So close to a wall λ = {lam:g} is enough to reach another corner, and what lies "
    "between the two is divided by that λ. A larger λ makes it shorter, like 1/λ, as long as the corner is the same.",
)
@goal(
    "Find a direction of −y from which no λ, however large, gives a gradient.",
    lambda at: at.best,
    "At {angle}° y picks the corner that the loss likes best. No λ has anything to add.",
)
@explorable(angle=_angles, lam=_lams)
def permutahedron_hexagon(angle: float, lam: float) -> Figure:
    """Three items: y picks one corner of the hexagon, y + λc another, and the gradient leads from one to the other."""
    scores = scores_at(angle)
    chosen, aimed = best_ranks(scores), best_ranks(scores + lam * COEFFICIENTS)
    gradient = gradient_at(angle, lam)
    figure, left, right = _panels(6.6, 4.0, (0.0, 0.0, 0.62, 1.0), (0.64, 0.0, 0.36, 1.0))
    _draw_plane(left, scores, lam, chosen, aimed, gradient)
    _draw_words(right, chosen, aimed, gradient)
    hold(left, angle=lambda degrees: tuple(-plane(scores_at(degrees))))
    likes_best = min(HEXAGON_RANKS, key=lambda ranks: float(COEFFICIENTS @ ranks))
    tell(figure, tied=len(chosen) > 1, length=float(np.linalg.norm(gradient)), best=chosen == [likes_best])
    tell(figure, longest=max(float(np.linalg.norm(gradient_at(*stops))) for stops in product(_directions, _lams.stops)))
    cost = decimal(float(scores @ chosen[0]), 2)
    where = f"the corner {_joined(chosen[0])}"
    if len(chosen) > 1:
        where = f"both ends of an edge, {' and '.join(map(_joined, chosen))}, a tie"
    moved = "picks the same corner, so the gradient is 0"
    if aimed[0] != chosen[0]:
        moved = f"picks {_joined(aimed[0])}, so the gradient is {_vector(gradient)}"
    return style.describe(
        figure,
        f"The hexagon of the six rankings of three items. With −y at {angle} degrees, y = {_vector(scores)}, the least "
        f"cost y·π = {cost} is found at {where}; the supporting line there has the whole hexagon on one side. With "
        f"λ = {lam:g}, y + λc = {_vector(scores + lam * COEFFICIENTS)} {moved}. Arrows: −y; from its tip −λc; and, "
        f"unless the gradient is 0, one step of gradient descent with learning rate {LEARNING_RATE:g}.",
    )


def scores_at(angle: float) -> Array:
    """Three scores of length 1 that sum to 0, such that −y points to ``angle`` degrees; exact ties stay exact."""
    direction = np.radians(angle)
    axes = plane(np.eye(3))  # row i: where the i-th axis falls in the plane
    return np.asarray((-axes @ [np.cos(direction), np.sin(direction)]).round(9) + 0.0)


@functools.cache
def gradient_at(angle: float, lam: float) -> Array:
    """What Algorithm 1 returns: from the corner that y picks to the one that y + λc picks, divided by λ."""
    scores = scores_at(angle)
    return np.asarray(np.subtract(best_ranks(scores + lam * COEFFICIENTS)[0], best_ranks(scores)[0]) / lam)


def best_ranks(scores: Array) -> list[Ranks]:
    """All rankings of three items with the least y·π; the first is the one with ties by position."""
    first = certificate(scores.round(9).tolist(), (1, 2, 3))
    least = float(first.end_value)
    ties = [ranks for ranks in HEXAGON_RANKS if ranks != first.target and abs(float(scores @ ranks) - least) < 1e-7]
    return [first.target, *ties]


def _draw_plane(axis: Any, scores: Array, lam: float, chosen: list[Ranks], aimed: list[Ranks], gradient: Array) -> None:
    for corner, neighbour in zip(HEXAGON, np.roll(HEXAGON, 1, axis=0), strict=True):
        axis.plot(*zip((0, 0), 2 * (corner + neighbour), strict=True), color="#BBBBBB", linewidth=1)
    axis.add_patch(Polygon(HEXAGON, closed=True, facecolor="none", edgecolor=style.BLACK, linewidth=1.6))
    tip, push = -plane(scores), -lam * plane(COEFFICIENTS)
    along = 6 * np.array([-tip[1], tip[0]])
    support = plane(chosen[0])
    axis.plot(*zip(support - along, support + along, strict=True), color=style.GREY, linewidth=1.6)
    arrow(axis, support, support + 0.93 * (plane(aimed[0]) - support), style.GRADIENT)
    arrow(axis, np.zeros(2), tip, style.BLACK)
    arrow(axis, tip, tip + push, style.AHEAD)
    arrow(axis, tip, tip + LEARNING_RATE * plane(gradient), style.GRADIENT)
    for ranks, corner in zip(HEXAGON_RANKS, HEXAGON, strict=True):
        color = style.BLACK if ranks in chosen else style.AHEAD if ranks == aimed[0] else "white"
        axis.plot(*corner, marker="o", markersize=12, color=color, markeredgecolor=style.BLACK, zorder=6)
        weight = "bold" if ranks in chosen else "normal"
        text = f"{_joined(ranks)}\n{decimal(float(scores @ ranks), 2)}"
        box = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
        axis.text(*(1.37 * corner), text, ha="center", va="center", fontsize=11.5, weight=weight, bbox=box, zorder=7)
    axis.set(xlim=(-2.3, 2.3), ylim=(-2.25, 2.45), aspect="equal")
    axis.axis("off")


def _draw_words(axis: Any, chosen: list[Ranks], aimed: list[Ranks], gradient: Array) -> None:
    axis.set(xlim=(0, 1), ylim=(0, 1))
    axis.axis("off")
    rows = (
        (0.90, "y picks" if len(chosen) == 1 else "y is tied; rk(y) is", style.BLACK, 12),
        (0.82, f"s = {_joined(chosen[0])}", style.BLACK, 14),
        (0.68, "y + λc picks", style.BLACK, 12),
        (0.60, f"s$_λ$ = {_joined(aimed[0])}", style.AHEAD, 14),
        (0.46, "gradient (s$_λ$ − s) / λ", style.BLACK, 12),
        (0.38, _vector(gradient) if gradient.any() else "0", style.GRADIENT, 14),
        (0.20, "→ −y", style.BLACK, 12),
        (0.13, "→ −λc", style.AHEAD, 12),
        (0.06, "→ descent step", style.GRADIENT, 12),
    )
    for height, text, color, size in rows:
        axis.text(0.0, height, text, color=color, fontsize=size)


# Four items: the solid stands on its cheapest corner, so that height is cost.


_starts = sorted(SOLID_RANKS, key=lambda ranks: (len(certificate(SOLID_SCORES, ranks).swaps), ranks))
_shown = tuple(_starts[i] for i in (0, 3, 7, 11, 14, 17, 21, 23))
_start = Control(tuple(_starts), _shown, _starts[23], "start at π =", lambda ranks: _joined(ranks))
_turn = Control(tuple(range(0, 180, 6)), tuple(range(0, 180, 36)), 36, "turn the solid", lambda degrees: f"{degrees}°")


@goal(
    "Find the corner from which no edge leads down.",
    lambda at: at.edges == 0,
    "It is rk(y), at the cost {end}. From every other corner some edge leads down, so no walk gets stuck.",
)
@goal(
    "Save more than 1 with three swaps.",
    lambda at: at.edges == 3 and at.saved > 1 + 1e-9,
    "{saved:.1f} in three swaps. A walk has as many edges as there are pairs in the wrong order; what a swap saves is "
    "the difference of its two scores, so the same number of swaps can save more or less.",
)
@explorable(start=_start, turn=_turn)
def permutahedron_solid(start: Ranks, turn: float) -> Figure:
    """Four items: the proof of Theorem 1 walks down the edges of the permutahedron, one swap an edge."""
    proof = certificate(SOLID_SCORES, start)
    path, costs = walk(proof)
    figure, left, right = _panels(7.4, 4.8, (0.085, 0.02, 0.565, 0.96), (0.66, 0.02, 0.33, 0.96))
    x, z = draw_solid(left, turn, path)
    pick(left, start=lambda ranks: (x[SOLID_RANKS.index(ranks)], z[SOLID_RANKS.index(ranks)]))
    _draw_walk(right, path, costs)
    gains = ", ".join(decimal(swap.gain) for swap in proof.swaps)
    tell(figure, edges=len(proof.swaps), saved=float(proof.start_value - proof.end_value), end=decimal(proof.end_value))
    edges = "1 edge" if len(proof.swaps) == 1 else f"{len(proof.swaps)} edges"
    note = (
        f"From {_joined(start)} at cost {decimal(proof.start_value)} the walk takes {edges}, saving {gains}, "
        f"to {_joined(proof.target)} at cost {decimal(proof.end_value)}, the lowest corner."
        if proof.swaps
        else f"The start {_joined(start)} is the lowest corner already, at cost {decimal(proof.end_value)}."
    )
    return style.describe(
        figure,
        f"A truncated octahedron whose {len(SOLID_RANKS)} corners are the rankings of four items with scores "
        f"{', '.join(decimal(score) for score in SOLID_SCORES)}, drawn so that height is the cost y·π and turned by "
        f"{turn} degrees about the vertical. {note}",
    )


def _draw_walk(axis: Any, path: Sequence[Ranks], costs: Sequence[Fraction]) -> None:
    axis.set(xlim=(0, 1), ylim=(0, 15))
    axis.axis("off")
    columns = ((0.12, "π"), (0.40, "order"), (0.66, "y · π"), (0.90, "gain"))
    for x, text in columns:
        axis.text(x, 14.2, text, ha="center", weight="bold", fontsize=11.5)
    for line, (ranks, cost) in enumerate(zip(path, costs, strict=True)):
        order = "".join(NAMES[ranks.index(place)] for place in range(1, 5))
        gain = decimal(costs[line - 1] - cost) if line else ""
        cells = ("".join(map(str, ranks)), order, decimal(cost), gain)
        for (x, _), text in zip(columns, cells, strict=True):
            weight = "bold" if line == len(path) - 1 else "normal"
            axis.text(x, 13.0 - 1.25 * line, text, ha="center", fontsize=11.5, weight=weight)
    scores = [f"{name} {decimal(score)}" for name, score in zip(NAMES, SOLID_SCORES, strict=False)]
    axis.text(0.0, 1.4, f"scores: {', '.join(scores[:2])},\n{', '.join(scores[2:])}", fontsize=11.5)


def _panels(width: float, height: float, left: Box, right: Box) -> tuple[Figure, Any, Any]:
    """A figure with two fixed axes: no layout is computed, so that a slider moves without delay."""
    figure, (first, second) = style.figure(1, 2, width=width, height=height)
    style.place(figure, left, right)
    figure.set_agg_filter(_few_colours)
    return figure, first, second


def _few_colours(pixels: Any, _dpi: float) -> tuple[Array, int, int]:
    """Sixteen levels a channel: nobody sees it, and the frames of the static book weigh half as much."""
    return np.round(pixels * 15) / 15, 0, 0


def _vector(values: Array) -> str:
    return "(" + ", ".join(decimal(value, 2) for value in values) + ")"


def _joined(ranks: Ranks) -> str:
    return " ".join(map(str, ranks))
