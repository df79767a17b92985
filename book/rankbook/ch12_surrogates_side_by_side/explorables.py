"""The explorable of chapter 12: every ranker that has a strength, on one section, at the same distortion."""

from __future__ import annotations

import functools

import numpy as np
from matplotlib.colors import BoundaryNorm
from matplotlib.figure import Figure

from rankbook.ch12_surrogates_side_by_side.figures import BANDS, LOOKS, draw_arrows
from rankbook.ch12_surrogates_side_by_side.quality import Quality, at, quality, strength_at
from rankbook.ch12_surrogates_side_by_side.surrogates import EXTENT, NOTHING, SEED, STEP, SURROGATES, loss_of, surrogate
from rankbook.kit import style
from rankbook.kit.explorable import choice, explorable, goal, ground, strip, tell
from rankbook.kit.explorable.controls import Control
from rankbook.kit.explorable.core import MAX_FRAMES
from rankbook.kit.explorable.grounds import SIDE
from rankbook.kit.ranks import Array
from rankedu.landscapes import Section, random_coefficients, random_section

#: By how much the loss is distorted: what makes four strengths with four units comparable.
DISTORTIONS, DEFAULT = (0.02, 0.04, 0.06, 0.08, 0.1, 0.15, 0.2, 0.3, 0.45, 0.6, 0.75), 0.1
RESOLUTION, ARROWS = 60, 7


