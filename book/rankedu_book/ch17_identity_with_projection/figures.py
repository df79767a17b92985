"""Figures of chapter 17: what happens when the margin is applied before the projection, or after it."""

import numpy as np
from matplotlib.figure import Figure

from rankedu import reference
from rankedu_book.kit import style

SCORES, RELEVANT, NAMES = [0.9, 0.7, 0.6, 0.4, 0.3], [0, 1, 0, 0, 1], "ABCDE"


def steps(margin: float) -> dict[str, list[float]]:
    """Return the steps of identity with std for the five items, in both orders of margin and projection.

    The loss is the sum of the ranks of B and E, so the gradient of the ranks is the relevance, whatever the ranks are.
    """
    shifted = reference.shift_by_margin(SCORES, RELEVANT, margin)
    orders = {"margin, then projection": shifted, "projection, then margin": SCORES}
    return {name: [-slope for slope in reference.identity_gradient(y, RELEVANT, "std")] for name, y in orders.items()}


def two_orders(longest: float = 2.0) -> Figure:
    """Draw the direction in which each of the five items moves, for every margin, in both orders."""
    margins = np.linspace(0, longest, 201)
    found = {name: np.array([steps(margin)[name] for margin in margins]) for name in steps(0.0)}
    figure, axes = style.figure(1, 2, width=6.4, height=3.2, sharey=True)
    for axis, (name, listed) in zip(axes, found.items(), strict=True):
        directions = listed / np.linalg.norm(listed, axis=1, keepdims=True)
        for item, letter in enumerate(NAMES):
            colour = style.POSITIVE if RELEVANT[item] else style.NEGATIVE
            line = "-" if RELEVANT[item] else "--"
            axis.plot(margins, directions[:, item], color=colour, linestyle=line)
            name_at = (longest, directions[-1, item] + (0.06 if RELEVANT[item] else -0.06))
            axis.annotate(letter, name_at, xytext=(6, 0), textcoords="offset points", va="center")
        axis.axhline(0, color=style.GREY, linewidth=1, zorder=0)
        axis.set(xlabel="margin α", title=name)
    axes[0].set_ylabel("direction of the step")
    ends = ", ".join(
        f"{letter} {step:+.4f}" for letter, step in zip(NAMES, found["margin, then projection"][-1], strict=True)
    )
    return style.describe(
        figure,
        "Two panels with a line for each of five items. Left, with the margin before the projection, the "
        f"relevant items B and E begin above 0, and E ends below it: at a margin of {longest:g} the steps are {ends}. "
        "Right, with the margin after the projection, all lines are level, and B and E stay above 0.",
    )
