"""Batches embedded in chunks: the gradient of the loss of all embeddings is the direct one."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from rankedu.losses import HAPPIERLoss, OnEmbeddings, RecallLoss, SmoothAPLoss
from rankedu.rankers import BlackboxRanker
from ranklab.models import ConvNet
from ranklab.training import Recipe, train
from ranklab.training.large_batch import embed_for_gradient

LOSSES = {
    "smooth_ap": OnEmbeddings(SmoothAPLoss(0.1)),
    "recall": OnEmbeddings(RecallLoss(BlackboxRanker(lam=4.0), margin=0.1)),
}
LABELS = torch.arange(12) // 3


def images(dtype=torch.float64):
    return torch.randn(12, 5, dtype=dtype, generator=torch.Generator().manual_seed(0))


def gradients(net, loss, *, chunk, amp=False, dtype=torch.float64):
    """Of the loss of a batch, embedded in chunks, or all at once where chunk is None."""
    net.zero_grad()
    embeddings, backward = embed_for_gradient(net, images(dtype), chunk=chunk, amp=amp)
    assert not embeddings.requires_grad
    loss(embeddings.requires_grad_(), LABELS).backward()
    backward(embeddings.grad)
    return torch.cat([parameter.grad.flatten() for parameter in net.parameters()])


def network(*layers):
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(5, 16), *layers, nn.Tanh(), nn.Linear(16, 4)).double()


def direct(net, loss, made):
    value = loss(made, LABELS)
    return torch.cat([g.flatten() for g in torch.autograd.grad(value, net.parameters())])


def test_the_gradient_is_the_direct_one():
    for name, loss in LOSSES.items():
        net = network()
        expected = direct(net, loss, net(images()))
        assert expected.abs().max() > 1e-3
        for chunk in (1, 5, 6, 12, None):
            found = gradients(net, loss, chunk=chunk)
            torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-14, msg=f"{name} {chunk=}")


def test_what_the_loss_learns_is_trained_too():
    """Proxies of HAPPIER: their gradient is the direct one."""
    for chunk in (None, 5):
        net, (loss, twin) = network(), (HAPPIERLoss(n_classes=4, dim=4).double() for _ in range(2))
        twin.load_state_dict(loss.state_dict())
        gradients(net, loss, chunk=chunk)
        twin(net(images()), LABELS).backward()
        torch.testing.assert_close(loss.cluster.proxies.grad, twin.cluster.proxies.grad, rtol=1e-12, atol=1e-14)


def test_batch_norm_takes_the_statistics_of_a_chunk():
    """Its gradient is exact for the network that normalises chunk by chunk; its running statistics move once."""
    (net, twin), loss = (network(nn.BatchNorm1d(16)) for _ in range(2)), LOSSES["smooth_ap"]
    made = gradients(net, loss, chunk=4)
    expected = direct(twin, loss, torch.cat([twin(part) for part in images().split(4)]))
    torch.testing.assert_close(made, expected, rtol=1e-12, atol=1e-14)
    assert (gradients(twin, loss, chunk=None) - expected).abs().max() > 1e-3
    for name, buffer in network(nn.BatchNorm1d(16)).named_buffers():
        assert not torch.equal(buffer, net.get_buffer(name)), name
    assert int(net[1].num_batches_tracked) == 3
    frozen = [gradients(net.eval(), loss, chunk=chunk) for chunk in (None, 4)]
    torch.testing.assert_close(*frozen, rtol=1e-12, atol=1e-14)


def test_dropout_is_drawn_once():
    net, loss = network(nn.Dropout(0.5)), LOSSES["smooth_ap"]
    torch.manual_seed(3)
    made, after = gradients(net, loss, chunk=4), torch.rand(1)
    torch.manual_seed(3)
    expected = direct(net, loss, torch.cat([net(part) for part in images().split(4)]))
    assert torch.equal(torch.rand(1), after)
    torch.testing.assert_close(made, expected, rtol=1e-12, atol=1e-14)


def test_16_bits_give_nearly_the_same():
    net = network().float()
    exact = gradients(net, LOSSES["smooth_ap"], chunk=None, dtype=torch.float32)
    for chunk in (None, 4):
        half = gradients(net, LOSSES["smooth_ap"], chunk=chunk, amp=True, dtype=torch.float32)
        assert half.dtype == torch.float32 and 0 < (half - exact).norm() < 0.1 * exact.norm()


def test_a_network_without_anything_to_train():
    net = network().requires_grad_(False)
    embeddings, backward = embed_for_gradient(net, images(), chunk=4)
    backward(torch.ones_like(embeddings))
    assert all(parameter.grad is None for parameter in net.parameters())


@pytest.mark.parametrize("recipe", [Recipe(chunk=8), Recipe(amp=True)], ids=["chunk", "amp"])
def test_training_in_chunks_and_in_16_bits_learns(glyphs, recipe):
    torch.manual_seed(0)
    net = ConvNet(16, channels=(8, 16, 32))
    history = train(net, glyphs, LOSSES["smooth_ap"], steps=30, batch_size=32, lr=3e-3, recipe=recipe, progress=False)
    assert sum(history.losses[-5:]) < 0.9 * sum(history.losses[:5])


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("loss", ["recall", "smooth_ap"])
def test_the_scale_of_float16_leaves_the_loss_alone(glyphs, loss):
    """A blackbox ranker would take a scaled loss for another λ."""
    losses = {}
    for amp in (False, True):
        torch.manual_seed(0)
        net = ConvNet(16, channels=(8, 16, 32)).cuda()
        losses[amp] = train(
            net, glyphs, LOSSES[loss], steps=30, batch_size=32, lr=3e-3, recipe=Recipe(amp=amp), progress=False
        ).losses
    assert sum(losses[True][-5:]) == pytest.approx(sum(losses[False][-5:]), rel=0.2)
