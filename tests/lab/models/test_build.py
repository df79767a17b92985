"""Networks by name: their two parts, their start, frozen batch norm, weights from a file; ResNets with and without
torchvision."""

import copy
import re
import sys

import pytest
import torch
from torch import nn

from rankedu_lab.models import ConvNet, build, embedding_head


def pictures(channels=1, side=32, batch=4):
    return torch.rand(batch, channels, side, side, generator=torch.Generator().manual_seed(0))


ALL = ["convnet", "convnet_wide", "resnet34", "resnet50"]


@pytest.mark.usefixtures("thin")
@pytest.mark.parametrize("name", ALL)
def test_the_two_parts_are_the_whole_and_embeddings_lie_on_the_sphere(name):
    for layer_norm in (False, True):
        net = build(name, dim=16, layer_norm=layer_norm, in_channels=1)
        embeddings = net(pictures())
        assert embeddings.shape == (4, 16) and net.pretrained == "random"
        torch.testing.assert_close(embeddings.norm(dim=1), torch.ones(4))
        head, backbone = list(net.head_parameters()), list(net.features.parameters())
        assert {id(p) for p in head} & {id(p) for p in backbone} == set()
        assert {id(p) for p in head + backbone} == {id(p) for p in net.parameters()}
        assert [len(p) for p in head] == [16, 16]  # a weight and a bias: the layer norm has none
        (embeddings * torch.randn(4, 16)).sum().backward()
        assert all(p.grad is not None and p.grad.isfinite().all() for p in net.parameters())
    channels, dim = (3, 512) if name.startswith("resnet") else (1, 64)
    assert build(name)(pictures(channels)).shape == (4, dim)
    head, features = embedding_head(32, 8, layer_norm=True), torch.randn(4, 32)
    torch.testing.assert_close(head(features), head(100 * features + 7), atol=1e-4, rtol=1e-4)


def test_pretrained_weights_are_taken_where_they_are(thin):
    with pytest.warns(UserWarning, match="pretrained weights are not at .*/resnet34-.*, so the net starts at random"):
        assert build("resnet34", pretrained=True).pretrained == "random"
    weights = thin.make()
    torch.save(weights.state_dict(), thin.file("ResNet34_Weights"))
    net, glyphs = (build("resnet34", pretrained=True, in_channels=channels) for channels in (3, 1))
    assert re.fullmatch(r"ImageNet \(torchvision \S+, IMAGENET1K_V1\)", net.pretrained)
    assert torch.equal(net.features.conv1.weight, weights.conv1.weight)
    assert glyphs.pretrained == f"{net.pretrained}, but for a new first convolution"


@pytest.mark.parametrize("in_channels", [1, 3])
def test_weights_of_a_classifier_or_of_the_whole_net(in_channels, thin, tmp_path):
    classifier = thin.make()
    nn.init.constant_(classifier.bn1.bias, 3.0)
    torch.save(classifier.state_dict(), tmp_path / "classifier.pt")
    net = build("resnet34", dim=8, in_channels=in_channels, weights=tmp_path / "classifier.pt")
    assert net.pretrained == "file classifier.pt" and net.features.bn1.bias.eq(3).all()
    torch.save(net.state_dict(), tmp_path / "whole.pt")
    again = build("resnet34", dim=8, in_channels=in_channels, weights=str(tmp_path / "whole.pt"))
    assert torch.equal(net.eval()(pictures(in_channels)), again.eval()(pictures(in_channels)))
    seen = net.features.maxpool(net.features.conv1(pictures(in_channels)))
    assert seen.shape[2:] == ((8, 8) if in_channels == 3 else (32, 32)), "the small stem keeps the pictures' side"


@pytest.mark.usefixtures("thin")
@pytest.mark.parametrize("name", ALL)
def test_frozen_batch_norm_stays_frozen(name):
    net = build(name, dim=8, in_channels=1, freeze_batch_norm=True).train()
    norms = [module for module in net.modules() if isinstance(module, nn.BatchNorm2d)]
    assert norms and not any(norm.training for norm in norms) and net.training
    before = copy.deepcopy(net.state_dict())
    optimizer = torch.optim.Adam(net.parameters(), lr=0.1, weight_decay=0.1)
    net(pictures()).sum().backward()
    optimizer.step()
    changed = {key for key, value in net.state_dict().items() if not torch.equal(value, before[key])}
    frozen = {f"{path}." for path, module in net.named_modules() if module in norms}
    assert changed and not any(key.startswith(tuple(frozen)) for key in changed)
    assert build(name, dim=8, in_channels=1).state_dict().keys() == net.state_dict().keys()
    assert torch.equal(net(pictures()), copy.deepcopy(net).train()(pictures()))  # a copy stays frozen too


FLAT, COLOURED = pictures()[0], pictures(3)
BAD = [
    ({"name": "resnet18"}, None, "name must be one of 'convnet', .* 'resnet34', 'resnet50', got 'resnet18'"),
    ({"in_channels": 3}, None, "in_channels must be 1 for 'convnet', got 3"),
    ({"pretrained": True}, None, "pretrained must be False for 'convnet', got True"),
    ({"name": "resnet34", "pretrained": True, "weights": "x"}, None, "must not both be given"),
    ({"name": "resnet34", "in_channels": 2}, None, "in_channels must be 1 or 3 for a ResNet, got 2"),
    ({}, FLAT, r"images must have shape \(B, 1, 32, 32\), got \(1, 32, 32\)"),
    ({"name": "convnet_wide"}, COLOURED, r"images must have shape \(B, 1, H, W\), got \(4, 3, 32, 32\)"),
    ({"name": "resnet34", "in_channels": 1}, COLOURED, r"shape \(B, 1, H, W\), got \(4, 3, 32, 32\)"),
]


@pytest.mark.usefixtures("thin")
def test_what_does_not_fit_is_refused(refused, tmp_path, monkeypatch):
    refused((lambda given=given, x=x: build(**given)(x), ValueError, message) for given, x, message in BAD)
    torch.save(ConvNet(8).state_dict(), tmp_path / "small.pt")
    torch.save([1, 2], tmp_path / "list.pt")
    (tmp_path / "text.pt").write_text("no weights")
    wrong = {
        "none": r"weights must be a file, got .*none\.pt",
        "small": r"weights must fit the ConvNet, got .*small\.pt, which does not",
        "list": r"weights must be a state dict, got list in .*list\.pt",
        "text": r"weights must be a state dict, got .*text\.pt, which cannot be read",
    }
    files = {tmp_path / f"{name}.pt": message for name, message in wrong.items()}
    errors = (FileNotFoundError, ValueError)
    refused((lambda file=file: build(dim=16, weights=file), errors, message) for file, message in files.items())
    monkeypatch.setitem(sys.modules, "torchvision", None)
    refused([(lambda: build("resnet50"), ImportError, r"pip install 'rankedu\[vision\]'.*convnet_wide")])
