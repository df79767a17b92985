"""How much boxes overlap."""

from __future__ import annotations

import torch
from torch import Tensor

from rankedu.metrics._boxes import check_boxes

__all__ = ["box_iou"]


def box_iou(boxes: Tensor, others: Tensor) -> Tensor:
    r"""Intersection over union of every box (..., n, 4) with every other (..., m, 4): shape (..., n, m).

    .. math:: \mathrm{IoU}(A, B) = \frac{|A \cap B|}{|A| + |B| - |A \cap B|}

    A box has the corners x1, y1, x2, y2, with x1 ≤ x2 and y1 ≤ y2; its width is x2 − x1. The value is in [0, 1],
    float64 for float64 boxes and else float32; 0 for two boxes without area. Gradients flow. O(n m), computed in
    float64: overlaps of just ½ come out right. Explained in chapter 16.
    Raises ValueError for another shape, corners that are not finite or stand in another order, or batches that do not
    fit; TypeError for anything but tensors of numbers.
    Source: RaMBO Sec. 5.2.

    >>> box_iou(torch.tensor([[0, 0, 2, 2]]), torch.tensor([[0, 0, 2, 1], [1, 1, 3, 3], [5, 5, 6, 6]]))
    tensor([[0.5000, 0.1429, 0.0000]])
    """
    check_boxes(boxes, name="boxes")
    if isinstance(others, Tensor) and boxes.device != others.device:
        raise ValueError(f"others must be on the device of boxes, {boxes.device}, got {others.device} (move it)")
    check_boxes(others, name="others")
    if any(1 != a != b != 1 for a, b in zip(boxes.shape[-3::-1], others.shape[-3::-1], strict=False)):
        raise ValueError(
            f"others must have batch dimensions that broadcast with those of boxes, {tuple(boxes.shape[:-2])}, "
            f"got {tuple(others.shape[:-2])}"
        )
    dtype = torch.float64 if torch.float64 in (boxes.dtype, others.dtype) else torch.float32
    return overlap(boxes.double()[..., :, None, :], others.double()[..., None, :, :]).to(dtype)


def overlap(boxes: Tensor, others: Tensor) -> Tensor:
    """Intersection over union of boxes and others, (..., 4), box by box; 0 where neither has an area."""
    corner, far = torch.maximum(boxes[..., :2], others[..., :2]), torch.minimum(boxes[..., 2:], others[..., 2:])
    shared = (far - corner).clamp(min=0).prod(-1)
    area, other = ((x[..., 2:] - x[..., :2]).prod(-1) for x in (boxes, others))
    union = area + other - shared
    return shared / union.masked_fill(union == 0, 1)
