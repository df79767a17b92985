"""Figures of chapter 16: proposals as lists, who is absent from a batch, short lists, and the scale of the scores."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch
from matplotlib.colors import ListedColormap
from matplotlib.patches import Rectangle
from torch import Tensor

from rankedu import rank
from rankedu.book.figures import proposals as made
from rankedu.book.figures import style
from rankedu.book.figures.minibatch_bias import expected_precision
from rankedu.lab.datasets.scenes import CLASSES, Scenes
from rankedu.losses.on_proposals import SCORES, proposal_scores
from rankedu.metrics import average_precision, box_iou

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = npt.NDArray[np.float64]
#: Pictures of VOC 2007's trainval part that show each class, as published, and how many pictures it has.
VOC07_PICTURES = {
    "person": 2008, "car": 713, "chair": 445, "dog": 421, "cat": 337, "bird": 330, "horse": 287, "train": 261,
    "tvmonitor": 256, "motorbike": 245, "pottedplant": 245, "bottle": 244, "bicycle": 243, "aeroplane": 238,
    "sofa": 229, "diningtable": 200, "bus": 186, "boat": 181, "cow": 141, "sheep": 96,
}  # fmt: skip
VOC07 = 5011
#: Objects of a scene, at least and at most; all numbers between are equally likely.
OBJECTS = (3, 8)


def blame(scores: npt.ArrayLike, relevant: npt.ArrayLike) -> Floats:
    """Divide 1 − AP among the items: a negative is charged 1/rank of every positive below it, over the positives.

    Parameters
    ----------
    scores : array_like, shape (n,)
    relevant : array_like of bool, shape (n,)
        With one positive at least.

    Returns
    -------
    ndarray, shape (n,)
        Zero at positives. The sum is 1 − AP.

    Examples
    --------
    >>> blame([0.9, 0.8, 0.6, 0.1], [True, False, True, False]).round(3).tolist()
    [0.0, 0.167, 0.0, 0.0]
    """
    order = np.argsort(-np.asarray(scores, dtype=np.float64), kind="stable")
    positive = np.asarray(relevant, dtype=bool)[order]
    paid = np.where(positive, 1 / np.arange(1, len(order) + 1), 0.0)
    below = np.cumsum(paid[::-1])[::-1]  # at a negative: of all positives below it
    shares = np.empty(len(order))
    shares[order] = np.where(positive, 0.0, below / positive.sum())
    return shares


def reach(positives: int, above: int, *, lam: float, weight: float = 1.0) -> float:
    """Bound on how far Algorithm 1 lifts a positive below so many negatives; λ on the paper's scale, times a weight."""
    return lam * weight / (4 * positives * above)


def absent_from_scenes(length: int, pictures: int = 8) -> Floats:
    """Chance that a batch of scenes and ``length`` remembered ones hold no object of a class, for each of the 20."""
    share = 1 / np.arange(1, len(CLASSES) + 1)
    share /= share.sum()
    counts = np.arange(OBJECTS[0], OBJECTS[1] + 1)
    without = ((1 - share)[:, None] ** counts).mean(1)
    return np.asarray(without ** (pictures * (1 + length)))


def absent_from_voc(length: int, pictures: int = 8) -> Floats:
    """The same for VOC 2007, from its published counts; pictures are drawn without replacement, as in an epoch."""
    drawn = pictures * (1 + length)
    return np.array([comb(VOC07 - count, drawn) / comb(VOC07, drawn) for count in VOC07_PICTURES.values()])


