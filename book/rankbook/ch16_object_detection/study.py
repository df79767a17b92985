"""Chapter 16, computed: who is to blame, who is absent, and what a short list says."""

import functools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from rankbook.ch05_minibatch_bias.study import expected_precision
from rankbook.ch16_object_detection import proposals as made
from rankbook.kit.ranks import Array
from rankedu import rank
from ranklab.datasets.scenes import CLASSES
from ranklab.detections import box_iou

#: Pictures of VOC 2007's trainval part that show each class, as published, and how many pictures it has.
VOC07_PICTURES = {
    "person": 2008, "car": 713, "chair": 445, "dog": 421, "cat": 337, "bird": 330, "horse": 287, "train": 261,
    "tvmonitor": 256, "motorbike": 245, "pottedplant": 245, "bottle": 244, "bicycle": 243, "aeroplane": 238,
    "sofa": 229, "diningtable": 200, "bus": 186, "boat": 181, "cow": 141, "sheep": 96,
}  # fmt: skip
VOC07 = 5011
#: Objects of a scene, at least and at most; all numbers between are equally likely.
OBJECTS = (3, 8)


def blame(scores: npt.ArrayLike, relevant: npt.ArrayLike) -> Array:
    """Divide 1 − AP among the items: a negative is charged 1/rank of every positive below it, over the positives.

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


def absent_from_scenes(length: int, pictures: int = 8) -> Array:
    """Chance that a batch of scenes and ``length`` remembered ones hold no object of a class, for each of the 20."""
    share = 1 / np.arange(1, len(CLASSES) + 1)
    share /= share.sum()
    counts = np.arange(OBJECTS[0], OBJECTS[1] + 1)
    without = ((1 - share)[:, None] ** counts).mean(1)
    return np.asarray(without ** (pictures * (1 + length)))


def absent_from_voc(length: int, pictures: int = 8) -> Array:
    """The same for VOC 2007, from its published counts, if every picture is drawn from all."""
    return np.array([(1 - count / VOC07) ** (pictures * (1 + length)) for count in VOC07_PICTURES.values()])


def present(length: int = 0) -> float:
    """How many classes a batch has, with so many remembered ones; mean of forty, and of the starts."""
    seen = torch.stack([made.proposals(made.BATCH, step).relevance.any(-2) for step in range(1, 41 + length)])
    return float(seen.unfold(0, 1 + length, 1).any(-1).sum(-1).double().mean())


def cold_start(margin: float = 0.15, length: int = 0) -> float:
    """The λ from which on a fresh head's negatives move in the lists of classes: n α / w of the batches drawn."""
    return made.BATCH * (1 + length) * margin * present(length) / (2 / 3)


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


def credulous(bias: float, start: int | slice = slice(None)) -> Tensor:
    """Heads trained with cross entropy, and a bias towards the rarest class."""
    heads = made.trained(made.Arm())[-1, made.RATES.index(0.016), start].clone()
    heads[..., -1, -1] += bias
    return heads


@functools.cache
def scored(label: int) -> tuple[Tensor, Tensor]:
    """Scores for a class of 20,000 proposals that no head was trained on, and which of them show it; of each start."""
    test = made.held_out(20_000)
    return made.ranked(test.features @ credulous(0.0), "probability")[..., label - 1], test.labels == label


def list_precision(label: int, length: int) -> float:
    """Expected precision of a positive of a class in a list of (1 + length) batches that holds it; mean of starts."""
    drawn, found = made.BATCH * (1 + length), []
    for scores, relevant in zip(*scored(label), strict=True):
        ranks = rank(scores)[relevant].sort().values.numpy()
        found.append(expected_precision(ranks, len(scores), drawn, np.arange(1, len(ranks) + 1)).mean())
    return float(np.mean(found))
