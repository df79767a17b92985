"""The surrogates of chapter 12 on their section: a walk, and which way each says is down."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm
from matplotlib.figure import Figure

from rankbook.ch12_surrogates_side_by_side import surrogates as known
from rankbook.ch12_surrogates_side_by_side.curves import LOOKS
from rankbook.ch12_surrogates_side_by_side.quality import at, quality, strength_at
from rankbook.ch12_surrogates_side_by_side.surrogates import (
    EXTENT,
    NOTHING,
    SEED,
    STEP,
    SURROGATES,
    best_in_plane,
    loss_of,
    surrogate,
)
from rankbook.kit import style
from rankbook.kit.ranks import Array
from rankbook.kit.style import in_words
from rankedu.landscapes import Section, random_coefficients, random_section

#: Of height, on the maps.
BANDS = 10


@style.style()
def one_walk(weak: float = 0.08, strong: float = 0.3) -> Figure:
    """The same walk through the section, as every ranker sees it, at two strengths."""
    section, c = random_section(seed=SEED, extent=EXTENT, resolution=2), random_coefficients(seed=SEED)
    a = np.linspace(-EXTENT, EXTENT, 601)
    points = section.origin + a[:, None] * section.u
    truth = loss_of(points, c)
    rows = math.ceil((len(SURROGATES) + 2) / 2)
    figure, axes = style.figure(rows, 2, width=6.8, height=2.2 * rows, sharex=True, sharey=True)
    facts = []
    for axis, (name, how) in zip(axes.flat, SURROGATES.items(), strict=False):
        axis.plot(a, truth, color=style.GREY, linewidth=1.2)
        strengths, lifts = [strength_at(name, distortion) for distortion in (weak, strong)], []
        for strength, line in zip(strengths, ("-", "--"), strict=True):
            values = surrogate(how.make(strength), points, c)[0]
            lifts.append((truth - values).mean())
            axis.plot(a, values + lifts[-1], line, color=LOOKS[name].color)
        both = " and ".join(how.label(strength) for strength in strengths)
        axis.set_title(f"{name}: {both}")
        facts.append(f"{name} {both}, moved by {' and '.join(f'{lift:+.0f}' for lift in lifts)}")
    _walk_of_the_sorter(axes.flat[len(SURROGATES)], a, points, truth, c)
    _key(axes, len(SURROGATES) + 1, {f"distorted by {weak:.0%}": "-", f"distorted by {strong:.0%}": "--"})
    return style.describe(
        figure,
        f"{in_words(len(SURROGATES) + 1).capitalize()} panels with the same grey staircase of "
        f"{len(np.unique(truth.round(9)))} heights along a straight walk, and over it what a ranker makes of it, "
        "weakly and strongly smoothed, each moved up or down to the staircase's mean height: "
        f"{'; '.join(facts)}. The weak curves follow the hills, the strong ones only the slope; the LSTM's one curve "
        "lies between.",
    )


def _walk_of_the_sorter(axis: Axes, a: Array, points: Array, truth: Array, coefficients: Array) -> None:
    values = surrogate(known.sorter(), points, coefficients)[0]
    axis.plot(a, truth, color=style.GREY, linewidth=1.2)
    axis.plot(a, values + (truth - values).mean(), color=style.RED)
    axis.set_title("LSTM: no strength to turn")


def _key(axes: Any, place: int, lines: dict[str, str]) -> None:
    """Explain the lines in the first free panel, and label the axes around it."""
    key = axes.flat[place]
    key.plot([], [], label="the loss itself", color=style.GREY, linewidth=1.2)
    for label, line in lines.items():
        key.plot([], [], label=label, color=style.BLACK, linestyle=line)
    key.legend(loc="center")
    for free in axes.flat[place:]:
        free.set_axis_off()
    for axis in axes[:, 0]:
        axis.set_ylabel("loss")
    for axis in axes.flat[place - 2 : place]:
        axis.tick_params(labelbottom=True)
        axis.set_xlabel("way along u")


@style.style()
def gradient_fields(distortion: float = 0.15) -> Figure:
    """Which way is down: every ranker on the same map, and the direction that truly gains most."""
    section, c = random_section(seed=SEED, extent=EXTENT, resolution=2), random_coefficients(seed=SEED)
    few = Section(section.origin, section.u, section.v, 0.86 * EXTENT, 7)
    a, b = np.meshgrid(*few.axes())
    count, rows = len(SURROGATES) + 1, math.ceil((len(SURROGATES) + 2) / 3)
    figure, axes = style.figure(rows, 3, width=7.2, height=2.6 * rows, sharex=True, sharey=True)
    facts = []
    fields = {name: at(name, distortion) for name in SURROGATES} | {"LSTM": known.sorter()}
    basis = np.stack([section.u, section.v], axis=1)
    for axis, (name, ranker) in zip(axes.flat, fields.items(), strict=False):
        down = -surrogate(ranker, few.points(), c)[1] @ basis
        draw_map(axis, c)
        still = draw_arrows(axis, a, b, down)
        found = quality(ranker)
        axis.set_title(f"{name}\ngains {found.gained:.0%} of the best")
        facts.append(f"{name} {found.gained:.0%}, no arrow at {still} of {a.size} places")
    draw_map(axes.flat[count], c)
    draw_arrows(axes.flat[count], a, b, best_in_plane(few, c))
    axes.flat[count].set_title(f"the best step of {STEP:g},\nfound by trying")
    for free in axes.flat[count + 1 :]:
        free.set_axis_off()
    for axis in axes.flat:
        axis.set(xticks=(-2, 0, 2), yticks=(-2, 0, 2))
    for axis in axes[:, 0]:
        axis.set_ylabel("along v")
    for axis in axes[-1]:
        axis.set_xlabel("along u")
    return style.describe(
        figure,
        f"{in_words(count + 1).capitalize()} maps of the same loss in {BANDS} bands of height, with arrows downhill. "
        f"In {in_words(count)}, the arrows of a surrogate, {in_words(len(SURROGATES))} of them at the strength that "
        f"distorts the loss by {distortion:.0%}; in the last, the direction in which a step of {STEP:g} lowers the "
        f"true loss most. What a step gains, as a share of the best: {'; '.join(facts)}.",
    )


def draw_map(axis: Axes, coefficients: Array, resolution: int = 160) -> None:
    """Paint the loss on the section, in a few bands of equal height."""
    height = _map(resolution)
    side = (-EXTENT, EXTENT)
    edges = np.linspace(height.min(), height.max(), BANDS + 1)
    look: dict[str, Any] = {"cmap": style.bands(BANDS), "norm": BoundaryNorm(edges, BANDS), "interpolation": "nearest"}
    axis.imshow(height, origin="lower", extent=side * 2, **look)
    axis.set(xlim=side, ylim=side)


@functools.cache
def _map(resolution: int) -> Array:
    section = random_section(seed=SEED, extent=EXTENT, resolution=resolution)
    return loss_of(section.points(), random_coefficients(seed=SEED))


def draw_arrows(axis: Axes, a: Array, b: Array, down: Array) -> int:
    """Draw arrows of one length, dots where there is no gradient; return how many dots."""
    length = np.linalg.norm(down, axis=-1)
    still = length <= NOTHING * max(np.sqrt((length**2).mean()), 1e-30)
    u, v = np.moveaxis(down / np.where(still, 1.0, length)[..., None], -1, 0)
    axis.quiver(a[~still], b[~still], u[~still], v[~still], scale=13, width=0.011, pivot="mid", antialiased=False)
    axis.plot(a[still], b[still], "o", color="black", markersize=2.5, antialiased=False)
    return int(still.sum())
