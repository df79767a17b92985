"""Explorable of chapter 17: which pairs Algorithm 1 pushes, and which identity pushes."""

import numpy as np
from matplotlib.figure import Figure

from rankbook.ch17_since_then.study import pairs
from rankbook.kit import style
from rankbook.kit.explorable import explorable, goal, log_slider, slider, tell

#: Ten items from the best to the worst; these are relevant.
SCORES, RELEVANT = np.linspace(0.95, 0.05, 10), (1, 3, 4, 8)


@goal(
    "Let Algorithm 1 push every pair that is in the wrong order.",
    lambda at: at.pushed == at.wrong and at.margin == 0,
    "All {wrong} pairs in the wrong order, and no other: a pair in the right order never crosses, however large λ is. "
    "Identity pushes the {right} others too.",
)
@goal(
    "Let Algorithm 1 push nobody, and do not touch the margin.",
    lambda at: at.pushed == 0 and at.margin == 0,
    "No step of length λ reaches the next item. Identity has no such length: it pushes all {every} pairs at any "
    "distance, all alike.",
)
@goal(
    "Make Algorithm 1 push the pairs that identity pushes, all of them.",
    lambda at: at.pushed == at.every,
    "With a margin of {margin:g} the relevant scores begin below all others, and with λ = {lam:.3g} all of them end "
    "above: so identity is Algorithm 1 with a margin as wide as the scores.",
)
@explorable(
    lam=log_slider(0.08, 2.5, default=0.3, steps=26, stops=6, label="λ"),
    margin=slider(0.0, 1.2, default=0.0, steps=13, stops=5, label="margin α"),
)
def who_pushes_whom(lam: float, margin: float) -> Figure:
    """Every pair of a relevant item (rows) and another one: is it pushed?"""
    g = np.zeros(10)
    g[list(RELEVANT)] = 1
    moved = SCORES + margin / 2 * (1 - 2 * g)
    found, others = pairs(moved, g, lam), [j for j in range(10) if j not in RELEVANT]
    tables = [table[np.ix_(RELEVANT, others)] for table in found]
    order = SCORES[others][None] > SCORES[list(RELEVANT)][:, None]
    counts = [int((table > 0).sum()) for table in tables]
    figure, axes = style.figure(1, 2, width=6.2, height=3.1)
    style.place(figure, (0.1, 0.17, 0.4, 0.68), (0.58, 0.17, 0.4, 0.68))
    for axis, table, name, count in zip(axes, tables, ("Algorithm 1", "identity"), counts, strict=True):
        axis.imshow(table > 0, cmap=style.bands(2, 0.55), vmin=0, vmax=1, aspect="auto")
        for (row, column), wrong in np.ndenumerate(order):
            axis.text(column, row, "wrong" if wrong else "right", ha="center", va="center", fontsize=8)
        axis.set_xticks(range(len(others)), [str(j + 1) for j in others])
        axis.set_yticks(range(len(RELEVANT)), [str(i + 1) for i in RELEVANT])
        axis.set(xlabel="irrelevant item, by its place", title=f"{name}: {count} of {order.size}")
    axes[0].set_ylabel("relevant item")
    tell(figure, pushed=counts[0], wrong=int(order.sum()), right=int((~order).sum()), every=order.size)
    tell(figure, margin=margin, lam=lam)
    return style.describe(
        figure,
        f"Two tables of the {order.size} pairs of a relevant and an irrelevant item, {order.sum()} of them in the "
        f"wrong order; bright ones are pushed. With λ = {lam:.3g} and a margin of {margin:g} Algorithm 1 pushes "
        f"{counts[0]} of them, identity {counts[1]}.",
    )
