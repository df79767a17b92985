"""Figures of chapter 16: proposals as lists, who is absent from a batch, short lists, and the scale of the scores."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from rankbook.ch16_object_detection import proposals as made
from rankbook.ch16_object_detection import study
from rankbook.kit import style
from rankedu.losses.on_proposals import SCORES, proposal_scores
from rankedu.metrics import average_precision
from ranklab.datasets.scenes import CLASSES, Scenes


def pictured_proposals(scene: int = 11) -> Figure:
    """A scene with proposals, and the table of which proposal is relevant to which class."""
    picture, target = Scenes("train")[scene]
    boxes, labels = study.propose(target)
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


def absent_classes(lengths: Sequence[int] = (0, 1, 7)) -> Figure:
    """How often a class has no positive in a batch of eight pictures and what is remembered."""
    figure, axes = style.figure(1, 2, width=7.2, height=3.5, sharey=True)
    facts = []
    chances = {"scenes": study.absent_from_scenes, "VOC 07": study.absent_from_voc}
    for axis, (name, chance) in zip(axes, chances.items(), strict=True):
        for length, colour, marker in zip(lengths, (style.BLACK, style.ORANGE, style.BLUE), "osD", strict=False):
            values = chance(length)
            axis.plot(np.arange(1, 21), values, color=colour, marker=marker, markersize=5, label=f"τ = {length}")
            facts.append(f"{name}, τ = {length}: {values[0]:.2g} to {values[-1]:.2g}, median {np.median(values):.2g}")
        axis.set(title=name, xlabel="class, frequent to rare", xticks=(1, 5, 10, 15, 20), ylim=(-0.03, 1))
    axes[0].set_ylabel("chance of no positive")
    axes[0].legend(loc="upper left")
    return style.describe(
        figure,
        "Chance that none of eight pictures, and of τ times eight remembered ones, shows a class, against the class "
        f"from the most frequent to the rarest, for the scenes and for VOC 2007. {'; '.join(facts)}.",
    )


def short_lists(labels: Sequence[int] = (1, 5, 20), lengths: Sequence[int] = (0, 1, 3, 7, 15, 31)) -> Figure:
    """What the AP of a class looks like in a list of 1 + τ batches."""
    figure, axes = style.figure(width=6.4, height=3.6)
    facts = []
    for label, colour, marker in zip(labels, (style.BLUE, style.GREEN, style.ORANGE), "osD", strict=False):
        values = [study.list_ap(label, length) for length in lengths]
        truth = float(average_precision(*study.scored(label)))
        axes.plot(range(len(lengths)), values, color=colour, marker=marker, label=f"class {label}")
        axes.axhline(truth, color=colour, linestyle="--", linewidth=1.2)
        facts.append(f"class {label}: {values[0]:.2f} at τ = {lengths[0]}, {values[-1]:.2f} at the end, {truth:.2f}")
    axes.set_xticks(range(len(lengths)), [str(length) for length in lengths])
    axes.set(xlabel=f"τ, remembered batches of {made.BATCH} proposals", ylabel="expected AP in the list", ylim=(0, 1))
    axes.legend(loc="lower left", ncols=3)
    return style.describe(
        figure,
        "Expected AP of the most frequent, the fifth and the rarest class in lists of 1 + τ batches, against τ; "
        "dashed, their AP among 50,000 proposals. All curves fall towards their line, that of the rarest class has "
        f"farthest to go. In this order: {'; '.join(facts)}.",
    )


def score_scales(margin: float = 0.15) -> Figure:
    """The three scores of a fresh and of a trained head, with the margin as a yardstick."""
    test = made.held_out()
    heads = {"fresh": made.fresh_head(), "trained": made.trained().head}
    figure, axes = style.figure(2, 3, width=7.2, height=4.4)
    facts = []
    for row, (name, head) in zip(axes, heads.items(), strict=True):
        with torch.no_grad():
            logits = head(test.features)
        for axis, kind in zip(row, SCORES, strict=True):
            scores = proposal_scores(logits, kind)
            facts.append(f"{name} {kind} {_histogram(axis, scores, test.relevance, margin):.2g}")
            axis.set_title(f"{name}: {kind}")
    axes[1, 1].set_xlabel("score; the bar is the margin, 0.15")
    return style.describe(
        figure,
        "Six histograms of scores, negatives hatched red, positives blue, each with a bar of the length of the margin, "
        f"{margin:g}. Standard deviation of the scores: {', '.join(facts)}. On the probabilities of the fresh head the "
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


def learning_curves() -> Figure:
    """Cross entropy and the AP loss on two kinds of scores, with two margins and λ of three lengths."""
    runs = {
        "cross entropy": made.trained(),
        "AP, log-odds, λ = 10": made.trained("log-odds", lam=10.0),
        "AP, log-odds": made.trained("log-odds"),
        "AP, probability, α = 0.01": made.trained("probability", margin=0.01),
        "AP, probability": made.trained("probability"),
        "AP, probability, λ of Alg. 1": made.trained("probability", normalized=False),
    }
    figure, axes = style.figure(width=7.2, height=4.0)
    colours = (style.BLACK, style.SKY, style.GREEN, style.PURPLE, style.BLUE, style.RED)
    facts = []
    for (name, run), colour, marker in zip(runs.items(), colours, "osD^vX", strict=True):
        axes.plot(run.steps, run.mean_ap, color=colour, marker=marker, markersize=5, label=name)
        facts.append(f"{name} {run.mean_ap[-1]:.2f}")
    axes.set(xlabel="step", ylabel="mAP on held-out proposals", ylim=(0, 0.65))
    figure.legend(loc="outside right upper")
    return style.describe(
        figure,
        f"Held-out mAP of a linear head on synthetic proposals against the step of training. At the end: "
        f"{'; '.join(facts)}. Where nothing else is said, the margin is 0.15 and λ = 0.5, the released code's scale.",
    )
