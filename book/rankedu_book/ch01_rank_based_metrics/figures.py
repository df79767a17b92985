"""Figures of chapter 1: rankings, what the metrics read off them, and what ties do to both."""

from itertools import permutations

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from rankedu.metrics import average_precision, ndcg, precision_at_k, recall_at_k
from rankedu.ranks import rank
from rankedu_book.kit import style

#: Eight photographs, the first three relevant: how certain three models are, negative for mistakes. Model B has
#: the numbers of model A in another order, and model C is twice as certain of three easy photographs as model B.
CERTAINTY = {
    "A": (2.7, 2.4, 2.1, -1.8, -1.5, 0.3, 0.6, 0.9),
    "B": (0.9, 0.6, 0.3, -1.8, -1.5, 2.1, 2.4, 2.7),
    "C": (0.9, 0.6, 0.3, -1.8, -1.5, 4.2, 4.8, 5.4),
}
#: The relevance of ten items from the best score to the worst: the example of the precision and recall figures.
TEN = (0, 1, 1, 0, 1, 0, 0, 1, 0, 0)
#: Five items that wait at these scores; B matters more than D, the others are irrelevant.
NAMES = "ABCDE"
HOME = torch.tensor([0.85, 0.65, 0.45, 0.25, 0.05], dtype=torch.float64)
GAINS = torch.tensor([0.0, 3.0, 0.0, 1.0, 0.0], dtype=torch.float64)


def models() -> tuple[dict[str, Tensor], Tensor]:
    """The scores of the models, by name, and the relevance of the items."""
    sign = torch.tensor([1.0] * 3 + [-1.0] * 5, dtype=torch.float64)
    return {name: sign * torch.tensor(numbers, dtype=torch.float64) for name, numbers in CERTAINTY.items()}, sign > 0


def same_cross_entropy() -> Figure:
    """Three models' rankings of eight photographs, with cross entropy and AP."""
    scores, relevance = models()
    made, axes = style.figure(height=3.3)
    texts = []
    for row, (name, values) in enumerate(scores.items()):
        order = values.argsort(descending=True).tolist()
        y = -1.25 * row
        style.draw_items(axes, range(1, 9), [y] * 8, [str(i + 1) for i in order], relevance[order].tolist(), size=24)
        for place, score in enumerate(values[order].tolist(), start=1):
            axes.text(place, y - 0.46, f"{score:.1f}".replace("-", "−"), ha="center", va="center")
        entropy = torch.nn.functional.binary_cross_entropy_with_logits(values, relevance.double()).item()
        precision = average_precision(values, relevance).item()
        axes.text(0.3, y, f"model {name}", ha="right", va="center")
        axes.text(9.55, y, f"{entropy:.3f}", ha="center", va="center", size=13)
        axes.text(11.0, y, f"{precision:.3f}", ha="center", va="center", size=13, weight="bold")
        texts.append(f"model {name} has cross entropy {entropy:.3f} and AP {precision:.3f}")
    axes.text(9.55, 0.62, "cross\nentropy", ha="center", va="bottom")
    axes.text(11.0, 0.62, "AP", ha="center", va="bottom")
    axes.text(1, 0.72, "best score", ha="center", va="bottom", color=style.GREY)
    axes.text(8, 0.72, "worst", ha="center", va="bottom", color=style.GREY)
    axes.annotate("", (7.4, 0.88), (2.0, 0.88), arrowprops={"arrowstyle": "->", "color": style.GREY})
    axes.set(xlim=(-1.4, 11.6), ylim=(-3.15, 1.45))
    axes.axis("off")
    return style.describe(
        made,
        "Three models rank eight photographs, of which numbers 1 to 3 are relevant (blue discs) and the others are not "
        f"(hollow red squares). {'; '.join(texts)}. Model A has the three relevant ones first; models B and C put the "
        "irrelevant photographs 4 and 5 before them.",
    )


def draw_score_axis(axes: Axes, labels: float) -> None:
    """Scores from 0 to 1 at height 0, for items; numbers at the height of the labels."""
    axes.plot([0, 1], [0, 0], color=style.GREY, linewidth=1.5, zorder=1)
    for tick in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        axes.plot([tick], [0], marker="|", markersize=7, color=style.GREY, zorder=1)
        axes.text(tick, labels, f"{tick:g}", ha="center", va="center", color="#666666")


