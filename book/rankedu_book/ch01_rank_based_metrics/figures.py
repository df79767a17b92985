"""Figures of chapter 1: rankings, what the metrics read off them, and what ties do to both."""

from itertools import permutations

import numpy as np
import torch
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


def models() -> tuple[dict[str, Tensor], Tensor]:
    """Return the scores of the models by name, and the relevance of the items."""
    sign = torch.tensor([1.0] * 3 + [-1.0] * 5, dtype=torch.float64)
    return {name: sign * torch.tensor(numbers, dtype=torch.float64) for name, numbers in CERTAINTY.items()}, sign > 0


def same_cross_entropy() -> Figure:
    """Draw three models' rankings of eight photographs, with cross entropy and AP."""
    scores, relevance = models()
    figure, axes = style.figure(height=3.3)
    told = []
    for y, (name, values) in zip((0.0, -1.25, -2.5), scores.items(), strict=True):
        order = values.argsort(descending=True)
        style.draw_items(axes, range(1, 9), [y] * 8, map(str, (order + 1).tolist()), relevance[order], size=24)
        for place, score in enumerate(values[order].tolist(), start=1):
            style.write(axes, place, y - 0.46, f"{score:.1f}".replace("-", "−"))
        entropy = torch.nn.functional.binary_cross_entropy_with_logits(values, relevance.double())
        precision = average_precision(values, relevance)
        axes.text(0.3, y, f"model {name}", ha="right", va="center")
        style.write(axes, 9.55, y, f"{entropy:.3f}")
        style.write(axes, 11.0, y, f"{precision:.3f}", weight="bold")
        told.append(f"model {name} has cross entropy {entropy:.3f} and AP {precision:.3f}")
    for x, text in ((9.55, "cross\nentropy"), (11.0, "AP")):
        style.write(axes, x, 0.62, text, va="bottom")
    for x, text in ((1, "best score"), (8, "worst")):
        style.write(axes, x, 0.72, text, va="bottom", color=style.GREY)
    axes.annotate("", (7.4, 0.88), (2.0, 0.88), arrowprops={"arrowstyle": "->", "color": style.GREY})
    style.bare(axes, xlim=(-1.4, 11.6), ylim=(-3.15, 1.45))
    return style.describe(
        figure,
        "Three models rank eight photographs, of which numbers 1 to 3 are relevant (blue discs) and the others are not "
        f"(hollow red squares). {'; '.join(told)}. Model A has the three relevant ones first; models B and C put the "
        "irrelevant photographs 4 and 5 before them.",
    )


def three_ranks() -> Figure:
    """Draw five items on the score axis, two of them tied, and their ranks under three policies."""
    scores = torch.tensor([0.9, 0.6, 0.6, 0.35, 0.1])
    figure, axes = style.figure(height=2.9)
    axes.plot([0, 1], [0, 0], color=style.GREY, linewidth=1.5, zorder=1)
    for tick in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        axes.plot([tick], [0], marker="|", markersize=7, color=style.GREY, zorder=1)
        style.write(axes, tick, -0.31, f"{tick:g}", color="#666666")
    for x, y, name in zip(scores.tolist(), (0.0, 0.0, 0.5, 0.0, 0.0), "ABCDE", strict=True):
        axes.plot([x], [y], marker="o", markersize=22, color=style.BLACK, markeredgecolor="white", zorder=4)
        style.write(axes, x, y, name, color="white", weight="bold", va="center_baseline", zorder=5)
    axes.text(1.03, 0, "score", ha="left", va="center")
    told = []
    policies = (("min", "“min”, Eq. 2"), ("ordinal", "“ordinal”"), ("max", "“max”"))
    for y, (ties, label) in zip((-0.95, -1.37, -1.79), policies, strict=True):
        ranks = rank(scores, ties=ties).tolist()
        axes.text(-0.04, y, label, ha="right", va="center")
        for x, shown in ((0.9, ranks[0]), (0.6, f"{ranks[1]}, {ranks[2]}"), (0.35, ranks[3]), (0.1, ranks[4])):
            style.write(axes, x, y, shown, weight="bold")
        told.append(f"{ties}: {style.listed(ranks)}")
    style.bare(axes, xlim=(-0.36, 1.16), ylim=(-2.0, 0.85))
    return style.describe(
        figure,
        "Items A to E on an axis of scores at 0.9, 0.6, 0.6, 0.35 and 0.1; B and C are tied. "
        f"Their ranks under three policies are {'; '.join(told)}.",
    )


