"""Chapter 2: what the step λ does to a staircase on a line and on a plane."""

import functools
import itertools

import numpy as np
from matplotlib.figure import Figure

from rankedu_book.kit import style
from rankedu_book.kit.explorable import choice, dial, explorable, goal, ground, hold, log_slider, tell
from rankedu_book.kit.ranks import Array, ranks_of

# --- Along a line -----------------------------------------------------------------------------------------------

#: Six items; the loss is the mean rank of the two relevant ones, the first two. All that moves sums to 0: ranks do not
#: feel a common shift, and the optimal value is then at most 0.
SCORES = np.array([-0.4, -0.95, 1.4, 0.55, 0.05, -0.65])
MEAN_RANK = np.array([0.5, 0.5, 0.0, 0.0, 0.0, 0.0])
LINES = {
    "the relevant rise": np.array([2.0, 2.0, -1.0, -1.0, -1.0, -1.0]) / 3,
    "one rises, one sinks": np.array([1.0, -1.0, 0.0, 0.0, 0.0, 0.0]),
    "all six move": np.array([0.9, -0.4, 0.6, -1.1, -0.5, 0.5]),
}
REACH = 2.0


def optimal_value(z: Array) -> Array:
    """Give m(z), the least z·π over all permutations: the largest entry once, the second largest twice, …"""
    return np.asarray(-np.sort(-z, axis=-1) @ np.arange(1.0, z.shape[-1] + 1))


def kinks(origin: Array, direction: Array) -> Array:
    """Where on the line origin + t·direction two entries meet, so that the ranking changes; sorted."""
    first, second = np.triu_indices(origin.size, 1)
    speed = direction[first] - direction[second]
    meets = speed != 0
    return np.unique((origin[second] - origin[first])[meets] / speed[meets])


def along_line(direction: Array, lam: float) -> dict[str, Array]:
    """Everything that the picture shows at the points t, where t holds every kink and the middles between them."""
    shifted = SCORES + lam * MEAN_RANK
    bends = np.concatenate([kinks(SCORES, direction), kinks(shifted, direction)])
    corners = np.unique(np.concatenate([[-REACH, REACH], bends[np.abs(bends) < REACH]]).round(12))
    t = np.sort(np.concatenate([corners, (corners[1:] + corners[:-1]) / 2]))
    now, then = (origin + t[:, None] * direction for origin in (SCORES, shifted))
    before, after = optimal_value(now), optimal_value(then)
    stairs, floor = (ranks_of(line[1::2]) @ MEAN_RANK for line in (now, then))
    smooth = (after - before) / lam
    found = {"t": t, "corners": corners, "before": before, "after": after, "smooth": smooth, "stairs": stairs}
    return {**found, "floor": floor, "slopes": np.diff(smooth) / np.diff(t)}