def three_ranks() -> Figure:
    """Five items on the score axis, two of them tied, and their ranks under three policies."""
    names, scores = "ABCDE", torch.tensor([0.9, 0.6, 0.6, 0.35, 0.1])
    made, axes = style.figure(height=2.9)
    draw_score_axis(axes, -0.31)
    for x, y, name in zip(scores.tolist(), (0.0, 0.0, 0.5, 0.0, 0.0), names, strict=True):
        axes.plot([x], [y], marker="o", markersize=22, color=style.BLACK, markeredgecolor="white", zorder=4)
        axes.text(x, y, name, color="white", weight="bold", ha="center", va="center_baseline", zorder=5)
    axes.text(1.03, 0, "score", ha="left", va="center")
    texts = []
    for row, (ties, label) in enumerate((("min", "“min”, Eq. 2"), ("ordinal", "“ordinal”"), ("max", "“max”"))):
        ranks = rank(scores, ties=ties).tolist()
        y = -0.95 - 0.42 * row
        axes.text(-0.04, y, label, ha="right", va="center")
        for x, shown in ((0.9, ranks[0]), (0.6, f"{ranks[1]}, {ranks[2]}"), (0.35, ranks[3]), (0.1, ranks[4])):
            axes.text(x, y, str(shown), ha="center", va="center", weight="bold")
        texts.append(f"{ties}: {', '.join(map(str, ranks))}")
    axes.set(xlim=(-0.36, 1.16), ylim=(-2.0, 0.85))
    axes.axis("off")
    return style.describe(
        made,
        "Items A to E on an axis of scores at 0.9, 0.6, 0.6, 0.35 and 0.1; B and C are tied. "
        f"Their ranks under three policies are {'; '.join(texts)}.",
    )


def precision_recall_staircase() -> Figure:
    """Precision against recall, going down a ranking of ten; average precision is the shaded area."""
    relevance = np.array(TEN)
    depth, found = np.arange(1, 11), np.cumsum(relevance)
    precision, recall = found / depth, found / found[-1]
    made, (strip, axes) = style.figure(2, 1, height=4.6, gridspec_kw={"height_ratios": [1, 5.2]})
    style.draw_items(strip, depth, [0] * 10, map(str, depth), relevance == 1, size=23)
    strip.set(xlim=(0.2, 10.8), ylim=(-1, 1))
    strip.axis("off")
    at, width = np.flatnonzero(relevance), 1 / found[-1]
    axes.bar(recall[at], precision[at], -width, align="edge", color=style.SKY, alpha=0.45, edgecolor="white")
    axes.plot(np.r_[0, recall], np.r_[0, precision], color=style.BLACK, linewidth=1.2, zorder=2)
    for x, y, d in zip(recall[at] - width / 2, precision[at], depth[at], strict=True):
        axes.text(x, 0.06, f"{round(y * d)}/{d}", ha="center", va="center", size=13)
    style.draw_items(axes, recall, precision, map(str, depth), relevance == 1, size=18)
    value = average_precision(-torch.arange(10.0), torch.tensor(TEN)).item()
    axes.set(xlim=(-0.03, 1.04), ylim=(-0.04, 0.8), xticks=[0, 0.25, 0.5, 0.75, 1])
    axes.set(xlabel="share of the relevant items found", ylabel="precision so far")
    axes.text(-0.01, 0.79, f"shaded area = AP = {value:.3f}", ha="left", va="top")
    return style.describe(
        made,
        f"A ranking of ten items with relevant ones at ranks {', '.join(str(d) for d in depth[at])}. Below it, "
        "precision against the share of relevant items found. Each relevant item has a bar a quarter wide and "
        f"as high as the precision there ({', '.join(f'{p:.2f}' for p in precision[at])}); together the bars "
        f"cover {value:.3f}, the average precision.",
    )


def depth_curves() -> Figure:
    """Hit rate, recall and precision of one ranking, as the cut-off K grows."""
    relevance = torch.tensor(TEN)
    scores, depth = -torch.arange(10.0), range(1, 11)
    curves = {
        "r@K: any found?": ([recall_at_k(scores, relevance, k).item() for k in depth], style.BLACK, "o"),
        "IR recall: share found": ((relevance.cumsum(0) / relevance.sum()).tolist(), style.GREEN, "^"),
        "precision: share of the K": ([precision_at_k(scores, relevance, k).item() for k in depth], style.ORANGE, "D"),
    }
    made, axes = style.figure(height=3.6)
    for label, (values, colour, marker) in curves.items():
        axes.step(depth, values, where="post", color=colour, linewidth=1.2, alpha=0.6)
        axes.plot(depth, values, linestyle="none", marker=marker, markersize=7, color=colour, label=label)
    style.draw_items(axes, depth, [-0.22] * 10, map(str, depth), relevance == 1, size=19)
    axes.set(xlim=(0.4, 10.6), ylim=(-0.38, 1.08), xlabel="cut-off K", ylabel="value")
    axes.set(xticks=depth, yticks=[0, 0.25, 0.5, 0.75, 1])
    axes.spines["left"].set_bounds(0, 1)
    made.legend(loc="outside upper center", ncols=2, handletextpad=0.2, columnspacing=1.0, frameon=False)
    hit, found, pure = (values for values, _, _ in curves.values())
    return style.describe(
        made,
        f"Three curves over the cut-off K from 1 to 10. r@K jumps from {hit[0]:.0f} to {hit[1]:.0f} at K = 2 and stays "
        f"there; the share of relevant items found climbs in steps of a quarter and is {found[1]:.2f} at K = 2 and "
        f"{found[7]:.0f} from K = 8; precision at K is {pure[0]:.0f} at 1, {pure[2]:.2f} at 3 and {pure[9]:.2f} at 10.",
    )


