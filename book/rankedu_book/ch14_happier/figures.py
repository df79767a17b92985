"""Figures of chapter 14: three settings of the step, broken bounds, three gradients, the exponent and the weight."""

from itertools import pairwise

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from rankedu.losses import HAPLoss
from rankedu.rankers import BlackboxRanker, SupremumRanker
from rankedu_book.ch14_happier import study
from rankedu_book.kit import style
from rankedu_book.kit.figures import paper_figure

#: One colour per level, from nothing in common to the same leaf.
COLOURS = (style.RED, style.ORANGE, style.POSITIVE)
#: The settings that the figures compare: label and name of the preset, and how each is drawn.
SHOWN = {"joined (our default)": "joined", "released default": "happier", "released for iNaturalist": "happier_inat"}
LOOKS = ((style.BLUE, "-", "^"), (style.GREEN, "--", "s"), (style.ORANGE, "-.", "o"))


def steps() -> Figure:
    """Draw three settings of the step beside the true step, and their slope."""
    figure, (left, right) = style.figure(1, 2, width=7.2, height=3.8, width_ratios=(1.7, 1))
    facts = []
    for (label, name), (colour, line, _) in zip(SHOWN.items(), LOOKS, strict=True):
        ranker = SupremumRanker.preset(name)
        x = broken_line(ranker, -0.05, 0.062)
        left.plot(x, ranker.step(x), line, color=colour, label=label)
        x = torch.tensor([0.0, 1e-9, 0.05, 0.05 + 1e-9], dtype=torch.float64)
        zero, just, end, beyond = ranker.step(x).tolist()
        facts.append(f"{label}: from {zero:g} to {just:g} at 0, from {end:.4f} to {beyond:.4f} at 0.05")
    left.step([-0.05, 0, 0.062], [0, 0, 1], where="pre", color=style.BLACK, linewidth=1.2, zorder=0)
    left.axvline(0.05, color=style.GREY, linewidth=1, linestyle=":")
    left.text(0.0505, 0.06, "δ", color=style.GREY)
    left.set(xlabel="$x = s_j - s_k$", title="what $j$ adds to the rank of $k$", ylim=(-0.05, 2.4))
    style.legend_below(figure, left, 3)
    ranker = SupremumRanker.preset("happier")
    x = broken_line(ranker, -0.05, 0.1)
    right.plot(x, ranker.slope(x), color=style.BLACK)
    right.set(xlabel="$x = s_j - s_k$", title="slope, the same for all", ylim=(0, 112))
    return style.describe(
        figure,
        "Left, the true step from 0 to 1 at x = 0 and three functions in its place, each half a sigmoid up to 0, half "
        f"a sigmoid between 0 and 0.05 and a steep line beyond. {'; '.join(facts)}. The third is below 1 "
        "between 0 and 0.05. Right, the slope that all three share: a bell of height 25 at 0, and 100 beyond 0.05.",
    )


def broken_line(ranker: SupremumRanker, low: float, high: float) -> Tensor:
    """Return points of each part of the step with nan between them, so that no line is drawn across a jump."""
    parts = []
    for begin, end in pairwise((low, 0.0, ranker.delta, high)):
        x = torch.linspace(begin, end, 120, dtype=torch.float64)
        x[0] += 1e-12
        parts += [x, torch.tensor([torch.nan])]
    return torch.cat(parts)


def broken_bounds() -> Figure:
    """Draw how often each setting is below the true loss, by the standard deviation of the scores."""
    figure, axes = style.figure(height=3.6)
    facts = []
    for (label, name), (colour, line, marker), size in zip(SHOWN.items(), LOOKS, (10, 6, 7), strict=True):
        shares = [100 * study.broken_share(name, spread) for spread in study.SPREADS]
        axes.semilogx(study.SPREADS, shares, marker + line, color=colour, label=label, markersize=size)
        each = (f"{value:.0f} % at {s:g}" for value, s in zip(shares, study.SPREADS, strict=True))
        facts.append(f"{label}: {', '.join(each)}")
    axes.set(xlabel="standard deviation of the scores", ylabel="loss below 1 − H-AP, % of lists", ylim=(-2, 36))
    style.xticks(axes, study.SPREADS)
    axes.legend()
    return style.describe(
        figure,
        "Share of random lists of eight items whose loss is below the true loss, against the standard "
        f"deviation of the scores. {'. '.join(facts)}.",
    )


