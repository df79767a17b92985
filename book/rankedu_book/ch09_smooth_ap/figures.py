"""Figures of chapter 9: the sigmoid, and the share of pairs that are near enough for it to have a slope."""

from collections.abc import Sequence

import torch
from matplotlib.figure import Figure

from rankedu.rankers import SigmoidRanker
from rankedu_book.ch09_smooth_ap import study
from rankedu_book.kit import style
from rankedu_book.kit.figures import paper_figure


def sigmoid_and_slope(temperatures: Sequence[float] = (0.2, 0.05, 0.01)) -> Figure:
    """Draw the staircase of one comparison, smoothed at three temperatures, and the slopes that this makes."""
    figure, (left, right) = style.figure(1, 2, width=6.8, height=3.3)
    x = torch.linspace(-0.5, 0.5, 2001, dtype=torch.float64)
    facts = []
    for temperature, line in zip(temperatures, ("-", "--", "-."), strict=False):
        ranker = SigmoidRanker(temperature)
        left.plot(x, ranker.step(x), line, label=f"τ = {temperature:g}")
        right.semilogy(x, ranker.slope(x), line)
        facts.append(f"τ = {temperature:g}: largest slope {1 / (4 * temperature):g}")
    left.step([-0.5, 0, 0.5], [0, 0, 1], where="pre", color=style.GREY, linewidth=1, zorder=0)
    left.set(xlabel="difference $y_j - y_k$", title="what $j$ adds to the rank of $k$")
    style.legend_below(figure, left)
    right.axhline(study.THRESHOLD, color=style.GREY, linewidth=1)
    right.text(0.25, study.THRESHOLD * 1.2, f"{study.THRESHOLD:g}", ha="center", color=style.GREY)
    right.set(xlabel="difference $y_j - y_k$", title="its slope", ylim=(1e-4, 60))
    return style.describe(
        figure,
        "Left, sigmoids of a difference of scores, steeper as the temperature falls, beside a step from 0 to 1. Right, "
        f"their slopes on a logarithmic axis. {'; '.join(facts)}. They fall below {study.THRESHOLD:g} at differences "
        f"of {', '.join(f'{study.operating_width(t):.2f}' for t in temperatures)}.",
    )


@paper_figure("Smooth-AP supp. Fig. S7", batch_sizes=lambda sizes: {"sizes": tuple(sizes)})
def proportion_by_batch_size(sizes: Sequence[int] = (16, 32, 64, 128, 256)) -> Figure:
    """Draw P and the share of relevant-irrelevant pairs, for fixed embeddings and random batches of all sizes."""
    figure, panels = style.figure(1, 2, width=6.8, height=3.4)
    facts = []
    for axes, temperature in zip(panels, (0.01, 0.1), strict=True):
        found = zip(*(study.shares(size, temperature) for size in sizes), strict=True)
        names, colours = ("P, all pairs", "P±, relevant-irrelevant pairs"), (style.GREY, style.BLUE)
        for name, values, colour, line in zip(names, found, colours, ("s--", "o-"), strict=True):
            axes.semilogx(sizes, values, line, color=colour, label=name)
            said = ", ".join(f"{value:.2f} at {size}" for size, value in zip(sizes, values, strict=True))
            facts.append(f"τ = {temperature:g}, {name}: {said}")
        axes.set(xlabel="batch size m", ylim=(0, None), title=f"τ = {temperature:g}")
        style.xticks(axes, sizes)
    panels[0].set(ylabel="share of near pairs")
    style.legend_below(figure, panels[0], 2)
    return style.describe(figure, f"Shares of pairs in the operating region by the batch size. {'. '.join(facts)}.")