def tied_orders() -> Figure:
    """Every order that a group of four tied items can take, and the AP that it gives."""
    scores, relevance = torch.tensor([0.9, 0.5, 0.5, 0.5, 0.5, 0.1]), torch.tensor([0, 1, 1, 0, 0, 1])
    orders = sorted(set(permutations((1, 1, 0, 0))), reverse=True)
    labels = [(0, *order, 1) for order in orders]
    values = [average_precision(-torch.arange(6.0), torch.tensor(row)).item() for row in labels]
    made, (left, right) = style.figure(1, 2, height=3.9, gridspec_kw={"width_ratios": [1, 1.25]}, sharey=True)
    for y, row in enumerate(labels):
        style.draw_items(left, range(1, 7), [-y] * 6, map(str, range(1, 7)), row, size=18)
    left.axvspan(1.5, 5.5, color="#EEEEEE", zorder=0)
    left.text(3.5, 0.72, "tied, so in any order", ha="center", va="bottom")
    right.plot(values, -np.arange(len(values)), linestyle="none", marker="o", markersize=9, color=style.BLACK)
    shown = []
    looks = (("pessimistic", "--", style.ORANGE), ("expected", "-", style.GREEN), ("optimistic", ":", style.PURPLE))
    for ties, dash, colour in looks:
        value = average_precision(scores, relevance, ties=ties).item()
        shown.append(f"{ties} {value:.3f}")
        right.axvline(value, color=colour, linestyle=dash, zorder=1, label=shown[-1])
    right.set(xlabel="AP of this order", ylim=(-len(labels) + 0.35, 1.3), xlim=(0.365, 0.575))
    left.axis("off")
    right.tick_params(left=False, labelleft=False)
    right.spines["left"].set_visible(False)
    made.legend(loc="outside upper right", ncols=3, handlelength=1.2, columnspacing=0.7, frameon=False)
    return style.describe(
        made,
        "Six rows, one for each way to order the labels of four tied items, two of them relevant, between an "
        f"irrelevant item at rank 1 and a relevant one at rank 6; beside each its AP: "
        f"{', '.join(f'{v:.3f}' for v in values)}. Vertical lines mark the tie policies: {', '.join(shown)}.",
    )


def metric_staircases() -> Figure:
    """AP, NDCG and r@1 as functions of the score of one item, while the others do not move."""
    item, relevance = 3, GAINS > 0
    others = [i for i in range(5) if i != item]
    edges = torch.tensor([0.0, *sorted(HOME[others].tolist()), 1.0], dtype=torch.float64)
    scores = HOME.repeat(5, 1)
    scores[:, item] = (edges[1:] + edges[:-1]) / 2  # between the others nothing changes
    curves = {
        "AP": (average_precision(scores, relevance.expand_as(scores)), style.BLACK),
        "NDCG": (ndcg(scores, GAINS.expand_as(scores)), style.GREEN),
        "r@1": (recall_at_k(scores, relevance.expand_as(scores), k=1), style.PURPLE),
    }
    made, rows = style.figure(3, 1, height=4.8, sharex=True)
    jumps = []
    for axes, (name, (values, colour)) in zip(rows, curves.items(), strict=True):
        axes.hlines(values, edges[:-1], edges[1:], color=colour, linewidth=2.6)
        for other in others:
            axes.axvline(HOME[other], color="#CCCCCC", linewidth=1, zorder=0)
        axes.set(ylabel=name, xlim=(0, 1), ylim=(-0.12, 1.12), yticks=[0, 0.5, 1])
        steps = values.unique_consecutive().tolist()
        jumps.append(f"{name} takes the values {', '.join(f'{value:.2f}' for value in steps)}")
    for other in others:
        style.draw_items(rows[0], [HOME[other]], [1.3], [NAMES[other]], [relevance[other]], size=18)
    for artist in rows[0].lines + rows[0].texts:
        artist.set_clip_on(False)
    rows[0].set_title(" ", size=16)
    rows[-1].set_xlabel(f"score of item {NAMES[item]}, the others do not move")
    return style.describe(
        made,
        f"Three staircases over the score of item {NAMES[item]}, from 0 to 1; the steps are where it meets another "
        f"item. From left to right, {'; '.join(jumps)}. Between the steps all three are flat.",
    )
