"""OnEmbeddings against a loop over the queries."""

import numpy as np
import pytest
import torch
from drawn import random
from torch.nn.functional import normalize

from rankedu.losses import APLoss, NoPositivesWarning, OnEmbeddings, RecallLoss, SmoothAPLoss
from rankedu.losses._cosine import cosine
from rankedu.memory import EmbeddingMemory, ScoreMemory
from rankedu.rankers import BlackboxRanker

LABELS = torch.tensor([0, 1, 0, 2, 0, 1, 3, 2, 0])  # classes of 4, 2, 2 and 1
REF_LABELS = torch.tensor([2, 0, 3, 1, 5])


def by_loop(loss, embeddings, labels, refs, ref_labels, leave_out_self):
    """Each query alone: cosines, without itself; the mean over queries that have a positive."""
    values = []
    for i, (query, label) in enumerate(zip(embeddings, labels, strict=True)):
        others = torch.tensor([j for j in range(len(refs)) if not (leave_out_self and j == i)])
        cosines = torch.stack([query @ ref / (query.norm() * ref.norm()) for ref in refs[others]])
        relevance = ref_labels[others] == label
        if relevance.any():
            values.append(loss(cosines, relevance))
    return torch.stack(values)


@pytest.mark.parametrize("make", [APLoss, RecallLoss])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("exclude_self", [False, True])
@pytest.mark.parametrize("refs", ["none", "same", "other", "memory"])
def test_it_is_the_loop_over_queries(make, dtype, exclude_self, refs):
    embeddings, other = random(9, 6, dtype=dtype), random(5, 6, seed=1, dtype=dtype)
    memory = EmbeddingMemory(2) if refs == "memory" else None
    if memory is not None:
        memory(other, REF_LABELS)
    on = OnEmbeddings(make(BlackboxRanker(9.0), 0.1), exclude_self, memory)
    mine, theirs = (embeddings.clone().requires_grad_() for _ in range(2))
    extra = {"none": (), "same": (None, mine, LABELS), "other": (None, other, REF_LABELS), "memory": ()}[refs]
    found = on(mine, LABELS, *extra)

    candidates, labels = {
        "other": (other, REF_LABELS),
        "memory": (torch.cat([theirs, other]), torch.cat([LABELS, REF_LABELS])),
    }.get(refs, (theirs, LABELS))
    own = exclude_self and refs != "other"
    values = by_loop(make(BlackboxRanker(9.0 / 8), 0.1), theirs, LABELS, candidates, labels, own)
    assert len(values) == (8 if own and refs != "memory" else 9)
    torch.testing.assert_close(found, values.mean())
    if len(values) == 8:  # the mean over Q queries gives each λ/Q
        found.backward()
        values.mean().backward()
        torch.testing.assert_close(mine.grad, theirs.grad, rtol=1e-4, atol=1e-5)


def test_a_query_that_finds_itself_has_the_smaller_loss():
    embeddings, loss = random(9, 6), APLoss(BlackboxRanker(1.0))
    with_itself = OnEmbeddings(loss, exclude_self=False)(embeddings, LABELS)
    assert with_itself < OnEmbeddings(loss)(embeddings, LABELS) - 0.1


def test_embeddings_are_normalised():
    embeddings = random(9, 6)
    on = OnEmbeddings(RecallLoss(BlackboxRanker(9.0), 0.1))
    assert torch.allclose(on(embeddings, LABELS), on(3 * embeddings, LABELS))
    leaf = embeddings.clone().requires_grad_()
    on(leaf, LABELS).backward()
    along = (leaf.grad * normalize(embeddings, dim=1)).sum(1)
    assert leaf.grad.any() and torch.allclose(along, torch.zeros(9, dtype=torch.float64))


def test_references_have_a_long_name_and_the_short_one_of_pytorch_metric_learning():
    embeddings, refs, labels = torch.randn(4, 3), torch.randn(6, 3), torch.arange(6) // 2
    loss = OnEmbeddings(SmoothAPLoss())
    long = loss(embeddings, labels[:4], ref_embeddings=refs, ref_labels=labels)
    assert long == loss(embeddings, labels[:4], ref_emb=refs, ref_labels=labels)


def test_gradients_flow_to_references_but_not_to_the_memory():
    embeddings, refs = random(9, 6).requires_grad_(), random(5, 6, seed=1).requires_grad_()
    OnEmbeddings(APLoss(BlackboxRanker(50.0)))(embeddings, LABELS, None, refs, REF_LABELS).backward()
    assert embeddings.grad.any() and refs.grad.any()
    memory = EmbeddingMemory(1)
    refs.grad = None
    memory(refs, REF_LABELS)
    OnEmbeddings(APLoss(BlackboxRanker(50.0)), memory=memory)(embeddings, LABELS).backward()
    assert refs.grad is None


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_similarities_of_16_bit_embeddings_are_computed_in_32(dtype):
    embeddings, on = random(9, 6, dtype=dtype).requires_grad_(), OnEmbeddings(APLoss(BlackboxRanker(9.0), 0.1))
    assert torch.equal(on(embeddings, LABELS), on(embeddings.detach().float(), LABELS))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(on(embeddings, LABELS), on(embeddings.detach().float(), LABELS))
    on(embeddings, LABELS).backward()
    assert embeddings.grad.dtype == dtype


