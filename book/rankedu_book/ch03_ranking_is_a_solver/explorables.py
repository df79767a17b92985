"""Chapter 3: the permutahedron of four items, with the proof of Theorem 1 walking down its edges.

The solid stands on its cheapest corner, so that height is cost.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from rankedu.proofs.rearrangement import certificate
from rankedu_book.ch03_ranking_is_a_solver.figures import decimal, draw_solid
from rankedu_book.ch03_ranking_is_a_solver.study import NAMES, SOLID_RANKS, SOLID_SCORES, walk
from rankedu_book.kit import style
from rankedu_book.kit.explorable import Control, explorable, goal, pick, tell
from rankedu_book.kit.ranks import Array

Ranks = tuple[int, ...]
Box = tuple[float, float, float, float]

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
    """Four items: the proof of Theorem 1 walks down the edges of the permutahedron, one swap per edge."""
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
    """Keep sixteen levels per channel, which is invisible and halves the weight of the book's frames."""
    return np.round(pixels * 15) / 15, 0, 0


def _joined(ranks: Ranks) -> str:
    return " ".join(map(str, ranks))
