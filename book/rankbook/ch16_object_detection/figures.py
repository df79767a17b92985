"""Figures of chapter 16: proposals as lists, and the scale of the scores."""

import torch
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from rankbook.ch16_object_detection import proposals as made
from rankbook.ch16_object_detection import study
from rankbook.kit import style
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


def learned() -> Figure:
    """What a head has learned after few and after many steps, against λ, each λ at its own rate."""
    figure, axes = style.figure(1, 2, width=7.2, height=4.6, sharey=True)
    colours = (style.BLACK, style.GREEN, style.SKY, style.ORANGE, style.RED)
    facts = []
    for axis, length in zip(axes, made.LENGTHS, strict=True):
        found = made.compared(length)
        looks = {name: {"color": c, "marker": m} for name, c, m in zip(found.test, colours, "Xos^v", strict=True)}
        facts.append(f"After {length} steps: {'; '.join(found.draw(axis, looks))}.")
        axis.axhline(found.values("cross entropy").mean(), color=style.BLACK, linewidth=1.2)
        axis.axvline(study.cold_start(), color=style.GREY, linestyle=":")
        axis.set(title=f"after {length} steps", xlabel="λ on the released code's scale", ylim=(0, 0.78))
    axes[0].set_ylabel("mAP by probability")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2)
    return style.describe(
        figure,
        f"Two panels, mAP on held-out proposals against λ, the mean of {made.STARTS} starts; a dotted line at λ = "
        f"{study.cold_start():.0f}. {' '.join(facts)}",
    )
