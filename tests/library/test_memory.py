"""Memories extend the list that is ranked; the released memory for recall adds queries, which changes nothing."""

import io

import pytest
import torch
from drawn import coin, random
from torch.nn.functional import normalize

from rankedu.losses import APLoss, MAPLoss, OnEmbeddings, RecallLoss
from rankedu.memory import EmbeddingMemory, ScoreMemory
from rankedu.rankers import BlackboxRanker

nan = float("nan")


def batches(sizes=(4, 1, 3, 5), classes=3):
    return [(random(n, classes, seed=i), coin(n, classes, seed=i + 10)) for i, n in enumerate(sizes)]


@pytest.mark.parametrize("length", [0, 1, 2, 9])
def test_the_current_batch_comes_first_then_the_newest(length):
    memory, seen = ScoreMemory(length), []
    for scores, relevance in batches():
        all_scores, all_relevance = memory(scores, relevance)
        kept = [(scores, relevance), *seen[:length]]
        assert torch.equal(all_scores, torch.cat([s for s, _ in kept]))
        assert torch.equal(all_relevance, torch.cat([r for _, r in kept]))
        seen.insert(0, (scores, relevance))
        assert len(memory) == sum(len(s) for s, _ in seen[:length])


def test_embeddings_keep_their_labels():
    memory = EmbeddingMemory(2)
    for i in range(4):
        embeddings, labels = memory(torch.full((i + 1, 2), float(i)), torch.full((i + 1,), i))
    assert torch.equal(embeddings[:, 0].long(), labels)
    assert labels.tolist() == [3, 3, 3, 3, 2, 2, 2, 1, 1]


def test_gradients_flow_through_the_current_batch_only():
    memory, first, second = ScoreMemory(1), random(2, 3).requires_grad_(), random(2, 3, seed=1).requires_grad_()
    memory(first, coin(2, 3))
    all_scores, _ = memory(second, coin(2, 3))
    all_scores.square().sum().backward()
    assert first.grad is None and torch.equal(second.grad, 2 * second.detach())


def test_a_batch_changed_in_place_later_is_remembered_as_it_was():
    memory, scores = ScoreMemory(1), torch.ones(1, 2)
    memory(scores, scores)
    scores.zero_()
    assert memory(scores, scores)[0].tolist() == [[0, 0], [1, 1]]


def test_changing_what_is_remembered_changes_the_gradient_of_the_map_loss():
    found = []
    for seed in (1, 2):
        loss = MAPLoss(BlackboxRanker(50.0), memory=ScoreMemory(3))
        loss(random(8, 3, seed=seed), coin(8, 3, seed=seed))
        leaf = random(8, 3).requires_grad_()
        loss(leaf, coin(8, 3)).backward()
        found.append(leaf.grad)
    assert not torch.allclose(*found)


def recall_gradient(remembered, labels, remember_labels, *, rows):
    """The gradient of a batch; what is remembered adds rows, as published in code, or items to be ranked."""
    leaf = random(8, 4).requires_grad_()
    batch, old = (normalize(x, dim=1) for x in (leaf, remembered))
    everything, all_labels = torch.cat([batch, old]), torch.cat([labels, remember_labels])
    if rows:
        queries, candidates = (everything, all_labels), (batch, labels)
    else:
        queries, candidates = (batch, labels), (everything, all_labels)
    where = torch.ones(len(queries[1]), len(candidates[1]), dtype=torch.bool)
    where.diagonal().fill_(False)
    similarities = queries[0] @ candidates[0].T
    if rows:  # the similarities of earlier batches are stored, as numbers
        similarities = torch.cat([similarities[:8], similarities[8:].detach()])
    count = ((queries[1].unsqueeze(1) == candidates[1]) & where).any(-1).sum()
    loss = RecallLoss(BlackboxRanker(5.0 * int(count)), margin=0.05)  # so that a larger batch does not change λ
    (count * loss(similarities, queries[1].unsqueeze(1) == candidates[1], where=where)).backward()
    return leaf.grad


def test_memory_that_adds_rows_changes_no_gradient_and_memory_that_extends_the_list_does():
    """ERRATA 5. Ranks are taken row by row, so another row cannot matter."""
    labels = torch.arange(8) // 2
    first, second = random(6, 4, seed=1), random(6, 4, seed=2)
    published = [recall_gradient(old, labels, labels[:6], rows=True) for old in (first, second)]
    assert published[0].any() and torch.equal(*published)
    extended = [recall_gradient(old, labels, labels[:6], rows=False) for old in (first, second)]
    assert not torch.allclose(*extended)


def test_the_embedding_memory_is_that_which_extends_the_list():
    labels, old = torch.arange(8) // 2, random(6, 4, seed=1)
    on = OnEmbeddings(RecallLoss(BlackboxRanker(5.0 * 8), margin=0.05), memory=EmbeddingMemory(3))
    on.memory(old, labels[:6])
    leaf = random(8, 4).requires_grad_()
    on(leaf, labels).backward()
    expected = recall_gradient(old, labels, labels[:6], rows=False)
    torch.testing.assert_close(8 * leaf.grad, expected)


