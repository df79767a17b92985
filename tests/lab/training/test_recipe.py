"""The recipe of a training; batches in chunks or in two processes, whose gradient is the direct one."""

import copy
import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.optim import lr_scheduler

from rankedu.losses import ClusterLoss, OnEmbeddings, RecallLoss, SmoothAPLoss
from rankedu.rankers import BlackboxRanker
from rankedu_lab.contestants import SOAPLoss
from rankedu_lab.models import ConvNet
from rankedu_lab.training import Recipe, distributed, pick_device
from rankedu_lab.training.large_batch import embed_for_gradient
from rankedu_lab.training.recipe import Updates

STEPS = 40
ORACLES = {
    "cosine": (Recipe(schedule="cosine"), lambda o: lr_scheduler.CosineAnnealingLR(o, STEPS)),
    "one_cycle": (Recipe(schedule="one_cycle"), lambda o: lr_scheduler.OneCycleLR(o, 1.0, STEPS)),
    "steps": (
        Recipe(schedule="steps", milestones=(9, 25), decay=0.5),
        lambda o: lr_scheduler.MultiStepLR(o, [9, 25], 0.5),
    ),
    "constant": (Recipe(), lambda o: lr_scheduler.ConstantLR(o, 1.0)),
    "warmup": (Recipe(warmup=8), lambda o: lr_scheduler.LinearLR(o, 1 / 8, 1.0, 7)),
}


def test_the_schedules_are_those_of_torch_and_short_runs_have_a_learning_rate():
    for name, (recipe, make) in ORACLES.items():
        optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=1.0)
        scheduler = make(optimizer)
        for step in range(1, STEPS + 1):
            expected = optimizer.param_groups[0]["lr"]
            assert recipe.factor(step, STEPS) == pytest.approx(expected, rel=1e-9, abs=1e-12), (name, step)
            optimizer.step()
            if step < STEPS:
                scheduler.step()
        for steps in (1, 2, 3, 4) if name in ("constant", "cosine", "one_cycle") else ():
            assert all(0 < recipe.factor(step, steps) <= 1 for step in range(1, steps + 1)), (name, steps)


def test_the_backbone_is_frozen_and_unfrozen_and_gradients_are_clipped():
    torch.manual_seed(0)
    net = ConvNet(8, channels=(4, 4, 4)).eval()
    updates = Updates(Recipe(head_only=2, clip=0.5), net, None, lr=1e-2)
    images, before = torch.rand(4, 1, 32, 32), [p.clone() for p in net.features.parameters()]
    moved = []
    for step in (1, 2, 3):
        head = net.embed.weight.clone()
        updates.begin(step, steps=3)
        (100 * net(images) ** 3).sum().backward()
        updates.apply()
        moved.append(any(not torch.equal(p, q) for p, q in zip(net.features.parameters(), before, strict=True)))
        assert not torch.equal(net.embed.weight, head)
        norm = torch.stack([p.grad.norm() for p in net.parameters() if p.grad is not None]).norm()
        assert norm.item() == pytest.approx(0.5, rel=1e-4)
    assert moved == [False, False, True]
    with updates:
        updates.begin(1, steps=3)
        assert not any(p.requires_grad for p in net.features.parameters())
    assert all(p.requires_grad for p in net.parameters())


BAD = [
    ({"head_lr": 0}, "head_lr must be finite and > 0, got 0"),
    ({"decay": 1.5}, r"decay must be finite and in \(0, 1\], got 1.5"),
    ({"milestones": (5,)}, r"milestones .* got \(5,\) with schedule='constant'"),
    ({"schedule": "one_cycle", "warmup": 3}, "warmup must be 0 with schedule='one_cycle', got 3"),
    ({"schedule": "linear"}, "schedule must be one of"),
    ({"schedule": "steps"}, "milestones must be given with schedule='steps'"),
    ({"schedule": "steps", "milestones": (0,)}, "milestones must be >= 1, got 0"),
]


