"""Figures of chapter 4: what an optimiser sees instead of a staircase."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from rankedu_book.kit import style
from rankedu_book.kit.figures import paper_figure
from rankedu_book.kit.landscapes import interpolated_landscape, random_section, section_gradient
from rankedu_book.kit.ranks import ranks_of
from rankedu_book.kit.relief import EXTENT, SEED, draw_blocks, view


@paper_figure("RaMBO Fig. 1", lam=lambda lam: {"weak": lam / 5, "strong": lam})
def staircase_and_interpolations(weak: float = 0.06, strong: float = 0.3, seed: int = SEED) -> Figure:
    """Draw a section of a rank-based loss, and two interpolations of increasing strength."""
    lams = (None, weak, strong)
    figure, axes = style.figure(1, 3, width=7.2, height=2.7)
    surfaces = _landscapes(axes, lams, ["the loss itself", f"λ = {weak:g}", f"λ = {strong:g}"], seed)
    return style.describe(
        figure,
        "Three solid blocks, each the same square of score vectors; the height of the surface is the loss. Left, the "
        "loss itself: flat plateaus with walls between. "
        f"Middle, λ = {weak:g}: the same hills and basins, but a continuous surface of flat facets. Right, "
        f"λ = {strong:g}: broad slopes; the height range has shrunk from {surfaces[0]['range']:.0f} to "
        f"{surfaces[2]['range']:.0f}.",
    )


@paper_figure("RaMBO supp. Fig. 1a", lam=lambda lam: {"lams": (lam / 20, lam / 4, lam, 5 * lam)})
def evolution_with_lam(lams: tuple[float, float, float, float] = (0.01, 0.05, 0.2, 1.0), seed: int = SEED) -> Figure:
    """Draw the interpolated ranking landscape for four strengths."""
    figure, axes = style.figure(2, 2, width=6.4, height=5.0)
    surfaces = _landscapes(axes.flat, lams, [f"λ = {lam:g}" for lam in lams], seed)
    facts = "; ".join(
        f"λ = {lam:g}: heights from {fact['low']:.0f} to {fact['high']:.0f}, gradient zero on {fact['flat']:.0%} of it"
        for lam, fact in zip(lams, surfaces, strict=True)
    )
    return style.describe(
        figure,
        f"Four surfaces over the same square of score vectors, from jagged to almost a plane. {facts}. The vertical "
        "scale is the same in all four, its zero is not.",
    )


@paper_figure("RaMBO supp. Fig. 2a")
def true_landscape(seed: int = SEED) -> Figure:
    """Draw the true, piecewise constant landscape."""
    figure, axes = style.figure(width=6.4, height=4.2)
    fact = _landscapes([axes], [None], [""], seed, size=900)[0]
    return style.describe(
        figure,
        f"One large block: flat plateaus at heights between {fact['low']:.0f} and {fact['high']:.0f}, separated by "
        "vertical walls that run in straight lines across the square.",
    )


@paper_figure("RaMBO supp. Fig. 2b")
def interpolated_ranking_landscape(lam: float = 0.06, seed: int = SEED) -> Figure:
    """Draw the landscape with the ranking replaced by interpolated ranking."""
    figure, axes = style.figure(width=6.4, height=4.2)
    fact = _landscapes([axes], [lam], [""], seed, size=900)[0]
    return style.describe(
        figure,
        f"The same block after interpolation with λ = {lam:g}: a continuous surface of flat facets with heights from "
        f"{fact['low']:.0f} to {fact['high']:.0f}. Peaks and basins are where the plateaus had them. The gradient "
        f"vanishes on {fact['flat']:.1%} of the square; on the plateaus it did everywhere.",
    )


def gradient_bars() -> Figure:
    """Draw who is pushed up and who down: five items, the loss rk(B) + rk(E), three strengths."""
    scores = np.array([0.9, 0.7, 0.6, 0.4, 0.3])
    incoming = np.array([0.0, 1.0, 0.0, 0.0, 1.0])
    figure, axes = style.figure(1, 3, width=6.4, height=2.9, sharey=True, sharex=True)
    facts = []
    for axis, lam in zip(axes, (0.05, 0.25, 4.0), strict=True):
        places = ranks_of(scores) - ranks_of(scores + lam * incoming)
        look: Any = {key: [style.area(c > 0)[key] for c in incoming] for key in ("color", "hatch")}
        bars = axis.barh(range(5), places, edgecolor="white", **look)
        axis.bar_label(bars, [f"{place:+d}".replace("+0", "0") for place in places], padding=3)
        axis.axvline(0, color=style.BLACK, linewidth=1)
        axis.set(title=f"λ = {lam:g}", xlim=(-3.4, 3.4), xticks=(-2, 0, 2))
        facts.append(f"λ = {lam:g}: " + ", ".join(f"{n} {p:+d}" for n, p in zip("ABCDE", places, strict=True)))
    axes[0].set_yticks(range(5), [f"{n}  {y}" for n, y in zip("ABCDE", scores, strict=True)])
    axes[0].invert_yaxis()
    axes[0].set_ylabel("item and score")
    axes[1].set_xlabel("places gained on the way to $\\mathbf{y}_\\lambda$: $-\\lambda$ · gradient")
    return style.describe(
        figure,
        "Three bar charts, one bar for each of five items, blue for the two whose rank is in the loss, red and hatched "
        f"for the others; a bar to the right means that a descent step raises the score. {'. '.join(facts)}. In each "
        "chart the bars add up to zero.",
    )


def _landscapes(axes: Any, lams: Any, titles: Any, seed: int, size: int = 520) -> list[dict[str, float]]:
    """Draw the staircase (None) or an interpolation on each of the axes, all on one vertical scale."""
    seen, coarse = view(size, seed=seed), random_section(seed=seed, extent=EXTENT, resolution=60)
    section, c = seen.section, seen.coefficients
    heights = [seen.staircase if lam is None else interpolated_landscape(section, c, lam) for lam in lams]
    draw_blocks(list(np.ravel(axes)), seen, heights, titles)
    surfaces = []
    for lam, (low, high) in zip(lams, map(seen.ends, heights), strict=True):
        flat = 1.0 if lam is None else float((section_gradient(coarse, c, lam) == 0).all(-1).mean())
        surfaces.append({"low": low, "high": high, "range": high - low, "flat": flat})
    return surfaces
