"""Figures of chapter 16: proposals as lists, and the scale of the scores."""

import numpy as np
import torch
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from rankedu_book.ch16_object_detection import proposals as made
from rankedu_book.ch16_object_detection import study
from rankedu_book.kit import style
from rankedu_lab.datasets.scenes import CLASSES, Scenes
from rankedu_lab.detections import proposal_scores


def pictured_proposals(scene: int = 11) -> Figure:
    """Draw a scene with proposals, and the table of which proposal is relevant to which class."""
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
    right.grid(visible=False)
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


def first_step(margin: float = 0.15) -> Figure:
    """Draw how many irrelevant scores of a fresh head the first step moves, by λ, for two kinds of scores."""
    batch, lams = made.proposals(64, seed=1).of(0), np.geomspace(0.1, 2000, 60)
    figure, axes = style.figure(width=5.8, height=3.2)
    said = []
    for kind, colour, line in (("log-odds", style.GREEN, "--"), ("probability", style.ORANGE, "-")):
        scores = proposal_scores(batch.features @ made.fresh_heads()[0], kind)
        counts = [study.moved(scores, batch.relevance, float(lam), margin) for lam in lams]
        axes.plot(lams, counts, color=colour, linestyle=line, label=kind)
        said.append(f"By {kind} none moves below λ = {lams[np.argmax(np.array(counts) > 0)]:.2g}.")
    axes.axvline(threshold(margin), color=style.GREY, linestyle=":", label="nα/w")
    axes.set(xscale="log", xlabel="λ on the scale of the released code", ylabel="irrelevant scores moved")
    axes.legend()
    return style.describe(
        figure,
        f"The number of irrelevant scores that move, against λ from 0.1 to 2000. {' '.join(said)} A dotted line is at "
        f"λ = {threshold(margin):.0f}.",
    )


def threshold(margin: float) -> float:
    """Return nα/w for the list of a class in the batch of the figure."""
    relevance = made.proposals(64, seed=1).of(0).relevance
    return margin * len(relevance) * float(relevance.any(0).sum()) / (2 / 3)
