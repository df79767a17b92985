"""Residual nets of torchvision, but thin, for networks and for detectors."""

from types import SimpleNamespace

import pytest
import torch
from torch import nn

from rankedu_lab.models import load_torchvision


@pytest.fixture
def thin(monkeypatch, tmp_path):
    """`make` makes one with a thin block in each stage; `file` is where the weights of a kind would lie."""
    models = load_torchvision("the test").models

    def make(weights=None, norm_layer=nn.BatchNorm2d):
        return models.ResNet(models.resnet.Bottleneck, [1, 1, 1, 1], width_per_group=4, norm_layer=norm_layer)

    for name in ("resnet34", "resnet50"):
        monkeypatch.setattr(models, name, make)
    monkeypatch.setattr(torch.hub, "get_dir", lambda: str(tmp_path))
    (folder := tmp_path / "checkpoints").mkdir()
    return SimpleNamespace(make=make, file=lambda of: folder / vars(models)[of].IMAGENET1K_V1.url.rsplit("/", 1)[-1])