def precision_recall_staircase() -> Figure:
    """Draw precision against recall, going down a ranking of ten; average precision is the shaded area."""
    relevance, depth = np.array(TEN), np.arange(1, 11)
    found = np.cumsum(relevance)
    precision, recall = found / depth, found / found[-1]
    figure, (strip, axes) = style.figure(2, 1, height=4.6, gridspec_kw={"height_ratios": [1, 5.2]})
    style.draw_items(strip, depth, [0] * 10, map(str, depth), relevance == 1, size=23)
    style.bare(strip, xlim=(0.2, 10.8), ylim=(-1, 1))
    at, width = np.flatnonzero(relevance), 1 / found[-1]
    axes.bar(recall[at], precision[at], -width, align="edge", color=style.SKY, alpha=0.45, edgecolor="white")
    axes.plot(np.r_[0, recall], np.r_[0, precision], color=style.BLACK, linewidth=1.2, zorder=2)
    for i in at:
        style.write(axes, recall[i] - width / 2, 0.06, f"{found[i]}/{depth[i]}")
    style.draw_items(axes, recall, precision, map(str, depth), relevance == 1, size=18)
    value = average_precision(-torch.arange(10.0), torch.tensor(TEN))
    axes.set(xlim=(-0.03, 1.04), ylim=(-0.04, 0.8), xticks=[0, 0.25, 0.5, 0.75, 1])
    axes.set(xlabel="share of the relevant items found", ylabel="precision so far")
    axes.text(-0.01, 0.79, f"shaded area = AP = {value:.3f}", ha="left", va="top")
    return style.describe(
        figure,
        f"A ranking of ten items with relevant ones at ranks {style.listed(depth[at])}. Below it, precision against "
        "the share of relevant items found. Each relevant item has a bar a quarter wide and as high as the precision "
        f"there ({style.listed(precision[at], '{:.2f}')}); together the bars cover {value:.3f}, the average precision.",
    )


def depth_curves() -> Figure:
    """Draw hit rate, recall and precision of one ranking, as the cut-off K grows."""
    relevance = torch.tensor(TEN)
    scores, depth = -torch.arange(10.0), range(1, 11)
    curves = {
        "r@K: any found?": ([recall_at_k(scores, relevance, k).item() for k in depth], style.BLACK, "o"),
        "IR recall: share found": ((relevance.cumsum(0) / relevance.sum()).tolist(), style.GREEN, "^"),
        "precision: share of the K": ([precision_at_k(scores, relevance, k).item() for k in depth], style.ORANGE, "D"),
    }
    figure, axes = style.figure(height=3.6)
    for label, (values, colour, marker) in curves.items():
        axes.step(depth, values, where="post", color=colour, linewidth=1.2, alpha=0.6)
        axes.plot(depth, values, linestyle="none", marker=marker, markersize=7, color=colour, label=label)
    style.draw_items(axes, depth, [-0.22] * 10, map(str, depth), relevance == 1, size=19)
    axes.set(xlim=(0.4, 10.6), ylim=(-0.38, 1.08), xlabel="cut-off K", ylabel="value")
    axes.set(xticks=depth, yticks=[0, 0.25, 0.5, 0.75, 1])
    axes.spines["left"].set_bounds(0, 1)
    figure.legend(loc="outside upper center", ncols=2, handletextpad=0.2, columnspacing=1.0)
    hit, found, pure = (values for values, _, _ in curves.values())
    return style.describe(
        figure,
        f"Three curves over the cut-off K from 1 to 10. r@K jumps from {hit[0]:.0f} to {hit[1]:.0f} at K = 2 and stays "
        f"there; the share of relevant items found climbs in steps of a quarter and is {found[1]:.2f} at K = 2 and "
        f"{found[7]:.0f} from K = 8; precision at K is {pure[0]:.0f} at 1, {pure[2]:.2f} at 3 and {pure[9]:.2f} at 10.",
    )


