"""Figures of chapter 7: which items get a gradient, bricks counted twice, and what weights make of a rank."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from matplotlib.figure import Figure
from torch import Tensor

from rankedu.losses import RecallLoss
from rankedu.rankers import BlackboxRanker
from rankedu.ranks import outranking_negatives
from rankedu_book.kit import style

#: One query, from the best item to the worst: its scores, and which items are relevant.
QUERY_SCORES = (0.97, 0.90, 0.84, 0.77, 0.71, 0.63, 0.58, 0.51, 0.46, 0.38, 0.32, 0.25, 0.21, 0.12)
QUERY_RELEVANT = (0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0)
#: The same query later: how many irrelevant items still outrank each relevant one.
LATER = (0, 1, 3, 3, 6)

#: Four closed forms W to compare, each with the name that the chapter uses.
DESIGNS: dict[str, Callable[[Tensor], Tensor]] = {
    "r": lambda r: r,
    "log": torch.log1p,
    "log-log": lambda r: torch.log1p(torch.log1p(r)),
    "min(r, 1)": lambda r: r.clamp(max=1),
}


def query() -> tuple[Tensor, Tensor]:
    """The scores of the query, and which items are relevant."""
    return torch.tensor(QUERY_SCORES), torch.tensor(QUERY_RELEVANT).bool()


def best_positive_loss(scores: Tensor, relevance: Tensor, lam: float) -> Tensor:
    """The same weighted sum over K, of 1 − r@K itself: log(1 + r) of the best relevant item."""
    ranks = BlackboxRanker(lam)(scores)
    return torch.log(ranks[relevance].min())  # its rank is 1 + r


def places_gained(loss: Callable[[Tensor], Tensor], scores: Tensor, lam: float) -> list[int]:
    """How many places each item gains between y and y_λ: −λ times its gradient, whole numbers."""
    leaf = scores.detach().clone().requires_grad_()
    (gradient,) = torch.autograd.grad(loss(leaf), leaf)
    return (-lam * gradient).round().int().tolist()


def who_gets_a_gradient(lam: float = 3.0) -> Figure:
    """Draw one query, two losses with the same weights: recall as it is printed, and the refined one."""
    scores, relevance = query()
    r = outranking_negatives(scores, relevance)[relevance].tolist()
    loss_of_all = RecallLoss(BlackboxRanker(lam))
    losses: dict[str, Callable[[Tensor], Tensor]] = {
        "recall: $\\sum_K w_K\\,(1 - \\mathrm{r@}K)$": lambda y: best_positive_loss(y, relevance, lam),
        "refined: $\\sum_K w_K\\,(1 - \\tilde{\\mathrm{r}}@K)$": lambda y: loss_of_all(y, relevance),
    }
    figure, axes = style.figure(2, 1, width=6.4, height=4.6, sharex=True, sharey=True)
    facts = []
    for axis, (title, loss) in zip(axes, losses.items(), strict=True):
        places = places_gained(loss, scores, lam)
        for item, (gained, relevant) in enumerate(zip(places, QUERY_RELEVANT, strict=True), start=1):
            axis.bar(item, gained, edgecolor="white", width=0.8, **style.area(bool(relevant)))
            axis.plot(item, 0, markersize=6, **style.mark(bool(relevant)))
        axis.axhline(0, color=style.GREY, linewidth=1, zorder=0)
        axis.set_title(title)
        moved = [f"item {i + 1} {places[i]:+d}" for i in range(len(places)) if places[i]]
        facts.append(", ".join(moved))
    for place, count in zip(np.flatnonzero(QUERY_RELEVANT), r, strict=True):
        axes[0].text(place + 1, -2.3, str(count), ha="center", color=style.POSITIVE)
    axes[0].text(0.9, -2.3, "$r_i$ =", ha="center", color=style.POSITIVE)
    axes[0].set(ylim=(-2.6, 2.6), yticks=(-2, -1, 0, 1, 2))
    axes[1].set(xlabel="items in order of their scores, best first", xticks=range(1, len(QUERY_SCORES) + 1))
    figure.supylabel("places gained: $-\\lambda\\,\\cdot$ gradient")
    return style.describe(
        figure,
        f"Two bar charts over the same {len(QUERY_SCORES)} ranked items, blue for the {len(r)} relevant ones, which "
        f"are outranked by {', '.join(map(str, r))} irrelevant ones, red and hatched for the others; a bar upwards "
        f"means that descent raises the score. For recall itself only these move: {facts[0]}. For the refined recall: "
        f"{facts[1]}.",
    )


def bricks(outranked: Sequence[int] = LATER) -> Figure:
    """Draw Lemma 1, a wall of bricks that is counted by columns and by rows."""
    r, height = np.array(outranked), int(max(outranked))
    weights = np.log1p(1 / np.arange(1.0, height + 1))
    total = np.concatenate([[0], weights.cumsum()])
    failing = [int((r >= k).sum()) for k in range(1, height + 1)]
    figure, (left, right) = style.figure(1, 2, width=6.8, height=4.0, sharey=True)
    shades = (style.BLUE, style.SKY)
    for column, count in enumerate(r):
        for k in range(count):
            look = {"width": 0.94, "bottom": total[k], "edgecolor": "white", "linewidth": 1.5}
            left.bar(column + 1, weights[k], color=shades[column % 2], **look)
            right.bar(column + 1, weights[k], color=shades[k % 2], **look)
        left.text(column + 1, total[count] + 0.04, f"{total[count]:.2f}", ha="center", va="bottom")
    for k, count in enumerate(failing, start=1):
        middle = total[k - 1] + weights[k - 1] / 2
        right.text(len(r) + 0.65, middle, f"{count} × {weights[k - 1]:.2f}", ha="left", va="center")
    left.set(title="by item: heights $W(r_i)$", ylabel="height: $w_1 + w_2 + \\dots$", xlim=(0.4, len(r) + 0.6))
    right.set(title="by level: $|\\{i : r_i \\geq K\\}|$ × $w_K$", xlim=(0.4, len(r) + 2.2), ylim=(0, total[-1] + 0.25))
    for axis in (left, right):
        axis.set_xticks(range(1, len(r) + 1), [str(count) for count in r])
    left.set_xlabel("relevant items, by $r_i$")
    right.set_xlabel("the same bricks")
    by_item, by_level = float(total[r].sum()), float(np.dot(failing, weights))
    return style.describe(
        figure,
        f"The same wall of {int(r.sum())} bricks twice. It has a column for each of {len(r)} relevant items, as many "
        f"bricks high as irrelevant items outrank it: {', '.join(map(str, r))}. A brick at level K is w_K high. Left, "
        f"coloured by columns, of heights {', '.join(f'{total[c]:.2f}' for c in r)}: together {by_item:.2f}. Right, "
        f"coloured by rows, of {', '.join(map(str, failing))} bricks: together {by_level:.2f} as well.",
    )


def slope(weights: Callable[[Tensor], Tensor], r: Tensor) -> Tensor:
    """What autograd hands to the ranker of an item that r irrelevant ones outrank: its push W'(r)."""
    leaf = r.clone().requires_grad_()
    (push,) = torch.autograd.grad(weights(leaf).sum(), leaf)
    return push


