"""Figures of chapter 12: the surrogates as curves and as solid blocks, and what the rows of Table 1 cost."""

import math

import numpy as np
from matplotlib.figure import Figure
from scipy import stats
from torch import nn

from rankedu.rankers import BlackboxRanker, HistogramRanker, SigmoidRanker
from rankedu_book.ch12_surrogates_side_by_side import surrogates as known
from rankedu_book.ch12_surrogates_side_by_side.study import strength_at
from rankedu_book.ch12_surrogates_side_by_side.surrogates import EXTENT, LOOKS, SEED, SURROGATES, loss_of, surrogate
from rankedu_book.kit import style
from rankedu_book.kit.figures import paper_figure
from rankedu_book.kit.known_rankers import SCORE_RANGE
from rankedu_book.kit.relief import draw_blocks, surface, view
from rankedu_book.kit.style import in_words
from rankedu_lab.contestants import ProjectionRanker


def two_items(width: float = 0.4) -> Figure:
    """Draw the rank of an item against its lead over its only rival, for each ranker, and the slope."""
    figure, (left, right) = style.figure(1, 2, width=6.8, height=3.3)
    lead = np.linspace(-0.75, 0.75, 1201)
    points, c = np.stack([0 * lead, lead], axis=1), np.array([0.0, 1.0])
    makers: dict[str, nn.Module] = {name: how.make(how.usual) for name, how in SURROGATES.items()}
    makers |= {
        "blackbox": BlackboxRanker(width),
        "sigmoid": SigmoidRanker(width / 5),
        "histogram": HistogramRanker(round(2 / (width / 2)), (-1.0, 1.0)),
        "projection": ProjectionRanker(width / 2),
    }
    left.plot(lead, loss_of(points, c), color=style.GREY, linewidth=5, alpha=0.5, label="the rank")
    facts = []
    for name, ranker in makers.items():
        values, gradients = surrogate(ranker, points, c)
        left.plot(lead, values, label=name, **LOOKS[name] | {"marker": ""})
        right.plot(lead, -gradients[:, 1], **LOOKS[name] | {"marker": ""})
        moving = lead[-gradients[:, 1] > 0.1]
        facts.append(f"{name}: from {moving.min():.2f} to {moving.max():.2f}".replace("-", "−"))
    left.set(xlabel="lead of the second item", title="its rank", yticks=(1, 1.5, 2))
    right.set(xlabel="lead of the second item", title="the push that it gets", ylim=(-0.1, 5))
    style.legend_below(figure, left, 3)
    return style.describe(
        figure,
        "Left, the rank of an item against its lead over its only rival: a step from 2 to 1 at 0, and "
        f"{in_words(len(makers))} ramps in its place. Right, their slopes. Where the push exceeds 0.1: "
        f"{'; '.join(facts)}. The blackbox ramp ends at the step, the others are on both sides of it.",
    )


@paper_figure("RaMBO supp. Fig. 2")
def four_landscapes(lam: float = 0.06, bins: int = 10, size: int = 320) -> Figure:
    """Draw one section of the loss four times: exact, interpolated, by a learned sorter, and by soft binning."""
    seen = view(size, seed=SEED, extent=EXTENT)
    blocks = {
        "(a) the loss itself": seen.staircase,
        f"(b) interpolated, λ = {lam:g}": surface(seen, BlackboxRanker(lam)),
        "(c) a trained LSTM": surface(seen, known.sorter()),
        f"(d) soft binning, {bins} bins": surface(seen, HistogramRanker(bins, SCORE_RANGE)),
    }
    figure, axes = style.figure(2, 2, width=6.8, height=5.2)
    draw_blocks(list(axes.flat), seen, list(blocks.values()), list(blocks))
    facts = []
    for title, height in blocks.items():
        shown, off = height[seen.inside], np.abs(height - seen.staircase)[seen.inside]
        facts.append(f"{title}: heights from {shown.min():.0f} to {shown.max():.0f}, on average {off.mean():.1f} off")
    return style.describe(
        figure,
        "Four solid blocks over the same square of score vectors, on one vertical scale, each around its own middle. "
        f"{'; '.join(facts)}. The first is flat plateaus with walls between, the second tilted facets, the third a "
        "smooth surface that is bent but has hardly a hill, the fourth facets with long straight creases.",
    )


def every_landscape(distortion: float = 0.08, size: int = 200) -> Figure:
    """Draw one section of the loss, exact and by every ranker with a strength, at one distortion."""
    seen = view(size, seed=SEED, extent=EXTENT)
    blocks = {"the loss itself": seen.staircase}
    for name, how in SURROGATES.items():
        strength = strength_at(name, distortion)
        blocks[f"{name}, {how.label(strength)}"] = surface(seen, how.make(strength))
    rows = math.ceil(len(blocks) / 3)
    figure, axes = style.figure(rows, 3, width=7.4, height=2.4 * rows)
    draw_blocks(list(axes.flat[: len(blocks)]), seen, list(blocks.values()), list(blocks))
    for free in axes.flat[len(blocks) :]:
        free.set_axis_off()
    spans = (f"{title}: {np.ptp(height[seen.inside]):.0f}" for title, height in blocks.items())
    return style.describe(
        figure,
        f"{in_words(len(blocks)).capitalize()} solid blocks over one square of score vectors, on one vertical scale: "
        f"flat plateaus with walls between, and {in_words(len(SURROGATES))} surrogates of it, each at the strength "
        f"that distorts the loss by {distortion:.0%}. From the lowest to the highest place, {'; '.join(spans)}.",
    )


def measured_table(seconds: dict[str, dict[int, float]]) -> Figure:
    """Draw seconds against list length for every row (method → length → seconds), with fitted exponents.

    Source: RaMBO Tab. 1.
    """
    figure, axes = style.figure(width=7.2, height=4.4)
    colours = (style.BLUE, style.SKY, style.PURPLE, style.RED, style.GREEN, style.BLACK, style.ORANGE, style.GREY)
    facts = []
    for (name, times), marker, colour in zip(seconds.items(), "osD^vP*X", colours, strict=False):
        line = stats.linregress(np.log(list(times)), np.log(list(times.values())))
        margin = stats.t.isf(0.025, len(times) - 2) * line.stderr
        label = f"{name}: {line.slope:.2f}"
        axes.loglog(list(times), list(times.values()), f"{marker}-", color=colour, label=label)
        facts.append(f"{name}: exponent {line.slope:.2f} ± {margin:.2f} over {min(times)} to {max(times)} items")
    axes.set(xlabel="items in the list", ylabel="seconds, forward + backward")
    style.legend_beside(axes, title="fitted exponent")
    return style.describe(
        figure, f"Nearly straight lines on logarithmic axes, time against list length. {'; '.join(facts)}."
    )
