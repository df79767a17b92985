"""Figures of chapter 10: scores in soft bins, what bins do to AP and to the landscape, and which items they move."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from rankedu.losses import FastAPLoss
from rankedu.rankers import HistogramRanker
from rankedu_book.ch10_fastap_histograms import study
from rankedu_book.kit import style
from rankedu_book.kit.figures import paper_figure
from rankedu_book.kit.relief import draw_blocks, surface, view

#: The chapter's five items by hand: A to E, of which B and D are relevant.
FIVE = (0.75, 0.5, 0.0, -0.25, -0.75)
RELEVANT = (False, True, False, True, False)


def soft_bins(bins: int = 4) -> Figure:
    """Draw the triangles of the bins, and the soft histogram of five items."""
    centres, line, width = np.linspace(1, -1, bins + 1), np.linspace(-1, 1, 401), 1.4 / bins
    figure, (above, below) = style.figure(2, 1, width=6.4, height=4.6, sharex=True)
    for index, centre in enumerate(centres):
        above.plot(line, np.clip(1 - np.abs(line - centre) * bins / 2, 0, None), color=style.GREY, linewidth=1.5)
        style.write(above, centre, 1.1, f"$m_{index}$", va="baseline")
    for name, score, good in zip("ABCDE", FIVE, RELEVANT, strict=True):
        look = style.mark(good)
        for share in 1 - np.abs(score - centres) * bins / 2:
            if share > 0:
                above.vlines(score, 0, share, color=look["color"], linewidth=1.2)
                above.plot(score, share, markersize=7, **look)
        style.write(above, score, -0.14, name, va="top", color=look["color"])
    above.set(ylim=(-0.35, 1.35), yticks=(0, 0.5, 1), ylabel="share")
    scores, relevant = torch.tensor(FIVE), torch.tensor(RELEVANT)
    every, positives = (HistogramRanker(bins).histogram(scores, where=w).numpy() for w in (None, relevant))
    below.bar(centres, positives, width, color=style.POSITIVE, label="relevant")
    look = {"bottom": positives, "label": "irrelevant", "edgecolor": "white"} | style.area(False)
    below.bar(centres, every - positives, width, **look)
    for centre, count in zip(centres, every, strict=True):
        style.write(below, centre, count + 0.05, f"{count:g}", va="baseline")
    below.set(xlim=(-1.25, 1.25), ylim=(0, 2.6), xlabel="score", ylabel="soft count $h_l$")
    below.legend(loc="upper center", ncols=2)
    return style.describe(
        figure,
        f"Two panels over the score, from −1 at the left to 1 at the right. Above, {bins + 1} triangles, one at each "
        "centre, each as wide as two bins. Each of the items A to E is marked on one or two triangles, and its shares "
        "add up to one. Below, the sums of the shares, from the highest centre to the lowest: "
        f"{style.listed(every, '{:g}')}; the relevant items' part is {style.listed(positives, '{:g}')}.",
    )


@paper_figure("RaMBO supp. Fig. 1b")
def evolution_with_bins(bins: Sequence[int] = (5, 10, 20, 40)) -> Figure:
    """Draw the landscape of soft-binned ranks for four numbers of bins."""
    figure, axes = style.figure(2, 2, width=6.4, height=5.0)
    heights = _landscapes(list(axes.flat), bins, [f"{count} bins" for count in bins])
    facts = "; ".join(f"{count} bins: {height}" for count, height in zip(bins, heights, strict=True))
    return style.describe(
        figure,
        "Four surfaces over the same square of score vectors, from one gently curved slope to a surface with the "
        f"peaks and basins of the true one, but without its walls. {facts}. "
        "The vertical scale is the same in all four, its zero is not.",
    )


@paper_figure("RaMBO supp. Fig. 2d")
def soft_binning_landscape(bins: int = 10) -> Figure:
    """Draw the landscape with soft binning in place of the ranking."""
    figure, axes = style.figure(width=6.4, height=4.2)
    [heights] = _landscapes([axes], [bins], [""], size=900)
    return style.describe(
        figure,
        f"One large block with a gently curved slope on top: {heights}. The peaks and basins of the true landscape are "
        f"gone. Faint straight creases run where a score crosses one of the centres of the {bins} bins.",
    )


def _landscapes(axes: Sequence[Any], bins: Sequence[int], titles: Sequence[str], size: int = 520) -> list[str]:
    """Draw a soft-binned landscape on each of the axes, and return the range of its heights in words."""
    seen = view(size)
    heights = [surface(seen, HistogramRanker(count, study.SCORE_RANGE)) for count in bins]
    draw_blocks(axes, seen, heights, titles)
    return ["heights from {:.0f} to {:.0f}".format(*seen.ends(height)) for height in heights]


def distance_from_ap(bins: Sequence[int] = (1, 2, 5, 10, 20, 40, 80, 160, 320, 640, 1280, 5120, 20480)) -> Figure:
    """Draw how far the two readings of a histogram are from AP, against the number of bins."""
    fast, soft = np.array([study.distances(count) for count in bins]).T
    limit = study.limit_of_the_loss(*study.similarities()).mean().item()
    figure, axes = style.figure(width=6.4, height=3.9)
    axes.loglog(bins, fast, "o-", color=style.SKY, label="FastAP")
    axes.loglog(bins, soft, "s-", color=style.PURPLE, label="AP of soft ranks")
    axes.axhline(limit, color=style.BLACK, linestyle="--", linewidth=1.2)
    axes.text(1, limit * 0.85, "predicted limit of FastAP", va="top")
    axes.set(xlabel="bins L", ylabel="mean distance from AP", ylim=(3e-5, 1.5))
    style.name_lines(axes)
    return style.describe(
        figure,
        "Two falling curves on logarithmic axes, the mean distance from AP against the number of bins. FastAP falls "
        f"from {fast[0]:.2f} with {bins[0]} bin to {fast[-1]:.4f} with {bins[-1]:,}, where it has reached the dashed "
        f"line at {limit:.4f}. AP of soft ranks falls from {soft[0]:.2f} to {soft[-1]:.4f}, and goes on falling.",
    )


def scallops(bins: Sequence[int] = (10, 40)) -> Figure:
    """Draw FastAP of one relevant item on its way down, where AP is constant."""
    line = torch.linspace(0.4499, -0.4499, 1802, dtype=torch.float64)  # no centre among them: the slope jumps there
    figure, (above, below) = style.figure(2, 1, width=6.4, height=5.0, sharex=True)
    facts = []
    for count, line_style, colour in zip(bins, ("-", "--"), (style.ORANGE, style.PURPLE), strict=False):
        leaf = line.clone().requires_grad_()
        value = study.alone(leaf, count)
        (slope,) = torch.autograd.grad(value.sum(), leaf)
        options = {"color": colour, "linestyle": line_style, "label": f"{count} bins"}
        above.plot(line, value.detach(), **options)
        below.plot(line, slope, linewidth=1.5, **{**options, "linestyle": "-"})
        facts.append(f"{count} bins: down to {value.min():.3f}, slopes from {slope.min():.1f} to {slope.max():.1f}")
    above.axhline(0.5, color=style.BLACK, linewidth=1.2, label="AP")
    above.set(ylabel="FastAP", ylim=(0.40, 0.545), yticks=(0.42, 0.46, 0.5))
    above.legend(loc="upper center", ncols=3)
    below.axhline(0, color=style.BLACK, linewidth=1.2)
    below.set(ylabel="slope in the score", xlabel="score of the relevant item", xlim=(-0.45, 0.45))
    return style.describe(
        figure,
        f"Two panels over the score of a relevant item far below an irrelevant one. Above, AP is the constant "
        f"0.5; FastAP touches it at every centre and sags between two of them. Below, the slope, a sawtooth around "
        f"zero. {'; '.join(facts)}. More bins make more arcs of the same depth, and steeper ones.",
    )


def who_gets_a_gradient(bins: Sequence[int] = (4, 10, 40)) -> Figure:
    """Draw which items FastAP moves, with few bins and with many."""
    figure, panels = style.figure(len(bins), 1, width=6.4, height=5.6, sharex=True)
    facts = []
    for axes, count in zip(panels, bins, strict=True):
        push = study.pushes(FastAPLoss(count))
        for centre in np.linspace(1, -1, count + 1):
            axes.axvline(centre, color=style.GREY, linewidth=0.6, alpha=0.6)
        moved, others = draw_pushes(axes, push)
        axes.set_title(f"{count} bins: {moved} of {others} irrelevant items have a gradient")
        numbers = ", ".join(f"{value:+.3f}" for value in push[torch.tensor(study.LIST_RELEVANT)])
        facts.append(f"{count} bins: {moved} of {others} irrelevant items have a gradient; relevant ones {numbers}")
    panels[-1].set(xlabel="score (thin lines: centres)")
    return style.describe(
        figure,
        f"Three panels with the same {len(study.LIST)} scores, four of them relevant, and a bar for minus their "
        f"gradient, which points up if a descent step raises the score. {'; '.join(facts)}.",
    )


def draw_pushes(axes: Axes, push: Tensor) -> tuple[int, int]:
    """Draw a bar for each score of the chapter's list; a cross marks an item whose push is exactly zero.

    Returns how many irrelevant items are moved, and how many there are.
    """
    relevant, scores, heights = np.array(study.LIST_RELEVANT), np.array(study.LIST), push.numpy()
    for good in (False, True):
        mask, look = (relevant == good) & (heights != 0), style.mark(good)
        axes.vlines(scores[mask], 0, heights[mask], color=look["color"], linewidth=3)
        axes.plot(scores[mask], np.zeros(mask.sum()), linestyle="none", markersize=6, **look)
    still = heights == 0
    axes.plot(scores[still], np.zeros(still.sum()), "x", color=style.GREY, markersize=7, markeredgewidth=1.8)
    axes.axhline(0, color=style.BLACK, linewidth=0.8, zorder=0)
    limit = 1.25 * max(np.abs(heights).max(), 1e-9)
    axes.set(xlim=(-1.04, 1.04), ylim=(-limit, limit), ylabel="push")
    return int((heights[~relevant] != 0).sum()), int((~relevant).sum())