def test_no_two_of_a_class_is_zero_and_one_warning():
    embeddings = random(4, 6).requires_grad_()
    with pytest.warns(NoPositivesWarning) as caught:
        OnEmbeddings(RecallLoss(BlackboxRanker(1.0)))(embeddings, torch.arange(4)).backward()
    assert len(caught) == 1 and not embeddings.grad.any()


on = OnEmbeddings(APLoss(BlackboxRanker(1.0)))
remembering = OnEmbeddings(APLoss(BlackboxRanker(1.0)), memory=EmbeddingMemory(1))
e, two, nan = random(2, 3), torch.tensor([1, 1]), float("nan")
BAD = {
    "labels": (
        lambda: on(e, two[:1]),
        ValueError,
        r"labels must have the shape of embeddings\[:, 0\], \(2,\), got \(1,\)",
    ),
    "one axis": (lambda: on(e[0], two), ValueError, r"embeddings must have shape \(n, dim\) .* got \(3,\)"),
    "NaN": (lambda: on(e / 0 * 0, two), ValueError, "embeddings must be finite, .* got nan in row 0"),
    "integers": (lambda: on(e.long(), two), TypeError, "embeddings must be floating point"),
    "refs alone": (lambda: on(e, two, None, e + 1), ValueError, "ref_labels must be given with ref_emb"),
    "labels alone": (lambda: on(e, two, None, None, two), ValueError, "ref_emb must be given with ref_labels"),
    "dims": (lambda: on(e, two, None, random(2, 4), two), ValueError, r"ref_embeddings .* \(batch, 3\), got"),
    "both": (lambda: remembering(e, two, None, e + 1, two), ValueError, "None where there is a memory"),
    "loss": (lambda: OnEmbeddings(None), TypeError, "loss must be a loss .* got None"),
    "memory": (lambda: OnEmbeddings(on.loss, memory=3), TypeError, r"EmbeddingMemory, got 3"),
    "other memory": (lambda: OnEmbeddings(on.loss, memory=ScoreMemory(1)), TypeError, r"EmbeddingMemory, got ScoreMem"),
    "infinity": (
        lambda: on(e.masked_fill(e == e[1, 0], float("-inf")), two),
        ValueError,
        "must be finite, .* got -inf in row 1",
    ),
    "too long": (
        lambda: on((e * 1e30).float(), two),
        ValueError,
        r"from 1e-12 to 1.8e\+19, got .*e\+30 in row 0 \(find",
    ),
    "too short": (
        lambda: on(e, two, None, e * 1e-30, two),
        ValueError,
        "ref_embeddings .* from 1e-12 to .*e-30 in row 0",
    ),
    "NaN label": (
        lambda: on(e, two / torch.tensor([1, nan])),
        ValueError,
        r"labels .* NaN, got 1 .*\(1,\) .*number the",
    ),
    "complex": (
        lambda: on(e, two, None, e + 1, two * 1j),
        TypeError,
        "ref_labels must be integers, got torch.complex64",
    ),
    "float paths": (
        lambda: on(e, torch.ones(2, 2)),
        TypeError,
        r"labels must be integers, .*all are whole: labels.long\(\)",
    ),
    "words": (
        lambda: on(e, ["cat", "dog"]),
        TypeError,
        r"got list \(number the words: .*unique\(labels",
    ),
    "NumPy words": (lambda: on(e, np.array(["cat", "dog"])), TypeError, r"got ndarray \(number the words"),
}


@pytest.mark.parametrize(("call", "error", "message"), BAD.values(), ids=BAD)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()


def by_normalize(embeddings):
    unit = normalize(embeddings, dim=1)
    return unit @ unit.T


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_cosines_of_a_batch_have_the_gradient_of_normalised_products(dtype):
    embeddings = random(7, 5, dtype=dtype)
    embeddings[2] = 0.0
    weights = random(7, 7, seed=1, dtype=dtype)
    found, expected = (embeddings.clone().requires_grad_() for _ in range(2))
    torch.testing.assert_close(cosine(found, found), by_normalize(expected))
    cosine(found, found).backward(weights)
    by_normalize(expected).backward(weights)
    expected.grad[2] = 0.0  # which has no direction; normalize divides by 1e-12
    torch.testing.assert_close(found.grad, expected.grad)


def test_cosines_of_a_batch_can_be_differentiated_twice():
    leaf = random(4, 3).requires_grad_()
    assert torch.autograd.gradcheck(lambda e: cosine(e, e), leaf)
    assert torch.autograd.gradgradcheck(lambda e: cosine(e, e), leaf)
    assert torch.autograd.gradgradcheck(lambda e: cosine(e * 1e-14, e * 1e-14), leaf.detach().clone().requires_grad_())


def test_cosines_are_not_rounded_under_autocast_in_either_direction():
    leaf, weights = random(6, 4, dtype=torch.float32).requires_grad_(), random(6, 6, seed=1, dtype=torch.float32)
    (plain,) = torch.autograd.grad(cosine(leaf, leaf), leaf, weights)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        scores = cosine(leaf, leaf)
        (found,) = torch.autograd.grad(scores, leaf, weights)
    assert scores.dtype == torch.float32 and torch.equal(found, plain)
