"""Figures of the detection experiments: what is detected, how classes are scored, and which of them profit."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke
from torch import Tensor

from rankedu_book.kit import style
from rankedu_book.kit.pictures import IRRELEVANT, RELEVANT, Mark
from rankedu_book.lab_detection import study
from rankedu_book.lab_detection.study import Detections
from rankedu_book.lab_retrieval.study import choose_queries, in_words
from rankedu_lab.experiments.detection_data import Proposals, first_ones

#: An object that is not among the detections drawn.
MISSED = Mark(style.BLACK, ":", "")
#: Pictures are drawn in steps of so much of 256: a file of grainy ones would be large.
SHADE = 16
#: Log-odds between which scores are counted, and the probabilities that the axis names.
RANGE, TICKS = (-11.0, 11.0), {-9.21: "10⁻⁴", -4.595: "0.01", 0.0: "½", 4.595: "0.99", 9.21: "1−10⁻⁴"}
BINS = 44
LOOKS: tuple[dict[str, Any], ...] = (
    {"color": style.ORANGE, "marker": "s"},
    {"color": style.GREEN, "marker": "o"},
    {"color": style.PURPLE, "marker": "^"},
    {"color": style.SKY, "marker": "D"},
)


def scenes_before_and_after(
    data: Any, before: Sequence[Detections], after: Sequence[Detections], names: tuple[str, str] = ("before", "after")
) -> Figure:
    """Draw the first detections of some scenes, of each as many as it has objects, by two networks.

    ``before`` and ``after`` are what they detect in the first pictures of the data set, of which three are chosen by
    how many objects more the second network finds.
    """
    targets = [data.target(index) for index in range(len(before))]
    rates = (torch.tensor([*map(study.found_of, found, targets)], dtype=torch.float64) for found in (before, after))
    shown = choose_queries(*rates)
    figure, axes = style.figure(len(shown), 2, width=7.2, height=0.3 + 3.75 * len(shown), squeeze=False)
    facts = []
    for row, (title, index) in enumerate(shown.items()):
        image, target = data[index]
        objects, counts = len(target["labels"]), []
        for axis, name, detections in zip(axes[row], names, (before[index], after[index]), strict=True):
            hits = _draw_scene(axis, image, target, first_ones(detections, objects), data.names)
            counts.append(f"{name} {hits} of {objects}")
            axis.set_title(f"{title}, {counts[-1]}")
        facts.append(f"{title}: {' and '.join(counts)} are hits")
    return style.describe(
        figure,
        f"{len(shown)} pictures, each twice, with the detections that score highest by the network {names[0]} and by "
        f"the one {names[1]}, as many as there are objects. A solid blue frame and a tick is a hit; a dashed red frame "
        "and a cross is a false alarm; a dotted black frame is an object that is missed. Beside a frame stand class "
        f"and score. {'; '.join(facts)}.",
    )


def _draw_scene(axes: Axes, image: Tensor, target: Detections, detections: Detections, classes: Sequence[str]) -> int:
    """Draw a scene, its missed objects, its false alarms and its hits; returns the number of hits."""
    taken = study.taken_by(detections, target)
    hits, found = taken >= 0, taken[taken >= 0]
    height, width = image.shape[-2:]
    shades = image.permute(1, 2, 0).numpy() // SHADE * SHADE + SHADE // 2
    axes.imshow(shades, extent=(0, width, height, 0), interpolation="nearest")
    style.bare(axes, xlim=(0, width), ylim=(height, 0), aspect="equal")
    for place, box in enumerate(target["boxes"].tolist()):
        if place not in found:
            _draw_box(axes, box, MISSED, "")
    for hit in (False, True):
        mark = RELEVANT if hit else IRRELEVANT
        for place in (hits == hit).nonzero()[:, 0].tolist():
            name = classes[int(detections["labels"][place]) - 1].replace("_", " ")
            score = f"{float(detections['scores'][place]):.2f}".removeprefix("0")
            label = f"{mark.sign} {name} {score}"
            _draw_box(axes, detections["boxes"][place].tolist(), mark, label)
    return int(hits.sum())


def _draw_box(axes: Axes, box: Sequence[float], mark: Mark, label: str) -> None:
    """A frame with a white line under it, so that it is seen on any ground, and its label inside the picture."""
    x1, y1, x2, y2 = box
    halo = [withStroke(linewidth=4, foreground="white")]
    look: dict[str, Any] = {"edgecolor": mark.colour, "linestyle": mark.line, "fill": False, "linewidth": 2}
    axes.add_patch(Rectangle((x1, y1), x2 - x1, y2 - y1, path_effects=halo, zorder=3, **look))
    if label:
        low = y1 < 0.08 * axes.get_ylim()[0]
        where: dict[str, Any] = {"va": "top" if low else "bottom", "ha": "left", "zorder": 4, "clip_on": True}
        axes.text(x1, y2 if low else y1, label, color=mark.colour, path_effects=halo, **where)


def score_histograms(proposals: Mapping[str, Proposals], groups: Mapping[str, Sequence[int] | Tensor]) -> Figure:
    """Draw how the proposals that hold a class score for it, and how all others do: a column for each network.

    ``groups`` names sets of classes, from 1, a row each. A score is the log-odds of the class's probability, which for
    each class is in the order of the probability. Scores beyond 11 are counted at the edge.
    """
    shape = {"height": 0.7 + 2.3 * len(groups), "squeeze": False, "sharex": True, "sharey": True}
    figure, axes = style.figure(len(groups), len(proposals), width=1.2 + 3.1 * len(proposals), **shape)
    facts = []
    for column, (name, found) in enumerate(proposals.items()):
        for row, (group, members) in enumerate(groups.items()):
            positive, negative = study.scored(found, torch.as_tensor(members))
            axis = axes[row, column]
            for (scores, counts), colour, look in (
                (negative, style.NEGATIVE, {"hatch": "////", "linestyle": "--"}),
                (positive, style.POSITIVE, {"linestyle": "-"}),
            ):
                heights, edges = np.histogram(scores.clamp(*RANGE).numpy(), BINS, RANGE, weights=counts.numpy())
                axis.stairs(heights, edges, fill=True, alpha=0.25, color=colour, linewidth=0)
                axis.stairs(heights, edges, edgecolor=colour, linewidth=1.6, **look)
            middle, wrong = study.rivals(positive, negative)
            axis.axvline(middle, color=style.BLACK, linewidth=1, linestyle=":")
            axis.set_title(f"{name}, {group}")
            facts.append(
                f"{name}, {group}: {len(positive[0])} positives; of what scores above the middle one, "
                f"{wrong:.0%} are negatives"
            )
            axis.text(0.98, 0.96, f"{wrong:.0%} wrong", transform=axis.transAxes, ha="right", va="top")
            if not column:
                axis.set_ylabel("proposals")
    axes[0, 0].set(yscale="log", xlim=RANGE)
    for axis in axes[-1]:
        axis.set_xticks([*TICKS], [*TICKS.values()])
        axis.set_xlabel("probability of the class")
    return style.describe(
        figure,
        "Histograms of the scores that proposals have for a class, with counts on a logarithmic axis: blue, with a "
        "solid line, for those that hold the class, red, hatched, with a dashed line for all others. A dotted line "
        f"stands at the median of the positives. {'. '.join(facts)}.",
    )


def ap_by_class(found: Mapping[str, Tensor], frequency: Tensor, classes: Sequence[str]) -> Figure:
    """Draw AP50 of each class, from the most frequent in training to the rarest.

    ``found`` has by method the values (C,), or (runs, C), of which the mean is drawn and a line from the least to the
    largest; ``frequency`` (C,) counts the objects of each class in training.
    """
    order = frequency.argsort(descending=True, stable=True)
    places, half = np.arange(len(order)), (len(order) + 1) // 2
    figure, (upper, lower) = style.figure(2, 1, width=7.2, height=4.6, sharex=True, height_ratios=(3, 1))
    facts = []
    for number, (name, values) in enumerate(found.items()):
        runs = torch.atleast_2d(values)[:, order].double()
        mean, at = runs.nanmean(0), places + 0.16 * (number - (len(found) - 1) / 2)
        look = LOOKS[(number + (len(found) == 1)) % len(LOOKS)]
        upper.plot(at, mean.numpy(), linestyle="none", markersize=6, label=name, clip_on=False, zorder=3, **look)
        if len(runs) > 1:
            ends = (limit(runs.numpy(), axis=0) for limit in (np.nanmin, np.nanmax))
            upper.vlines(at, *ends, color=look["color"], linewidth=1.5)
        halves = [float(mean[part].nanmean()) for part in (slice(None, half), slice(half, None))]
        facts.append(f"{name}: the mean of the frequent half is {halves[0]:.2f}, of the rare half {halves[1]:.2f}")
    for axis in (upper, lower):
        axis.axvline(half - 0.5, color=style.GREY, linewidth=1, linestyle=":")
    upper.set(ylim=(0, None), ylabel="AP50")
    lower.bar(places, frequency[order].numpy(), color=style.GREY)
    lower.set(yscale="log", ylabel="in training")
    turned: dict[str, Any] = {"rotation": 60, "ha": "right"} if max(map(len, classes)) > 2 else {}
    lower.set_xticks(places, [classes[int(index)].replace("_", " ") for index in order], **turned)
    if len(found) > 1:
        figure.legend(loc="outside upper right", ncols=len(found))
    return style.describe(
        figure,
        f"AP50 of each of {len(places)} classes, from the most frequent in training, "
        f"{in_words(classes[int(order[0])])}, to the rarest, {in_words(classes[int(order[-1])])}. Below it, bars "
        f"of how often each occurs there, from {int(frequency.max())} to {int(frequency.min())} times, on a "
        "logarithmic axis. "
        f"{'. '.join(facts)}.",
    )
