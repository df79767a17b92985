"""Explorables of chapter 4: the landscape that λ makes, and λ as the length of a step."""

import functools
import math

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.figure import Figure

from rankedu_book.kit import style
from rankedu_book.kit.explorable import dial, explorable, goal, ground, log_slider, tell
from rankedu_book.kit.explorable.grounds import SIDE
from rankedu_book.kit.landscapes import (
    Section,
    interpolated_landscape,
    random_coefficients,
    random_section,
    rank_landscape,
    section_gradient,
)
from rankedu_book.kit.ranks import Array

Reach = tuple[float, float]
EXTENT, BANDS = 1.2, 10
#: Of the landscape's colours, so that black arrows show.
DARKEST = 0.3


@goal(
    "Let the gradient be zero on more than nine tenths of a plane.",
    lambda at: at.flat > 0.9,
    "It is zero on {flat:.0%}. The few arrows stand beside cliffs, where two scores are so close that they meet within "
    "a step of λ = {lam:g}. With a larger λ cliffs are felt from further away.",
)
@goal(
    "Have a gradient everywhere, and keep more than 85 % of the staircase's range.",
    lambda at: at.flat < 0.005 and at.range > 0.85 * at.span,
    "At λ = {lam:g} every place of this plane feels a cliff, and the surface spans {range:.0f} where the staircase "
    "spans {span:.0f}. But it has begun to sink, and small basins merge.",
)
@goal(
    "Sink the whole surface into the lowest seventh of the scale.",
    lambda at: at.top < 1 / 7,
    "At λ = {lam:g} it lies next to the best loss that there is, and spans {range:.1f} where the staircase spans "
    "{span:.0f}. All arrows agree on a single bowl. Its lowest place need not be where the staircase is lowest.",
)
@explorable(lam=log_slider(0.001, 10, default=0.1, stops=12), seed=dial(0, 3))
def interpolation_landscape(lam: float, seed: int) -> Figure:
    """What the optimiser sees instead of a staircase: a loss linear in 20 ranks, on a plane through score space."""
    section, few, many, best, span, most = _plane(seed)
    coefficients = random_coefficients(seed=seed)
    height = interpolated_landscape(section, coefficients, lam)
    low, high = float(height.min()), float(height.max())
    flat = float((section_gradient(many, coefficients, lam) == 0).all(-1).mean())
    edges, colours = _bands(best, span, most)
    norm = BoundaryNorm(edges, colours.N)
    figure, axes = style.figure(width=5.6, height=4.35)
    style.place(figure, (0.11, 0.11, 0.64, 0.824))
    side = (-EXTENT, EXTENT)
    axes.imshow(height, origin="lower", extent=side * 2, cmap=colours, norm=norm, interpolation="nearest")
    style.edges(axes, height, edges, EXTENT)
    a, b = np.meshgrid(*few.axes())
    down = -section_gradient(few, coefficients, lam)
    length = np.hypot(*np.moveaxis(down, -1, 0))
    still = length == 0
    u, v = np.moveaxis(down / np.where(still, 1, length)[..., None], -1, 0)
    # Smoothed edges would double the weight of a frame.
    axes.quiver(a[~still], b[~still], u[~still], v[~still], scale=11, width=0.009, pivot="mid", antialiased=False)
    axes.plot(a[still], b[still], "o", color="black", markersize=4, antialiased=False)
    axes.set(xlim=side, ylim=side, xticks=(-1, 0, 1), yticks=(-1, 0, 1), xlabel="along u", ylabel="along v")
    axes.set_title(f"no gradient on {flat:.0%} of the plane")
    places = Section(section.origin, section.u, section.v, EXTENT, SIDE)
    ground(axes, -section_gradient(places, coefficients, lam), rank_landscape(places, coefficients))
    _scale(figure.add_axes((0.88, 0.11, 0.09, 0.824)), edges, colours, (low, high), (best, most))
    tell(figure, flat=flat, range=high - low, span=span, top=(high - best) / (most - best))
    return style.describe(
        figure,
        f"Map of the interpolated loss for λ = {lam:g} on plane {seed}, in bands of equal height, from {low:.1f} "
        f"to {high:.1f}: a range of {high - low:.1f} where the staircase has {span:.1f}. The gradient is exactly zero "
        f"on {flat:.0%} of the plane; at {int((~still).sum())} of {still.size} places an arrow shows the way down.",
    )


def _bands(least: float, span: float, most: float) -> tuple[Array, ListedColormap]:
    """Edges and colours of the bands, the same for all λ: ten over the staircase's range, and on to the best loss."""
    height = span / BANDS
    count = math.ceil((most - least) / height)
    shares = (np.arange(count) / (count - 1)) ** 2  # most of the colours are for the upper part, where there is relief
    painted = mpl.colormaps[style.LANDSCAPE](DARKEST + (1 - DARKEST) * shares)
    return most + height * np.arange(-count, 1.0), ListedColormap(painted)


def _scale(axes: Axes, edges: Array, colours: ListedColormap, found: Reach, reach: Reach) -> None:
    """The bands where the surface lies, on a scale that is the same for all λ, so that it is seen to sink."""
    inside = np.clip(edges, *found)
    axes.pcolormesh((0, 1), inside, np.arange(colours.N)[:, None], cmap=colours, antialiased=False)
    margin = 0.03 * (reach[1] - reach[0])
    axes.set(xlim=(0, 1), xticks=(), ylim=(reach[0] - margin, reach[1] + margin), title="$f_\\lambda$")
    axes.axhline(reach[0], color=style.BLACK, linewidth=2.5)
    axes.set_yticks(reach, [f"best\n{reach[0]:.0f}", f"{reach[1]:.0f}"])


@functools.lru_cache(maxsize=16)
def _plane(seed: int) -> tuple[Section, Section, Section, float, float, float]:
    """A fine grid to paint, a coarse one for arrows, one to count on; the best loss, the staircase's range and top."""
    section, c = random_section(seed=seed, extent=EXTENT, resolution=200), random_coefficients(seed=seed)
    few = Section(section.origin, section.u, section.v, 0.85 * EXTENT, 6)
    many = Section(section.origin, section.u, section.v, EXTENT, 50)
    stairs, least = rank_landscape(section, c), np.sort(c)[::-1] @ np.arange(1.0, len(c) + 1)
    return section, few, many, float(least), float(np.ptp(stairs)), float(stairs.max())
