"""The explorable of chapter 12: every ranker that has a strength, on one section, at the same distortion."""

import functools

import numpy as np
from matplotlib.figure import Figure

from rankedu_book.ch12_surrogates_side_by_side import surrogates as known
from rankedu_book.ch12_surrogates_side_by_side.maps import down_in_plane, draw_arrows, draw_map
from rankedu_book.ch12_surrogates_side_by_side.study import STEP, Quality, at, quality, strength_at
from rankedu_book.ch12_surrogates_side_by_side.surrogates import EXTENT, SURROGATES, loss_of, section, surrogate
from rankedu_book.kit import style
from rankedu_book.kit.explorable import choice, explorable, goal, ground, tell
from rankedu_book.kit.explorable.controls import Control
from rankedu_book.kit.explorable.grounds import SIDE
from rankedu_book.kit.ranks import Array

#: By how much the loss is distorted: what makes four strengths with four units comparable.
DISTORTIONS = (0.02, 0.04, 0.06, 0.08, 0.1, 0.15, 0.2, 0.3, 0.45, 0.6, 0.75)


@goal(
    "Find a method and a distortion with which more than half of the score vectors have no gradient.",
    lambda at: at.nothing > 0.5,
    "With {method} at {distortion:.0%}, {nothing:.0%} have none. The arrows that are left are just before a cliff."
    " With the sigmoid at the same distortion, {sigmoid:.0%} have none.",
)
@goal(
    "Find a method and a distortion with which a step gains more than four fifths of the best one.",
    lambda at: at.gained > 0.8,
    "It gains {gained:.0%} with {method} at {distortion:.0%}. At the two ends of the scale it gains {weakest:.0%} and "
    "{strongest:.0%}, because there is too little smoothing, and too much.",
)
@goal(
    "Turn all arrows into one direction.",
    lambda at: at.agreement > 0.99,
    "All arrows point in the direction of the blind step, which ignores the scores. The {method} surrogate takes it "
    "everywhere when it is that strong. The arrows of blackbox turn towards one place instead, the bowl of chapter 4.",
)
@explorable(
    method=choice(tuple(SURROGATES), label="method"),
    distortion=Control(DISTORTIONS, DISTORTIONS, 0.1, "distortion", "{:.0%}".format),
)
def method_and_strength(method: str, distortion: float) -> Figure:
    """One plane through the loss, every way to smooth it, each at the strength that distorts it equally."""
    ranker, found = at(method, distortion), _measured(method, distortion)
    label, loss = SURROGATES[method].label(strength_at(method, distortion)), loss_of(section(60).points())
    height = surrogate(ranker, section(60).points())[0]
    lift, few = float((loss - height).mean()), section(7, 0.86 * EXTENT)
    down, ball = down_in_plane(ranker, few), down_in_plane(ranker, section(SIDE))
    figure, (axes, bars) = style.figure(1, 2, width=6.6, height=3.97)
    style.place(figure, (0.085, 0.123, 0.475, 0.79), (0.75, 0.123, 0.19, 0.79))
    draw_map(axes, height + lift, loss)
    draw_arrows(axes, few, down)
    ground(axes, ball, loss_of(section(SIDE).points()))
    axes.set(xlabel="along u", ylabel="along v", title=f"{method}, {label}")
    ends = [_measured(method, end).gained for end in (DISTORTIONS[0], DISTORTIONS[-1])]
    tell(figure, nothing=found.nothing, gained=found.gained, weakest=ends[0], strongest=ends[1])
    tell(figure, sigmoid=_measured("sigmoid", distortion).nothing, agreement=_agreement(down))
    shares = {"no gradient": found.nothing, "gain": found.gained}
    bars.barh(list(shares), list(shares.values()), color=known.LOOKS[method]["color"], height=0.5)
    for place, share in enumerate(shares.values()):
        bars.text(min(share, 0.66) + 0.03, place + 0.38, f"{share:.0%}", va="center", fontsize=11)
    bars.set(xlim=(0, 1), ylim=(1.65, -0.45), xticks=(0, 1), xticklabels=("0 %", "100 %"), title="in 20 dimensions")
    return style.describe(
        figure,
        f"Map of the {method} surrogate with {label}, which distorts the loss by {distortion:.0%}, in bands of equal "
        f"height, drawn {abs(lift):.1f} {'higher' if lift > 0 else 'lower'} than it is. It spans "
        f"{np.ptp(height):.1f} where the loss spans {np.ptp(loss):.1f}. Arrows point downhill; at "
        f"{(~down.any(-1)).sum()} of 49 places a dot says that there is no gradient. Bars: {found.nothing:.0%} "
        f"of score vectors without a gradient; a step of {STEP:g} gains {found.gained:.0%} of the best one.",
    )


def _agreement(down: Array) -> float:
    """Return the length of the arrows' mean, if each has length 1 or is zero: 1 if all have one direction."""
    length = np.linalg.norm(down, axis=-1, keepdims=True)
    arrows = np.divide(down, length, out=np.zeros_like(down), where=length > 0)
    return float(np.linalg.norm(arrows.mean((0, 1))))


@functools.cache
def _measured(method: str, distortion: float) -> Quality:
    return quality(at(method, distortion))
