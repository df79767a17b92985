"""Figures of chapter 10: scores in soft bins, what that does to the landscape, and what it costs in precision."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from rankbook.ch10_fastap_histograms import study
from rankbook.kit import style
from rankbook.kit.figures import paper_figure
from rankbook.kit.ranks import Array
from rankbook.kit.relief import draw_blocks, surface, view
from rankedu.rankers import HistogramRanker

#: The chapter's five items by hand: A to E, of which B and D are relevant.
FIVE = (0.75, 0.5, 0.0, -0.25, -0.75)
RELEVANT = (False, True, False, True, False)
#: How the two readings of AP in bins are drawn.
READINGS = (("FastAP", style.SKY, "o"), ("AP of soft ranks", style.PURPLE, "s"))


def soft_bins(bins: int = 4) -> Figure:
    """The triangles of the bins, and the soft histogram of five items."""
    centres = np.linspace(1, -1, bins + 1)
    figure, (above, below) = style.figure(2, 1, width=6.4, height=4.6, sharex=True)
    everything, positives = draw_counts(below, torch.tensor(FIVE), torch.tensor(RELEVANT), bins, width=1.4 / bins)
    line = np.linspace(-1, 1, 401)
    for index, centre in enumerate(centres):
        above.plot(line, np.clip(1 - np.abs(line - centre) * bins / 2, 0, None), color=style.GREY, linewidth=1.5)
        above.text(centre, 1.1, f"$m_{index}$", ha="center", fontsize=11)
    for name, score, good in zip("ABCDE", FIVE, RELEVANT, strict=True):
        look = style.mark(good)
        for centre in centres:
            share = max(0.0, 1 - abs(score - centre) * bins / 2)
            if share > 0:
                above.vlines(score, 0, share, color=look["color"], linewidth=1.2)
                above.plot(score, share, markersize=7, **look)
        above.text(score, -0.14, name, ha="center", va="top", fontsize=11, color=look["color"])
    above.set(ylim=(-0.35, 1.35), yticks=(0, 0.5, 1), ylabel="share")
    below.set(xlim=(-1.25, 1.25), ylim=(0, 1.75), xlabel="score", ylabel="soft count $h_l$")
    for centre, count in zip(centres, everything, strict=True):
        below.text(centre, count + 0.05, f"{count:g}", ha="center", fontsize=11)
    below.legend(loc="upper left")
    facts = ", ".join(f"{count:g}" for count in everything)
    return style.describe(
        figure,
        f"Two panels over the score, from −1 at the left to 1 at the right. Above, {bins + 1} triangles, one at each "
        f"centre, each as wide as two bins; each of the items A to E stands on the one or two triangles that cover it, "
        "and its shares add up to one. Below, the sums of the shares, from the highest centre to the lowest: "
        f"{facts}; the positives' part is {', '.join(f'{count:g}' for count in positives)}.",
    )


def draw_counts(
    axes: Axes, scores: Tensor, relevance: Tensor, bins: int, width: float, **look: Any
) -> tuple[Array, Array]:
    """Soft counts, the negatives upon the positives; returns those of all items, and those of the positives."""
    ranker, centres = HistogramRanker(bins), np.linspace(1, -1, bins + 1)
    everything, positives = (ranker.histogram(scores, where=among).numpy() for among in (None, relevance))
    axes.bar(centres, positives, width, color=style.POSITIVE, label="relevant", **look)
    others: dict[str, Any] = {"bottom": positives, "label": "irrelevant", "edgecolor": "white"} | look
    axes.bar(centres, everything - positives, width, **style.area(False), **others)
    return everything, positives


@paper_figure("RaMBO supp. Fig. 1b")
def evolution_with_bins(bins: Sequence[int] = (5, 10, 20, 40)) -> Figure:
    """The landscape of soft-binned ranks for four numbers of bins."""
    figure, axes = style.figure(2, 2, width=6.4, height=5.0)
    surfaces = _landscapes(list(axes.flat), bins, [f"{count} bins" for count in bins])
    facts = "; ".join(
        f"{count} bins: {heights}, {away:.1f} away from the true landscape on average, or {shape:.1f} (root mean "
        "square) once both are centred"
        for count, (heights, away, shape) in zip(bins, surfaces, strict=True)
    )
    return style.describe(
        figure,
        f"Four surfaces over the same square of score vectors, from one gently curved slope to a surface with the "
        f"peaks and basins of the true one, but without its walls. {facts}. A flat sheet is "
        f"{study.off_the_landscape(None):.1f} away in this last sense. "
        "The vertical scale is the same in all four, its zero is not.",
    )


@paper_figure("RaMBO supp. Fig. 2d")
def soft_binning_landscape(bins: int = 10) -> Figure:
    """The landscape with the ranking replaced by soft binning."""
    figure, axes = style.figure(width=6.4, height=4.2)
    [(heights, away, shape)] = _landscapes([axes], [bins], [""], size=900)
    return style.describe(
        figure,
        f"One large block with a gently curved slope on top: {heights}. "
        f"The peaks and basins of the true landscape are gone; faint straight creases run where a score crosses one of "
        f"the centres of the {bins} bins. It is {away:.1f} away from the true landscape on average, or {shape:.1f} "
        f"(root mean square) once both are centred; a flat sheet is {study.off_the_landscape(None):.1f} away.",
    )


def _landscapes(
    axes: Sequence[Any], bins: Sequence[int], titles: Sequence[str], size: int = 520
) -> list[tuple[str, float, float]]:
    """Draw a soft-binned landscape on each of the axes; its heights, and how far it is off, also once centred."""
    seen = view(size)
    heights = [surface(seen, HistogramRanker(count, study.SCORE_RANGE)) for count in bins]
    draw_blocks(axes, seen, heights, titles)
    surfaces = []
    for height in heights:
        error, shown = (height - seen.staircase)[seen.inside], height[seen.inside]
        told = f"heights from {shown.min():.0f} to {shown.max():.0f}"
        surfaces.append((told, float(np.abs(error).mean()), float(error.std())))
    return surfaces


def bias_against_bins(bins: Sequence[int] = (1, 2, 5, 10, 20, 40, 80, 160, 320, 640, 1280, 5120, 20480)) -> Figure:
    """What AP loses in bins, and what it keeps losing in however many."""
    fast, soft = np.abs(np.array([study.measure_bias(count) for count in bins])).T
    limit = study.limit_of_the_loss(*study.similarities()).mean().item()
    figure, axes = style.figure(width=6.4, height=3.9)
    for (name, colour, mark), off in zip(READINGS, (fast, soft), strict=True):
        axes.loglog(bins, off, f"{mark}-", color=colour, label=name)
    axes.axhline(limit, color=style.BLACK, linestyle="--", linewidth=1.2)
    axes.text(1, limit * 0.8, "predicted limit of FastAP", va="top", fontsize=11)
    axes.set(xlabel="bins L", ylabel="distance from the true AP", ylim=(1e-6, 1.5))
    axes.legend(loc="lower left")
    return style.describe(
        figure,
        f"Two curves on logarithmic axes that fall, distance from the true AP against the number of bins. FastAP: "
        f"{fast[0]:.2f} with {bins[0]} bin, {fast[list(bins).index(10)]:.2f} with 10, and {fast[-1]:.4f} with "
        f"{bins[-1]}, where it has come down to the dashed line, {limit:.4f}. AP of soft ranks: {soft[0]:.2f}, "
        f"{soft[list(bins).index(10)]:.2f}, and "
        f"{soft[-1]:.1e} with {bins[-1]} bins, still falling.",
    )


def scallops(bins: Sequence[int] = (10, 40)) -> Figure:
    """AP of one lonely positive on its way down: it ought to be constant."""
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
    below.set(ylabel="slope in the score", xlabel="score of the positive", xlim=(-0.45, 0.45))
    return style.describe(
        figure,
        f"Two panels over the score of a positive that has one negative above it, far away. Above, AP is the constant "
        f"0.5; FastAP touches it at every centre and sags between two of them. Below, the slope, a sawtooth around "
        f"zero. {'; '.join(facts)}. More bins make more arcs of the same depth, and steeper ones.",
    )


def gradient_field(bins: Sequence[int] = (4, 10, 40)) -> Figure:
    """Who gets a gradient, with few bins and with many."""
    relevant, scores = np.array(study.LIST_RELEVANT), np.array(study.LIST)
    figure, axes = style.figure(len(bins), 1, width=6.4, height=5.6, sharex=True)
    facts = []
    for axis, count in zip(axes, bins, strict=True):
        push = study.pushes(count).numpy()
        for centre in np.linspace(1, -1, count + 1):
            axis.axvline(centre, color=style.GREY, linewidth=0.6, alpha=0.6)
        for good in (False, True):
            mask, look = relevant == good, style.mark(good)
            axis.vlines(scores[mask], 0, push[mask], color=look["color"], linewidth=3)
            axis.plot(scores[mask], np.zeros(mask.sum()), linestyle="none", markersize=6, **look)
        axis.axhline(0, color=style.BLACK, linewidth=0.8, zorder=0)
        dead = int((push[~relevant] == 0).sum())
        limit = 1.25 * np.abs(push).max()
        axis.set(ylim=(-limit, limit), ylabel="push")
        axis.set_title(f"{count} bins: {dead} of {(~relevant).sum()} negatives have no gradient", fontsize=11)
        numbers = ", ".join(f"{value:+.2f}" for value in push[relevant])
        facts.append(f"{count} bins: {dead} of {(~relevant).sum()} negatives have exactly none; positives {numbers}")
    axes[-1].set(xlim=(-1.04, 1.04), xlabel="score (thin lines: centres)")
    return style.describe(
        figure,
        f"Three panels with the same {len(scores)} scores, four of them relevant, and a bar for minus their gradient, "
        f"so up if a descent step raises the score. {'; '.join(facts)}.",
    )


def training_against_bins() -> Figure:
    """R@1 on new classes after training with FastAP, against the number of bins, in few dimensions and in more."""
    figure, panels = style.figure(1, 2, width=7.2, height=3.4, sharey=True)
    looks = {name: {"color": colour, "marker": mark} for name, colour, mark in READINGS}
    facts = []
    for axes, dim in zip(panels, (4, 12), strict=True):
        found = study.by_bins(dim)
        facts += [f"{dim} dimensions, {fact}" for fact in found.draw(axes, looks)]
        axes.set(title=f"{dim} dimensions, similarities ± {study.spread(dim):.2f}", xlabel="bins L")
    panels[0].set_ylabel("R@1 on new classes")
    panels[0].legend(loc="upper left")
    told = f"R@1 against the number of bins, with intervals over {study.STARTS} starts"
    return style.describe(figure, f"{told}. {'; '.join(facts)}.")
