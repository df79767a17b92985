"""Figures of chapter 13: mistakes that AP cannot distinguish, a tree, and H-rank in pieces."""

from dataclasses import replace
from fractions import Fraction

from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from rankedu.proofs.hierarchical import certificate
from rankedu_book.ch13_hierarchical_ap import study
from rankedu_book.kit import pictures as _pictures
from rankedu_book.kit import style
from rankedu_book.kit.figures import paper_figure

#: One colour per level, from nothing in common to the same leaf.
COLOURS = (style.RED, style.ORANGE, style.SKY, style.POSITIVE)
#: The items that are ranked for the query "Lada #2" in Fig. 2 and 3, with their levels.
CARS = {"Lada #2": 3, "Lada #9": 2, "Prius #4": 1, "a lorry": 0}


@paper_figure("HAPPIER Fig. 1")
def equal_ap(alpha: float = 1.0) -> Figure:
    """Draw two rankings with the same AP, one with mild mistakes and one with severe mistakes."""
    query, images, listed = study.glyph_rankings()
    figure, axes = style.figure(width=7.6, height=2.7)
    _pictures.draw_row(axes, query[None], [0], [_pictures.QUERY], x=-1.35, y=0.36)
    marks = [replace(mark, sign=str(level)) for level, mark in enumerate(_pictures.marks_of(3))]
    axes.text(-0.9, 1.36, "query", ha="center")
    facts = []
    for row, (name, pictures, levels) in enumerate(zip(("mild", "severe"), images, listed, strict=True)):
        base = 1.45 - 2.45 * row
        _pictures.draw_row(axes, pictures, range(len(levels)), [marks[level] for level in levels], y=base)
        values = {key: float(value) for key, value in study.measure(levels, alpha).items()}
        text = "   ".join(f"{key} {value:.2f}" for key, value in values.items())
        axes.text(0, base + 1.02, f"{name} mistakes:   {text}", va="bottom")
        facts.append(f"{name} mistakes: levels {levels.tolist()}, {text}")
    style.bare(axes, xlim=(-1.5, 15), ylim=(-1.7, 3.1), aspect="equal")
    return style.describe(
        figure,
        f"A query, the letter {study.QUERY}, and two rankings of the same fifteen pictures, each framed in the colour "
        "of its level, which is written below. Five are of level 3, the same letter in other faces, at ranks 1, 2, "
        f"3, 5 and 7 in both. {'. '.join(facts)}.",
    )


@paper_figure("HAPPIER Fig. 2")
def concept_tree(alpha: float = 1.0) -> Figure:
    """Draw a tree of concepts, and the cost of an inversion in it."""
    figure, (left, right) = style.figure(1, 2, width=7.6, height=3.3, width_ratios=(1.25, 1))
    _tree(left)
    orders = ("Lada #2", "Lada #9", "Prius #4", "a lorry"), ("Lada #9", "Lada #2", "Prius #4", "a lorry")
    rankings = (*orders, ("Prius #4", "Lada #2", "Lada #9", "a lorry"))
    facts = []
    for row, ranking in enumerate(rankings):
        values = study.measure([CARS[name] for name in ranking], alpha)
        base = 2 - row
        for place, name in enumerate(ranking):
            draw_tile(right, place, base, name.replace(" ", "\n"), CARS[name])
        text = f"AP {values['AP']:.2f}   H-AP {values['H-AP']:.2f}"
        right.text(0, base + 0.66, text, va="bottom")
        facts.append(f"{', '.join(ranking)}: {text}")
    style.bare(right, xlim=(-0.05, 4.05), ylim=(-0.1, 3.0))
    return style.describe(
        figure,
        "Left: a tree. Vehicles are cars or lorries, cars are Ladas or Priuses, Ladas are Lada #2 or Lada #9. Seen "
        "from Lada #2, itself has level 3, Lada #9 level 2, Prius #4 level 1, a lorry level 0. Right: three rankings. "
        + ". ".join(facts)
        + ".",
    )


def _tree(axes: Axes) -> None:
    at = {
        "vehicles": (1.75, 3, ""),
        "cars": (1.25, 2, "vehicles"),
        "lorries": (3.2, 2, "vehicles"),
        "Lada": (0.55, 1, "cars"),
        "Prius": (2.1, 1, "cars"),
        "Lada #2": (0.0, 0, "Lada"),
        "Lada #9": (1.05, 0, "Lada"),
        "Prius #4": (2.1, 0, "Prius"),
        "a lorry": (3.2, 0, "lorries"),
    }
    for name, (x, y, parent) in at.items():
        if parent:
            axes.plot((x, at[parent][0]), (y, at[parent][1]), color=style.GREY, linewidth=1.5, zorder=0)
        colour = COLOURS[CARS[name]] if name in CARS else "white"
        box = {"boxstyle": "round", "facecolor": _pale(colour), "edgecolor": style.GREY if y else colour}
        style.write(axes, x, y, name if y else name.replace(" ", "\n"), bbox=box)
        if name in CARS:
            axes.text(x, -0.55, f"level {CARS[name]}", ha="center", va="top")
    style.bare(axes, xlim=(-0.5, 3.75), ylim=(-0.95, 3.3))