def test_a_recipe_is_checked(refused):
    refused((lambda settings=settings: Recipe(**settings), ValueError, message) for settings, message in BAD)
    head = r"method head_parameters\(\) for head_lr=2 and head_only=0, got a Linear"
    refused([(lambda: Updates(Recipe(head_lr=2), nn.Linear(2, 2), None, 1e-3), ValueError, head)])


def test_each_group_has_its_learning_rate():
    net, loss = ConvNet(8), ClusterLoss(3, 8)
    net.features[0].bias.requires_grad_(False)
    updates = Updates(Recipe(head_lr=10, loss_lr=100, weight_decay=0.1, warmup=4), net, loss, lr=1e-3)
    assert updates.begin(2, steps=9) == pytest.approx(5e-4)
    groups = {group["name"]: group for group in updates.optimizer.param_groups}
    assert [group["lr"] for group in groups.values()] == pytest.approx([5e-4, 5e-3, 5e-2])
    assert [group["weight_decay"] for group in groups.values()] == [0.1, 0.1, 0.0]
    assert {*groups["head"]["params"]} == {*net.embed.parameters()} and groups["loss"]["params"][0] is loss.proxies
    assert {*updates.parameters()} == {p for p in (*net.parameters(), *loss.parameters()) if p.requires_grad}


def test_a_word_is_not_taken_for_16_bits():
    with pytest.raises(TypeError, match="amp must be True or False, got 'no'"):
        Recipe(amp="no")


def test_a_device_is_picked_by_name_if_it_is_there(monkeypatch):
    for gpus, found, missing in (
        (0, {"cpu": "cpu", "auto": "cpu"}, ["cuda"]),
        (2, {"cpu": "cpu", "auto": "cuda:0", "cuda": "cuda:0", "cuda:1": "cuda:1"}, ["gpu", "cuda:2", "cuda:"]),
    ):
        monkeypatch.setattr(torch.cuda, "is_available", lambda gpus=gpus: gpus > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda gpus=gpus: gpus)
        assert {name: str(pick_device(name)) for name in found} == found
        for name in missing:
            with pytest.raises(ValueError, match=f"device must be .*, got '{name}'"):
                pick_device(name)


RECALL = RecallLoss(BlackboxRanker(lam=4.0), margin=0.1)
LOSSES = {"smooth_ap": OnEmbeddings(SmoothAPLoss(0.1)), "recall": OnEmbeddings(RECALL)}
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
    """The gradient is exact for a network that works chunk by chunk; its running statistics move once."""
    loss = LOSSES["smooth_ap"]
    for layer in (nn.BatchNorm1d(16), nn.Dropout(0.5)):
        net, twin = (network(copy.deepcopy(layer)) for _ in range(2))
        torch.manual_seed(3)
        made, after = gradients(net, loss, chunk=4), torch.rand(1)
        torch.manual_seed(3)
        expected = direct(twin, loss, torch.cat([twin(part) for part in images().split(4)]))
        assert torch.equal(torch.rand(1), after)
        torch.testing.assert_close(made, expected, rtol=1e-12, atol=1e-14)
        torch.testing.assert_close(dict(net.named_buffers()), dict(twin.named_buffers()))
        assert (gradients(twin, loss, chunk=None) - expected).abs().max() > 1e-3
        frozen = [gradients(net.eval(), loss, chunk=chunk) for chunk in (None, 4)]
        torch.testing.assert_close(*frozen, rtol=1e-12, atol=1e-14)


def of_processes(name):
    """Of the loss of the global batch, averaged over the processes: of the network, and of proxies."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 6)).double()
    proxies, inputs = ClusterLoss(4, 6).double(), torch.randn(16, 64).double()
    items, whole = torch.arange(16), torch.arange(16) // 4
    mine, labels, items = map(distributed.own_part, (inputs, whole, items))
    embeddings, labels, items = distributed.gather(net(mine), labels, items)
    value = LOSSES[name](embeddings, labels) + proxies(embeddings, labels)
    (value + SOAPLoss(whole, 0.1).double()(embeddings, labels, items)).backward()
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
