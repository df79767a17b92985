"""The recipe: learning rates as a function of the step, groups, frozen backbones, clipping, 16 bits; the device."""

import pytest
import torch
from torch import nn
from torch.optim import lr_scheduler

from rankedu.losses import ClusterLoss
from ranklab.models import ConvNet
from ranklab.training import Recipe, pick_device
from ranklab.training.recipe import Updates

STEPS = 40
ORACLES = {
    "cosine": (Recipe(schedule="cosine"), lambda o: lr_scheduler.CosineAnnealingLR(o, STEPS)),
    "one_cycle": (Recipe(schedule="one_cycle"), lambda o: lr_scheduler.OneCycleLR(o, 1.0, STEPS)),
    "steps": (
        Recipe(schedule="steps", milestones=(10, 25), decay=0.3),
        lambda o: lr_scheduler.MultiStepLR(o, [10, 25], 0.3),
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
    ({"schedule": "linear"}, ValueError, "schedule must be one of"),
    ({"head_lr": 0}, ValueError, "head_lr must be finite and > 0, got 0"),
    ({"decay": 1.5}, ValueError, r"decay must be in \(0, 1\], got 1.5"),
    ({"clip": 0.0}, ValueError, "clip must be finite and > 0, got 0.0"),
    ({"chunk": 0}, ValueError, "chunk must be >= 1, got 0"),
    ({"amp": 1}, TypeError, "amp must be True or False, got 1"),
    ({"schedule": "steps"}, ValueError, "milestones must be given with schedule='steps'"),
    ({"milestones": (5,)}, ValueError, r"milestones .* got \(5,\) with schedule='constant'"),
    ({"schedule": "one_cycle", "warmup": 3}, ValueError, "warmup must be 0 with schedule='one_cycle', got 3"),
]


def test_a_recipe_is_checked(refused):
    refused((lambda settings=settings: Recipe(**settings), error, message) for settings, error, message in BAD)
    head = r"method head_parameters\(\) for head_lr=2 and head_only=0, got a Linear"
    refused([(lambda: Updates(Recipe(head_lr=2), nn.Linear(2, 2), None, 1e-3), ValueError, head)])
    rate = r"lr must be finite and > 0, got 0\.0"
    refused([(lambda: Updates(Recipe(), nn.Linear(2, 2), None, 0.0), ValueError, rate)])


def test_each_group_has_its_learning_rate():
    net, loss = ConvNet(8), ClusterLoss(3, 8)
    net.features[0].bias.requires_grad_(False)
    updates = Updates(Recipe(head_lr=10, loss_lr=100, weight_decay=0.1, warmup=4), net, loss, lr=1e-3)
    assert updates.begin(2, steps=9) == pytest.approx(5e-4)
    groups = {group["name"]: group for group in updates.optimizer.param_groups}
    assert [group["lr"] for group in groups.values()] == pytest.approx([5e-4, 5e-3, 5e-2])
    assert [group["weight_decay"] for group in groups.values()] == [0.1, 0.1, 0.0]
    assert {id(p) for p in groups["head"]["params"]} == {id(p) for p in net.embed.parameters()}
    assert groups["loss"]["params"][0] is loss.proxies
    trained = {id(p) for p in updates.parameters()}
    assert trained == {id(p) for p in (*net.parameters(), *loss.parameters()) if p.requires_grad}


def test_a_device_is_picked_by_name_if_it_is_there(monkeypatch):
    for gpus, found, missing in (
        (0, {"cpu": "cpu", "auto": "cpu"}, ["cuda"]),
        (1, {"cuda": "cuda:0"}, ["cuda:1"]),
        (2, {"cpu": "cpu", "auto": "cuda:0", "cuda:1": "cuda:1"}, ["gpu", "cuda:2", "cuda:x", "cuda:", "auto:0"]),
    ):
        monkeypatch.setattr(torch.cuda, "is_available", lambda gpus=gpus: gpus > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda gpus=gpus: gpus)
        assert {name: str(pick_device(name)) for name in found} == found
        known = ", ".join(map(repr, ["auto", "cpu", *(f"cuda:{n}" for n in range(gpus)), *["cuda"] * (gpus > 0)]))
        for name in missing:
            with pytest.raises(ValueError, match=f"device must be one of {known}, got '{name}'"):
                pick_device(name)
