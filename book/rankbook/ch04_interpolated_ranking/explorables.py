"""Explorables of chapter 4: the landscape that λ makes, and λ as the length of a step."""

import functools
import math

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.figure import Figure

from rankbook.kit import style
from rankbook.kit.explorable import dial, explorable, goal, ground, hold, log_slider, slider, tell
from rankbook.kit.explorable.grounds import SIDE
from rankbook.kit.ranks import Array
from rankedu.landscapes import (
    Section,
    interpolated_landscape,
    random_coefficients,
    random_section,
    rank_landscape,
    section_gradient,
)

Reach = tuple[float, float]
EXTENT, BANDS = 1.2, 10
#: Of the landscape's colours, so that black arrows show.
DARKEST = 0.3
#: Along the line of `secant`: the chapter's five items, and the gradient of the loss rk(B) + rk(E).
LINE_SCORES = np.array([0.9, 0.7, 0.6, 0.4, 0.3])
LINE_GRADIENT = np.array([0.0, 1.0, 0.0, 0.0, 1.0])


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
    axes.bar(0.5, np.diff(inside), 1, inside[:-1], color=colours.colors, antialiased=False)
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


@goal(
    "Find a step over which the mean of the loss is the loss itself.",
    lambda at: abs(at.slope - at.loss) < 1e-9,
    "From t = {position:g} a step of {lam:g} passes no edge: nothing is overtaken, so f_λ = f = {loss:.0f}, and "
    "Algorithm 1 returns zero.",
)
@goal(
    "Start on the highest stair, where the loss is 7, and make the mean less than 5.",
    lambda at: at.loss == 7 and at.slope < 5,
    "{slope:.2f}, with λ = {lam:g}. The step goes over {passed} edges, and what is far ahead counts as much as what is"
    " near.",
)
@explorable(
    lam=log_slider(0.02, 0.8, default=0.25, stops=8), position=slider(0.0, 0.434, default=0.0, steps=32, stops=5)
)
def secant(lam: float, position: float) -> Figure:
    """λ is a step length: f_λ is the slope of a secant of m, and the mean of f over the step."""
    times = np.linspace(0, 1.3, 1301)
    values, losses = _along(times)
    start, end = position, position + lam
    (m_start, m_end), (loss, _) = _along(np.array([start, end]))
    slope = (m_end - m_start) / lam
    figure, (above, below) = style.figure(2, 1, width=5.6, height=4.8, sharex=True)
    style.place(figure, (0.12, 0.555, 0.86, 0.375), (0.12, 0.12, 0.86, 0.375))
    above.plot(times, values, color=style.BLACK, label="$m(\\mathbf{y} + t\\mathbf{c})$")
    above.plot([start, end], [m_start, m_end], "o-", color=style.AHEAD, label="secant")
    above.set(ylim=(6.9, 12.6), ylabel="optimal value m")
    above.legend(loc="lower right")
    below.step(times, losses, where="post", color=style.BLACK, label="$f(\\mathbf{y} + t\\mathbf{c})$")
    below.fill_between([start, end], [slope, slope], 0, color=style.AHEAD, alpha=0.25, linewidth=0)
    below.plot([start, end], [slope, slope], color=style.AHEAD, label="its mean over the step")
    below.plot(start, loss, "o", color=style.BLACK)
    below.set(ylim=(0, 7.7), xlabel="step t along the incoming gradient c", ylabel="loss f", xlim=(-0.02, 1.3))
    below.legend(loc="upper right")
    hold(above, position=lambda t: (t, _along(np.array([t]))[0].item()))
    hold(above, lam=lambda lam: (position + lam, _along(np.array([position + lam]))[0].item()))
    passed = len(np.unique(losses[(times >= start) & (times < end)])) - 1
    tell(figure, loss=float(loss), slope=float(slope), passed=passed)
    above.set_title(f"$f$ = {loss:.0f},   $f_\\lambda$ = slope = mean = {slope:.2f}")
    return style.describe(
        figure,
        f"Two curves over the step t. Above, the optimal value m, a concave chain of straight pieces, and its secant "
        f"from t = {start:g} to {end:g}, from {m_start:.2f} to {m_end:.2f}: a slope of {slope:.2f}. Below, the slopes "
        f"of those pieces, the staircase f going down from {losses[0]:.0f} to {losses[-1]:.0f}; at the start of the "
        f"step f is {loss:.0f}, and its mean over the step of length λ = {lam:g} is {slope:.2f}.",
    )


def _along(times: Array) -> tuple[Array, Array]:
    """m and f at y + t·c."""
    z = LINE_SCORES + times[:, None] * LINE_GRADIENT
    order, count = np.argsort(-z, axis=-1, kind="stable"), np.arange(1.0, len(LINE_SCORES) + 1)
    return np.take_along_axis(z, order, -1) @ count, LINE_GRADIENT[order] @ count
