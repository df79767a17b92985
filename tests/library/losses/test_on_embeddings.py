"""OnEmbeddings against a loop over the queries."""

import pytest
import torch
from drawn import random, value_and_gradients
from torch.nn.functional import normalize

from rankedu.losses import APLoss, OnEmbeddings, RecallLoss, SmoothAPLoss
from rankedu.losses._cosine import cosine
from rankedu.memory import EmbeddingMemory
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
@pytest.mark.parametrize("exclude_self", [False, True])
@pytest.mark.parametrize("refs", ["none", "same", "other", "memory"])
def test_it_is_the_loop_over_queries(make, exclude_self, refs):
    embeddings, other = random(9, 6), random(5, 6, seed=1)
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


def test_cosines_of_a_batch_have_the_gradient_of_normalised_products():
    embeddings, weights = random(7, 5), random(7, 7, seed=1)
    embeddings[2] = 0.0
    found = value_and_gradients(lambda e: cosine(e, e), embeddings, weight=weights)
    value, slope = value_and_gradients(
        lambda e: normalize(e, dim=1) @ normalize(e, dim=1).T, embeddings, weight=weights
    )
    slope[2] = 0.0  # which has no direction; normalize divides by 1e-12
    torch.testing.assert_close(found, (value, slope))
    leaf = random(4, 3).requires_grad_()
    assert torch.autograd.gradgradcheck(lambda e: cosine(e, e), leaf)
    assert torch.autograd.gradgradcheck(lambda e: cosine(e * 1e-14, e * 1e-14), leaf)
