"""Batches from super-classes, and what a seed promises of every sampler.

What a class-balanced batch is, is tested with the training loop.
"""

from functools import partial
from itertools import combinations, product

import torch

from rankedu_lab.training import ClassBalancedSampler, SuperClassSampler


def tree(classes, items=4):
    """Paths: super-class s has classes[s] classes of so many items; the classes are numbered anew in each."""
    return torch.tensor([[s, c] for s, count in enumerate(classes) for c in range(count) for _ in range(items)])


PATHS = tree([4, 5, 6, 4])[torch.randperm(76, generator=torch.Generator().manual_seed(0))]
LABELS = torch.tensor([5, 9, 5, 9, 9, 7, 5, 7, 9, 7, 5, 7])
FLAT = PATHS[:, 0] * 10 + PATHS[:, 1]


def test_more_batches_begin_with_the_fewer_another_seed_gives_others_and_committed_results_had_these():
    for make in (partial(ClassBalancedSampler, FLAT, 16, 2), partial(SuperClassSampler, PATHS, 16, 2)):
        first, more, others = (drawn(make(batches=n, seed=seed)) for n, seed in ((30, 3), (40, 3), (30, 4)))
        assert torch.equal(more[:30], first) and not torch.equal(others, first)
    batches = drawn(ClassBalancedSampler(LABELS, 4, 2, batches=4, seed=3))
    assert batches.tolist() == [[7, 11, 6, 2], [9, 5, 1, 4], [2, 6, 8, 4], [2, 6, 3, 4]]


def drawn(sampler):
    return torch.stack(list(sampler))


def test_a_batch_has_equally_many_classes_of_each_super_class():
    labels = tree([16, 17, 16, 18])
    for super_classes, per_class in product((1, 2, 4), (1, 2, 4)):
        for batch in SuperClassSampler(labels, 16, per_class, super_classes=super_classes, batches=20):
            assert len(batch.unique()) == 16
            paths, counts = labels[batch].unique(dim=0, return_counts=True)
            assert counts.tolist() == [per_class] * (16 // per_class)
            names, classes = paths[:, 0].unique(return_counts=True)
            assert classes.tolist() == [16 // per_class // super_classes] * super_classes
            assert (labels[batch].view(-1, per_class, 2) == labels[batch].view(-1, per_class, 2)[:, :1]).all()
            turns = labels[batch][::per_class, 0].view(-1, super_classes)
            assert (turns == turns[0]).all() and turns[0].sort().values.tolist() == names.tolist()


def test_the_batches_of_a_pair_are_consecutive_and_every_pair_has_its_turn():
    for many in (1, 4, 10):
        sampler = SuperClassSampler(PATHS, 16, 2, batches=12 * many, batches_per_pair=many)
        pairs = [tuple(PATHS[batch, 0].unique().tolist()) for batch in sampler]
        turns = pairs[::many]
        assert pairs == [pair for pair in turns for _ in range(many)]
        assert sorted(turns[:6]) == sorted(turns[6:]) == list(combinations(range(4), 2))
        assert turns[:6] != turns[6:]


def test_classes_and_their_items_are_drawn_evenly_in_each_batch():
    for batch_size, per_class in ((4, 2), (6, 2), (8, 4), (3, 1), (12, 4)):
        for batch in ClassBalancedSampler(LABELS, batch_size, per_class, batches=20):
            assert len(batch.unique()) == batch_size
            assert LABELS[batch].unique(return_counts=True)[1].tolist() == [per_class] * (batch_size // per_class)
            assert (LABELS[batch].view(-1, per_class) == LABELS[batch].view(-1, per_class)[:, :1]).all()
    labels = torch.tensor([0] * 4 + [1] * 12 + [2] * 6)
    found = torch.cat(list(ClassBalancedSampler(labels, 2, 2, batches=3000)))
    assert (labels[found].bincount() / len(found) - 1 / 3).abs().max() < 0.03
    assert (found.bincount()[4:16] / (labels[found] == 1).sum() - 1 / 12).abs().max() < 0.02
    counts = drawn(SuperClassSampler(tree([6, 6]), 8, 2, batches=2000)).flatten().bincount(minlength=48)
    assert (counts / 16_000 * 48 - 1).abs().max() < 0.12


def test_a_path_is_a_class_and_small_classes_and_small_super_classes_are_left_out():
    paths = tree([3, 3], items=2)  # the leaves 0, 1, 2 occur under both
    assert all(len(paths[batch].unique(dim=0)) == 6 for batch in SuperClassSampler(paths, 12, 2, batches=5))
    paths = torch.cat([tree([3, 3, 1]), torch.tensor([[0, 9], [3, 0]])])
    kept = drawn(SuperClassSampler(paths, 8, 2, batches=30))
    assert paths[kept.flatten()].unique(dim=0).tolist() == [[s, c] for s in (0, 1) for c in range(3)]
    labels = torch.tensor([0, 0, 0, 1, 1, 1, 2])
    assert labels[drawn(ClassBalancedSampler(labels, 3, 3, batches=50))].unique().tolist() == [0, 1]


def test_batches_that_cannot_be_drawn_are_named(refused):
    rows = (
        (LABELS, (5, 2), "batch_size must be a multiple of per_class, got 5 and 2"),
        (LABELS, (16, 4), "at most 12, got 16: there are 3 classes .*batch_size=12, or a larger per_class"),
        (LABELS.view(6, 2), (4, 2), r"integers \(N,\), got \(6, 2\) of torch.int64 \(number the paths"),
    )
    refused((lambda x=x, sizes=sizes: ClassBalancedSampler(x, *sizes), ValueError, said) for x, sizes, said in rows)
    rows = (
        (FLAT, {}, r"shape \(N, L\) with L >= 2, got torch.int64 of shape \(76,\) \(without super-classes"),
        (PATHS, {"batch_size": 12, "per_class": 4}, r"a multiple of per_class \* super_classes = 8, got 12"),
        (PATHS, {"batch_size": 28}, "at most the 0 super-classes with 7 classes"),
        (tree([1] * 60, items=2), {"super_classes": 8}, "leave at most 1,000,000 ways to choose, got 8: 2,558,"),
    )
    small = {"batch_size": 16, "per_class": 2}
    refused((lambda x=x, to=to: SuperClassSampler(x, **{**small, **to}), ValueError, said) for x, to, said in rows)