def _pale(colour: str) -> tuple[float, ...]:
    """Return a colour that is light enough to be written on."""
    return tuple(1 - 0.35 * (1 - value) for value in to_rgb(colour))


def draw_tile(
    axes: Axes, x: float, y: float, text: str, level: int, *, height: float = 0.6, width: float = 1.0
) -> None:
    """Draw one item of a ranking in the colour of its level, hatched if it has nothing in common with the query."""
    box = (x + 0.03, y), width - 0.06, height
    tile = Rectangle(*box, facecolor=_pale(COLOURS[level]), edgecolor=COLOURS[level], linewidth=1.2, antialiased=False)
    axes.add_patch(tile)
    if level == 0:
        axes.add_patch(Rectangle(*box, fill=False, hatch="//", edgecolor="#E8A878", linewidth=0))
    style.write(axes, x + width / 2, y + height / 2, text)


@paper_figure("HAPPIER Fig. 3")
def two_inversions() -> Figure:
    """Draw H-rank of the overtaken item as the sum of what it shares with the items above it."""
    figure, axes = style.figure(2, 1, width=7.2, height=3.9)
    facts = []
    rankings = ("Lada #9", "Lada #2", "Prius #4"), ("Prius #4", "Lada #2", "Lada #9")
    for axis, ranking in zip(axes, rankings, strict=True):
        rel = [Fraction(CARS[name], 3) for name in ranking]
        proof = certificate(rel, [1, 2, 3])
        shared = min(rel[0], rel[1])
        for place, name in enumerate(ranking):
            draw_tile(axis, place, 0.25, f"{name}\nrel {rel[place]}", CARS[name], height=0.9)
            axis.text(place + 0.5, 0.12, f"rank {place + 1}", ha="center", va="top")
        axis.text(3.3, 1.28, "H-rank of Lada #2", va="bottom")
        draw_tile(axis, 3.3, 0.25, "itself\n1", 3, height=0.9, width=2.0)
        draw_tile(axis, 5.3, 0.25, f"shared\n{shared}", CARS[ranking[0]], height=0.9, width=2 * float(shared))
        axis.text(3.3 + 2 * float(1 + shared) + 0.1, 0.7, f"= {proof.h_ranks[1]}", va="center")
        style.write(axis, 4.2, -0.05, f"H-AP = {proof.h_ap} = {float(proof.h_ap):.2f}")
        style.bare(axis, xlim=(0, 7.35), ylim=(-0.3, 1.65))
        h_rank = f"Lada #2 has H-rank 1 + {shared} = {proof.h_ranks[1]}"
        facts.append(f"{', '.join(ranking)}: {h_rank}, and H-AP is {float(proof.h_ap):.2f}")
    return style.describe(
        figure,
        f"Two rankings for the query Lada #2, with relevance 1, 2/3 and 1/3 at levels 3, 2 and 1. {'. '.join(facts)}.",
    )


#: The five items of the chapter, from rank 1 to 5: names and relevances.
FIVE = {"A": 2, "B": 3, "C": 0, "D": 1, "E": 3}


def nested_ranks() -> Figure:
    """Draw H-rank as a sum of ordinary ranks in ever smaller sets."""
    proof = certificate(list(FIVE.values()), range(1, 6))
    figure, axes = style.figure(width=7.0, height=3.7)
    rows = 4
    for place, (name, rel) in enumerate(FIVE.items()):
        draw_tile(axes, place, rows, f"{name}: rel {rel}", rel)
        for t in range(3):
            if proof.within[place][t]:
                draw_tile(axes, place, rows - 1 - t, str(proof.within[place][t]), t + 1)
        style.write(axes, place + 0.5, 0.3, str(proof.h_ranks[place]), weight="bold")
    for t in range(3):
        axes.text(5.15, rows - 0.7 - t, f"rank in {{rel ≥ {t + 1}}}", va="center")
        if t:
            style.write(axes, -0.15, rows - 0.7 - t, "+")
    axes.plot((0, 5), (0.8, 0.8), color=style.BLACK, linewidth=1)
    axes.text(5.15, 0.3, "H-rank", va="center", weight="bold")
    axes.text(5.15, rows + 0.3, "the ranking, best first", va="center")
    style.bare(axes, xlim=(-0.4, 7.3), ylim=(0, rows + 0.7))
    facts = "; ".join(
        f"{name} has the ranks {[r for r in within if r]}, sum {h}" if any(within) else f"{name} is in none, sum 0"
        for name, within, h in zip(FIVE, proof.within, proof.h_ranks, strict=True)
    )
    return style.describe(
        figure,
        f"Five items from rank 1 to 5 with the relevances {list(FIVE.values())}. Below them their ranks within the "
        "sets of relevance 1, 2 and 3 or more, which become smaller from row to row; columns add up to the H-rank. "
        f"{facts}.",
    )
