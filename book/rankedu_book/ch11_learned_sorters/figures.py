"""Figures of chapter 11: a network that has learned to sort, and where it fails."""

import numpy as np
import torch
from matplotlib.figure import Figure

from rankedu.rankers import SigmoidRanker
from rankedu.ranks import rank
from rankedu_book.ch11_learned_sorters import study
from rankedu_book.kit import style
from rankedu_book.kit.figures import paper_figure
from rankedu_book.kit.relief import draw_blocks
from rankedu_lab.training.sorter_data import DISTRIBUTIONS, draw_scores


def learning_to_sort(n: int = study.N, steps: int = study.STEPS) -> Figure:
    """Draw the training error of a sorter, and its ranks beside the true ones on a list that it has not seen."""
    ranker, errors = study.trained(n, steps)
    figure, (left, right) = style.figure(1, 2, width=6.8, height=3.5)
    left.plot(errors, color=style.BLUE, linewidth=0.6, alpha=0.4)
    window = max(1, steps // 30)
    smooth = np.convolve(errors, np.ones(window) / window, mode="valid")
    left.plot(np.arange(len(smooth)) + window / 2, smooth, color=style.BLUE)
    left.axhline(n / 4, color=style.GREY, linestyle=":", linewidth=1.5)
    left.text(steps, n / 4 * 1.03, "always answer the middle", ha="right", va="bottom")
    left.set(xlabel="training step", title="error, in ranks", ylim=(0, n / 4 * 1.35))
    scores = draw_scores(n, 1, "uniform", generator=torch.Generator().manual_seed(7))[0]
    found, true = ranker(scores), rank(scores)
    right.plot([1, n], [1, n], color=style.GREY, linewidth=1)
    right.plot(true, found, "o", color=style.ORANGE, markersize=5)
    right.set(xlabel="true rank", title="rank that the sorter returns", ylim=(0, n + 1))
    return style.describe(
        figure,
        f"Left, the mean absolute error of the ranks during {steps} steps of training: {errors[:10].mean():.1f} ranks "
        f"in the first ten, {errors[-50:].mean():.2f} in the last fifty; answering the middle rank always gives "
        f"{n / 4:g}. Right, the answers for one list of {n} unseen scores are near the diagonal, "
        f"{float((found - true).abs().mean()):.2f} off on average and {float((found - true).abs().max()):.2f} at most.",
    )


def one_item_moves() -> Figure:
    """Draw the rank of an item against its score: the true one, and a sorter's after four lengths of training."""
    line = torch.linspace(-study.REACH, study.REACH, 601)
    figure, axis = style.figure(width=6.4, height=3.4)
    axis.axvspan(-1, 1, color=style.YELLOW, alpha=0.25, linewidth=0)
    axis.plot(line, study.answers(0, line)[1][:, -1], color=style.GREY, linewidth=4, alpha=0.6)
    facts = []
    looks = ((style.SKY, ":"), (style.PURPLE, "-."), (style.ORANGE, "--"), (style.BLUE, "-"))
    for steps, (colour, dash) in zip(study.STAGES, looks, strict=True):
        found, true = study.answers(steps, line)
        axis.plot(line, found[:, -1], dash, color=colour, label=f"{steps} steps")
        facts.append(f"after {steps} steps {(found - true)[line.abs() <= 1].abs().mean():.2f}")
    axis.set(xlabel="score of E", ylabel="rank of E", ylim=(6.6, -0.4), yticks=range(1, 6))
    style.name_lines(axis)
    last = found[:, -1]
    return style.describe(
        figure,
        "The rank of one of five items against its score. The true rank is a staircase from 5 down to 1, and the "
        "sorter's curves are smooth. While the score is in [−1, 1], where most of the training took place, the five "
        f"ranks are off on average by: {', '.join(facts)}. After {study.STAGES[-1]} steps the worst rank, "
        f"{last.max():.1f}, is at the score {line[last.argmax()]:.1f}.",
    )


@paper_figure("RaMBO supp. Fig. 2c")
def learned_landscape(size: int = study.SIZE, steps: int = study.STEPS) -> Figure:
    """Draw the landscape by the true ranks and by the ranks of a learned sorter."""
    seen, height = study.learned_surface(size, steps)
    figure, axes = style.figure(1, 2, width=6.6, height=2.9)
    draw_blocks(list(axes), seen, [seen.staircase, height], ["the true ranks", "a learned sorter"])
    true, shown = study.heights(size, steps)
    return style.describe(
        figure,
        "Two blocks over the same square of score vectors. Left, the staircase, with heights from "
        f"{true.min():.0f} to {true.max():.0f}. Right, the same loss of a network's ranks: a smooth surface, "
        f"little more than a tilted plane, from {shown.min():.0f} to {shown.max():.0f}.",
    )


def where_it_fails(n: int = study.N, steps: int = study.STEPS) -> Figure:
    """Draw the errors of a sorter and of a sigmoid, by kind of list, and when the scores change their scale."""
    scales, shifts = np.geomspace(0.01, 100, 9), np.linspace(-4, 4, 9)
    learned, soft = (study.errors(r, scales, shifts) for r in (study.trained(n, steps)[0], SigmoidRanker(0.1)))
    figure, (first, second, third) = style.figure(1, 3, width=7.2, height=3.2)
    first.barh(range(len(DISTRIBUTIONS)), list(learned[0].values()), color=style.SKY)
    first.plot(list(soft[0].values()), range(len(DISTRIBUTIONS)), "s", color=style.BLACK, markersize=4)
    for place, name in enumerate(learned[0]):
        first.text(n / 3 - 0.1, place, name, va="center", ha="right", color=style.BLACK)
    first.set(xlabel="error, in ranks", title="kind of list", xlim=(0, n / 3), yticks=[])
    for axis, at, which, label in ((second, scales, 1, "factor"), (third, shifts, 2, "shift")):
        axis.plot(at, learned[which], "o-", color=style.ORANGE, markersize=4)
        axis.plot(at, soft[which], "s--", color=style.BLACK, markersize=3, linewidth=1)
        axis.axhline(n / 4, color=style.GREY, linestyle=":", linewidth=1.5)
        axis.set(xlabel=label, ylim=(0, n / 2.5))
    second.set(xscale="log", title="scores × factor")
    third.set(title="scores + shift")
    kinds = ", ".join(f"{name} {error:.2f} and {soft[0][name]:.2f}" for name, error in learned[0].items())
    (_, by_scale, by_shift), (_, soft_scale, soft_shift) = learned, soft
    return style.describe(
        figure,
        f"Three panels of errors in ranks, for lists of {n}, of the sorter and of a sigmoid. By kind of list: {kinds}. "
        f"When uniform scores are multiplied by 0.01, 1 and 100: {by_scale[0]:.1f}, {by_scale[4]:.1f} and "
        f"{by_scale[-1]:.1f}, and {soft_scale[0]:.1f}, {soft_scale[4]:.1f} and {soft_scale[-1]:.1f}. When scores of a "
        f"quarter of the spread are shifted by 0 and by 4: {by_shift[4]:.1f} and {by_shift[-1]:.1f}, and always "
        f"{soft_shift[-1]:.1f}. A dotted line marks {n / 4:g}, the error of answering the middle rank always.",
    )
