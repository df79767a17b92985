"""Memories extend the list that is ranked; the released memory for recall adds queries, which changes nothing."""

import io

import pytest
import torch
from drawn import DEVICES, coin, random

from rankedu.losses import APLoss, MAPLoss, OnEmbeddings
from rankedu.memory import EmbeddingMemory, ScoreMemory
from rankedu.rankers import BlackboxRanker


def batches(sizes=(4, 1, 3, 5), classes=3):
    return [(random(n, classes, seed=i), coin(n, classes, seed=i + 10)) for i, n in enumerate(sizes)]


@pytest.mark.parametrize("length", [0, 1, 2, 9])
def test_the_current_batch_comes_first_then_the_newest(length):
    memory, seen = ScoreMemory(length), []
    for batch in batches():
        seen.insert(0, batch)
        for found, kept in zip(memory(*batch), zip(*seen[: length + 1], strict=True), strict=True):
            assert torch.equal(found, torch.cat(kept))
        assert len(memory) == sum(len(s) for s, _ in seen[:length])


def test_what_is_remembered_or_saved_does_not_change_afterwards_until_it_is_reset():
    memory, scores = ScoreMemory(1), torch.ones(1, 2)
    memory(scores, scores)
    state = memory.state_dict()
    scores.zero_()
    assert memory(scores, scores)[0].tolist() == [[0, 0], [1, 1]]
    memory.load_state_dict(state)
    assert memory.eval()(scores, scores)[0].tolist() == [[0, 0], [1, 1]] and len(memory) == 1
    assert memory(scores, scores)[0].tolist() == [[0, 0], [1, 1]]  # in eval mode nothing is remembered
    memory.reset()
    assert len(memory) == 0 and bool(memory)


def test_the_map_loss_ranks_the_batch_among_what_is_remembered_with_its_where():
    """The first time the list is the batch alone; the current batch never meets its own copy."""
    loss, plain = MAPLoss(BlackboxRanker(1.0), memory=ScoreMemory(1)), MAPLoss(BlackboxRanker(1.0))
    (old, old_relevance), (scores, relevance) = batches((4, 5))
    where = coin(4, 3, p=0.6)
    first = loss(old.masked_fill(~where, torch.nan), old_relevance, where=where)
    assert torch.equal(first, plain(old, old_relevance, where=where)) and len(loss.memory) == 4
    both = torch.cat([where.new_ones(5, 3), where])
    expected = plain(torch.cat([scores, old]), torch.cat([relevance, old_relevance]), where=both)
    torch.testing.assert_close(loss(scores, relevance), expected)


@pytest.mark.parametrize("length", [1, 2, 3, 7])
def test_state_dict_round_trip(length):
    """Of batches of different sizes, into a fresh memory, which may be shorter."""
    memory, file = ScoreMemory(3), io.BytesIO()
    for batch in batches():
        memory(*batch)
    torch.save(torch.nn.Sequential(MAPLoss(BlackboxRanker(1.0), memory=memory)).state_dict(), file)
    file.seek(0)
    fresh = torch.nn.Sequential(MAPLoss(BlackboxRanker(1.0), memory=ScoreMemory(length)))
    fresh.load_state_dict(torch.load(file, weights_only=True))
    kept, now = len(fresh[0].memory), batches((2,))[0]
    assert kept == {1: 5, 2: 8}.get(length, 9)
    for mine, theirs in zip(fresh[0].memory(*now), memory(*now), strict=True):
        assert torch.equal(mine, theirs[: 2 + kept])


@pytest.mark.parametrize("device", DEVICES)
def test_dtype_and_device_are_those_of_the_current_batch(device):
    memory = EmbeddingMemory(3)
    memory(random(2, 3, dtype=torch.float64), torch.tensor([1, 2]))
    memory(random(3, 3, dtype=torch.float16), torch.tensor([1, 2, 3], dtype=torch.int32))
    embeddings, labels = memory(random(1, 3, dtype=torch.float32).to(device), torch.tensor([5]).to(device))
    assert embeddings.dtype == torch.float32 and labels.dtype == torch.int64 and len(labels) == 6
    assert {embeddings.device.type, labels.device.type} == {device}
    assert len(memory(random(1, 3), labels[:1].cpu())[1]) == 7


@pytest.mark.parametrize("off", [torch.no_grad, torch.inference_mode])
def test_a_validation_is_not_remembered(off):
    """The network is in eval mode, without gradients; nobody thinks of the loss."""
    loss, labels = OnEmbeddings(APLoss(BlackboxRanker(1.0)), memory=EmbeddingMemory(2)), torch.tensor([1, 1, 2, 2])
    loss(random(4, 3), labels)
    with off():
        loss(random(4, 3, seed=1), labels)
        assert len(loss.memory(random(4, 3), labels)[0]) == 8
    assert len(loss.memory) == 4 and torch.equal(loss.memory(random(1, 3), labels[:1])[0][1:], random(4, 3))
    assert loss.memory.training