def two_gradients(lam: float = 32.0) -> Figure:
    """Draw where a descent step moves each item of one list, by HAPPIER's step and by blackbox ranks.

    Source: HAPPIER Fig. 2c.
    """
    scores, relevance = study.example()
    figure, axes = style.figure(3, 1, width=6.8, height=5.6, sharex=True)
    facts = []
    rankers = {
        "HAPPIER's step": HAPLoss(),
        f"blackbox, λ = {lam:g}, H-rank stopped": HAPLoss(BlackboxRanker(lam)),
        f"blackbox, λ = {lam:g}, both": HAPLoss(BlackboxRanker(lam), within_grad=True),
    }
    for axis, (name, loss) in zip(axes, rankers.items(), strict=True):
        leaf = scores.clone().requires_grad_()
        value = loss(leaf, relevance)
        (slope,) = torch.autograd.grad(value, leaf)
        pushes = -slope / slope.abs().max()
        arrows(axis, scores, relevance, pushes)
        axis.set_title(f"{name}: loss {value.item():.2f}", loc="left")
        moved = [f"{s:g} of relevance {r:g} by {p:+.2f}" for s, r, p in zip(scores, relevance, pushes, strict=True)]
        facts.append(f"{name}: loss {value.item():.2f}, moves {', '.join(moved)}")
    axes[2].set_xlabel("score   (arrow up: raised by a descent step)")
    style.legend_below(figure, axes[0])
    return style.describe(
        figure,
        "Eight items of relevance 2, 1 and 0 on a line of scores, with an arrow for the negative gradient, the longest "
        f"set to 1. {'. '.join(facts)}.",
    )


def arrows(axes: Axes, scores: Tensor, relevance: Tensor, pushes: Tensor) -> None:
    """Draw a row of items, each in the colour of its relevance, with an arrow for its push."""
    axes.axhline(0, color=style.GREY, linewidth=1, zorder=0)
    looks = (style.mark(False), {"marker": "s", "color": COLOURS[1]}, style.mark(True))
    for level in (2, 1, 0):
        mask = (relevance == level).numpy()
        x, length = scores.numpy()[mask], pushes.numpy()[mask]
        look = {"linestyle": "none", "markersize": 9, "antialiased": False, **looks[level]}
        axes.plot(x, 0 * x, label=f"relevance {level}", **look)
        moves = np.abs(length) > 0.02
        zeros, look = np.zeros(int(moves.sum())), {"angles": "xy", "scale_units": "xy", "scale": 1, "width": 0.006}
        axes.quiver(x[moves], zeros, zeros, length[moves], color=COLOURS[level], antialiased=False, **look)
    axes.set(ylim=(-1.15, 1.15), xlim=(0.1, 1.0), yticks=())
    axes.spines["left"].set_visible(False)


@paper_figure("HAPPIER Fig. 4")
def alpha_and_weight() -> Figure:
    """Draw the effect of the exponent and of the clustering's weight in the recorded runs of the claims page."""
    figure, axes = style.figure(1, 2, width=7.4, height=4.0, sharey=True)
    facts = []
    looks = {
        "AP of characters": ("o-", style.BLUE),
        "AP of scripts": ("^--", style.ORANGE),
        "H-AP": ("s-", style.BLACK),
    }
    for axis, symbol, letter in zip(axes, "αλ", ("exponent β", "weight w of the clustering"), strict=True):
        (first, base), *others = study.arms(symbol).items()
        for measure, (line, colour) in looks.items():
            gains = {value: study.gain(arm, base, measure) for value, arm in others}
            x, y = [first, *gains], [0.0, *(gain.mean for gain in gains.values())]
            halves = [0.0, *(gain.half for gain in gains.values())]
            axis.errorbar(x, y, halves, fmt=line, color=colour, capsize=3, label=measure)
            each = ", ".join(f"{gain.mean:+.2f} ± {gain.half:.2f} at {value:g}" for value, gain in gains.items())
            facts.append(f"{letter}, {measure}, points over {first:g}: {each}".replace("-0", "−0").replace("-1", "−1"))
        axis.axhline(0, color=style.GREY, linewidth=0.8, zorder=0)
        axis.set_xlabel(letter)
    axes[0].set_ylabel("points gained")
    style.legend_below(figure, axes[0], 3)
    return style.describe(
        figure,
        "Points that recorded runs gain over the runs with the smallest value, on new base letters. "
        f"{'. '.join(facts)}.",
    )
