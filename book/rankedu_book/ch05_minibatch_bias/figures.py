"""Figures of chapter 5: what a mini-batch says about the metric of the whole data set."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from rankedu_book.ch05_minibatch_bias import study
from rankedu_book.ch05_minibatch_bias.study import Ranking
from rankedu_book.kit import style
from rankedu_book.kit.figures import paper_figure


def thinning(rank: int = 9, n: int = 24, batch: int = 6, draws: int = 4) -> Figure:
    """Draw one relevant item in a long list, and what a few random batches leave of those ahead of it."""
    random = np.random.default_rng(3)
    figure, axes = style.figure(width=6.8, height=2.9)
    places, ranks = np.arange(1, n + 1), []
    for row in range(draws + 1):
        others = np.delete(places, rank - 1)
        kept = others if row == 0 else np.sort(random.choice(others, batch - 1, replace=False))
        gone = np.setdiff1d(others, kept)
        axes.plot(gone, np.full(len(gone), -row), ".", color="#D0D0D0", markersize=5)
        axes.plot(kept, np.full(len(kept), -row), linestyle="none", markersize=8, **style.mark(False))
        axes.plot(rank, -row, markersize=10, **style.mark(True))
        ranks.append(1 + int((kept < rank).sum()))
        axes.text(n + 1, -row, f"rank {ranks[-1]}, precision 1/{ranks[-1]}", va="center")
    axes.set_yticks(-np.arange(draws + 1), ["data set"] + [f"batch {i}" for i in range(1, draws + 1)])
    axes.set(xlim=(0, n + 9.2), ylim=(-draws - 0.6, 0.6), xticks=(1, rank, n), xlabel="rank in the data set")
    axes.xaxis.set_label_coords(0.37, -0.13)
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.tick_params(length=0)
    return style.describe(
        figure,
        f"A row of {n} items, the relevant one, a blue disc, at rank {rank}, all others hollow red squares. Below it "
        f"{draws} random batches of {batch}, each with the relevant item and {batch - 1} of the others in their old "
        "places, the rest greyed out. In the batches the relevant item has the ranks "
        f"{', '.join(map(str, ranks[1:]))}.",
    )


def one_positive() -> Figure:
    """Draw expected precision in a batch against the true rank, for three sizes of the batch."""
    n = 10_000
    ranks = np.unique(np.geomspace(1, n, 200).round().astype(int))
    figure, axes = style.figure(width=6.2, height=3.7)
    facts = []
    for batch, colour, line in ((10, style.ORANGE, "-"), (100, style.GREEN, "--"), (1000, style.PURPLE, "-.")):
        axes.loglog(ranks, study.expected_precision(ranks, n, batch), line, color=colour, label=f"batch of {batch}")
        facts.append(f"{float(study.expected_precision(100, n, batch)):.3f} at rank 100 in batches of {batch}")
    axes.loglog(ranks, 1 / ranks, color=style.BLACK, label="data set: 1/r")
    axes.set(xlabel="rank r in the data set", ylabel="expected precision", title=f"one relevant item among {n:,}")
    style.name_lines(axes)
    return style.describe(
        figure,
        f"Precision against the rank in the data set, logarithmic axes. 1/r falls in a straight line to {1 / n:g}. The "
        f"expected precision in batches stays near 1 until about rank n/b and then runs parallel to the line, a factor "
        f"n/b higher; it is {', '.join(facts)}.",
    )


@paper_figure("RaMBO Fig. 2", batch_sizes=lambda sizes: {"sizes": tuple(sizes)})
def minibatch_map(
    ranking: Ranking | None = None, sizes: tuple[int, ...] = study.SIZES, name: str = "clusters on a sphere"
) -> Figure:
    """Draw mean and standard deviation of the mAP of random batches, beside the true mAP of the data set."""
    ranking = study.synthetic_ranking() if ranking is None else ranking
    figure, axes = style.figure(width=6.4, height=3.7)
    facts = _draw_batches(axes, ranking, sizes, fmt="o", color=style.ORANGE, label="random batches")
    _draw_truth(axes, ranking, (*sizes, len(ranking)))
    axes.set_title(f"{name}: {len(ranking)} items, {len(np.unique(ranking.labels))} classes")
    axes.legend(loc="upper right")
    return style.describe(
        figure,
        f"mAP against batch size for {name}. The data set's mAP is a dashed line at {ranking.mean_ap:.2f}. Mean and "
        f"standard deviation over random batches are {facts}.",
    )


def _draw_truth(axes: Axes, ranking: Ranking, sizes: Sequence[int]) -> None:
    """Draw the mAP of the data set over the sizes that the axis names."""
    axes.axhline(ranking.mean_ap, color=style.BLACK, linestyle="--", label="the data set")
    axes.set_xscale("log", base=2)
    style.xticks(axes, sizes)
    axes.set(xlabel="batch size", ylabel="mAP", ylim=(0, 1.03))


def _draw_batches(axes: Axes, ranking: Ranking, sizes: Sequence[int], per_class: int = 0, **look: Any) -> str:
    """Draw mean ± standard deviation of the mAP of batches, within [0, 1]; return them in words."""
    batches = [min(300, max(20, 16_000 // size)) for size in sizes]
    drawn = [study.spread(ranking, m, batches=k, per_class=per_class) for m, k in zip(sizes, batches, strict=True)]
    means, deviations = np.array(drawn).T
    ends = [np.minimum(deviations, means), np.minimum(deviations, 1 - means)]
    axes.errorbar(sizes, means, yerr=ends, capsize=4, **look)
    return ", ".join(f"{mean:.2f} ± {off:.2f} at {m}" for (mean, off), m in zip(drawn, sizes, strict=True))


def composition(sizes: Sequence[int] = (16, 32, 64, 128, 256), per_class: int = 4) -> Figure:
    """Draw the mAP of random and of balanced batches, on two sets whose classes differ in size and in difficulty."""
    figure, panels = style.figure(1, 2, width=7.4, height=3.6, sharey=True)
    facts = []
    for axes, name in zip(panels, study.SCATTER, strict=True):
        ranking = study.uneven_ranking(name)
        random = _draw_batches(axes, ranking, sizes, fmt="o-", color=style.ORANGE, label="drawn at random")
        look: dict[str, Any] = {"fmt": "s--", "color": style.PURPLE, "label": f"balanced, {per_class} of a class"}
        balanced = _draw_batches(axes, ranking, sizes, per_class, **look)
        _draw_truth(axes, ranking, sizes)
        axes.set_title(name.replace(", ", ",\n"))
        facts.append(
            f"{name.capitalize()}: the data set has {ranking.mean_ap:.2f}, random batches {random}, balanced batches "
            f"{balanced}."
        )
    panels[1].set_ylabel("")
    style.legend_below(figure, panels[0])
    return style.describe(figure, f"Batch mAP against batch size, in two panels. {' '.join(facts)}")


def gradient_bias() -> Figure:
    """Draw what averaging gradients of mini-batches does: the noise goes, the bias stays."""
    whole, found = study.gradients()
    figure, axes = style.figure(width=6.4, height=3.7)
    colours = (style.PURPLE, style.PURPLE, style.SKY)
    facts = []
    for (m, length), colour, line, marker in zip(found, colours, ("-", "--", "-"), "ss^", strict=True):
        made = found[m, length]
        counts = [2**k for k in range(9) if 2**k <= len(made) // 2] + [len(made)]
        cosines = [study.alignment(made, whole, count) for count in counts]
        limit = study.limit_alignment(made, whole)
        name = f"batch {m}" + (f", M = {length}" if length else "")
        axes.semilogx(counts, cosines, line, base=2, color=colour, label=name)
        face = colour if line == "-" else "white"
        axes.plot(1024, limit, marker, color=colour, markerfacecolor=face, markersize=8, clip_on=False)
        facts.append(f"{name}: {cosines[0]:.2f} for one, {cosines[-1]:.2f} for {len(made)}, {limit:.2f} in the limit")
    axes.axhline(1, color=style.BLACK, linewidth=1)
    axes.set_xticks([1, 4, 16, 64, 256, 1024], ["1", "4", "16", "64", "256", "∞"])
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set(xlabel="number of batches averaged", ylabel="cosine with the gradient\nof the whole set", ylim=(0, 1.03))
    axes.set_xlim(0.8, 1400)
    style.name_lines(axes)
    return style.describe(
        figure,
        f"Cosine between the gradient of the whole set and the average gradient of batches, against how many are "
        f"averaged. All curves rise and level off below 1. {'; '.join(facts)}.",
    )
