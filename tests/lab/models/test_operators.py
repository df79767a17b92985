"""The stand-ins of torchvision's compiled operators, non-maximum suppression and RoIAlign: by their definitions."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
import torch

from ranklab.models import _operators, load_torchvision
from ranklab.models._operators import nms, roi_align

pytestmark = pytest.mark.filterwarnings("ignore::ranklab.models.StandInWarning")


def boxes(n, side, seed=0, dtype=torch.float32):
    random = torch.Generator().manual_seed(seed)
    low = torch.rand(n, 2, generator=random, dtype=torch.float64) * side * 0.7
    size = (0.05 + torch.rand(n, 2, generator=random, dtype=torch.float64) * 0.25) * side
    return torch.cat([low, low + size], dim=1).to(dtype)


# --- non-maximum suppression ---------------------------------------------------------------------------------------


@pytest.fixture(autouse=True, scope="module")
def torchvision():
    return load_torchvision("the oracle")


def nms_by_loop(corners, scores, threshold):
    """The definition: numbers in the boxes' precision, compared in double precision."""
    corners, kept = corners.numpy(), []
    for i in sorted(range(len(corners)), key=lambda i: (-scores[i].item(), i)):
        if not any(float(overlap(corners[i], corners[j])) > threshold for j in kept):
            kept.append(i)
    return torch.tensor(kept, dtype=torch.int64)


def overlap(a, b):
    zero = a.dtype.type(0)
    width = max(zero, min(a[2], b[2]) - max(a[0], b[0]))
    height = max(zero, min(a[3], b[3]) - max(a[1], b[1]))
    common = width * height
    union = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - common
    with np.errstate(invalid="ignore"):
        return np.divide(common, union)


@pytest.mark.parametrize("block", [512, 7])
def test_nms_is_its_definition(block, monkeypatch):
    monkeypatch.setattr(_operators, "BLOCK", block)
    scores = torch.randint(0, 12, (60,), generator=torch.Generator().manual_seed(1)) / 12.0  # many ties
    for threshold, dtype in product((0.0, 0.3, 0.5, 0.7, 1.0), (torch.float32, torch.float64)):
        corners = boxes(60, 40.0, dtype=dtype).round(decimals=0)  # whole: equal boxes, and ratios at the threshold
        kept = nms(corners.clone().requires_grad_(), scores.clone().requires_grad_(), threshold)
        assert kept.dtype == torch.int64 and 1 < len(kept) <= 60, (threshold, dtype)
        assert torch.equal(kept, nms_by_loop(corners, scores, threshold)), (threshold, dtype)


def test_nms_at_the_threshold():
    for corners, threshold, kept in (
        ([[0, 0, 4, 4], [0, 0, 4, 2]], 0.5, [0, 1]),  # at the threshold: stays
        ([[0, 0, 4, 4], [0, 0, 4, 2]], 0.49, [0]),
        ([[0, 0, 10, 1], [0, 0, 3, 1]], 0.3, [0]),  # in single precision 0.3 is a little more
        ([[1, 1, 1, 1], [1, 1, 1, 1]], 0.5, [0, 1]),  # empty boxes: 0/0 is above nothing
        ([], 0.5, []),
    ):
        corners = torch.tensor(corners, dtype=torch.float32).view(-1, 4)
        assert nms(corners, torch.ones(len(corners)), threshold).tolist() == kept


# --- RoIAlign ------------------------------------------------------------------------------------------------------

