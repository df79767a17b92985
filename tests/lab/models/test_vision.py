"""Importing torchvision, with and without its compiled operators."""

from __future__ import annotations

import subprocess
import sys
import warnings
from types import ModuleType, SimpleNamespace

import pytest
import torch

from ranklab.models import StandInWarning, load_torchvision, operators
from ranklab.models import _operators as ours

PROCESS = """
import sys, warnings
try:
    import torchvision
except RuntimeError as error:
    assert "torchvision::nms" in str(error)
from ranklab.models import load_torchvision, operators
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    found = load_torchvision("this test")
    assert operators() == "PyTorch" and load_torchvision("this test") is found
assert [str(w.category.__name__) for w in caught] == ["StandInWarning"], caught
import torch, torchvision
from torchvision.models.detection import roi_heads
from torchvision.ops import boxes, poolers, MultiScaleRoIAlign
assert torchvision is found
assert boxes.nms is torchvision.ops.nms is not None and poolers.roi_align is roi_heads.roi_align
assert boxes.nms.__module__ == poolers.roi_align.__module__ == "ranklab.models._operators"
given = torch.tensor([[0.0, 0, 4, 4], [0, 0, 4, 3], [5, 5, 6, 6]]), torch.tensor([0.1, 0.2, 0.3])
assert torch.ops.torchvision.nms(*given, 0.5).tolist() == boxes.nms(*given, 0.5).tolist() == [2, 1]
assert boxes.batched_nms(*given, torch.tensor([0, 1, 0]), 0.5).tolist() == [2, 1, 0]

for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
    del sys.modules[name]
sys.path.insert(0, sys.argv[1])
try:
    load_torchvision("the zoo")
except ImportError as error:
    print(error)
assert not any(name.split(".")[0] == "torchvision" for name in sys.modules)
"""


@pytest.mark.filterwarnings("ignore::ranklab.models.StandInWarning")
def test_after_an_import_that_failed_and_with_a_torchvision_that_does_not_fit(tmp_path):
    """The one works with our operators, the other is told with its own words; in a process where none was imported."""
    load_torchvision("this test")
    if operators() == "torchvision":
        pytest.skip("torchvision's own operators load here")
    (tmp_path / "torchvision.py").write_text("raise RuntimeError('built for another torch')")
    ended = subprocess.run([sys.executable, "-c", PROCESS, str(tmp_path)], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert "torchvision is needed for the zoo and can't be imported (built for another torch)" in ended.stdout


def test_without_torchvision_the_error_names_what_needs_it(monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torchvision", None)
    with pytest.raises(
        ImportError, match=r"torchvision is needed for the zoo and can't be imported \(.*None in sys.modules.*\):"
    ):
        load_torchvision("the zoo")
    with pytest.raises(ImportError, match=r"pip install 'rankedu\[vision\]'.*; or stay at home$"):
        load_torchvision("the zoo", instead="stay at home")


def test_operators_that_load_are_left_alone(monkeypatch):
    fake = ModuleType("torchvision")
    fake.extension = SimpleNamespace(_has_ops=lambda: True)
    fake.ops = SimpleNamespace(nms=max, roi_align=min)
    monkeypatch.setitem(sys.modules, "torchvision", fake)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load_torchvision("this test") is fake
        assert operators() == "torchvision"
    assert (fake.ops.nms, fake.ops.roi_align) == (max, min)


def test_real_operators_agree_with_ours():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StandInWarning)
        torchvision = load_torchvision("this test")
    if operators() == "PyTorch":
        pytest.skip("torchvision's own operators do not load here")
    random = torch.Generator().manual_seed(0)
    corners = (torch.rand(300, 4, generator=random) * 20).round()
    corners[:, 2:] += corners[:, :2] + 1
    scores = torch.randint(0, 50, (300,), generator=random) / 50.0
    for threshold in (0.3, 0.5, 0.7):
        assert torch.equal(torchvision.ops.nms(corners, scores, threshold), ours.nms(corners, scores, threshold))
    maps = torch.randn(1, 4, 10, 10, generator=random)
    regions = torch.cat([torch.zeros(300, 1), corners], dim=1)
    for setting in ((5, 0.25, 2, False), (3, 0.5, -1, True)):
        torch.testing.assert_close(
            torchvision.ops.roi_align(maps, regions, *setting), ours.roi_align(maps, regions, *setting)
        )
