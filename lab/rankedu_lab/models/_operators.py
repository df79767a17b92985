"""Non-maximum suppression and RoIAlign in PyTorch: what Faster R-CNN needs of torchvision's compiled part.

torchvision brings a RoIAlign in PyTorch of its own, which takes a hundred times as long and a compiler.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

#: Rows of the matrix of overlaps that are computed at once, so that they stay in the cache.
BLOCK = 128


def nms(boxes: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    """Keep the best of the boxes (n, 4), drop all that overlap it by more than a threshold, and so on with the rest.

    As torchvision's: the overlaps are computed in the boxes' precision and compared in double precision.
    """
    from torchvision.ops import box_iou

    order = scores.detach().sort(descending=True, stable=True).indices
    ranked = boxes.detach()[order]
    alive, kept = np.ones(len(ranked), dtype=bool), []
    for start in range(0, len(ranked), BLOCK):
        overlaps = box_iou(ranked[start : start + BLOCK], ranked[start:]).cpu().numpy() > np.float64(iou_threshold)
        for i, row in enumerate(overlaps, start):
            if alive[i]:
                kept.append(i)
                alive[start:] &= ~row
    return order[torch.tensor(kept, dtype=torch.int64, device=order.device)]


def roi_align(
    input: Tensor,
    boxes: Tensor | Sequence[Tensor],
    output_size: int | Sequence[int],
    spatial_scale: float = 1.0,
    sampling_ratio: int = -1,
    aligned: bool = False,
) -> Tensor:
    """Read a grid of bins off feature maps (N, C, H, W) in each of K boxes: (K, C, rows, columns).

    ``boxes`` are (K, 5), each with its picture's number in front, or N tensors (k, 4), one a picture. A bin is the mean
    of ``sampling_ratio``² points (if ≤ 0, of as many as it has pixels), each interpolated between four pixels: so a
    weighted sum of pixels, which is what an embedding bag with a row a pixel computes. Points more than a pixel outside
    the map count as 0. Accumulated in float32 at least.
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
    shape = (len(boxes) * rows * columns, x.shape[2] * y.shape[2])
    pooled = embedding_bag(pixels.reshape(shape), table, mode="sum", per_sample_weights=weights.reshape(shape))
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
