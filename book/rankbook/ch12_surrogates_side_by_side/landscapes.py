"""The surrogates of chapter 12 as solid blocks, over one square of score vectors."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.figure import Figure

from rankbook.ch12_surrogates_side_by_side import surrogates as known
from rankbook.ch12_surrogates_side_by_side.quality import strength_at
from rankbook.ch12_surrogates_side_by_side.surrogates import EXTENT, SEED, SURROGATES, surface
from rankbook.kit import style
from rankbook.kit.figures import paper_figure
from rankbook.kit.relief import draw_blocks
from rankbook.kit.section import view
from rankbook.kit.style import in_words
from rankedu.rankers import BlackboxRanker, HistogramRanker
from rankedu.rankers.registry import SCORE_RANGE


@paper_figure("RaMBO supp. Fig. 2")
def four_landscapes(lam: float = 0.06, bins: int = 10, size: int = 420) -> Figure:
    """One section of the loss four times: as it is, by interpolation, by a learnt sorter, and by soft binning."""
    seen = view(size, seed=SEED, extent=EXTENT)
    rankers = {
        f"(b) interpolated, λ = {lam:g}": BlackboxRanker(lam),
        "(c) a trained LSTM": known.sorter(),
        f"(d) soft binning, {bins} bins": HistogramRanker(bins, SCORE_RANGE),
    }
    titles = ["(a) the loss itself", *rankers]
    heights = [seen.staircase, *(surface(seen.section, seen.coefficients, ranker) for ranker in rankers.values())]
    figure, axes = style.figure(2, 2, width=6.8, height=5.2)
    draw_blocks(list(axes.flat), seen, heights, titles)
    facts = []
    for title, height in zip(titles, heights, strict=True):
        shown, off = height[seen.inside], np.abs(height - seen.staircase)[seen.inside]
        facts.append(f"{title}: heights from {shown.min():.0f} to {shown.max():.0f}, on average {off.mean():.1f} off")
    return style.describe(
        figure,
        "Four solid blocks over the same square of score vectors, on one vertical scale, each around its own middle. "
        f"{'; '.join(facts)}. The first is flat plateaus with walls between, the second tilted facets, the third a "
        "smooth surface that is bent but has hardly a hill, the fourth facets with long straight creases.",
    )


@style.style()
def every_landscape(distortion: float = 0.08, size: int = 200) -> Figure:
    """One section of the loss as it is, and as every ranker with a strength makes it, at one distortion."""
    seen = view(size, seed=SEED, extent=EXTENT)
    heights, titles = [seen.staircase], ["the loss itself"]
    for name, how in SURROGATES.items():
        strength = strength_at(name, distortion)
        heights.append(surface(seen.section, seen.coefficients, how.make(strength)))
        titles.append(f"{name}, {how.label(strength)}")
    rows = math.ceil(len(titles) / 3)
    figure, axes = style.figure(rows, 3, width=7.4, height=2.4 * rows)
    draw_blocks(list(axes.flat[: len(titles)]), seen, heights, titles)
    for free in axes.flat[len(titles) :]:
        free.set_axis_off()
    spans = (f"{title}: {np.ptp(height[seen.inside]):.0f}" for title, height in zip(titles, heights, strict=True))
    return style.describe(
        figure,
        f"{in_words(len(titles)).capitalize()} solid blocks over one square of score vectors, on one vertical scale: "
        f"flat plateaus with walls between, and {in_words(len(SURROGATES))} surrogates of it, each at the strength "
        f"that distorts the loss by {distortion:.0%}. From the lowest to the highest place, {'; '.join(spans)}.",
    )
