"""Importing torchvision without its compiled operators, and what stands in for them, by its definitions."""

import sys
import warnings
from itertools import product
from types import ModuleType, SimpleNamespace

import pytest
import torch

from rankedu_lab.models import _operators, load_torchvision, operators
from rankedu_lab.models._operators import nms, roi_align


def boxes(n, side, seed=0, dtype=torch.float32):
    random = torch.Generator().manual_seed(seed)
    low = torch.rand(n, 2, generator=random, dtype=torch.float64) * side * 0.7
    size = (0.05 + torch.rand(n, 2, generator=random, dtype=torch.float64) * 0.25) * side
    return torch.cat([low, low + size], dim=1).to(dtype)


@pytest.fixture(autouse=True, scope="module")
def torchvision():
    return load_torchvision("the oracle")


def nms_by_loop(corners, scores, threshold):
    """The definition: numbers in the boxes' precision, compared in double precision."""
    kept = []
    for i in sorted(range(len(corners)), key=lambda i: (-scores[i].item(), i)):
        if not any(overlap(corners[i], corners[j]).item() > threshold for j in kept):
            kept.append(i)
    return torch.tensor(kept, dtype=torch.int64)


def overlap(a, b):
    common = (torch.min(a[2:], b[2:]) - torch.max(a[:2], b[:2])).clamp(min=0).prod()
    return common / ((a[2:] - a[:2]).prod() + (b[2:] - b[:2]).prod() - common)


@pytest.mark.parametrize("block", [512, 7])
def test_nms_is_its_definition(block, monkeypatch):
    monkeypatch.setattr(_operators, "BLOCK", block)
    scores = torch.randint(0, 12, (60,), generator=torch.Generator().manual_seed(1)) / 12.0  # many ties
    for threshold, dtype in product((0.0, 0.3, 0.5, 0.7, 1.0), (torch.float32, torch.float64)):
        corners = boxes(60, 40.0, dtype=dtype).round(decimals=0)  # whole: equal boxes, and ratios at the threshold
        kept = nms(corners.clone().requires_grad_(), scores.clone().requires_grad_(), threshold)
        assert kept.dtype == torch.int64 and 1 < len(kept) <= 60, (threshold, dtype)
        assert torch.equal(kept, nms_by_loop(corners, scores, threshold)), (threshold, dtype)
    for corners, threshold, kept in (
        ([[0, 0, 4, 4], [0, 0, 4, 2]], 0.5, [0, 1]),  # at the threshold: stays
        ([[0, 0, 10, 1], [0, 0, 3, 1]], 0.3, [0]),  # in single precision 0.3 is a little more
        ([[1, 1, 1, 1], [1, 1, 1, 1]], 0.5, [0, 1]),  # empty boxes: 0/0 is above nothing
        ([], 0.5, []),
    ):
        corners = torch.tensor(corners, dtype=torch.float32).view(-1, 4)
        assert nms(corners, torch.ones(len(corners)), threshold).tolist() == kept


MAPS = torch.randn(3, 2, 9, 7, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def rois(n=11, scale=4.0, seed=0):
    inside = boxes(n, 7 * scale, seed, torch.float64)
    return torch.cat([torch.arange(n)[:, None] % 3, inside], dim=1).double()


def test_roi_align_is_torchvisions_with_its_gradient():
    from torchvision.ops.roi_align import _roi_align

    theirs = _roi_align.__wrapped__  # as it is written, not compiled
    for dtype, ratio, aligned in product((torch.float32, torch.float64), (-1, 0, 1, 2, 3), (False, True)):
        mine, other = (MAPS.to(dtype).requires_grad_() for _ in range(2))
        found = roi_align(mine, rois().to(dtype), (2, 3), 0.25, ratio, aligned)
        expected = theirs(other, rois().to(dtype), 0.25, 2, 3, ratio, aligned)
        case = f"{dtype=} {ratio=} {aligned=}"
        torch.testing.assert_close(found, expected, msg=case)
        incoming = torch.randn(found.shape, generator=torch.Generator().manual_seed(3), dtype=dtype)
        found.backward(incoming)
        expected.backward(incoming)
        torch.testing.assert_close(mine.grad, other.grad, msg=case)
        strided = MAPS.to(dtype).contiguous(memory_format=torch.channels_last)
        assert torch.equal(roi_align(strided, rois().to(dtype), (2, 3), 0.25, ratio, aligned), found), case


def test_roi_align_at_the_edge_of_lists_of_nothing_and_of_sixteen_bits():
    for start, share in ((-3, 3 / 4), (-2, 3 / 4), (-2.1, 2 / 4), (0, 2 / 4), (0.1, 2 / 4), (1, 2 / 4), (9, 0)):
        across, down = torch.tensor([[0, start, 0, start + 8, 4], [0, 0, start, 4, start + 8]]).double().split(1)
        for region in (across, down):  # four points, 2 apart, the first 1 from the start
            assert roi_align(torch.ones(1, 1, 4, 4).double(), region, 1, 1.0, 4).item() == pytest.approx(share), start
    regions = rois(6)
    order = regions[:, 0].argsort(stable=True)
    as_list = [regions[regions[:, 0] == n, 1:] for n in range(3)]
    assert torch.equal(roi_align(MAPS, as_list, 2, 0.25, 2), roi_align(MAPS, regions[order], 2, 0.25, 2))
    assert roi_align(MAPS, regions[:0], (2, 3)).shape == (0, 2, 2, 3)
    pixel = MAPS[:, :, :1, :1]
    torch.testing.assert_close(roi_align(pixel, torch.tensor([[1.0, 0, 0, 1, 1]]).double(), 1), pixel[1:2])
    for dtype in (torch.float16, torch.bfloat16):
        maps, regions = MAPS.to(dtype), rois().to(dtype)
        found, expected = roi_align(maps, regions, 5, 0.25, 2), roi_align(maps.float(), regions.float(), 5, 0.25, 2)
        assert found.dtype == dtype and torch.equal(found, expected.to(dtype))


def test_operators_that_load_are_left_alone_and_without_any_the_error_names_what_needs_them(monkeypatch, tmp_path):
    fake = ModuleType("torchvision")
    fake.extension = SimpleNamespace(_has_ops=lambda: True)
    fake.ops = SimpleNamespace(nms=max, roi_align=min)
    with monkeypatch.context() as patch, warnings.catch_warnings():
        patch.setitem(sys.modules, "torchvision", fake)
        warnings.simplefilter("error")
        assert load_torchvision("this test") is fake and operators() == "torchvision"
    assert (fake.ops.nms, fake.ops.roi_align) == (max, min)
    for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torchvision", None)
    needed = r"torchvision is needed for the zoo and cannot be imported \(.*None in sys.modules.*\):"
    with pytest.raises(ImportError, match=needed):
        load_torchvision("the zoo")
    with pytest.raises(ImportError, match=r"pip install 'rankedu\[vision\]'.*; or stay at home$"):
        load_torchvision("the zoo", instead="stay at home")
    (tmp_path / "torchvision").mkdir()  # one that fails in the middle: nothing of it stays
    (tmp_path / "torchvision" / "part.py").touch()
    (tmp_path / "torchvision" / "__init__.py").write_text("from torchvision import part\nraise RuntimeError('nms')")
    monkeypatch.delitem(sys.modules, "torchvision")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ImportError, match=r"cannot be imported \(.*\): pip install .*that fits your torch"):
        load_torchvision("the zoo")
    assert not [name for name in sys.modules if name.split(".")[0] == "torchvision"]