@goal(
    "Let the curve agree with the loss on 95 % of the line.",
    lambda at: at.share >= 0.95,
    "On {share:.0%}, at λ = {lam:g}. The ramps are as high as the stairs, and the shorter λ is, the narrower and "
    "steeper they get, here up to a slope of {steepest:.0f}. Each lies on the higher side of its edge.",
)
@goal(
    "Let it agree with the loss nowhere: no bar at all.",
    lambda at: at.share == 0,
    "At λ = {lam:g} the average meets an edge from everywhere, and lies up to {gap:.1f} ranks below the staircase. In "
    "the lower panel nothing jumps, at no λ; where one of the two curves has a kink, f_λ has a corner.",
)
@goal(
    "Take the line on which one rises and one sinks. Let the curve vary less than a fifth as much as the staircase.",
    lambda at: at.line == "one rises, one sinks" and at.range < at.stairs / 5,
    "The staircase varies by {stairs:.0f} ranks, the curve by {range:.2f}. With a still larger λ it sinks towards the "
    "constant of part 5, here {least:g}: the smallest mean rank that two items can have.",
)
@explorable(lam=log_slider(0.05, 5, default=0.8, stops=9), line=choice(list(LINES)))
def one_dimensional_section(lam: float, line: str) -> Figure:
    """A staircase, its interpolation, and the two concave curves whose distance it is."""
    at = along_line(LINES[line], lam)
    same = np.isclose(at["smooth"][1::2], at["stairs"], atol=1e-9)
    share = float(np.diff(at["corners"])[same].sum() / (2 * REACH))
    steepest = float(np.abs(at["slopes"]).max())
    bend = 1 + np.flatnonzero(~np.isclose(at["slopes"][1:], at["slopes"][:-1], atol=1e-6))
    made, (top, bottom) = style.figure(2, 1, width=6.4, height=5.6, sharex=True, height_ratios=[3, 2])

    top.stairs(at["floor"], at["corners"], baseline=at["stairs"], fill=True, color=style.SKY, alpha=0.25)
    top.stairs(at["stairs"], at["corners"], baseline=None, color=style.BLACK, lw=2.0, label="loss f = c·s(y)")
    top.plot(at["t"], at["smooth"], color=style.AHEAD, lw=2.2, label="$f_\\lambda$")
    top.plot(at["t"][bend], at["smooth"][bend], "o", ms=4, color=style.AHEAD)
    top.stairs(np.where(same, 1.12, 1.02), at["corners"], baseline=1.02, fill=True, color=style.AHEAD)
    top.plot([], [], color=style.AHEAD, lw=5, label="here $f_\\lambda=f$")
    top.set(ylabel="mean rank of the relevant", ylim=(0.9, 6.3), yticks=range(1, 7))
    top.legend(loc="upper right", ncols=3, columnspacing=1.2, handlelength=1.4, frameon=False)

    bottom.fill_between(at["t"], at["before"], at["after"], color=style.AHEAD, alpha=0.25, lw=0)
    bottom.plot(at["t"], at["before"], color=style.BLACK, label="m(y)")
    bottom.plot(at["t"], at["after"], color=style.AHEAD, label="m(y + λc)")
    bottom.set(xlabel="position t on the line y + t·d", xlim=(-REACH, REACH))
    bottom.set(ylabel="optimal value", ylim=(-20.5, 13), yticks=(-20, -10, 0, 10))
    bottom.legend(loc="lower center", ncols=2, frameon=False)
    tell(made, share=share, steepest=steepest, gap=float((at["stairs"] - at["smooth"][1::2]).max()))
    least = optimal_value(MEAN_RANK).item()
    tell(made, range=float(np.ptp(at["smooth"])), stairs=float(np.ptp(at["stairs"])), least=least)
    # λ pulls the green curve away from the black one.
    hold(bottom, lam=lambda lam: (0.0, optimal_value(SCORES + lam * MEAN_RANK)))
    return style.describe(
        made,
        f"""Along the line on which {line}, for λ = {lam:g}. Above: the mean rank of two relevant items is a staircase
        between {at["stairs"].min():g} and {at["stairs"].max():g}; its interpolation is continuous, made of
        {len(bend) + 1} straight pieces, never above the staircase, equal to it on {share:.0%} of the line, and
        at its steepest has slope {steepest:.1f}. Below: two concave curves, the optimal value at y and at y + λc; their
        distance divided by λ is the interpolation.""",
    )


# --- On a plane -------------------------------------------------------------------------------------------------

#: All ways to give four rows four columns, as 0/1 vectors of length 16; the first is the wanted one.
ASSIGNMENTS = np.stack([np.eye(4)[list(order)].ravel() for order in itertools.permutations(range(4))])
WRONG_ROWS = -ASSIGNMENTS[0]  # 4 + this·s is the number of rows that go wrong
EXTENT, POINTS = 3.0, 121


@functools.lru_cache(maxsize=8)
def plane(seed: int) -> tuple[Array, Array]:
    """Give the costs of all 24 assignments at each point of a random plane of cost matrices, and two directions."""
    random = np.random.default_rng(seed)
    origin = 0.4 * random.standard_normal(16) - 0.5 * ASSIGNMENTS[0]  # in the middle, few rows go wrong
    directions = np.linalg.qr(random.standard_normal((16, 2)))[0]
    line = np.linspace(-EXTENT, EXTENT, POINTS)
    points = origin + line[None, :, None] * directions[:, 0] + line[:, None, None] * directions[:, 1]
    return points @ ASSIGNMENTS.T, directions