def test_the_current_batch_never_meets_its_own_copy():
    """The same scores come twice: the first time the list is the batch alone."""
    loss = MAPLoss(BlackboxRanker(1.0), memory=ScoreMemory(1))
    scores, relevance = random(6, 2), coin(6, 2)
    assert torch.equal(loss(scores, relevance), MAPLoss(BlackboxRanker(1.0))(scores, relevance))
    assert len(loss.memory) == 6
    assert len(loss.memory(scores, relevance)[0]) == 12


def test_where_is_remembered():
    loss = MAPLoss(BlackboxRanker(1.0), memory=ScoreMemory(1))
    (old, old_relevance), (scores, relevance) = batches((4, 5))
    where = coin(4, 3, p=0.6)
    loss(old.masked_fill(~where, nan), old_relevance, where=where)
    both = torch.cat([where.new_ones(5, 3), where])
    expected = MAPLoss(BlackboxRanker(1.0))(torch.cat([scores, old]), torch.cat([relevance, old_relevance]), where=both)
    torch.testing.assert_close(loss(scores, relevance), expected)


@pytest.mark.parametrize("length", [1, 2, 3, 7])
def test_state_dict_round_trip(length):
    """Of batches of different sizes, into a fresh memory, which may be shorter."""
    memory = ScoreMemory(3)
    for scores, relevance in batches():
        memory(scores, relevance)
    file = io.BytesIO()
    torch.save(torch.nn.Sequential(MAPLoss(BlackboxRanker(1.0), memory=memory)).state_dict(), file)
    file.seek(0)
    fresh = torch.nn.Sequential(MAPLoss(BlackboxRanker(1.0), memory=ScoreMemory(length)))
    fresh.load_state_dict(torch.load(file, weights_only=True))
    assert len(fresh[0].memory) == [0, 5, 8, 9, 9, 9, 9, 9][length]
    now = batches((2,))[0]
    kept = 2 + len(fresh[0].memory)
    for mine, theirs in zip(fresh[0].memory(*now), memory(*now), strict=True):
        assert torch.equal(mine, theirs[:kept])


def test_a_saved_state_does_not_change_afterwards():
    memory = ScoreMemory(1)
    memory(*batches()[0])
    state = memory.state_dict()
    memory(*batches()[1])
    memory.load_state_dict(state)
    assert len(memory) == 4


def test_dtype_and_device_are_those_of_the_current_batch():
    memory = EmbeddingMemory(3)
    memory(random(2, 3, dtype=torch.float64), torch.tensor([1, 2]))
    memory(random(3, 3, dtype=torch.float16), torch.tensor([1, 2, 3], dtype=torch.int32))
    embeddings, labels = memory(random(1, 3, dtype=torch.float32), torch.tensor([5]))
    assert embeddings.dtype == torch.float32 and labels.dtype == torch.int64 and len(labels) == 6
    if torch.cuda.is_available():
        embeddings, labels = memory(random(1, 3, dtype=torch.float32).cuda(), torch.tensor([5]).cuda())
        assert embeddings.is_cuda and labels.is_cuda and len(memory(random(1, 3), torch.tensor([1]))[1]) == 6


def test_reset_and_eval():
    memory = ScoreMemory(2)
    memory(*batches()[0])
    memory.eval()
    assert len(memory(*batches()[1])[0]) == 5 and len(memory) == 4
    memory.reset()
    assert len(memory) == 0 and bool(memory)
    assert repr(memory) == "ScoreMemory(length=2)"


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


def filled(memory, *batch):
    memory(*batch)
    return memory


s, y = torch.ones(2, 3), torch.ones(2)
BAD = {
    "classes": (
        lambda: filled(ScoreMemory(2), s, s)(s[:, :2], s[:, :2]),
        ValueError,
        r"holds batches of 3 classes, got one of 2 .*memory.reset\(\)",
    ),
    "dims": (
        lambda: filled(EmbeddingMemory(2), s, y)(s[:, :2], y),
        ValueError,
        "holds batches of 3 dimensions, got one of 2",
    ),
    "NaN": (lambda: ScoreMemory(1)(s * nan, s), ValueError, "scores must not contain NaN"),
    "NaN embedding": (lambda: EmbeddingMemory(1)(s * nan, y), ValueError, "embeddings must be finite, .* got nan"),
    "one axis": (lambda: ScoreMemory(1)(y, y), ValueError, r"\(batch, classes\) to be remembered, got \(2,\)"),
    "relevance": (lambda: ScoreMemory(1)(s, 2 * s), ValueError, "relevance must be bool, or 0 and 1"),
    "labels": (lambda: EmbeddingMemory(1)(s, y[:1]), ValueError, r"labels .* \(2,\), got \(1,\)"),
    "length": (lambda: ScoreMemory(-1), ValueError, "length must be >= 0, got -1"),
}


@pytest.mark.parametrize(("call", "error", "message"), BAD.values(), ids=BAD)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_batch_that_is_refused_is_not_remembered():
    memory = ScoreMemory(1)
    with pytest.raises(ValueError, match="NaN"):
        memory(s * nan, s)
    assert len(memory) == 0


def test_memory_is_a_part_of_an_average_precision_by_hand():
    """A remembered negative above a current positive: AP 1/2 instead of 1."""
    memory = ScoreMemory(1)
    memory(torch.tensor([[0.9]]), torch.tensor([[False]]))
    scores, relevance = (x.squeeze(1) for x in memory(torch.tensor([[0.5]]), torch.tensor([[True]])))
    assert APLoss(BlackboxRanker(1.0))(scores, relevance).item() == 0.5
