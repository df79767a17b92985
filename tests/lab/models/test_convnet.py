"""The small network: shapes, unit length, reproducible start."""

from __future__ import annotations

import pytest
import torch

from rankedu.lab.models import ConvNet


@pytest.mark.parametrize("dim", [1, 16, 64])
@pytest.mark.parametrize("batch", [2, 7])
def test_embeddings_lie_on_the_sphere(dim, batch):
    embeddings = ConvNet(dim)(torch.rand(batch, 1, 32, 32))
    assert embeddings.shape == (batch, dim)
    torch.testing.assert_close(embeddings.norm(dim=1), torch.ones(batch))


def test_the_same_seed_gives_the_same_network():
    nets = []
    for _ in range(2):
        torch.manual_seed(0)
        nets.append(ConvNet())
    assert all(torch.equal(a, b) for a, b in zip(nets[0].parameters(), nets[1].parameters(), strict=True))


def test_its_size():
    assert sum(parameter.numel() for parameter in ConvNet().parameters()) == 224_256


def test_every_parameter_gets_a_gradient():
    net = ConvNet()
    (net(torch.rand(4, 1, 32, 32)) * torch.randn(4, 64)).sum().backward()
    assert all(parameter.grad is not None and parameter.grad.isfinite().all() for parameter in net.parameters())


@pytest.mark.parametrize("shape", [(4, 32, 32), (4, 3, 32, 32), (4, 1, 28, 28)])
def test_other_shapes_are_refused(shape):
    with pytest.raises(ValueError, match=r"images must have shape \(B, 1, 32, 32\), got"):
        ConvNet()(torch.rand(shape))


def test_a_dim_below_one_is_refused():
    with pytest.raises(ValueError, match="dim must be >= 1, got 0"):
        ConvNet(0)
