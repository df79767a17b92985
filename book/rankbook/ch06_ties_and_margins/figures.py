"""Figures of chapter 6: what happens around a tie, a collapse, and what a margin does about it."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.figure import Figure

from rankbook.ch06_ties_and_margins import study
from rankbook.kit import style
from rankbook.kit.figures import paper_figure
from rankbook.kit.ranks import Array


def fan_around_a_tie() -> Figure:
    """Every value of AP meets in the tie of three scores, and no magnifying glass changes the picture."""
    norm = BoundaryNorm([0.25, 0.4, 0.75, 1.25], 3)
    colours = ListedColormap([style.RED, style.YELLOW, style.SKY])
    figure, axes = style.figure(1, 2, width=6.8, height=3.7)
    for axis, scale, ends in zip(axes, (1.0, 1e-6), (("-1", "0", "1"), ("-1e-06", "0", "1e-06")), strict=True):
        side = scale * np.linspace(-1, 1, 400)
        a, b = np.meshgrid(side, side)
        value = 1.0 / (1 + (b > a).astype(float) + (-a - b > a))  # the third score is −a − b
        axis.imshow(value, origin="lower", extent=(-scale, scale) * 2, cmap=colours, norm=norm, interpolation="nearest")
        axis.plot(0, 0, "o", color=style.BLACK, markersize=7)
        axis.set_xticks((-scale, 0, scale), ends)
        axis.set_yticks((-scale, 0, scale), ends)
        axis.set(xlabel="score of the relevant item")
        for at, text in (((0.6, 0.0), "AP = 1"), ((0.1, 0.7), "1/2"), ((-0.1, -0.7), "1/2"), ((-0.65, 0.0), "1/3")):
            axis.text(at[0] * scale, at[1] * scale, text, ha="center", va="center")
    axes[0].set(ylabel="of an irrelevant one", title="around a tie")
    axes[1].set(title="a million times closer")
    facts = ", ".join(f"{(value == v).mean():.0%} for AP = {v:.2f}" for v in np.unique(value))
    return style.describe(
        figure,
        "Two square maps of AP for three items, one of them relevant, whose scores add up to zero; the tie of all "
        "three is a dot in the middle. Wedges of constant AP meet in the dot and fill the square around it: "
        f"{facts}. The left map reaches 1 from the tie, the right one 0.000001, and they are the same picture.",
    )


def shift_curves() -> Figure:
    """AP of lists that are all perfect in training, after every score has moved a little."""
    gaps, relevance = np.geomspace(1e-4, 1.0, 33), np.arange(200) < 20
    figure, axes = style.figure(width=6.4, height=3.5)
    axes.semilogx(gaps, np.ones_like(gaps), ":", color=style.BLACK, label="as trained")
    facts = []
    for sigma, line, colour in ((0.01, "-", style.BLUE), (0.1, "--", style.ORANGE)):
        values = np.array([study.expected_ap_after_shift(gap, sigma, relevance) for gap in gaps])
        axes.semilogx(gaps, values, line, color=colour, label=f"scores move by {sigma:g}")
        facts.append(
            f"moved by {sigma:g}, AP is {values[0]:.2f} at a gap of {gaps[0]:g} and passes 0.95 near "
            f"{np.interp(0.95, values, gaps):.2g}"
        )
    axes.set(xlabel="gap between the positives and the negatives", ylabel="AP", ylim=(0, 1.05))
    axes.legend(loc="upper left", bbox_to_anchor=(0.0, 0.92))
    return style.describe(
        figure,
        f"AP against the gap, from {gaps[0]:g} to 1. Before the shift it is 1 everywhere, a level dotted line. "
        f"{'; '.join(facts)}: two rising curves of the same form, one ten times further to the right.",
    )


@paper_figure("RaMBO Fig. 3")
def collapse_and_cure(margin: float = 0.1, positives: int = 8, negatives: int = 16) -> Figure:
    """Scores of a few items during training, without a margin and with one."""
    figure, axes = style.figure(1, 2, width=7.0, height=3.8, sharey=True)
    facts = []
    for axis, alpha in zip(axes, (0.0, margin), strict=True):
        run = study.train_scorer(alpha)
        scores = run.scores()
        for relevant, count in ((False, negatives), (True, positives)):
            lines = scores[:, run.relevance == relevant][:, :count]
            colour, look = (style.POSITIVE, "-") if relevant else (style.NEGATIVE, "--")
            labels = ["positive" if relevant else "negative"] + [""] * (count - 1)
            axis.plot(run.steps, lines, look, color=colour, linewidth=1.2, label=labels)
        spread, value = run.spread(), run.average_precision()
        axis.set(title=_margin(alpha), xlabel="step of gradient descent")
        facts.append(
            f"{'margin ' + format(alpha, 'g') if alpha else 'without a margin'}: the spread of the scores goes from "
            f"{spread[0]:.2f} over {spread.max():.2f} to {spread[-1]:.2f}, AP from {value[0]:.2f} to {value[-1]:.2f}"
        )
    axes[0].set_ylabel("score")
    axes[0].legend(loc="lower right")
    return style.describe(
        figure,
        f"Two panels of score trajectories over {study.STEPS} steps, {positives} positives in solid blue and "
        f"{negatives} negatives in dashed red. In both, positives rise above negatives within a few dozen steps. Then, "
        f"on the left, all lines run together towards one score; on the right they stay apart. {'; '.join(facts)}.",
    )


def spread_and_brittleness() -> Figure:
    """The spread of the scores during training for several margins, and AP when each score is a little off."""
    figure, (left, right) = style.figure(1, 2, width=7.0, height=3.6, sharex=True)
    noise = 0.1
    looks = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)))
    colours = (style.RED, style.ORANGE, style.PURPLE, style.BLUE, style.GREEN)
    facts = []
    for alpha, look, colour in zip(study.MARGINS, looks, colours, strict=True):
        run = study.train_scorer(alpha)
        spread, exact, off = run.spread(), run.average_precision(), run.average_precision(noise)
        left.semilogy(run.steps, spread, linestyle=look, color=colour, linewidth=1.8, label=f"α = {alpha:g}")
        right.plot(run.steps, off, linestyle=look, color=colour, linewidth=1.8)
        facts.append(f"α = {alpha:g}: spread {spread[-1]:.2f}, AP {exact[-1]:.2f}, {off[-1]:.2f} if the scores are off")
    left.set(xlabel="step", ylabel="spread of the scores", ylim=(0.02, 6), yticks=(0.1, 1), yticklabels=("0.1", "1"))
    right.set(xlabel="step", ylabel=f"AP, scores off by {noise:g}", ylim=(0.3, 1.02))
    left.legend(loc="lower left", fontsize=10, handlelength=2.6)
    return style.describe(
        figure,
        f"Left, the standard deviation of the scores on a logarithmic axis, right, AP with normal errors of {noise:g} "
        f"on each score, over {study.STEPS} training steps, one line for each margin. At the end: {'; '.join(facts)}.",
    )


def gap_and_spread(margin: float = 0.4) -> Figure:
    """The AP loss over the gap between two classes and the spread within them, without a margin and with one."""
    figure, axes = style.figure(1, 2, width=7.2, height=3.9, sharey=True)
    edges = np.linspace(0, 0.8, 9)
    look: dict[str, Any] = {"origin": "lower", "aspect": "auto", "interpolation": "nearest"}
    look |= {"cmap": style.bands(len(edges) - 1, 0.25).reversed(), "norm": BoundaryNorm(edges, len(edges) - 1)}
    facts = []
    for axis, alpha in zip(axes, (0.0, margin), strict=True):
        shown = axis.imshow(study.landscape(alpha), extent=(*study.GAPS, *study.SPREADS), **look)
        still, count = _arrows(axis, alpha)
        axis.plot(alpha, 0, "D", color=style.RED, markersize=9, clip_on=False, zorder=5, markeredgecolor="white")
        axis.set(xlabel="gap", xlim=study.GAPS, ylim=study.SPREADS, title=_margin(alpha))
        facts.append(f"α = {alpha:g}: tip at gap {alpha:g}; no gradient at {still} of {count} places")
    axes[0].set_ylabel("spread within each class")
    bar = figure.colorbar(shown, ax=axes, ticks=edges[::2])
    bar.ax.set_title("loss")
    return style.describe(
        figure,
        "Two maps of the AP loss of 14 items over the gap between the class means, across, and the spread within each "
        "class, upwards. Bands of constant loss are wedges that meet in one point at spread zero, marked by a diamond: "
        "the fan's tip. Arrows show where a descent step moves gap and spread; none of them leads away from the tip. "
        f"{'. '.join(facts)}.",
    )


def _arrows(axis: Axes, margin: float) -> tuple[int, int]:
    """Draw the directions of descent on a coarse grid; count the places without one."""
    gap, spread = (a.ravel() for a in np.meshgrid(np.linspace(-0.45, 1.05, 7), np.linspace(0.1, 0.9, 5)))
    places = zip(gap, spread, strict=True)
    moves = np.array([study.gap_spread_descent(*place, margin, study.LANDSCAPE_LAM) for place in places])
    length = np.hypot(*moves.T)
    still = length == 0
    unit = moves[~still] / length[~still, None]
    axis.quiver(gap[~still], spread[~still], *unit.T, angles="xy", scale=13, width=0.009, pivot="mid")
    axis.plot(gap[still], spread[still], ".", color="black", markersize=5)
    return int(still.sum()), len(still)


def cosines_in_training(histories: Mapping[float, Array]) -> Figure:
    """Cosines within the batches of a training run, for several margins.

    By margin, for each step: the mean cosine of two items of one class, of two classes, and the latter's deviation.
    """
    figure, axes = style.figure(1, len(histories), width=6.8, height=3.5, sharey=True, squeeze=False)
    facts = []
    for axis, (alpha, history) in zip(axes[0], histories.items(), strict=True):
        same, other, spread = np.asarray(history).T
        step = np.arange(1, len(same) + 1)
        low, high = other - spread, np.minimum(other + spread, 1)
        axis.fill_between(step, low, high, color=style.NEGATIVE, alpha=0.25, linewidth=0)
        axis.plot(step, other, "--", color=style.NEGATIVE, label="two characters")
        axis.plot(step, same, color=style.POSITIVE, label="one character")
        axis.set(title=_margin(alpha), xlabel="step of Adam", ylim=(-0.5, 1.05))
        facts.append(
            f"margin {alpha:g}: {same[-1]:.3f} within a character, {other[-1]:.3f} ± {spread[-1]:.3f} between two"
        )
    axes[0, 0].set_ylabel("cosine in the batch")
    axes[0, 0].legend(loc="lower right")
    return style.describe(
        figure,
        "Mean cosine similarity of pairs of pictures of one character, a solid blue line, and of two characters, a "
        f"dashed red line in a band of one standard deviation, against the step. At the end: {'; '.join(facts)}.",
    )


def _margin(alpha: float) -> str:
    return f"margin α = {alpha:g}" if alpha else "no margin"