def _stops(methods: int) -> tuple[float, ...]:
    """As many distortions as the static book has frames for, 10 % among them."""
    count = min(len(DISTORTIONS), MAX_FRAMES // methods)
    chosen = {DISTORTIONS[round(at)] for at in np.linspace(0, len(DISTORTIONS) - 1, count)}
    if DEFAULT not in chosen:
        chosen ^= {DEFAULT, min(chosen, key=lambda share: abs(share - DEFAULT))}
    return tuple(sorted(chosen))


@goal(
    "Find a method and a distortion with which more than half of the score vectors have no gradient.",
    lambda at: at.nothing > 0.5,
    "With {method} at {distortion:.0%}, {nothing:.0%} have none. The arrows that it has left stand just before a cliff."
    " The sigmoid with the same distortion is without one at {sigmoid:.0%}.",
)
@goal(
    "Find a method and a distortion with which a step gains more than four fifths of the best one.",
    lambda at: at.gained > 0.8,
    "It gains {gained:.0%} with {method} at {distortion:.0%}. At the two ends of its scale it gains {weakest:.0%} and "
    "{strongest:.0%}: there is too little smoothing, and too much.",
)
@goal(
    "Turn all arrows into one direction.",
    lambda at: at.agreement > 0.99,
    "It is that of the blind step, which looks at no score. The {method} takes it everywhere when it is that strong; "
    "blackbox does not, whose arrows turn towards one place, the bowl of chapter 4.",
)
@explorable(
    method=choice(tuple(SURROGATES), label="method"),
    distortion=Control(DISTORTIONS, _stops(len(SURROGATES)), DEFAULT, "distortion", lambda share: f"{share:.0%}"),
)
@style.style()
def method_and_strength(method: str, distortion: float) -> Figure:
    """One plane through the loss, every way to smooth it, each at the strength that distorts it equally."""
    height, lift, down, a, b = _plane(method, distortion)
    found, label = _judged(method, distortion), SURROGATES[method].label(strength_at(method, distortion))
    edges = _edges()
    figure, (axes, bars) = style.figure(1, 2, width=6.6, height=4.6)
    style.place(figure, (0.085, 0.243, 0.475, 0.682), (0.75, 0.243, 0.19, 0.682))
    side = (-EXTENT, EXTENT)
    axes.imshow(height + lift, origin="lower", extent=side * 2, cmap=style.bands(BANDS),
                norm=BoundaryNorm(edges, BANDS), interpolation="nearest")  # fmt: skip
    still = draw_arrows(axes, a, b, down)
    ground(axes, _slopes(method, distortion), _heights())
    axes.set(xlim=side, ylim=side, xticks=(-2, 0, 2), yticks=(-2, 0, 2), xlabel="along u", ylabel="along v")
    axes.set_title(f"{method}, {label}")
    ends = [_judged(method, end).gained for end in (DISTORTIONS[0], DISTORTIONS[-1])]
    tell(figure, nothing=found.nothing, gained=found.gained, weakest=ends[0], strongest=ends[1])
    tell(figure, sigmoid=_judged("sigmoid", distortion).nothing, agreement=_agreement(down))
    shares = {"no gradient": found.nothing, "gain": found.gained, "steadiness": found.steadiness}
    bars.barh(list(shares), list(shares.values()), color=LOOKS[method].color, height=0.5)
    for place, share in enumerate(shares.values()):
        bars.text(min(share, 0.66) + 0.03, place + 0.38, f"{share:.0%}", va="center", fontsize=11)
    bars.set(xlim=(0, 1), ylim=(2.65, -0.45), xticks=(0, 1), xticklabels=("0 %", "100 %"), title="in 20 dimensions")
    strip(figure, (0.2, 0.07, 0.74, 0.06), "distortion", distortion, (0.02, 0.1, 0.3, 0.75),
          label="distortion ", ends=(DISTORTIONS[0], DISTORTIONS[-1]), form="{:.0%}".format)  # fmt: skip
    return style.describe(
        figure,
        f"Map of the {method} surrogate with {label}, which distorts the loss by {distortion:.0%}, in bands of equal "
        f"height; it is drawn {abs(lift):.1f} {'higher' if lift > 0 else 'lower'} than it lies. It spans "
        f"{np.ptp(height):.1f} where the loss spans {edges[-1] - edges[0]:.1f}. Arrows point downhill; at {still} of "
        f"{a.size} places a dot says that there is no gradient. Bars: {found.nothing:.0%} of score vectors without a "
        f"gradient; a step of {STEP:g} gains {found.gained:.0%} of the best one; steadiness {found.steadiness:.0%}.",
    )


@functools.lru_cache(maxsize=64)
def _plane(method: str, distortion: float) -> tuple[Array, float, Array, Array, Array]:
    """The surrogate on the section, how far it lies below the loss on average, and the way down within the plane."""
    section, c = _section(), random_coefficients(seed=SEED)
    ranker = at(method, distortion)
    height = surrogate(ranker, section.points(), c)[0]
    few = Section(section.origin, section.u, section.v, 0.86 * EXTENT, ARROWS)
    down = -surrogate(ranker, few.points(), c)[1] @ np.stack([section.u, section.v], axis=1)
    return height, float((_loss() - height).mean()), down, *np.meshgrid(*few.axes())


def _agreement(down: Array) -> float:
    """How far the arrows point into one direction: the length of their mean, if each has the length 1 or is nothing."""
    length = np.linalg.norm(down, axis=-1, keepdims=True)
    arrows = np.divide(down, length, out=np.zeros_like(down), where=length > 0)
    return float(np.linalg.norm(arrows.mean((0, 1))))


@functools.lru_cache(maxsize=64)
def _slopes(method: str, distortion: float) -> Array:
    """The way down where the ball rolls; none where an arrow would not be drawn."""
    places = _places()
    full = surrogate(at(method, distortion), places.points(), random_coefficients(seed=SEED))[1]
    down: Array = -full @ np.stack([places.u, places.v], axis=1)
    length = np.linalg.norm(down, axis=-1, keepdims=True)
    return np.where(length <= NOTHING * np.sqrt((length**2).mean()), 0.0, down)


@functools.cache
def _places() -> Section:
    return random_section(seed=SEED, extent=EXTENT, resolution=SIDE)


@functools.cache
def _heights() -> Array:
    return loss_of(_places().points(), random_coefficients(seed=SEED))


@functools.lru_cache(maxsize=64)
def _judged(method: str, distortion: float) -> Quality:
    return quality(at(method, distortion))


@functools.cache
def _section() -> Section:
    return random_section(seed=SEED, extent=EXTENT, resolution=RESOLUTION)


@functools.cache
def _loss() -> Array:
    return loss_of(_section().points(), random_coefficients(seed=SEED))


def _edges() -> Array:
    return np.linspace(_loss().min(), _loss().max(), BANDS + 1)