def on_plane(seed: int, lam: float) -> tuple[Array, Array, Array]:
    """Give the number of wrong rows, its interpolation, and the gradient within the plane."""
    costs, directions = plane(seed)
    wrong = ASSIGNMENTS @ WRONG_ROWS
    before = costs.argmin(-1)
    after = (costs + lam * wrong).argmin(-1)
    least, least_shifted = costs.min(-1), (costs + lam * wrong).min(-1)
    slopes = ASSIGNMENTS @ directions
    return 4 + wrong[before], 4 + (least_shifted - least) / lam, (slopes[after] - slopes[before]) / lam


@goal(
    "Leave a gradient on less than an eighth of a section.",
    lambda at: at.moving < 1 / 8,
    "Only {moving:.0%} have one at λ = {lam:g}, next to the walls. It is long there, up to {steepest:.0f}: the whole "
    "height of a wall within a short way.",
)
@goal(
    "Give every place of a section a gradient.",
    lambda at: at.moving == 1,
    "All of section {section} slopes at λ = {lam:g}, and gently, by {steepest:.2f} at most. It takes this section: the "
    "others have places where no row goes wrong, and there nothing is left to improve, at no λ.",
)
@goal(
    "Let the interpolation promise a whole row less than the loss has anywhere on the section.",
    lambda at: at.least < at.truth - 1,
    "On section {section} the loss is {truth:.0f} or more, and the interpolation comes down to {least:.2f}. It looks "
    "λ = {lam:g} ahead along the gradient, and so out of the plane, where fewer rows go wrong.",
)
@explorable(lam=log_slider(0.1, 30, default=0.5, stops=8), section=dial(0, 3, default=1))
def two_dimensional_section(lam: float, section: int) -> Figure:
    """The number of wrongly assigned rows on a plane of 4 × 4 cost matrices, and its interpolation."""
    truth, smooth, gradient = on_plane(section, lam)
    line = np.linspace(-EXTENT, EXTENT, POINTS)
    levels = np.arange(-0.5, 13) / 3  # the whole numbers stand in the middle of a colour
    made, panels = style.figure(1, 2, width=6.8, height=3.5, sharex=True, sharey=True)
    for axes, values, title in zip(panels, (truth, smooth), ("the loss f", f"$f_\\lambda$, λ = {lam:g}"), strict=True):
        drawn = axes.contourf(line, line, values, levels, cmap=style.LANDSCAPE, vmin=-0.2, vmax=4.2)
        style.edges(axes, values, levels, EXTENT)
        axes.set(title=title, xlabel="first direction", aspect="equal", xticks=(-3, 0, 3), yticks=(-3, 0, 3))
    panels[0].set_ylabel("second direction")
    if truth.min() < 0.5:  # the zeros of both, for the darkest band holds more
        panels[1].contour(line, line, truth, [0.5], colors="white", linestyles="dotted", linewidths=1.5)
    every = slice(6, None, 12)
    arrows = -gradient[every, every]
    length = np.linalg.norm(arrows, axis=-1)
    shown = length > 1e-12
    column, row = np.meshgrid(line[every], line[every])
    ways = (arrows[shown] / length[shown, None]).T
    panels[1].quiver(column[shown], row[shown], *ways, color="white", scale=16, width=0.008, pivot="mid")
    ground(panels[1], -gradient[::3, ::3], truth[::3, ::3])
    bar = made.colorbar(drawn, ax=panels, ticks=range(5), shrink=0.85)
    bar.set_label("wrong rows")
    moving = float((np.abs(gradient).sum(-1) > 1e-12).mean())
    steepest = float(np.linalg.norm(gradient, axis=-1).max())
    tell(made, moving=moving, steepest=steepest, least=float(smooth.min()), truth=float(truth.min()))
    return style.describe(
        made,
        f"""Left: on section {section} of the space of 4 × 4 cost matrices the number of wrongly assigned rows is
        piecewise constant, with values {", ".join(f"{value:g}" for value in np.unique(truth))}. Right: its
        interpolation for λ = {lam:g} is continuous, lies between {abs(smooth.min()):.2f} and {smooth.max():.2f}, and
        has a gradient, at most {steepest:.2f} long, on {moving:.0%} of it, where white arrows point downhill.
        {"A dotted line encloses the zeros of both." if truth.min() < 0.5 else ""}""",
    )