def tied_orders() -> Figure:
    """Draw every order that a group of four tied items can take, and the AP that it gives."""
    scores, relevance = torch.tensor([0.9, 0.5, 0.5, 0.5, 0.5, 0.1]), torch.tensor([0, 1, 1, 0, 0, 1])
    orders = [(0, *order, 1) for order in sorted(set(permutations((1, 1, 0, 0))), reverse=True)]
    values = average_precision(-torch.arange(6.0).expand(len(orders), -1), torch.tensor(orders)).tolist()
    figure, (left, right) = style.figure(1, 2, height=3.9, gridspec_kw={"width_ratios": [1, 1.25]}, sharey=True)
    for y, row in enumerate(orders):
        style.draw_items(left, range(1, 7), [-y] * 6, map(str, range(1, 7)), row, size=18)
    left.axvspan(1.5, 5.5, color="#EEEEEE", zorder=0)
    style.write(left, 3.5, 0.72, "tied, so in any order", va="bottom")
    left.axis("off")
    right.plot(values, -np.arange(len(values)), linestyle="none", marker="o", markersize=9, color=style.BLACK)
    shown = []
    looks = (("pessimistic", "--", style.ORANGE), ("expected", "-", style.GREEN), ("optimistic", ":", style.PURPLE))
    for ties, dash, colour in looks:
        value = average_precision(scores, relevance, ties=ties).item()
        shown.append(f"{ties} {value:.3f}")
        right.axvline(value, color=colour, linestyle=dash, zorder=1, label=shown[-1])
    right.set(xlabel="AP of this order", ylim=(-len(orders) + 0.35, 1.3), xlim=(0.365, 0.575))
    right.tick_params(left=False, labelleft=False)
    right.spines["left"].set_visible(False)
    figure.legend(loc="outside upper right", ncols=3, handlelength=1.2, columnspacing=0.7)
    return style.describe(
        figure,
        "Six rows, one for each way to order the labels of four tied items, two of them relevant, between an "
        f"irrelevant item at rank 1 and a relevant one at rank 6; beside each its AP: {style.listed(values, '{:.3f}')}."
        f" Vertical lines mark the tie policies: {', '.join(shown)}.",
    )


def metric_staircases() -> Figure:
    """Draw AP, NDCG and r@1 as functions of the score of item D, while A, B, C and E do not move."""
    gains = torch.tensor([0.0, 3.0, 0.0, 1.0, 0.0], dtype=torch.float64)
    others = {"A": 0.85, "B": 0.65, "C": 0.45, "E": 0.05}
    edges = torch.tensor([0.0, *sorted(others.values()), 1.0], dtype=torch.float64)
    scores = torch.tensor([[*others.values()]] * 5, dtype=torch.float64)
    middles = (edges[1:] + edges[:-1]) / 2  # between the others nothing changes
    scores = torch.cat([scores[:, :3], middles[:, None], scores[:, 3:]], 1)
    relevance = (gains > 0).expand_as(scores)
    curves = {
        "AP": (average_precision(scores, relevance), style.BLACK),
        "NDCG": (ndcg(scores, gains.expand_as(scores)), style.GREEN),
        "r@1": (recall_at_k(scores, relevance, k=1), style.PURPLE),
    }
    figure, rows = style.figure(3, 1, height=4.8, sharex=True)
    jumps = []
    for axes, (name, (values, colour)) in zip(rows, curves.items(), strict=True):
        axes.hlines(values, edges[:-1], edges[1:], color=colour, linewidth=2.6)
        for other in others.values():
            axes.axvline(other, color="#CCCCCC", linewidth=1, zorder=0)
        axes.set(ylabel=name, xlim=(0, 1), ylim=(-0.12, 1.12), yticks=[0, 0.5, 1])
        jumps.append(f"{name} takes the values {style.listed(values.unique_consecutive().tolist(), '{:.2f}')}")
    style.draw_items(rows[0], others.values(), [1.3] * 4, others, [name == "B" for name in others], size=18)
    for artist in rows[0].lines + rows[0].texts:
        artist.set_clip_on(False)
    rows[0].set_title(" ", size=16)
    rows[-1].set_xlabel("score of item D, the others do not move")
    return style.describe(
        figure,
        "Three staircases over the score of item D, from 0 to 1; the steps are where it meets another item. From left "
        f"to right, {'; '.join(jumps)}. Between the steps all three are flat.",
    )