def propose(target: dict[str, Tensor], *, copies: int = 2, others: int = 7, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Boxes around the objects and elsewhere, and their labels: that of the object overlapped by half, else 0."""
    generator = torch.Generator().manual_seed(seed)
    boxes = target["boxes"].repeat_interleave(copies, 0)
    side = (boxes[:, 2:] - boxes[:, :2]).repeat(1, 2)
    near = boxes + 0.22 * side * torch.randn(boxes.shape, generator=generator)
    corner = 95 * torch.rand(others, 2, generator=generator)
    far = torch.cat([corner, corner + 14 + 20 * torch.rand(others, 2, generator=generator)], 1)
    proposed = torch.cat([near, far]).clamp(0, 128)
    overlap, which = box_iou(proposed, target["boxes"]).max(1)
    return proposed, torch.where(overlap >= 0.5, target["labels"][which], 0)


def as_detections(hits: Sequence[int], objects: int) -> tuple[list[dict[str, Tensor]], list[dict[str, Tensor]]]:
    """A picture with so many objects of one class, and detections of them: the best first, 1 for a hit, 0 for none."""
    hit = torch.tensor(hits)
    place = 50.0 * (hit.cumsum(0) * hit - 1)  # -50 where there is no object
    there = 50.0 * torch.arange(objects)
    boxes, truths = (torch.stack([x, x, x + 10, x + 10], 1) for x in (place, there))
    ones = torch.ones(len(hit) + objects, dtype=torch.int64)
    scores = torch.arange(len(hit), 0, -1) / len(hit)
    found = {"boxes": boxes, "scores": scores, "labels": ones[: len(hit)]}
    return [found], [{"boxes": truths, "labels": ones[:objects]}]


@style.style()
def pictured_proposals(scene: int = 11) -> Figure:
    """A scene with proposals, and the table of which proposal is relevant to which class."""
    picture, target = Scenes("train")[scene]
    boxes, labels = propose(target)
    figure, (left, right) = style.figure(1, 2, width=7.2, height=3.9, width_ratios=(1, 1.25))
    left.imshow(picture.permute(1, 2, 0).numpy())
    for box, label in zip(boxes.tolist(), labels.tolist(), strict=True):
        colour, line = (style.POSITIVE, "-") if label else (style.NEGATIVE, "--")
        size = box[2] - box[0], box[3] - box[1]
        left.add_patch(Rectangle((box[0], box[1]), *size, fill=False, edgecolor="white", linewidth=2.6))
        left.add_patch(Rectangle((box[0], box[1]), *size, fill=False, edgecolor=colour, linestyle=line, linewidth=1.4))
    left.axis("off")
    order = labels.argsort(stable=True, descending=True)
    relevance = labels[order, None] == torch.arange(1, len(CLASSES) + 1)
    right.imshow(relevance.int().numpy(), cmap=ListedColormap(["#F2F2F2", style.POSITIVE]), aspect="auto")
    for column in (~relevance.any(0)).nonzero().flatten().tolist():
        size = (0.9, float(len(labels)))
        right.add_patch(Rectangle((column - 0.45, -0.5), *size, fill=False, hatch="///", edgecolor="#C4C4C4", lw=0))
    right.set(xticks=range(len(CLASSES)), yticks=(), xlabel="class, frequent to rare", ylabel="proposals")
    right.set_xticklabels(CLASSES)
    right.tick_params(length=0)
    present = int(relevance.any(0).sum())
    return style.describe(
        figure,
        f"Left, a scene with {len(boxes)} proposals: {int((labels > 0).sum())} overlap an object by half or more, in "
        f"blue, and {int((labels == 0).sum())} are background, dashed red. Right, a table with a row for each proposal "
        f"and a column for each of the {len(CLASSES)} classes, blue where the proposal is relevant. Only {present} "
        f"columns have anything blue; the other {len(CLASSES) - present} are hatched.",
    )


@style.style()
def absent_classes(lengths: Sequence[int] = (0, 1, 7)) -> Figure:
    """How often a class has no positive in a batch of eight pictures and what is remembered."""
    figure, axes = style.figure(1, 2, width=7.2, height=3.5, sharey=True)
    told = []
    for axis, name, chance in zip(axes, ("scenes", "VOC 07"), (absent_from_scenes, absent_from_voc), strict=True):
        for length, colour, marker in zip(lengths, (style.BLACK, style.ORANGE, style.BLUE), "osD", strict=False):
            values = chance(length)
            axis.plot(np.arange(1, 21), values, color=colour, marker=marker, markersize=5, label=f"τ = {length}")
            told.append(f"{name}, τ = {length}: {values[0]:.2g} to {values[-1]:.2g}, median {np.median(values):.2g}")
        axis.set(title=name, xlabel="class, frequent to rare", xticks=(1, 5, 10, 15, 20), ylim=(-0.03, 1))
    axes[0].set_ylabel("chance of no positive")
    axes[0].legend(loc="upper left")
    return style.describe(
        figure,
        "Chance that none of eight pictures, and of τ times eight remembered ones, shows a class, against the class "
        f"from the most frequent to the rarest, for the scenes and for VOC 2007. {'; '.join(told)}.",
    )


@functools.cache
def scored(label: int) -> tuple[Tensor, Tensor]:
    """Scores for a class of 50,000 proposals that no head was trained on, and which of them show it."""
    test, head = made.proposals(50_000, seed=10**6 + 1), made.trained().head
    with torch.no_grad():
        scores = proposal_scores(head(test.features), "probability")[:, label - 1]
    return scores, test.labels == label


def list_ap(label: int, length: int) -> float:
    """Expected precision of a positive of a class in a list of (1 + length) · 256 random proposals that holds it."""
    scores, relevant = scored(label)
    ranks = rank(scores)[relevant].sort().values.numpy()
    drawn = made.BATCH * (1 + length)
    return float(expected_precision(ranks, len(scores), drawn, np.arange(1, len(ranks) + 1)).mean())


@style.style()
def short_lists(labels: Sequence[int] = (1, 5, 20), lengths: Sequence[int] = (0, 1, 3, 7, 15, 31)) -> Figure:
    """What the AP of a class looks like in a list of 1 + τ batches."""
    figure, axes = style.figure(width=6.4, height=3.6)
    told = []
    for label, colour, marker in zip(labels, (style.BLUE, style.GREEN, style.ORANGE), "osD", strict=False):
        values, truth = [list_ap(label, length) for length in lengths], float(average_precision(*scored(label)))
        axes.plot(range(len(lengths)), values, color=colour, marker=marker, label=f"class {label}")
        axes.axhline(truth, color=colour, linestyle="--", linewidth=1.2)
        told.append(f"class {label}: {values[0]:.2f} at τ = {lengths[0]}, {values[-1]:.2f} at the end, {truth:.2f}")
    axes.set_xticks(range(len(lengths)), [str(length) for length in lengths])
    axes.set(xlabel=f"τ, remembered batches of {made.BATCH} proposals", ylabel="expected AP in the list", ylim=(0, 1))
    axes.legend(loc="lower left", ncols=3)
    return style.describe(
        figure,
        "Expected AP of the most frequent, the fifth and the rarest class in lists of 1 + τ batches, against τ; "
        "dashed, their AP among 50,000 proposals. All curves fall towards their line, that of the rarest class has "
        f"farthest to go. In this order: {'; '.join(told)}.",
    )


@style.style()
def score_scales(margin: float = 0.15) -> Figure:
    """The three scores of a fresh and of a trained head, with the margin as a yardstick."""
    test = made.held_out()
    heads = {"fresh": made.fresh_head(), "trained": made.trained().head}
    figure, axes = style.figure(2, 3, width=7.2, height=4.4)
    told = []
    for row, (name, head) in zip(axes, heads.items(), strict=True):
        with torch.no_grad():
            logits = head(test.features)
        for axis, kind in zip(row, SCORES, strict=True):
            scores = proposal_scores(logits, kind)
            told.append(f"{name} {kind} {_histogram(axis, scores, test.relevance, margin):.2g}")
            axis.set_title(f"{name}: {kind}")
    axes[1, 1].set_xlabel("score; the bar is the margin, 0.15")
    return style.describe(
        figure,
        "Six histograms of scores, negatives hatched red, positives blue, each with a bar of the length of the margin, "
        f"{margin:g}. Standard deviation of the scores: {', '.join(told)}. On the probabilities of the fresh head the "
        "bar is many times as long as the histogram is wide.",
    )


def _histogram(axes: Axes, scores: Tensor, relevant: Tensor, margin: float) -> float:
    """Positives and negatives on one axis, each to its own height; the spread of all."""
    low, high = (float(x) for x in torch.quantile(scores.flatten()[::7], torch.tensor([0.001, 0.999])))
    high = max(high, low + 1.15 * margin)
    bins = np.linspace(low, high, 41)
    looks: tuple[dict[str, Any], ...] = ({"color": style.NEGATIVE, "hatch": "//"}, {"color": style.POSITIVE})
    for mask, look in zip((~relevant, relevant), looks, strict=True):
        counts, _ = np.histogram(scores[mask].numpy(), bins)
        axes.stairs(counts / counts.max(), bins, fill=True, alpha=0.45, **look)
    axes.plot([high - margin, high], [1.12, 1.12], color=style.BLACK, linewidth=4, solid_capstyle="butt")
    axes.set(yticks=(), ylim=(0, 1.25))
    return float(scores.std())


@style.style()
def learning_curves(seed: int = 0) -> Figure:
    """Cross entropy and the AP loss on two kinds of scores, with two margins and λ of three lengths."""
    runs: dict[str, dict[str, Any]] = {
        "cross entropy": {},
        "AP, log-odds, λ = 10": {"scores": "log-odds", "lam": 10.0},
        "AP, log-odds": {"scores": "log-odds"},
        "AP, probability, α = 0.01": {"scores": "probability", "margin": 0.01},
        "AP, probability": {"scores": "probability"},
        "AP, probability, λ of Alg. 1": {"scores": "probability", "normalized": False},
    }
    figure, axes = style.figure(width=7.2, height=4.0)
    colours = (style.BLACK, style.SKY, style.GREEN, style.PURPLE, style.BLUE, style.RED)
    told = []
    for (name, setting), colour, marker in zip(runs.items(), colours, "osD^vX", strict=True):
        run = made.trained(seed=seed, **setting)
        axes.plot(run.steps, run.mean_ap, color=colour, marker=marker, markersize=5, label=name)
        told.append(f"{name} {run.mean_ap[-1]:.2f}")
    axes.set(xlabel="step", ylabel="mAP on held-out proposals", ylim=(0, 0.65))
    figure.legend(loc="outside right upper")
    return style.describe(
        figure,
        f"Held-out mAP of a linear head on synthetic proposals against the step of training. At the end: "
        f"{'; '.join(told)}. Where nothing else is said, the margin is 0.15 and λ = 0.5, the released code's scale.",
    )
