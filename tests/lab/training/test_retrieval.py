"""The sampler, the training loop and its evaluation; the experiment with margin and memory on a few characters."""

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from rankedu import reference
from ranklab.models import ConvNet
from ranklab.training import evaluate, train
from ranklab.training.retrieval import embed


class Points:
    """A data set of given images and labels."""

    def __init__(self, images, labels):
        self.images, self.labels = images, labels


class Flat(nn.Module):
    """Pixels as embeddings."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, images):
        return nn.functional.normalize(images.flatten(1) * self.scale, dim=1)


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
    made = evaluate(Flat(), Points(torch.zeros(5, 4, 4).byte(), torch.arange(5)), strength=0.0)
    assert all(value != value for value in made.values()), "without positives there is nothing to measure"
    for value in (float("nan"), float("inf")):  # no comparison with NaN holds: nothing would outrank its positives
        nn.init.constant_(net.embed.weight, value)
        with pytest.raises(ValueError, match="find what made it: the input, or the network"):
            evaluate(net, glyphs)


@pytest.mark.parametrize("levels", [1, 3])
def test_evaluate_is_the_definition_for_leaves(levels):
    generator = torch.Generator().manual_seed(0)
    images = torch.randint(0, 256, (31, 4, 4), generator=generator).byte()
    leaves = torch.randint(0, 9, (31,), generator=generator)
    leaves[0] = 99  # alone in its class: such a query does not count
    labels = leaves if levels == 1 else torch.stack([leaves * 0, leaves // 2, leaves], dim=1)
    scores = embed(Flat(), images, strength=0.0).double()
    scores = (scores @ scores.T).tolist()
    aps, firsts = [], []
    for query, leaf in enumerate(leaves.tolist()):
        others = [i for i in range(31) if i != query]
        y, relevant = [scores[query][i] for i in others], [leaves[i].item() == leaf for i in others]
        if any(relevant):
            aps.append(reference.average_precision(y, relevant))
            firsts.append(reference.recall_at_k(y, relevant, 1))
    made = evaluate(Flat(), Points(images, labels), strength=0.0)
    assert made == pytest.approx({"R@1": sum(firsts) / len(firsts), "mAP": sum(aps) / len(aps)}, abs=1e-6)


def trained(data, loss=neighbours, *, net_seed=0, **settings):
    torch.manual_seed(net_seed)
    net = ConvNet(16, channels=(8, 16, 32))
    settings = {"steps": 40, "batch_size": 32, "lr": 3e-3, "progress": False, **settings}
    return net, train(net, data, loss, **settings)


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, embeddings, labels):
        return neighbours(self.scale * embeddings, labels)


def test_a_few_steps_reduce_the_loss_improve_retrieval_and_train_the_loss_and_the_time_is_told(glyphs):
    loss = Scaled()
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
