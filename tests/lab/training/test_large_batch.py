"""Batches embedded in chunks, or in two processes: the gradient of the loss of all embeddings is the direct one."""

import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from torch import nn

from rankedu.losses import ClusterLoss, OnEmbeddings, RecallLoss, SmoothAPLoss
from rankedu.rankers import BlackboxRanker
from ranklab.models import ConvNet
from ranklab.training import Recipe, distributed, train
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


def test_the_gradient_is_the_direct_one_and_in_16_bits_nearly_so():
    for name, loss in LOSSES.items():
        net = network()
        expected = direct(net, loss, net(images()))
        assert expected.abs().max() > 1e-3
        for chunk in (1, 5, 6, 12, None):
            found = gradients(net, loss, chunk=chunk)
            torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-14, msg=f"{name} {chunk=}")
    for chunk in (None, 4):
        net, loss = network().float(), LOSSES["smooth_ap"]
        exact, half = (gradients(net, loss, chunk=chunk, amp=amp, dtype=torch.float32) for amp in (False, True))
        assert half.dtype == torch.float32 and 0 < (half - exact).norm() < 0.1 * exact.norm()
    net = network().requires_grad_(False)
    embeddings, backward = embed_for_gradient(net, images(), chunk=4)
    backward(torch.ones_like(embeddings))
    assert all(parameter.grad is None for parameter in net.parameters()), "there is nothing to train"


def test_batch_norm_takes_the_statistics_of_a_chunk_and_dropout_is_drawn_once():
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
    net, loss = network(nn.Dropout(0.5)), LOSSES["smooth_ap"]
    torch.manual_seed(3)
    made, after = gradients(net, loss, chunk=4), torch.rand(1)
    torch.manual_seed(3)
    expected = direct(net, loss, torch.cat([net(part) for part in images().split(4)]))
    assert torch.equal(torch.rand(1), after)
    torch.testing.assert_close(made, expected, rtol=1e-12, atol=1e-14)


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


def of_processes(name):
    """Of the loss of the global batch, averaged over the processes: of the network, and of proxies."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 6)).double()
    proxies = ClusterLoss(4, 6).double()
    inputs = torch.randn(16, 64, generator=torch.Generator().manual_seed(2)).double()
    embeddings, labels = distributed.gather(
        net(distributed.own_part(inputs)), distributed.own_part(torch.arange(16) // 4)
    )
    (LOSSES[name](embeddings, labels) + proxies(embeddings, labels)).backward()
    trained = [*net.parameters(), *proxies.parameters()]
    for parameter in trained if distributed.world_size() > 1 else ():
        dist.all_reduce(parameter.grad)
        parameter.grad /= distributed.world_size()
    return torch.cat([parameter.grad.flatten() for parameter in trained])


def test_the_gradient_is_that_of_the_double_batch_and_unequal_shares_are_refused(tmp_path):
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    alone = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run([*torchrun, __file__, tmp_path], env=alone, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    for rank, name in product((0, 1), LOSSES):
        process = torch.load(tmp_path / f"{rank}.pt", weights_only=False)
        with distributed.joined():  # alone, which changes nothing
            expected = of_processes(name)
        assert expected.abs().max() > 1e-2 and (distributed.world_size(), distributed.rank()) == (1, 0)
        torch.testing.assert_close(process[name], expected, rtol=1e-12, atol=1e-12)


if __name__ == "__main__":  # by torchrun, in each of the two processes
    with distributed.joined():
        found, rank = {name: of_processes(name) for name in LOSSES}, distributed.rank()
        torch.save(found, Path(sys.argv[1]) / f"{rank}.pt")
        with pytest.raises(ValueError, match=r"embeddings must be as many on every process, got \[3, 4\]"):
            distributed.gather(torch.ones(3 + rank, 2), torch.zeros(3 + rank))