def designs() -> Figure:
    """Draw closed forms W side by side: what a relevant item costs, and its push."""
    r = torch.arange(0.0, 101.0, dtype=torch.float64)
    figure, (left, right) = style.figure(1, 2, width=6.8, height=3.5)
    facts = []
    for (name, shape), line in zip(DESIGNS.items(), ("-", "--", "-.", ":"), strict=True):
        push = slope(shape, r[1:]).numpy()
        left.plot(r[:31], shape(r)[:31], linestyle=line, label=name)
        seen = np.where(push > 1e-12, push, np.nan)
        right.loglog(r[1:], seen, linestyle=line, label=name)
        if np.isnan(seen[1:]).all():
            right.plot(1, push[0], "o", color=right.lines[-1].get_color(), markersize=8)
        facts.append(f"{name}: push {push[0]:.2f} at r = 1, {push[9]:.3g} at 10, {push[99]:.2g} at 100")
    left.set(xlabel="r", title="what an item costs: $W(r)$", ylim=(0, 5))
    right.set(xlabel="r", title="its push: $W'(r)$", ylim=(5e-4, 2))
    right.legend(loc="lower left")
    return style.describe(
        figure,
        "Two panels with a curve for each closed form W. Left, W against r; right, on logarithmic axes, the push, the "
        f"slope of W at an item that r irrelevant ones outrank. {'; '.join(facts)}.",
    )
