"""Figures of chapter 5: what a mini-batch says about the metric of the whole data set."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from rankbook.ch05_minibatch_bias import study
from rankbook.ch05_minibatch_bias.study import Ranking
from rankbook.kit import style
from rankbook.kit.figures import paper_figure


def draw_sizes_axis(axes: Axes, sizes: Sequence[int], label: str, legend: Any = "upper right") -> None:
    """The axes of mAP over sizes of batches or lengths of lists, and the legend."""
    axes.set_xscale("log", base=2)
    style.xticks(axes, sizes)
    axes.set(xlabel=label, ylabel="mAP", ylim=(0, 1.03))
    axes.legend(loc=legend)


def thinning(rank: int = 9, n: int = 24, batch: int = 6, draws: int = 4) -> Figure:
    """One relevant item in a long list, and what a few random batches leave of those ahead of it."""
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
    """Expected precision in a batch against the true rank, and how much of it is thinning, how much Jensen."""
    n, middle = 10_000, 100
    ranks = np.unique(np.geomspace(1, n, 200).round().astype(int))
    figure, (left, right) = style.figure(1, 2, width=7.0, height=3.5, sharey=True, sharex=True)
    facts = []
    for batch, colour, line in ((10, style.ORANGE, "-"), (middle, style.GREEN, "--"), (1000, style.PURPLE, "-.")):
        left.loglog(ranks, study.expected_precision(ranks, n, batch), line, color=colour, label=f"m = {batch}")
        at = float(study.expected_precision(100, n, batch))
        facts.append(f"m = {batch}: {at:.3f} at rank 100")
    for axes in (left, right):
        axes.loglog(ranks, 1 / ranks, color=style.BLACK, label="data set: 1/r")
        axes.set_xlabel("rank r in the data set")
    thinned = 1 / (1 + (ranks - 1) * (middle - 1) / (n - 1))
    right.loglog(ranks, thinned, ":", color=style.SKY, label="1 / expected rank")
    right.loglog(ranks, study.expected_precision(ranks, n, middle), "--", color=style.GREEN, label="expected precision")
    gap = study.expected_precision(ranks, n, middle) / thinned
    left.set(ylabel="precision", title=f"one relevant item among {n:,}", xticks=(1, 100, n))
    right.set_title(f"two causes, m = {middle}")
    for axes in (left, right):
        axes.legend(loc="lower left")
    return style.describe(
        figure,
        f"Precision against the rank in the data set, logarithmic axes. Left: 1/r falls in a straight line to "
        f"{1 / n:g}; the expected precision in batches stays near 1 until about rank n/m and then runs parallel to it, "
        f"a factor n/m higher; {'; '.join(facts)}. Right, m = {middle}: one over the expected rank makes up most of "
        f"the gap; the expected precision is at most {gap.max():.2f} times higher still.",
    )


@paper_figure("RaMBO Fig. 2")
def minibatch_map(
    ranking: Ranking | None = None, sizes: tuple[int, ...] = study.SIZES, name: str = "clusters on a sphere"
) -> Figure:
    """Mean and standard deviation of the mAP of random batches, beside the true mAP of the data set."""
    ranking = study.synthetic_ranking() if ranking is None else ranking
    figure, axes = style.figure(width=6.4, height=3.9)
    facts = _by_size(axes, ranking, sizes)
    draw_closed_form(axes, ranking, sizes[0])
    draw_sizes_axis(axes, (*sizes, len(ranking)), "batch size", "lower left")
    axes.set_title(f"{name}: {len(ranking)} items, {len(np.unique(ranking.labels))} classes")
    return style.describe(
        figure,
        f"mAP against batch size for {name}. The data set's mAP is a dashed line at {ranking.mean_ap:.2f}. The mean "
        f"over random batches lies above it everywhere and falls towards it; mean and standard deviation are {facts}. "
        f"The closed form follows the means.",
    )


def draw_closed_form(axes: Axes, ranking: Ranking, smallest: int) -> None:
    """Draw what to expect of lists of every length, and the mAP of the data set."""
    axes.plot(*study.expected_curve(ranking, smallest), color=style.GREEN, label="closed form", zorder=1)
    axes.axhline(ranking.mean_ap, color=style.BLACK, linestyle="--", label="the data set")


def draw_error_bars(axes: Axes, x: Sequence[float], spreads: Sequence[tuple[float, float]], **look: Any) -> list[str]:
    """Draw mean ± standard deviation of batches, within [0, 1]; return them in words."""
    means, deviations = np.array(spreads).T
    look = dict[str, Any](fmt="o", color=style.ORANGE, capsize=4, label="random batches") | look
    axes.errorbar(x, means, yerr=[np.minimum(deviations, means), np.minimum(deviations, 1 - means)], **look)
    return [f"{mean:.2f} ± {deviation:.2f}" for mean, deviation in spreads]


def _by_size(axes: Axes, ranking: Ranking, sizes: Sequence[int], per_class: int = 0, **look: Any) -> str:
    """Draw them against the batch size."""
    batches = [min(300, max(20, 16_000 // m)) for m in sizes]
    drawn = [study.spread(ranking, m, batches=k, per_class=per_class) for m, k in zip(sizes, batches, strict=True)]
    shown = draw_error_bars(axes, sizes, drawn, **look)
    return ", ".join(f"{text} at {m}" for text, m in zip(shown, sizes, strict=True))


def composition(ranking: Ranking, sizes: Sequence[int], per_class: int = 4) -> Figure:
    """The same, for batches drawn at random and for batches with a few items of each class."""
    largest = len(np.unique(ranking.labels)) * per_class
    figure, axes = style.figure(width=6.4, height=3.7)
    random = _by_size(axes, ranking, sizes, fmt="o-", label="drawn at random")
    look: dict[str, Any] = {"fmt": "s--", "color": style.PURPLE, "label": f"{per_class} of each class"}
    balanced = _by_size(axes, ranking, [m for m in sizes if m <= largest], per_class, **look)
    axes.axhline(ranking.mean_ap, color=style.BLACK, linestyle="--", label="the data set")
    draw_sizes_axis(axes, sizes, "batch size", "lower left")
    return style.describe(
        figure,
        f"Batch mAP against batch size. Items drawn at random: {random}. {per_class} items of each class: {balanced}. "
        f"The data set has {ranking.mean_ap:.2f}.",
    )


def memory_and_bias() -> Figure:
    """Batch mAP with memory, against the length of the lists that are ranked."""
    ranking = study.synthetic_ranking()
    figure, axes = style.figure(width=6.4, height=3.8)
    facts = []
    for m, lengths, colour, marker, nudge in (
        (16, (0, 1, 3, 7), style.ORANGE, "o", 0.96),
        (64, (0, 1, 3, 7), style.PURPLE, "s", 1.0),
        (256, (0, 1, 3), style.SKY, "D", 1.04),
    ):
        spreads = [study.spread(ranking, m, length=tau, batches=min(300, 12_000 // m)) for tau in lengths]
        label = f"batch {m}, τ = {', '.join(map(str, lengths))}"
        places = [(1 + tau) * m * nudge for tau in lengths]
        shown = draw_error_bars(axes, places, spreads, fmt=marker, color=colour, label=label)
        facts.append(f"batch {m}: {', '.join(f'{text} for τ = {t}' for text, t in zip(shown, lengths, strict=True))}")
    draw_closed_form(axes, ranking, 16)
    draw_sizes_axis(axes, [2**k for k in range(4, 11)], "list length (1 + τ) · batch size")
    return style.describe(
        figure,
        f"Mean and standard deviation of the batch mAP against the length of the lists. {'; '.join(facts)}. All means "
        f"lie on one curve that falls to the data set's {ranking.mean_ap:.2f}; at the same length, larger batches have "
        f"shorter error bars.",
    )


def gradient_bias() -> Figure:
    """Averaging gradients of mini-batches: the noise goes, the bias stays."""
    whole, found = study.gradients()
    figure, axes = style.figure(width=6.6, height=3.9)
    colours = (style.PURPLE, style.PURPLE, style.SKY)
    facts = []
    for (m, tau), colour, line, marker in zip(found, colours, ("-", "--", "-"), "ss^", strict=True):
        made = found[m, tau]
        counts = [2**k for k in range(9) if 2**k <= len(made) // 2] + [len(made)]
        cosines = [study.alignment(made, whole, count) for count in counts]
        limit = study.limit_alignment(made, whole)
        name = f"batch {m}" + (f", τ = {tau}" if tau else "")
        axes.semilogx(counts, cosines, line, base=2, color=colour, label=name)
        face = colour if line == "-" else "white"
        axes.plot(1024, limit, marker, color=colour, markerfacecolor=face, markersize=8, clip_on=False)
        facts.append(f"{name}: {cosines[0]:.2f} for one, {cosines[-1]:.2f} for {len(made)}, {limit:.2f} in the limit")
    axes.axhline(1, color=style.BLACK, linewidth=1)
    free = study.alignment(study.rank_free()[None], whole, 1, trials=1)
    axes.axhline(free, color=style.GREY, linewidth=1.2, label="without ranks", zorder=0)
    axes.set_xticks([1, 4, 16, 64, 256, 1024], ["1", "4", "16", "64", "256", "∞"])
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set(xlabel="number of batches averaged", ylabel="cosine with the gradient\nof the whole set", ylim=(0, 1.03))
    axes.legend(loc="lower right", bbox_to_anchor=(0.97, 0.0))
    return style.describe(
        figure,
        f"Cosine between the gradient of the whole set and the average gradient of batches, against how many are "
        f"averaged. All curves rise and level off below 1. {'; '.join(facts)}. A grey line: a direction "
        f"without ranks has {free:.2f}.",
    )
