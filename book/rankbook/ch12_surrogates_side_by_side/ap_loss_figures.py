"""The losses of Table 1 that are made for AP, on one walk, and the ranking that an AP-SVM trains against."""

from __future__ import annotations

import numpy as np
import torch
from matplotlib.figure import Figure

from rankbook.ch12_surrogates_side_by_side.ap_losses import ap_losses, ap_walk
from rankbook.kit import style
from rankedu.losses import APLoss
from rankedu.rankers import BlackboxRanker
from rankedu.ranks import rank
from ranklab.contestants import most_violated_ranking


@style.style()
def what_each_optimises() -> Figure:
    """Four relevant items move past twelve others: the value of each loss, and the push that it gives."""
    shifts = np.linspace(-0.65, 0.65, 261)
    figure, (left, right) = style.figure(1, 2, width=7.4, height=4.0)
    left.plot(shifts, ap_walk(APLoss(BlackboxRanker(4.0)), shifts)[0], color=style.GREY, linewidth=5, alpha=0.5)
    facts = []
    looks = style.looks(ap_losses()) | {"AP-SVM": style.Look(style.RED, "", "-")}
    for name, loss in ap_losses().items():
        values, pushes = ap_walk(loss, shifts)
        left.plot(shifts, values, label=name, **looks[name].line)
        right.plot(shifts, pushes, **looks[name].line)
        facts.append(
            f"{name}: from {values[0]:.2f} to {values[-1]:.2f}, push from {pushes[0]:.2f} to {abs(pushes[-1]):.2f}"
        )
    left.set(xlabel="shift of the relevant items", title="loss", ylim=(-0.05, 2.4))
    right.set(xlabel="shift of the relevant items", title="push on the relevant items", ylim=(-0.25, 2.6))
    style.legend_below(figure, left, handlelength=2.0)
    return style.describe(
        figure,
        "Two panels over the shift of four relevant items past twelve others. Left, the values: a grey staircase, one "
        "minus AP, which RaMBO's follows exactly and Smooth-AP's, FastAP's and the error-driven one with small ramps; "
        "AP-SVM's is a convex line far above them. Right, the push that the relevant items get together. "
        f"{'; '.join(facts)}.",
    )


@style.style()
def most_violated() -> Figure:
    """Eight items by their scores, and in the ranking that an AP-SVM trains against."""
    scores = torch.tensor([0.95, 0.8, 0.72, 0.6, 0.45, 0.4, 0.2, 0.1], dtype=torch.float64)
    relevance = torch.tensor([True, False, True, True, False, True, False, False])
    columns = {
        "by score": rank(scores),
        "most violated": most_violated_ranking(scores, relevance),
        "the same, scores × 10": most_violated_ranking(10 * scores, relevance),
    }
    figure, axis = style.figure(width=6.8, height=4.2)
    for (one, other), x in zip(
        [("by score", "most violated"), ("most violated", "the same, scores × 10")], (0, 1), strict=True
    ):
        for item in range(8):
            colour = style.POSITIVE if relevance[item] else style.NEGATIVE
            ends = [-columns[one][item], -columns[other][item]]
            axis.plot([x + 0.12, x + 0.88], ends, color=colour, linewidth=1.4, alpha=0.6)
    for x, (title, ranks) in enumerate(columns.items()):
        names = (f"{score:.2f}".lstrip("0") for score in scores)
        style.draw_items(axis, [x] * 8, -ranks, names, relevance, size=25)
        axis.text(x, -0.2, title, ha="center")
    axis.set(xlim=(-0.45, 2.45), ylim=(-8.6, 0.2), yticks=range(-8, 0), yticklabels=range(8, 0, -1), ylabel="rank")
    axis.set_xticks([])
    axis.spines[["left", "bottom"]].set_visible(False)
    swaps = {
        title: int(
            ((ranks[relevance][:, None] > ranks[~relevance]) & (scores[relevance][:, None] > scores[~relevance])).sum()
        )
        for title, ranks in columns.items()
    }
    return style.describe(
        figure,
        "Three columns of eight items in ranks 1 to 8, four relevant (blue discs) and four not (hollow red squares). "
        f"In the first they stand by score, from {scores.max():.2f} to {scores.min():.2f}. The most "
        f"violated ranking turns {swaps['most violated']} rightly ordered pairs round; "
        f"with ten times the scores it turns {swaps['the same, scores × 10']} round. Relevant items keep their order "
        "among themselves in all three, and so do the others.",
    )
