"""Non-maximum suppression and RoIAlign in PyTorch: what Faster R-CNN needs of torchvision's compiled part."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

__all__ = ["nms", "roi_align"]

#: Rows of the matrix of overlaps that are computed at once.
BLOCK = 512


def nms(boxes: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    """Keep the best box, drop all that overlap it by more than a threshold, and go on with the best that is left.

    Parameters
    ----------
    boxes : Tensor, shape (n, 4)
        x1, y1, x2, y2.
    scores : Tensor, shape (n,)
    iou_threshold : float
        Boxes are dropped above it, not at it.

    Returns
    -------
    Tensor of int64, shape (k,)
        Which boxes are kept, best first; of equal scores the first comes first.

    Notes
    -----
    As torchvision's: the overlaps are computed in the boxes' precision and compared in double precision. O(n²).

    Examples
    --------
    >>> boxes = torch.tensor([[0.0, 0.0, 4.0, 4.0], [0.0, 0.0, 4.0, 3.0], [3.0, 3.0, 6.0, 6.0]])
    >>> nms(boxes, torch.tensor([0.8, 0.9, 0.1]), 0.5)
    tensor([1, 2])
    """
    order = scores.detach().sort(descending=True, stable=True).indices
    dtype = torch.float64 if boxes.dtype == torch.float64 else torch.float32
    corners = boxes.detach()[order].to("cpu", dtype).numpy()
    dropped, kept = 0, []  # the boxes that are dropped: bit j of one whole number
    for start in range(0, len(corners), BLOCK):
        rows = _overlaps(corners[start : start + BLOCK], corners[start:]) > np.float64(iou_threshold)
        for i, row in enumerate(np.packbits(rows, axis=1, bitorder="little"), start):
            if not dropped >> i & 1:
                kept.append(i)
                dropped |= int.from_bytes(row.tobytes(), "little") << start
    return order[torch.tensor(kept, dtype=torch.int64, device=order.device)]


def _overlaps(some: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Intersection over union of every pair; nan, which overlaps nothing, where both are empty."""
    (x1, y1, x2, y2), (u1, v1, u2, v2) = some.T[:, :, None], others.T[:, None]
    width = np.minimum(x2, u2) - np.maximum(x1, u1)
    height = np.minimum(y2, v2) - np.maximum(y1, v1)
    common = np.maximum(width, 0) * np.maximum(height, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio: np.ndarray = common / ((x2 - x1) * (y2 - y1) + (u2 - u1) * (v2 - v1) - common)
    return ratio


def roi_align(
    input: Tensor,
    boxes: Tensor | Sequence[Tensor],
    output_size: int | Sequence[int],
    spatial_scale: float = 1.0,
    sampling_ratio: int = -1,
    aligned: bool = False,
) -> Tensor:
    r"""Read a grid of bins off a feature map in each of many boxes; a bin is the mean of some interpolated points.

    Parameters
    ----------
    input : Tensor, shape (N, C, H, W)
        Feature maps of N pictures.
    boxes : Tensor, shape (K, 5), or N tensors of shape (k, 4)
        The picture's index, x1, y1, x2, y2; or x1, y1, x2, y2 of each picture's boxes.
    output_size : int or (int, int)
        Bins: rows, columns.
    spatial_scale : float
        From the boxes' pixels to the map's.
    sampling_ratio : int
        Points of a bin along each axis; if ≤ 0, as many as the bin has pixels, rounded up.
    aligned : bool
        The centre of the first pixel lies at ½; else at 0, and boxes measure at least one pixel.

    Returns
    -------
    Tensor, shape (K, C, rows, columns)
        Differentiable with respect to ``input``.

    Notes
    -----
    A bin is a weighted sum of the pixels beside its points, and the weight of a pixel is a product of one factor for
    its row and one for its column. The sums are those of :func:`torch.nn.functional.embedding_bag`, with one row of the
    table a pixel. Points more than a pixel outside the map count as 0, those that are nearer as its border. Accumulated
    in float32 at least. O(K · C · points).

    Examples
    --------
    >>> ramp = torch.arange(8.0).expand(1, 1, 8, 8)
    >>> roi_align(ramp, torch.tensor([[0.0, 1.0, 1.0, 5.0, 5.0]]), 2, sampling_ratio=2)
    tensor([[[[2., 4.],
              [2., 4.]]]])
    """
    if not isinstance(boxes, Tensor):
        pictures = [torch.full_like(of_one[:, :1], n) for n, of_one in enumerate(boxes)]
        boxes = torch.cat([torch.cat(pictures), torch.cat(list(boxes))], dim=1)
    rows, columns = (output_size, output_size) if isinstance(output_size, int) else output_size
    _, channels, height, width = input.shape
    dtype = torch.promote_types(input.dtype, torch.float32)
    picture, corners = boxes[:, 0].long(), boxes[:, 1:].detach().to(dtype) * spatial_scale - (0.5 if aligned else 0.0)
    x, by_x = _along(corners[:, 0], corners[:, 2], columns, width, sampling_ratio, aligned)
    y, by_y = _along(corners[:, 1], corners[:, 3], rows, height, sampling_ratio, aligned)
    pixels = ((picture[:, None, None] * height + y) * width)[:, :, None, :, None] + x[:, None, :, None, :]
    weights = by_y[:, :, None, :, None] * by_x[:, None, :, None, :]  # box, row, column, and the bin's pixels
    table = input.to(dtype).permute(0, 2, 3, 1).reshape(-1, channels)
    bins = len(boxes) * rows * columns
    points = x.shape[2] * y.shape[2]
    pooled = embedding_bag(
        pixels.reshape(bins, points), table, mode="sum", per_sample_weights=weights.reshape(bins, points)
    )
    return pooled.view(-1, rows, columns, channels).permute(0, 3, 1, 2).to(input.dtype)


def _along(
    low: Tensor, high: Tensor, bins: int, length: int, sampling_ratio: int, aligned: bool
) -> tuple[Tensor, Tensor]:
    """Along one axis: the pixels on both sides of each point of each box's bins, and their weights; (K, bins, ·)."""
    side = high - low if aligned else (high - low).clamp(min=1.0)
    size = (side / bins)[:, None, None]
    points = size.ceil() if sampling_ratio <= 0 else torch.full_like(size, sampling_ratio)
    most = sampling_ratio if sampling_ratio > 0 else max(int(points.max()) if len(points) else 1, 1)
    bin, point = torch.arange(bins, device=low.device)[:, None], torch.arange(most, device=low.device)
    at = low[:, None, None] + bin * size + (point + 0.5) * size / points
    counts = (point < points) & (at >= -1) & (at <= length)
    at = at.clamp(0, length - 1)
    before = at.floor().clamp(max=max(length - 2, 0))
    pixels = torch.stack([before, (before + 1).clamp(max=length - 1)], dim=-1).long()
    share = at - before
    weights = torch.stack([1 - share, share], dim=-1) * (counts / points.clamp(min=1))[..., None]
    return pixels.flatten(2), weights.flatten(2)
