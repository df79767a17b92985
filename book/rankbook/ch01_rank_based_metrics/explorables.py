"""The explorable of chapter 1: one score moves, and every metric answers."""

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from rankbook.ch01_rank_based_metrics.figures import GAINS, HOME, NAMES, draw_score_axis
from rankbook.kit import style
from rankbook.kit.explorable.controls import choice, slider
from rankbook.kit.explorable.core import explorable, goal
from rankbook.kit.explorable.kept import hold, pick, tell
from rankedu.metrics import average_precision, map_at_r, ndcg, precision_at_k, recall_at_k, spearman
from rankedu.ranks import rank


def all_metrics(scores: Tensor, gains: Tensor = GAINS) -> dict[str, float]:
    """Every metric of chapter 1 for one query; an item is relevant if it gains anything."""
    relevance = gains > 0
    values = {
        "AP": average_precision(scores, relevance),
        "mAP@R": map_at_r(scores, relevance),
        "r@1": recall_at_k(scores, relevance, k=1),
        "P@3": precision_at_k(scores, relevance, k=3),
        "NDCG": ndcg(scores, gains),
        "Spearman": spearman(scores, gains),
    }
    return {name: value.item() for name, value in values.items()}


@goal(
    "Raise AP while NDCG falls.",
    lambda at: at.ap > at.ap_before and at.ndcg < at.ndcg_before,
    "With {item} at {score:g}, AP is {ap:.2f} instead of {ap_before:.2f} and NDCG {ndcg:.2f} instead of "
    "{ndcg_before:.2f}. D overtook an irrelevant item, which both like, and B, which is more relevant than D. For AP "
    "both are just relevant, so it ignores the second move.",
)
@goal(
    "Raise P@3 while r@1 and mAP@R stay as they are.",
    lambda at: at.p_at_3 > at.p_at_3_before and at.r_at_1 == at.r_at_1_before and at.map_at_r == at.map_at_r_before,
    "A second relevant item came in among the first three. r@1 depends only on the first place, and mAP@R on the "
    "first two, because two items are relevant.",
)
@goal(
    "Find the highest AP that one move can give. Two items can do it.",
    lambda at: at.ap > 0.8,
    "{item} did it: AP {ap:.2f}. Whether a relevant item rises to the top or the irrelevant one leaves it, the gain "
    "is largest there: the top is worth more.",
)
@explorable(
    item=choice("ABCDE", default="D", label="which item moves"),
    score=slider(0.0, 1.0, default=0.4, steps=51, stops=11, label="its score"),
)
def drag_a_score(item: str, score: float) -> Figure:
    """Drag one of five items along the score axis: its neighbours' ranks change, and the metrics jump, or don't."""
    at = NAMES.index(item)
    scores = HOME.clone()
    scores[at] = score
    before, now = all_metrics(HOME), all_metrics(scores)
    made, (axis, bars) = style.figure(2, 1, height=4.6)
    style.place(made, (0.0, 0.59, 1.0, 0.41), (0.0, 0.0, 1.0, 0.59))
    _score_axis(axis, scores, at)
    _bars(bars, before, now)
    pick(axis, item=lambda name: (float(scores[NAMES.index(name)]), 1.0 if name == item else 0.0))
    hold(axis, score=lambda score: (score, 1.0))
    tell(made, **_told(before, "_before"), **_told(now))
    order = "".join(NAMES[i] for i in scores.argsort(descending=True, stable=True).tolist())
    return style.describe(
        made,
        f"Item {item} has been moved from {HOME[at]:.2f} to {score:.2f}, which gives the order {', '.join(order)}; B "
        "is very relevant, D relevant, the others are not. "
        + "; ".join(f"{name} {now[name]:.2f} ({_change(before[name], now[name])})" for name in now)
        + ".",
    )


def _told(metrics: dict[str, float], when: str = "") -> dict[str, float]:
    """The metrics by names that a goal can be written with."""
    return {name.lower().replace("@", "_at_") + when: round(value, 9) for name, value in metrics.items()}


def _change(before: float, now: float) -> str:
    """How a value compares with its value for the untouched scores."""
    if abs(now - before) < 1e-9:
        return "as before"
    return f"{'up' if now > before else 'down'} from {before:.2f}"


def _score_axis(axes: Axes, scores: Tensor, moved: int) -> None:
    """Items over their scores, the moved one lifted off the axis, with ranks below."""
    draw_score_axis(axes, -1.3)
    axes.text(-0.045, -1.3, "score", ha="right", va="center", size=11, color="#666666")
    axes.text(-0.045, -0.72, "rank", ha="right", va="center", size=12, weight="bold")
    x, y = scores.tolist(), [1.0 if i == moved else 0.0 for i in range(5)]
    style.draw_items(axes, x, y, NAMES, GAINS > 0, size=25)
    for i, place in enumerate(rank(scores).tolist()):
        tone = style.BLACK if i == moved else "#666666"
        axes.text(x[i], -0.72, str(place), size=13, ha="center", va="center", weight="bold", color=tone)
        pips = "•" * round(torch.log2(1 + GAINS[i]).item())
        axes.text(x[i], y[i] - 0.22, pips, color="white", size=10, ha="center", va="center", zorder=5)
    ghost = {**style.mark(bool(GAINS[moved] > 0)), "markerfacecolor": "white", "alpha": 0.45}
    axes.plot([HOME[moved]], [0], markersize=22, **ghost)
    axes.plot([x[moved]] * 2, [0, 1], color=style.BLACK, linewidth=1.5, zorder=2)
    axes.plot([x[moved]], [0], color=style.BLACK, marker="v", markersize=7, zorder=6)
    axes.set(xlim=(-0.29, 1.37), ylim=(-1.55, 1.5))
    axes.axis("off")


def _bars(axes: Axes, before: dict[str, float], now: dict[str, float]) -> None:
    """One track per metric, from 0 to 1 (Spearman's from −1), the old value hollow and the new one solid."""
    for row, (name, value) in enumerate(now.items()):
        y, low = -row, -1.0 if name == "Spearman" else 0.0
        start, end = ((v - low) / (1 - low) for v in (before[name], value))
        axes.plot([0, 1], [y, y], color="#D9D9D9", linewidth=5, solid_capstyle="round", zorder=1)
        axes.text(-0.045, y, name, ha="right", va="center", size=12)
        axes.text(1.04, y, f"{value:.2f}".replace("-", "−"), ha="left", va="center", size=12, weight="bold")
        if name == "Spearman":
            axes.plot([0.5], [y], marker="|", markersize=11, color="#999999", zorder=2)
            for x, label in ((0, "−1"), (0.5, "0"), (1, "1")):
                axes.text(x, y - 0.42, label, ha="center", va="top", size=10, color="#666666")
        if abs(value - before[name]) > 1e-9:
            up = value > before[name]
            colour, sign = (style.GREEN, "▲") if up else (style.ORANGE, "▼")
            axes.plot([start, end], [y, y], color=colour, linewidth=5, solid_capstyle="butt", zorder=2)
            change = f"{sign} {abs(value - before[name]):.2f}"
            axes.text(1.2, y, change, ha="left", va="center", size=12, color="#444444")
        axes.plot([start], [y], marker="o", markersize=9, color="white", markeredgecolor="#888888", zorder=3)
        axes.plot([end], [y], marker="o", markersize=11, color=style.BLACK, zorder=4)
    axes.set(xlim=(-0.29, 1.37), ylim=(-5.95, 0.7))
    axes.axis("off")
