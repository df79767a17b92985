"""Chapter 16, computed: which negatives cost AP, which classes a batch lacks, and which scores a step moves."""

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from rankedu.losses import MAPLoss
from rankedu.rankers import BlackboxRanker
from rankedu_book.kit.ranks import Array
from rankedu_lab.detections import box_iou

#: Pictures of VOC 2007's trainval part that show each class, as published, and how many pictures it has.
VOC07_PICTURES = {
    "person": 2008, "car": 713, "chair": 445, "dog": 421, "cat": 337, "bird": 330, "horse": 287, "train": 261,
    "tvmonitor": 256, "motorbike": 245, "pottedplant": 245, "bottle": 244, "bicycle": 243, "aeroplane": 238,
    "sofa": 229, "diningtable": 200, "bus": 186, "boat": 181, "cow": 141, "sheep": 96,
}  # fmt: skip
VOC07 = 5011


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
    """Return a bound on the step of a positive below this many negatives; λ is on the scale of Algorithm 1."""
    return lam * weight / (4 * positives * above)


def absent_from_voc(length: int, pictures: int = 8) -> Array:
    """Return the same for VOC 2007, from its published counts, if every picture is drawn from all."""
    return np.array([(1 - count / VOC07) ** (pictures * (1 + length)) for count in VOC07_PICTURES.values()])


def moved(scores: Tensor, relevance: Tensor, lam: float, margin: float = 0.15) -> int:
    """Count the irrelevant scores (proposals, classes) that RaMBO's loss of a detector moves; λ on the code's scale."""
    leaf = scores.detach().clone().requires_grad_()
    loss = MAPLoss(BlackboxRanker(lam, normalized=True), margin=margin)(leaf, relevance)
    (slope,) = torch.autograd.grad(loss, leaf)
    return int((slope[~relevance] != 0).sum())


def propose(target: dict[str, Tensor], *, copies: int = 2, others: int = 7, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Return boxes around the objects and elsewhere, and the label of the object that each overlaps by half, else 0."""
    generator = torch.Generator().manual_seed(seed)
    boxes = target["boxes"].repeat_interleave(copies, 0)
    side = (boxes[:, 2:] - boxes[:, :2]).repeat(1, 2)
    near = boxes + 0.22 * side * torch.randn(boxes.shape, generator=generator)
    corner = 95 * torch.rand(others, 2, generator=generator)
    far = torch.cat([corner, corner + 14 + 20 * torch.rand(others, 2, generator=generator)], 1)
    proposed = torch.cat([near, far]).clamp(0, 128)
    overlap, which = box_iou(proposed, target["boxes"]).max(1)
    return proposed, torch.where(overlap >= 0.5, target["labels"][which], 0)
