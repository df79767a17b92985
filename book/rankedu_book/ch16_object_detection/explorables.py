"""Explorable of chapter 16: one list of proposals, judged by cross entropy and by average precision."""

import functools
from typing import Any, NamedTuple

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rankedu_book.ch16_object_detection.study import blame
from rankedu_book.kit import style
from rankedu_book.kit.explorable import choice, explorable, goal, hold, slider, tell
from rankedu_book.kit.ranks import Array

#: Proposals that show a car, from hard ones to easy ones, in log-odds.
CARS = np.linspace(-1.0, 4.0, 10)
#: How the looks of the easy background are spread, in log-odds: mean and standard deviation.
EASY = (-5.0, 1.2)
LIMITS = (-9.5, 5.5)


class Judgement(NamedTuple):
    """What both losses say, and how each is divided: cars, the window, easy background."""

    cross_entropy: float
    ap: float
    cross_entropy_shares: list[float]
    blame: list[float]


@functools.cache
def easy(ratio: int) -> Array:
    """Log-odds of the easy background: evenly spaced quantiles of a normal distribution."""
    count = ratio * len(CARS)
    quantiles = (torch.arange(count, dtype=torch.float64) + 0.5) / count
    return np.asarray(EASY[0] + EASY[1] * torch.special.ndtri(quantiles).numpy())


@functools.lru_cache(maxsize=128)
def judge(ratio: int, window: float) -> Judgement:
    """Both losses of a list of cars, easy background, and one background window with this probability of a car."""
    odd = np.log(window / (1 - window))
    log_odds = np.concatenate([CARS, [odd], easy(ratio)])
    relevant = np.arange(len(log_odds)) < len(CARS)
    terms = np.logaddexp(0, np.where(relevant, -log_odds, log_odds))
    first = [0, len(CARS), len(CARS) + 1]
    shares = np.add.reduceat(terms, first) / terms.sum()
    charged = np.add.reduceat(blame(log_odds, relevant), first)
    return Judgement(float(terms.mean()), float(1 - charged.sum()), shares.tolist(), charged.tolist())


@goal(
    "Halve the cross entropy of the beginning while AP stays as it was.",
    lambda at: at.entropy < at.entropy_before / 2 and abs(at.ap - at.ap_before) < 1e-9,
    "Cross entropy is {entropy:.3f} instead of {entropy_before:.3f}, as if the detector had become much better, and "
    "{easy:.0%} of what is left is easy background. AP is {ap:.3f} as before.",
)
@goal(
    "With the window, take 0.1 or more of the AP that it leaves at 0.05, while cross entropy grows by less than 10 %.",
    lambda at: at.ap < at.ap_low - 0.1 and at.entropy < 1.1 * at.entropy_low,
    "With {ratio} easy proposals for each car AP fell from {ap_low:.3f} to {ap:.3f}, and cross entropy went from "
    "{entropy_low:.4f} to {entropy:.4f}.",
)
@goal(
    "Let easy background cost some AP.",
    lambda at: at.blame > 1e-9,
    "A charge of {blame:.3f}: of {count} easy proposals {strayed} came to stand above the weakest car. AP charges "
    "nothing for the others.",
)
@explorable(
    ratio=choice((1, 3, 10, 30, 100, 300), default=3, label="easy background per car"),
    window=slider(0.05, 0.95, default=0.85, steps=19, stops=8, label="score of the window"),
)
def two_judges(ratio: int, window: float) -> Figure:
    """Ten cars, one window that looks like a car, and easy background: what cross entropy and AP see of them."""
    found = judge(ratio, window)
    figure, (above, below) = style.figure(2, 1, width=6.0, height=4.7)
    style.place(figure, (0.205, 0.56, 0.745, 0.41), (0.205, 0.155, 0.745, 0.215))
    _scores(above, ratio, float(np.log(window / (1 - window))))
    lost = 1 - found.ap
    begin, low = judge(3, 0.85), judge(ratio, 0.05)
    tell(figure, entropy=found.cross_entropy, ap=found.ap, easy=found.cross_entropy_shares[2], blame=found.blame[2])
    tell(figure, entropy_before=begin.cross_entropy, ap_before=begin.ap, entropy_low=low.cross_entropy, ap_low=low.ap)
    tell(figure, count=ratio * len(CARS), strayed=int((easy(ratio) > CARS[0]).sum()))
    rows = (found.cross_entropy_shares, [part / lost if lost > 1e-12 else 0.0 for part in found.blame])
    _shares(below, rows, lost > 1e-12)
    below.set_title(f"cross entropy {found.cross_entropy:.3f}      AP {found.ap:.3f}")
    cars, odd, plain = (round(100 * share) for share in found.cross_entropy_shares)
    return style.describe(
        figure,
        f"Ten cars with log-odds from -1 to 4, {ratio * len(CARS)} easy background proposals around -5, and a window "
        f"with probability {window:g}. Cross entropy is {found.cross_entropy:.3f}: {cars} % of it comes from the cars, "
        f"{odd} % from the window and {plain} % from the easy background. AP is {found.ap:.3f}; of what it lacks, "
        f"{found.blame[1]:.3f} is charged to the window and {found.blame[2]:.3f} to the easy background.",
    )


def _scores(axes: Axes, ratio: int, odd: float) -> None:
    """The background as a histogram, the cars and the window as marks above it."""
    counts, edges = np.histogram(easy(ratio), np.linspace(*LIMITS, 46))
    axes.stairs(counts, edges, fill=True, color=style.NEGATIVE, alpha=0.35, antialiased=False)
    plain: Any = {"linestyle": "none", "antialiased": False}
    axes.plot(CARS, np.full(len(CARS), 900), markersize=8, **plain, **style.mark(True))
    axes.plot([odd], [2500], markersize=10, **plain, **style.mark(False))
    hold(axes, window=lambda window: (np.log(window / (1 - window)), 2500))
    axes.axvline(odd, color=style.NEGATIVE, linewidth=1, linestyle=":")
    ticks = {-6.907: "0.001", -4.595: "0.01", -2.197: "0.1", 0.0: "0.5", 2.197: "0.9", 4.595: "0.99"}
    axes.set_xticks(list(ticks), list(ticks.values()))
    axes.set_yscale("symlog", linthresh=1)
    axes.set_yticks([1, 10, 100], ["1", "10", "100"])
    axes.minorticks_off()
    axes.set(xlim=LIMITS, ylim=(0, 6000), xlabel="score: probability of a car", ylabel="proposals")


def _shares(axes: Axes, rows: tuple[list[float], ...], imperfect: bool) -> None:
    """Two bars of length one: what each loss is made of."""
    looks = ((style.POSITIVE, "", "cars"), (style.NEGATIVE, "", "window"), (style.NEGATIVE, "//", "easy background"))
    for height, row in zip((1, 0), rows, strict=True):
        left = 0.0
        for share, (colour, hatch, name) in zip(row, looks, strict=True):
            alpha = 0.35 if hatch else 0.9
            label = name if height else None
            axes.barh(height, share, 0.62, left, color=colour, alpha=alpha, hatch=hatch, label=label, antialiased=False)
            left += share
    if not imperfect:
        axes.text(0.5, 0, "nothing to complain about", ha="center", va="center")
    axes.set(xlim=(0, 1), ylim=(-0.5, 1.5), yticks=(1, 0), yticklabels=("cross entropy", "1 − AP"))
    axes.set_xticks([0, 0.5, 1], ["0 %", "50 %", "100 %"])
    axes.tick_params(axis="y", length=0)
    axes.legend(loc="upper center", bbox_to_anchor=(0.4, -0.25), ncols=3)
