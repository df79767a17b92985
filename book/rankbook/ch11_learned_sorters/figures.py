"""Figures of chapter 11: a network that has learnt to sort, and where it has not."""

import numpy as np
import torch
from matplotlib.figure import Figure

from rankbook.ch11_learned_sorters import study
from rankbook.kit import style
from rankbook.kit.figures import paper_figure
from rankbook.kit.relief import draw_blocks
from rankedu.ranks import rank
from ranklab.training.sorter_data import DISTRIBUTIONS, draw_scores


def learning_to_sort(n: int = study.N, steps: int = study.STEPS) -> Figure:
    """The training error of a sorter, and its ranks beside the true ones on a list that it has not seen."""
    ranker, errors = study.trained(n, steps)
    figure, (left, right) = style.figure(1, 2, width=6.8, height=3.5)
    left.plot(errors, color=style.BLUE, linewidth=0.6, alpha=0.4)
    window = max(1, steps // 30)
    smooth = np.convolve(errors, np.ones(window) / window, mode="valid")
    left.plot(np.arange(len(smooth)) + window / 2, smooth, color=style.BLUE)
    left.axhline(n / 4, color=style.GREY, linestyle=":", linewidth=1.5)
    left.text(steps, n / 4 * 1.03, "always answer the middle", ha="right", va="bottom", fontsize=10)
    left.set(xlabel="training step", title="error, in ranks", ylim=(0, n / 4 * 1.35))
    scores = draw_scores(n, 1, "uniform", generator=torch.Generator().manual_seed(7))[0]
    found, true = ranker(scores), rank(scores)
    right.plot([1, n], [1, n], color=style.GREY, linewidth=1)
    right.plot(true, found, "o", color=style.ORANGE, markersize=5)
    right.set(xlabel="true rank", title="rank that it answers", ylim=(0, n + 1))
    return style.describe(
        figure,
        f"Left, the mean absolute error of the ranks during {steps} steps of training: {errors[:10].mean():.1f} ranks "
        f"in the first ten, {errors[-50:].mean():.2f} in the last fifty; answering the middle rank always gives "
        f"{n / 4:g}. Right, the answers for one list of {n} unseen scores lie along the diagonal, "
        f"{float((found - true).abs().mean()):.2f} off on average and {float((found - true).abs().max()):.2f} at most.",
    )


@paper_figure("RaMBO supp. Fig. 2c")
def learned_landscape(size: int = study.SIZE, steps: int = study.STEPS) -> Figure:
    """The landscape with the ranking replaced by a learnt sorter."""
    seen, height = study.learnt_surface(size, steps)
    figure, axes = style.figure(1, 2, width=7.2, height=3.0)
    draw_blocks(list(axes), seen, [seen.staircase, height], ["the true ranks", "a learnt sorter"])
    true, shown = study.heights(size, steps)
    return style.describe(
        figure,
        "Two blocks over the same square of score vectors. Left, the staircase, with heights from "
        f"{true.min():.0f} to {true.max():.0f}. Right, the same loss of a network's ranks: a smooth surface, "
        f"little more than a tilted plane, from {shown.min():.0f} to {shown.max():.0f}, "
        f"{np.abs(shown - true).mean():.1f} off on average; their correlation is {np.corrcoef(shown, true)[0, 1]:.2f}.",
    )


def where_it_fails(n: int = study.N, steps: int = study.STEPS, lists: int = 300) -> Figure:
    """The error of a sorter by kind of list, and when the scores leave the scale of its training."""
    scales, shifts = np.geomspace(0.01, 100, 17), np.linspace(-4, 4, 17)
    errors, by_scale, by_shift = study.errors(n, steps, lists, scales, shifts)
    figure, (first, second, third) = style.figure(1, 3, width=7.2, height=3.2)
    first.barh(range(len(DISTRIBUTIONS)), list(errors.values()), color=style.SKY)
    first.set_yticks([])
    for place, name in enumerate(errors):
        first.text(0.1, place, f" {name}", va="center", ha="left", fontsize=10, color=style.BLACK)
    first.set(xlabel="error, in ranks", title="kind of list", xlim=(0, n / 3))
    for axis, at, found, label in ((second, scales, by_scale, "factor"), (third, shifts, by_shift, "shift")):
        axis.plot(at, found, "o-", color=style.ORANGE, markersize=4)
        axis.axhline(n / 4, color=style.GREY, linestyle=":", linewidth=1.5)
        axis.set(xlabel=label, ylim=(0, n / 2.5))
    second.set_xscale("log")
    second.set_title("scores × factor")
    third.set_title("scores + shift")
    return style.describe(
        figure,
        f"Three panels of errors in ranks, for lists of {n}. By kind of list: "
        f"{', '.join(f'{name} {error:.2f}' for name, error in errors.items())}. When uniform scores are multiplied: "
        f"{by_scale[0]:.1f} at a factor of 0.01, {by_scale[8]:.1f} at 1, {by_scale[-1]:.1f} at 100. When scores of a "
        f"quarter of the spread are shifted: {by_shift[8]:.1f} at 0, {by_shift[-1]:.1f} at 4. A dotted line marks "
        f"{n / 4:g}, the error of answering the middle rank always.",
    )


def order_matters(n: int = study.N, steps: int = study.STEPS, orders: int = 200, seed: int = 0) -> Figure:
    """One list of scores, given in many orders: the ranks that each item gets."""
    answers = study.in_many_orders(n, steps, orders, seed)
    low, high = answers.quantile(0.05, 0), answers.quantile(0.95, 0)
    figure, axes = style.figure(width=6.4, height=3.6)
    place = np.arange(1, n + 1)
    axes.vlines(place, low, high, color=style.ORANGE, linewidth=5, alpha=0.5)
    axes.plot(place, answers.median(0).values, "_", color=style.ORANGE, markersize=12, markeredgewidth=2)
    axes.plot([1, n], [1, n], color=style.GREY, linewidth=1, zorder=0)
    ticks = [1, *range(5, n + 1, 5)]
    axes.set(xlabel="true rank of the item", ylabel="rank that it gets", xticks=ticks, yticks=ticks)
    return style.describe(
        figure,
        f"For each of {n} items with fixed scores, the range of ranks that the sorter answers when the same list is "
        f"given in {orders} random orders. The bars hold the middle 90 %; they are {float((high - low).mean()):.2f} "
        f"ranks long on average and {float((high - low).max()):.2f} at most. A ranker that compares scores has bars of "
        "length 0.",
    )
