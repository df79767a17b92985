"""Figures of chapter 15: sixteen losses on one batch, the pairs that they pull, and their relation to ranks.

The batch is in a plane, so that it can be drawn: nine embeddings of three classes on an arc. Classes a and b share a
parent, and c has another one. The space has eleven dimensions, two for the plane and one for each item, so that the
pull on each pair can be read from an ordinary gradient.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm, LinearSegmentedColormap
from matplotlib.figure import Figure

from rankedu_book.ch15_baselines import study
from rankedu_book.kit import style
from rankedu_book.kit.ranks import Array

NAMES = tuple(f"{c}{i}" for c in "abc" for i in (1, 2, 3))
#: The distance of the arrows from the middle of the arc, whose radius is 1.
BESIDE = 1.17
LOOKS = ((style.BLUE, "o"), (style.SKY, "s"), (style.RED, "^"))

#: The losses that are compared in curves.
COMPARED = style.looks(
    ("contrastive", "triplet_semihard", "normalized_softmax", "histogram", "smooth_ap", "roadmap", "rambo_ap")
)


def the_batch() -> Figure:
    """Draw nine embeddings on an arc, with their names, and the proxies of their classes."""
    figure, axes = style.figure(width=6.4, height=3.9)
    draw_items(axes, study.ANGLES, size=11)
    for name, angle in zip(NAMES, np.deg2rad(study.ANGLES), strict=True):
        style.write(axes, 1.13 * np.cos(angle), 1.13 * np.sin(angle), name)
    for (colour, _), vector in zip(LOOKS, study.proxies().tolist(), strict=True):
        axes.plot(vector[0], vector[1], "*", color=colour, markersize=17, markeredgecolor="black", markeredgewidth=0.6)
    style.write(axes, 0.0, 0.42, "a and b share a parent,\nc is a stranger;\nstars: proxies")
    axes.set(xlim=(-1.25, 1.25), ylim=(-0.08, 1.25))
    ap, hap = study.measures(study.embed(study.ANGLES))
    of_class = np.array(study.ANGLES).reshape(3, 3)
    facts = [f"class {c}: {', '.join(f'{a:g}' for a in angles)}" for c, angles in zip("abc", of_class, strict=True)]
    return style.describe(
        figure,
        f"A half circle with nine points of three classes. Angles in degrees: {'; '.join(facts)}. Item a3 is "
        f"between b2 and c1. Mean AP over the nine queries {ap:.2f}, mean H-AP {hap:.2f}.",
    )


def draw_items(axes: Axes, angles: Sequence[float], size: float = 6.0) -> None:
    """Draw the arc and the items on it."""
    arc = np.deg2rad(np.linspace(0, 180, 91))
    axes.plot(np.cos(arc), np.sin(arc), color=style.GREY, linewidth=1, zorder=0)
    for k, (colour, marker) in enumerate(LOOKS):
        own = np.deg2rad(np.array(angles[3 * k : 3 * k + 3]))
        look: dict[str, Any] = {"color": colour, "markersize": size, "markeredgecolor": "white"}
        axes.plot(np.cos(own), np.sin(own), marker, linestyle="none", zorder=4, **look)
    axes.set_aspect("equal")
    axes.axis("off")


def draw_steps(axes: Axes, angles: Sequence[float], steps: Array) -> None:
    """Draw arrows beside the items, so that none is hidden; the longest is 1/2 long."""
    length = np.linalg.norm(steps, axis=1)
    full = float(length.max())
    if full < 1e-9:
        return
    shown = 0.5 * steps / full
    moves = length > 0.02 * full
    start = np.deg2rad(np.array(angles))[moves]
    look: Any = {"angles": "xy", "scale_units": "xy", "scale": 1, "width": 0.012, "color": style.BLACK, "zorder": 2}
    look |= {"headwidth": 4, "headlength": 4.5, "headaxislength": 4}
    axes.quiver(BESIDE * np.cos(start), BESIDE * np.sin(start), shown[moves, 0], shown[moves, 1], **look)


def sixteen_steps() -> Figure:
    """Draw the step of descent that each loss gives to each embedding of the batch."""
    figure, grid = style.figure(6, 3, width=7.2, height=9.4)
    facts = []
    for axes in grid.flat[len(study.LOSSES) :]:
        axes.axis("off")
    for axes, name in zip(grid.flat, study.LOSSES, strict=False):
        steps = study.descent(study.make(name), study.embed(study.ANGLES))[1][:, :2].numpy()
        draw_items(axes, study.ANGLES, size=7)
        draw_steps(axes, study.ANGLES, steps)
        axes.set(xlim=(-1.3, 1.4), ylim=(-0.2, 1.55))
        axes.set_title(study.title(name), pad=1)
        length = np.linalg.norm(steps, axis=1)
        moving = int((length > 0.02 * length.max()).sum())
        facts.append(f"{study.title(name)} {NAMES[int(length.argmax())]} ({moving} move)")
    return style.describe(
        figure,
        "Sixteen half circles with the same nine points and an arrow for the step of descent of each, scaled in every "
        f"panel to the longest. The item that moves most: {'; '.join(facts)}.",
    )


def who_pulls_whom() -> Figure:
    """Draw every pair of the batch under every loss: pulled together, pushed apart, or not touched."""
    values = study.heat()
    largest = np.abs(values).max(axis=1, keepdims=True)
    edges = np.array([-1.001, -0.5, -0.2, -0.05, -0.004, 0.004, 0.05, 0.2, 0.5, 1.001])
    colours = LinearSegmentedColormap.from_list("pull", [style.RED, "white", style.BLUE], N=len(edges) - 1)
    figure, axes = style.figure(width=8.4, height=5.2)
    look: dict[str, Any] = {"norm": BoundaryNorm(edges, colours.N), "aspect": "auto", "interpolation": "nearest"}
    axes.grid(visible=False)
    picture = axes.imshow(values / largest, cmap=colours, **look)
    counts = [*(len(pairs) for pairs in study.pair_groups()), 9, 18]
    stops = np.cumsum([0, *counts])
    for stop in stops[1:-1]:
        axes.axvline(stop - 0.5, color=style.BLACK, linewidth=1.2)
    rows = np.cumsum([len(family) for family in study.FAMILIES.values()])
    for row in rows[:-1]:
        axes.axhline(row - 0.5, color=style.GREY, linewidth=0.8)
    axes.set_yticks(range(len(study.LOSSES)), [study.title(name) for name in study.LOSSES])
    labels = ("same\nclass", "\n\ncousins a–b", "strangers\nc–a, c–b", "own\nproxy", "other\nproxies")
    axes.set_xticks((stops[:-1] + stops[1:]) / 2 - 0.5, labels)
    axes.tick_params(length=0)
    bar = figure.colorbar(picture, ax=axes, ticks=[-0.5, -0.05, 0.05, 0.5], fraction=0.03, pad=0.01)
    bar.ax.set_yticklabels(["−½", "−.05", ".05", "½"])
    bar.set_label("pushed apart  ·  pulled together")
    touched = (np.abs(values[:, :36]) > 0.004 * largest).sum(1)
    facts = [f"{study.title(name)} {count}" for name, count in zip(study.LOSSES, touched, strict=True)]
    return style.describe(
        figure,
        "A table of colours, one row per loss, one column per pair of items or of an item and a proxy, nearest "
        "pairs last in each group; blue pairs are pulled together, red ones pushed apart. Number of the 36 pairs of "
        f"items that have a gradient: {'; '.join(facts)}.",
    )


def folding_the_fan() -> Figure:
    """Draw the losses while all angles are folded and no ranking changes."""
    factors = tuple(np.round(np.linspace(0.1, 1.2, 23), 3).tolist())
    one = factors.index(1.0)
    figure, axes = style.figure(width=7.0, height=4.0)
    facts = []
    for name, look in COMPARED.items():
        ratio = study.folded(name, factors) / study.folded(name, factors)[one]
        axes.plot(factors, ratio, label=study.title(name), markevery=4, markersize=7, **look)
        facts.append(f"{study.title(name)} from {ratio[0]:.2f} to {ratio[-1]:.2f}")
    axes.set(xlabel="factor on all angles", ylabel="loss, relative to factor 1", ylim=(0, 2.6), xlim=(0.05, 1.25))
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return style.describe(
        figure,
        f"Loss against a factor from {factors[0]:g} to {factors[-1]:g} on all angles of the batch, relative to the "
        f"loss at factor 1; no ranking changes. {'; '.join(facts)}.",
    )


def pull_by_place() -> Figure:
    """Draw the pull on a relevant item against the number of irrelevant items above it."""
    figure, axes = style.figure(width=7.0, height=3.8)
    facts = []
    for name in ("contrastive", "histogram", "smooth_ap", "roadmap", "rambo_ap"):
        pull = study.pull_at_place(name) / study.pull_at_place(name)[0]
        places = np.arange(1, len(pull) + 1)
        behind: dict[str, Any] = {"markersize": 13, "fillstyle": "none", "markeredgewidth": 2}
        size = behind if name == "contrastive" else {"markersize": 7}
        axes.plot(places, pull, label=study.title(name), **COMPARED[name], **size)
        facts.append(f"{study.title(name)} {pull[-1]:.2f}")
    axes.set(xlabel="irrelevant items above the relevant one", ylabel="pull, relative to one above", ylim=(0, None))
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return style.describe(
        figure,
        f"Pull on the relevant item of one query against the number of irrelevant items above it, 1 to {len(places)}, "
        f"relative to the pull with one above. At {len(places)}: {'; '.join(facts)}.",
    )


def cousins_and_strangers() -> Figure:
    """Draw the total pull on each kind of pair, for fine losses, their sums over levels, and H-AP."""
    figure, axes = style.figure(width=7.2, height=4.2)
    height = np.arange(len(study.BY_LEVEL))[::-1].astype(float)
    hatches = ("", "//", "..")
    shares = np.array([study.pulls_by_group(name) for name in study.BY_LEVEL])
    groups = zip(("same class", "cousins", "strangers"), (style.BLUE, style.SKY, style.RED), strict=True)
    for k, (group, colour) in enumerate(groups):
        axes.barh(height + 0.26 * (1 - k), shares[:, k], 0.24, color=colour, hatch=hatches[k], ec="white", label=group)
    names = [*(study.title(name) for name in study.BY_LEVEL[:-1]), "H-AP (HAPPIER)"]
    axes.set_yticks(height, names)
    axes.axvline(0, color=style.BLACK, linewidth=1)
    axes.set(xlabel="net pull, as a share of all (left: pushed apart)", xlim=(-1.0, 0.65))
    axes.tick_params(axis="y", length=0)
    style.legend_below(figure, axes)
    facts = [f"{name} {', '.join(f'{s:+.2f}' for s in row)}" for name, row in zip(names, shares, strict=True)]
    return style.describe(
        figure,
        "Bars of the net pull on pairs of the same class, on cousins and on strangers, negative if they are pushed "
        f"apart, as shares of all pull and push on the batch. {'; '.join(facts)}.",
    )


#: The losses that are drawn along the arc, and the item that moves.
ALONG, MOVES = ("contrastive", "triplet_semihard", "normalized_softmax", "smooth_ap", "roadmap", "happier"), "a3"


def along_the_arc() -> Figure:
    """Draw six losses of the batch for every place of one item on the arc, beside 1 − AP."""
    angles = np.arange(0.75, 180.0, 1.5)
    figure, axes = style.figure(2, 3, width=8.4, height=4.6, sharex=True, sharey=True)
    own = study.ANGLES[NAMES.index(MOVES)]
    facts = []
    for name, axis in zip(ALONG, axes.flat, strict=True):
        losses, aps = study.along_the_arc(name, NAMES.index(MOVES), tuple(angles))
        axis.plot(180 - angles, losses / losses.max(), color=style.BLACK, label="loss / its maximum")
        axis.plot(180 - angles, 1 - aps, "--", color=style.BLUE, label="1 − AP")
        axis.axvline(180 - own, color=style.GREY, linewidth=1)
        axis.set_title(study.title(name))
        facts.append(f"{study.title(name)} is least at {angles[losses.argmin()]:.0f}")
    axes[0, 0].set_xticks([0, 90, 180], ["180°", "90°", "0°"])
    axes[0, 0].set_ylim(0, 1.08)
    figure.supxlabel(f"angle of {MOVES} (the rest of its class is at 0° and 22°)")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    best = angles[aps > aps.max() - 1e-9]
    return style.describe(
        figure,
        f"Six panels with a loss over the angle of item {MOVES}, from 180 to 0 degrees, and 1 − AP. AP is best from "
        f"{best.min():.0f} to {best.max():.0f} degrees. {'; '.join(facts)} degrees.",
    )
