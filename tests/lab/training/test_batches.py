"""Batches made ahead: pictures in memory and on disk, the same whoever makes them and wherever a run begins."""

import threading

import pytest
import torch
from torch import nn

from ranklab.datasets import augment
from ranklab.models import ConvNet
from ranklab.training import ClassBalancedSampler, evaluate, train
from ranklab.training.loading import ahead, batches
from ranklab.training.retrieval import embed

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


class Mean(nn.Module):
    """Colours as embeddings."""

    def __init__(self):
        super().__init__()
        self.turn = nn.Linear(3, 2)

    def forward(self, images):
        return self.turn(images.mean((2, 3)))


def made(data, **settings):
    return list(batches(data, CHOSEN, device=CPU, **settings))


def test_pictures_in_memory_are_augmented_one_batch_after_the_other_from_the_middle_too(glyphs):
    generator = torch.Generator().manual_seed(5)
    for batch, chosen in zip(made(glyphs, seed=5, strength=0.5), CHOSEN, strict=True):
        assert torch.equal(batch.images, augment(glyphs.images[chosen], generator=generator, strength=0.5))
        assert torch.equal(batch.labels, glyphs.labels[chosen, -1])
        assert torch.equal(batch.draws, generator.get_state())
    for data in (glyphs, Files()):
        whole = made(data, seed=3, paths=True)
        [later] = made(data, seed=3, paths=True, first=2, draws=whole[1].draws)
        assert torch.equal(later.images, whole[2].images) and torch.equal(later.labels, data.labels[CHOSEN[2]])


@pytest.mark.parametrize("workers", [0, 2])
def test_seed_step_and_place_determine_a_picture_on_disk(workers):
    first, again, other = (made(Files(), seed=seed, workers=workers) for seed in (1, 1, 2))
    for one, two, three, chosen in zip(first, again, other, CHOSEN, strict=True):
        assert torch.equal(one.images, two.images)
        assert torch.equal(one.images[:, 0, 0, 0].floor(), chosen.float())
        assert torch.equal(one.labels, Files().labels[chosen, -1])
        assert (one.images != three.images).all()
    twins = first[1].images[:2]  # one picture at two places is two views
    assert (twins[0] != twins[1]).all()
    assert (first[0].images[0] != first[2].images[1]).all()  # and so at two steps
    assert torch.equal(first[2].images, made(Files(), seed=1)[2].images)  # whoever loads it


@pytest.mark.parametrize("workers", [0, 1])
def test_a_picture_that_cannot_be_read_is_named_and_the_global_generator_left_alone(workers):
    state = torch.get_rng_state()
    with pytest.raises(ValueError, match="picture 4 cannot be decoded"):
        made(Files(broken=4), workers=workers)
    made(Files(), workers=workers)
    assert torch.equal(torch.get_rng_state(), state)


def test_training_and_evaluation_on_files_and_a_sampler_that_ends_too_early(glyphs):
    data, found = Files(), []
    for workers in (0, 1):
        torch.manual_seed(0)
        net, seen = Mean(), []
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


def test_who_stops_early_leaves_no_thread():
    def endless():
        while True:
            yield 0

    before = threading.active_count()
    items = ahead(endless())
    assert next(items) == 0
    assert threading.active_count() == before + 1
    items.close()
    assert threading.active_count() == before