MAPS = torch.randn(3, 2, 9, 7, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def rois(n=11, scale=4.0, seed=0):
    inside = boxes(n, 7 * scale, seed, torch.float64)
    return torch.cat([torch.arange(n)[:, None] % 3, inside], dim=1).double()


def roi_align_by_loop(maps, regions, size, scale, ratio, aligned):
    """The definition, point by point."""
    out = torch.zeros(len(regions), maps.shape[1], *size, dtype=torch.float64)
    for k, (n, *corners) in enumerate(regions.tolist()):
        x1, y1, x2, y2 = (c * scale - (0.5 if aligned else 0.0) for c in corners)
        width, height = (x2 - x1, y2 - y1) if aligned else (max(x2 - x1, 1.0), max(y2 - y1, 1.0))
        down, across = (ratio, ratio) if ratio > 0 else (math.ceil(height / size[0]), math.ceil(width / size[1]))
        for i in range(size[0]):
            for j in range(size[1]):
                for v in range(down):
                    for u in range(across):
                        y = y1 + (i + (v + 0.5) / down) * height / size[0]
                        x = x1 + (j + (u + 0.5) / across) * width / size[1]
                        out[k, :, i, j] += interpolated(maps[int(n)], y, x) / max(down * across, 1)
    return out


def interpolated(one, y, x):
    height, width = one.shape[1:]
    if y < -1 or y > height or x < -1 or x > width:
        return torch.zeros(len(one), dtype=one.dtype)
    y, x = min(max(y, 0.0), height - 1.0), min(max(x, 0.0), width - 1.0)
    top, left = int(y), int(x)
    bottom, right = min(top + 1, height - 1), min(left + 1, width - 1)
    v, u = y - top, x - left
    upper = (1 - u) * one[:, top, left] + u * one[:, top, right]
    return (1 - v) * upper + v * ((1 - u) * one[:, bottom, left] + u * one[:, bottom, right])


def test_roi_align_is_its_definition():
    outside = rois(4)
    outside[:, 1:] = (outside[:, 1:] - 14.0) * 3
    for ratio, aligned, regions in product((-1, 0, 1, 2, 3), (False, True), (rois(4), outside)):
        found = roi_align(MAPS, regions, (2, 3), 0.25, ratio, aligned)
        expected = roi_align_by_loop(MAPS, regions, (2, 3), 0.25, ratio, aligned)
        torch.testing.assert_close(found, expected, msg=f"{ratio=} {aligned=}")
        strided = MAPS.contiguous(memory_format=torch.channels_last)
        assert torch.equal(roi_align(strided, regions, (2, 3), 0.25, ratio, aligned), found)


def test_roi_align_is_torchvisions():
    from torchvision.ops.roi_align import _roi_align

    theirs = _roi_align.__wrapped__  # as it is written, not compiled
    for dtype, ratio, aligned in product((torch.float32, torch.float64), (-1, 2), (False, True)):
        mine, other = (MAPS.to(dtype).requires_grad_() for _ in range(2))
        found = roi_align(mine, rois().to(dtype), 5, 0.25, ratio, aligned)
        expected = theirs(other, rois().to(dtype), 0.25, 5, 5, ratio, aligned)
        torch.testing.assert_close(found, expected)
        incoming = torch.randn(found.shape, generator=torch.Generator().manual_seed(3), dtype=dtype)
        found.backward(incoming)
        expected.backward(incoming)
        torch.testing.assert_close(mine.grad, other.grad)


def test_roi_align_of_a_list_of_an_empty_one_and_of_one_pixel():
    regions = rois(6)
    order = regions[:, 0].argsort(stable=True)
    as_list = [regions[regions[:, 0] == n, 1:] for n in range(3)]
    assert torch.equal(roi_align(MAPS, as_list, 2, 0.25, 2), roi_align(MAPS, regions[order], 2, 0.25, 2))
    assert roi_align(MAPS, regions[:0], (2, 3)).shape == (0, 2, 2, 3)
    pixel = MAPS[:, :, :1, :1]
    torch.testing.assert_close(roi_align(pixel, torch.tensor([[1.0, 0, 0, 1, 1]]).double(), 1), pixel[1:2])


def test_roi_align_sums_sixteen_bits_in_more():
    for dtype in (torch.float16, torch.bfloat16):
        maps, regions = MAPS.to(dtype), rois().to(dtype)
        found, expected = roi_align(maps, regions, 5, 0.25, 2), roi_align(maps.float(), regions.float(), 5, 0.25, 2)
        assert found.dtype == dtype and torch.equal(found, expected.to(dtype))
