"""Explorable of chapter 7: from the weights of recall at K to the push that each relevant item gets."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rankedu_book.kit import style
from rankedu_book.kit.explorable import choice, explorable, goal, hold, slider, tell
from rankedu_book.kit.ranks import Array

LEVELS, NO_CUT = 20, "none"
#: Of five relevant items in a list of 25: how many irrelevant ones outrank each.
OUTRANKED, ITEMS = (0, 1, 4, 9, 18), 25


def weights(power: float, cut_off: int | str) -> Array:
    """w_K = 1/K^power for K = 1, …, 20, and 0 above the cut-off."""
    level = np.arange(1.0, LEVELS + 1)
    return np.asarray(np.where(level <= _last(cut_off), level**-power, 0.0))


def _last(cut_off: int | str) -> int:
    return LEVELS if cut_off == NO_CUT else int(cut_off)


@goal(
    "Give the four relevant items that are outranked the same push: the loss of wrongly ordered pairs.",
    lambda at: at.share[1] - at.share[-1] < 1e-9,
    "All weights are 1: each of the four gets {share[1]:.0%} of the push, and W is a straight line. The exponent says "
    "how quickly the push falls with r.",
)
@goal(
    "Give all of the push to one of the five.",
    lambda at: sum(share > 0 for share in at.share) == 1,
    "This is L@1: the item with r = 1 has all of the push, and p no longer matters. Supervision is sparse again, "
    "although all relevant items are counted.",
)
@goal(
    "Give the item with r = 1 more than 80 % of the push, with no largest K.",
    lambda at: at.share[1] > 0.8 and at.cut_off == NO_CUT,
    "{share[1]:.0%} go to the item with r = 1, and {share[4]:.1%} to the last. The item with r = 0 has nothing left to "
    "pass, and no push, whatever the weights.",
)
@explorable(
    power=slider(0, 2, default=1, steps=31, stops=7, label="power p"),
    cut_off=choice((1, 3, 10, NO_CUT), default=NO_CUT, label="largest K"),
)
def weights_to_loss(power: float, cut_off: int | str) -> Figure:
    """From weights to a loss: w_K = 1/K^p up to a largest K, their sum W(r), and the push of each relevant item."""
    w = weights(power, cut_off)
    total = np.concatenate([[0], w.cumsum()])
    push = np.array([w[r - 1] if r else 0.0 for r in OUTRANKED])  # what passing one item saves
    share = push / push.sum()
    figure, (first, second, third) = style.figure(3, 1, width=6.2, height=4.9)
    style.place(figure, (0.09, 0.6, 0.38, 0.32), (0.6, 0.6, 0.38, 0.32), (0.09, 0.11, 0.89, 0.3))
    first.bar(range(1, LEVELS + 1), w, color=style.ORANGE, antialiased=False)
    first.set(title="weights $w_K$", xlabel="K", xlim=(0, LEVELS + 1), ylim=(0, 1.05))
    first.set(xticks=(1, 10, 20), yticks=(0, 0.5, 1))
    first.axvline(_last(cut_off) + 0.5, color=style.GREY, linewidth=1.2)
    hold(first, power=lambda p: (3, 3.0**-p), cut_off=lambda cut: (_last(cut) + 0.5, 0.8))
    r = np.arange(LEVELS + 1)
    second.plot(r, total / total[-1], "o-", color=style.ORANGE, markersize=4)
    second.plot(r, np.log1p(r) / np.log1p(LEVELS), "--", color=style.BLACK, linewidth=1.5)
    second.set(title="W(r) as a share of W(20)", xlabel="r", ylim=(0, 1.05))
    second.set(xticks=(0, 10, 20), yticks=(0, 0.5, 1))
    second.text(20, 0.06, "dashed: log(1 + r)", ha="right")
    _ranking(third, push, share)
    tell(figure, share=share.tolist())
    return style.describe(
        figure,
        f"Weights 1/K^{power:g}"
        + (" at all K" if cut_off == NO_CUT else f" up to K = {cut_off}, 0 beyond")
        + f": w_1 = {w[0]:.2f}, w_10 = {w[9]:.2f}, W(20) = {total[-1]:.2f}; half of W(20) is reached at r = "
        f"{int(np.argmax(total >= total[-1] / 2))}. Below, a ranking of {ITEMS} items; the relevant ones, outranked by "
        f"{', '.join(map(str, OUTRANKED))} irrelevant ones, get {', '.join(f'{s:.0%}' for s in share)} of the push.",
    )


def _ranking(axis: Axes, push: Array, share: Array) -> None:
    """The list of items, and on each relevant one a bar as high as its push."""
    places = [r + k for k, r in enumerate(OUTRANKED, start=1)]
    others = [place for place in range(1, ITEMS + 1) if place not in places]
    axis.bar(places, push, color=style.POSITIVE, width=0.7, antialiased=False)
    axis.plot(others, [-0.12] * len(others), linestyle="none", markersize=5, **style.mark(False))
    axis.plot(places, [-0.12] * len(places), linestyle="none", markersize=8, **style.mark(True))
    for place, r, p, s in zip(places, OUTRANKED, push, share, strict=True):
        axis.text(place, p + 0.04, f"{s:.0%}", ha="center", va="bottom", color=style.POSITIVE)
        axis.text(place, -0.5, f"r = {r}", ha="center", va="bottom", color=style.POSITIVE)
    axis.axhline(0, color=style.GREY, linewidth=1)
    axis.set(title="push $w_r$ of each relevant item", xlabel="place in the ranking")
    axis.set(xlim=(-0.6, ITEMS + 1), ylim=(-0.55, 1.3), yticks=(0, 0.5, 1), xticks=(1, 5, 10, 15, 20, 25))
