"""The training loop and its evaluation; batches made ahead, the same whoever makes them and wherever a run begins."""

from types import SimpleNamespace

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from rankedu_lab.datasets import augment
from rankedu_lab.models import ConvNet
from rankedu_lab.training import ClassBalancedSampler, evaluate, train
from rankedu_lab.training.loading import batches
from rankedu_lab.training.retrieval import embed

Points = SimpleNamespace  # a data set of given images and labels


def flat():
    """Pixels as embeddings."""
    return nn.Sequential(nn.Flatten(), nn.LayerNorm(16))


def neighbours(embeddings, labels):
    """A softmax over the other items of the batch: large where an item of another class is close."""
    itself = torch.eye(len(labels), dtype=torch.bool)
    logits = (10 * embeddings @ embeddings.T).masked_fill(itself, -1e4)
    target = (labels[:, None] == labels).masked_fill(itself, False).float()
    return cross_entropy(logits, target / target.sum(1, keepdim=True))


def test_evaluate_restores_the_mode_repeats_itself_and_refuses_an_exploded_network(glyphs):
    net = ConvNet(8).train()
    first, again = evaluate(net, glyphs), evaluate(net, glyphs)
    assert first == again != evaluate(net, glyphs, seed=2) and net.training
    assert evaluate(net.eval(), glyphs) == first and not net.training
    made = evaluate(flat(), Points(images=torch.zeros(5, 4, 4).byte(), labels=torch.arange(5)), strength=0.0)
    assert all(value != value for value in made.values()), "without positives there is nothing to measure"
    for value in (float("nan"), float("inf")):  # no comparison with NaN holds: nothing would outrank its positives
        nn.init.constant_(net.embed.weight, value)
        with pytest.raises(ValueError, match="find what made it: the input, or the network"):
            evaluate(net, glyphs)


def trained(data, loss=neighbours, *, net_seed=0, **settings):
    torch.manual_seed(net_seed)
    net = ConvNet(16, channels=(8, 16, 32))
    settings = {"steps": 40, "batch_size": 32, "lr": 3e-3, "progress": False, **settings}
    return net, train(net, data, loss, **settings)


class Scaled(nn.Module):
    def forward(self, embeddings, labels):
        return neighbours(self.scale * embeddings, labels)


def test_a_few_steps_reduce_the_loss_improve_retrieval_and_train_the_loss_and_the_time_is_told(glyphs):
    loss = Scaled()
    loss.scale = nn.Parameter(torch.ones(()))
    net, history = trained(glyphs, loss, test=glyphs, evaluate_every=20)
    assert len(history.losses) == 40 and loss.scale.item() != 1
    assert sum(history.losses[-5:]) < 0.9 * sum(history.losses[:5])
    untrained, nothing = trained(glyphs, steps=0)
    assert evaluate(net, glyphs)["R@1"] > evaluate(untrained, glyphs)["R@1"] + 0.1
    assert [row["step"] for row in history.evaluations] == [20, 40]
    assert history.evaluations[-1]["R@1"] == evaluate(net, glyphs)["R@1"]
    shares = history.shares()
    assert list(shares) == ["loss share", "waiting share", "evaluation share"]
    assert all(0 < share < 1 for share in shares.values())
    assert 0 < history.waiting + history.loss_seconds < history.seconds
    assert all(share != share for share in nothing.shares().values())


def test_intervals_are_checked_and_evaluated_as_hard_as_the_training_is(glyphs):
    net, history = trained(glyphs, steps=2, strength=0.0, test=glyphs, evaluate_every=2)
    assert history.evaluations == [{"step": 2, **evaluate(net, glyphs, strength=0.0)}]
    assert history.evaluations != [{"step": 2, **evaluate(net, glyphs)}]
    for name in ("evaluate_every", "checkpoint_every"):
        with pytest.raises(ValueError, match=rf"{name} must be >= 1, got 0 \(it counts steps\)"):
            trained(glyphs, steps=2, **{name: 0})


def test_the_same_seed_the_same_numbers_and_evaluating_changes_nothing(glyphs):
    evaluated = {"seed": 1, "test": glyphs, "evaluate_every": 2}
    (first, one), (again, two), (_, other) = (trained(glyphs, steps=6, **s) for s in ({"seed": 1}, evaluated, {}))
    assert one.losses == two.losses != other.losses
    assert all(torch.equal(a, b) for a, b in zip(first.state_dict().values(), again.state_dict().values(), strict=True))


