"""Boxes: how much they overlap, and those of a whole test set, checked and put into flat arrays."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor


def box_iou(boxes: Tensor, others: Tensor) -> Tensor:
    r"""Compute intersection over union of every box (..., n, 4) with every other (..., m, 4): shape (..., n, m).

    .. math:: \mathrm{IoU}(A, B) = \frac{|A \cap B|}{|A| + |B| - |A \cap B|}

    A box has the corners x1, y1, x2, y2, with x1 ≤ x2 and y1 ≤ y2; its width is x2 − x1. The value is in [0, 1],
    float64 for float64 boxes and else float32; 0 for two boxes without area. Gradients flow. O(n m), computed in
    float64: overlaps of just ½ come out right. Explained in chapter 16.
    Source: RaMBO Sec. 5.2.

    Raises
    ------
    ValueError
        If a shape is another, or corners are not finite or in another order.

    Examples
    --------
    >>> box_iou(torch.tensor([[0, 0, 2, 2]]), torch.tensor([[0, 0, 2, 1], [1, 1, 3, 3], [5, 5, 6, 6]]))
    tensor([[0.5000, 0.1429, 0.0000]])
    """
    check_boxes(boxes, "boxes")
    check_boxes(others, "others")
    dtype = torch.float64 if torch.float64 in (boxes.dtype, others.dtype) else torch.float32
    return overlap(boxes.double()[..., :, None, :], others.double()[..., None, :, :]).to(dtype)


def overlap(boxes: Tensor, others: Tensor) -> Tensor:
    """Compute intersection over union of boxes and others, (..., 4), box by box; 0 where neither has an area."""
    corner, far = torch.maximum(boxes[..., :2], others[..., :2]), torch.minimum(boxes[..., 2:], others[..., 2:])
    shared = (far - corner).clamp(min=0).prod(-1)
    area, other = ((x[..., 2:] - x[..., :2]).prod(-1) for x in (boxes, others))
    union = area + other - shared
    return shared / union.masked_fill(union == 0, 1)


def check_boxes(boxes: Tensor, name: str) -> None:
    """Raise ValueError unless the shape is (..., n, 4), and corners are finite and in the right order."""
    if boxes.ndim < 2 or boxes.shape[-1] != 4:
        raise ValueError(f"{name} must have shape (..., n, 4), got {tuple(boxes.shape)} (one box is (1, 4))")
    good = boxes.isfinite().all(-1) & (boxes[..., 2:] >= boxes[..., :2]).all(-1)
    if not good.all():
        first = (~good).nonzero()[0].tolist()
        raise ValueError(
            f"{name}{first} must be finite, with x1 <= x2 and y1 <= y2, got {boxes[tuple(first)].tolist()} "
            "(from x, y, width, height: x2 = x + width, y2 = y + height)"
        )


class Boxes(NamedTuple):
    """Boxes of all images, in the order they came, on the CPU."""

    image: Tensor  # (N,) int64
    place: Tensor  # (N,) int64, in the list of its image
    box: Tensor  # (N, 4) float64
    label: Tensor  # (N,) int64
    value: Tensor  # (N,) the score, float64, or whether it is difficult, bool


def collect(images: Sequence[Mapping[str, Tensor]], n_classes: int, *, name: str, scored: bool) -> Boxes:
    """Check the boxes of every image, and put them one after the other: detections if scored, and truths if not."""
    boxes, labels, values = [torch.empty(0, 4).double()], [torch.empty(0).long()], [torch.empty(0).double()]
    for number, image in enumerate(images):
        box, label = image["boxes"], image["labels"]
        value = image["scores"] if scored else image.get("difficult", torch.zeros_like(label))
        check_boxes(box, f"{name}[{number}]['boxes']")
        if not box.shape[:-1] == label.shape == value.shape:
            shapes = [tuple(one.shape) for one in (box, label, value)]
            raise ValueError(f"{name}[{number}] must have a label and a value for each box, got the shapes {shapes}")
        if ((label < 1) | (label > n_classes)).any():
            raise ValueError(
                f"{name}[{number}]['labels'] must be from 1 to n_classes = {n_classes}, got {label.tolist()} "
                "(0 is the background, and no box)"
            )
        if value.isnan().any():
            raise ValueError(f"{name}[{number}]['scores'] must not be NaN (find what made it)")
        boxes.append(box.detach().double().cpu())
        labels.append(label.cpu().long())
        values.append(value.detach().double().cpu())
    counts = torch.tensor([len(label) for label in labels[1:]], dtype=torch.int64)
    image_of = torch.arange(len(counts)).repeat_interleave(counts)
    place = torch.arange(len(image_of)) - (counts.cumsum(0) - counts)[image_of]
    value = torch.cat(values)
    return Boxes(image_of, place, torch.cat(boxes), torch.cat(labels), value if scored else value.bool())