CPU = torch.device("cpu")
CHOSEN = [torch.tensor(rows) for rows in ([0, 3, 5, 4], [2, 2, 1, 7], [6, 0, 3, 1])]


class Files:
    """Pictures on disk, as the loop sees them: each is told by its number, and by what is drawn for it."""

    def __init__(self, broken=None):
        self.labels = torch.stack([torch.arange(8) // 4, torch.arange(8) // 2], dim=1)
        self.broken = broken

    def __len__(self):
        return len(self.labels)

    def load(self, index, generator=None):
        if index == self.broken:
            raise ValueError(f"picture {index} cannot be decoded")
        picture = torch.full((3, 4, 4), float(index))
        return picture if generator is None else picture + torch.rand(3, 1, 1, generator=generator)


def batches_of(data, **settings):
    return list(batches(data, CHOSEN, device=CPU, **settings))


def test_pictures_in_memory_are_augmented_one_batch_after_the_other_from_the_middle_too(glyphs):
    generator = torch.Generator().manual_seed(5)
    for batch, chosen in zip(batches_of(glyphs, seed=5, strength=0.5), CHOSEN, strict=True):
        assert torch.equal(batch.images, augment(glyphs.images[chosen], generator=generator, strength=0.5))
        assert torch.equal(batch.labels, glyphs.labels[chosen, -1])
        assert torch.equal(batch.draws, generator.get_state())
    for data in (glyphs, Files()):
        whole = batches_of(data, seed=3, paths=True)
        [later] = batches_of(data, seed=3, paths=True, first=2, draws=whole[1].draws)
        assert torch.equal(later.images, whole[2].images) and torch.equal(later.labels, data.labels[CHOSEN[2]])


def test_seed_step_and_place_determine_a_picture_on_disk_whoever_loads_it():
    state, here = torch.get_rng_state(), batches_of(Files(), seed=1)
    for workers in (0, 2):
        first, other = (batches_of(Files(), seed=seed, workers=workers) for seed in (1, 2))
        for one, two, three, chosen in zip(first, here, other, CHOSEN, strict=True):
            assert torch.equal(one.images, two.images) and (one.images != three.images).all()
            assert torch.equal(one.images[:, 0, 0, 0].floor(), chosen.float())
            assert torch.equal(one.labels, Files().labels[chosen, -1])
        with pytest.raises(ValueError, match="picture 4 cannot be decoded"):
            batches_of(Files(broken=4), workers=workers)
    twins = here[1].images[:2]  # one picture at two places is two views, and so at two steps
    assert (twins[0] != twins[1]).all() and (here[0].images[0] != here[2].images[1]).all()
    assert torch.equal(torch.get_rng_state(), state), "the global generator is left alone"


def test_training_and_evaluation_on_files_and_a_sampler_that_ends_too_early(glyphs):
    data, found = Files(), []
    for workers in (0, 1):
        torch.manual_seed(0)
        net, seen = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(3, 2)), []  # colours
        sampler = ClassBalancedSampler(data.labels[:, -1], 4, 2, batches=4)

        def spread(embeddings, labels, seen=seen):
            seen.append(labels)
            return embeddings.var()

        settings = {"steps": 4, "sampler": sampler, "workers": workers, "paths": True, "progress": False}
        history = train(net, data, spread, test=data, **settings)
        assert all(torch.equal(labels, data.labels[chosen]) for labels, chosen in zip(seen, sampler, strict=True))
        embedded = net(torch.stack([data.load(index) for index in range(8)]))
        assert torch.equal(embed(net, data, workers=workers), embedded)
        assert history.evaluations == [{"step": 4, **evaluate(net, data)}]
        found.append(history.losses)
    assert found[0] == found[1]
    sampler = ClassBalancedSampler(glyphs.labels[:, -1], 8, 4, batches=3)
    with pytest.raises(ValueError, match="sampler must yield 5 batches, one for each step, got 3"):
        train(ConvNet(4), glyphs, lambda e, labels: e.var(), steps=5, sampler=sampler, progress=False)
