"""OnEmbeddings against a loop over the queries, and called as pytorch-metric-learning calls its losses."""

import pytest
import torch
from drawn import random, value_and_gradients
from pytorch_metric_learning import distances, losses, miners
from pytorch_metric_learning.utils.loss_and_miner_utils import get_all_pairs_indices
from torch.nn.functional import normalize

from rankedu.losses import APLoss, HAPPIERLoss, OnEmbeddings, RecallLoss, SmoothAPLoss
from rankedu.losses._cosine import cosine, similarities
from rankedu.memory import EmbeddingMemory
from rankedu.metrics import evaluate_retrieval
from rankedu.rankers import BlackboxRanker

LABELS = torch.tensor([0, 1, 0, 2, 0, 1, 3, 2, 0])  # classes of 4, 2, 2 and 1
REF_LABELS = torch.tensor([2, 0, 3, 1, 5])
AP, on = APLoss(BlackboxRanker(1.0)), OnEmbeddings(SmoothAPLoss(0.1))


def by_loop(loss, embeddings, refs, pairs, ref_labels=LABELS):
    """The loss of each query alone, of the items that stand with it in a pair, if one of them is of its class."""
    values = []
    for i, query in enumerate(embeddings):
        others = torch.tensor(sorted({int(b) for a, b in pairs if int(a) == i}), dtype=torch.int64)
        cosines = torch.stack([query @ ref / (query.norm() * ref.norm()) for ref in refs[others]] or [query.sum()])
        relevance = ref_labels[others] == LABELS[i]
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
    queries = 8 if own and refs != "memory" else 9
    loss = make(BlackboxRanker(9.0 / queries), 0.1)  # the mean over Q queries gives each λ/Q
    pairs = {(i, j) for i in range(9) for j in range(len(labels)) if not (own and i == j)}
    values = by_loop(loss, theirs, candidates, pairs, labels)
    assert len(values) == queries
    found.backward()
    values.mean().backward()
    torch.testing.assert_close((found, mine.grad), (values.mean(), theirs.grad), rtol=1e-4, atol=1e-5)


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


def pairs_of(indices):
    """Of triplets, or of pairs of two kinds."""
    a, b, c, d = (part.tolist() for part in (indices if len(indices) == 4 else (*indices[:2], indices[0], indices[2])))
    return [*zip(a, b, strict=True), *zip(c, d, strict=True)]


@pytest.mark.parametrize("refs", [False, True])
@pytest.mark.parametrize("miner", [miners.MultiSimilarityMiner(0.1), miners.TripletMarginMiner(0.2)])
def test_what_a_miner_leaves_is_what_is_ranked(miner, refs):
    embeddings, others = random(9, 6), random(5, 6, seed=1)
    extra = (others, REF_LABELS) if refs else ()
    indices = miner(embeddings, LABELS, *extra)
    found = OnEmbeddings(AP)(embeddings, LABELS, indices, *extra)
    expected = by_loop(AP, embeddings, *(extra[:1] or (embeddings,)), pairs_of(indices), *extra[1:])
    torch.testing.assert_close(found, expected.mean())
    assert len(set(pairs_of(indices))) < 9 * (5 if refs else 8)


def test_all_pairs_are_the_default():
    embeddings = random(9, 6)
    assert on(embeddings, LABELS, get_all_pairs_indices(LABELS)) == on(embeddings, LABELS)
    happier = HAPPIERLoss(4, 6)
    assert happier(embeddings, LABELS, get_all_pairs_indices(LABELS)) == happier(embeddings, LABELS)


def test_cross_batch_memory_ranks_all_but_the_query_itself():
    class Memory(losses.CrossBatchMemory):
        supported_losses = staticmethod(lambda: ["OnEmbeddings"])

    memory = Memory(OnEmbeddings(AP), embedding_size=6, memory_size=20)
    first, second = random(9, 6, seed=3), random(9, 6, seed=4)
    memory(first, LABELS)
    found = memory(second, LABELS)
    pairs = [(i, j) for i in range(9) for j in range(18) if j != i + 9]
    expected = by_loop(AP, second, torch.cat([first, second]), pairs, torch.cat([LABELS, LABELS]))
    torch.testing.assert_close(found, expected.mean())


def test_two_views_are_one_batch_with_a_class_for_each_picture():
    one, two, ids = random(6, 5), random(6, 5, seed=1), torch.arange(6)

    class Views(losses.SelfSupervisedLoss):
        supported_losses = staticmethod(lambda: ["OnEmbeddings"])

    assert Views(on)(one, two) == on(torch.cat([one, two]), ids.repeat(2))
    assert Views(on, symmetric=False)(one, two) == on(one, ids, ref_emb=two, ref_labels=ids)


THEIRS = {
    "cosine": distances.CosineSimilarity(),
    "dot": distances.DotProductSimilarity(normalize_embeddings=False),
    "euclidean": distances.LpDistance(normalize_embeddings=False),
}


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("kind", THEIRS)
def test_similarities_are_those_of_the_library(kind, own):
    embeddings = random(9, 6).requires_grad_()
    others = embeddings if own else random(5, 6, seed=1)
    sign = -1 if kind == "euclidean" else 1
    found = similarities(embeddings, others, kind)
    apart = ~torch.eye(*found.shape, dtype=torch.bool) if own else torch.ones_like(found, dtype=torch.bool)
    expected = sign * THEIRS[kind](embeddings, others)
    torch.testing.assert_close(found[apart], expected[apart])
    torch.testing.assert_close(
        torch.autograd.grad(found[apart].exp().sum(), embeddings),
        torch.autograd.grad(expected[apart].exp().sum(), embeddings),
    )


@pytest.mark.parametrize("kind", THEIRS)
def test_a_loss_ranks_as_the_evaluation_does(kind):
    embeddings = random(9, 3) + 4
    found = OnEmbeddings(AP, similarity=kind)(embeddings, LABELS)
    assert abs(1 - found.item() - evaluate_retrieval(embeddings, LABELS, similarity=kind, metrics=["ap"])["ap"]) < 1e-12


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_distance_far_from_the_origin_is_exact_and_has_a_gradient_that_is_finite(dtype):
    embeddings = (1000 + random(4, 3)).to(dtype)
    embeddings[1] = embeddings[0]  # of distance 0
    leaf = embeddings.clone().requires_grad_()
    found = similarities(leaf, leaf, "euclidean")
    expected = -(embeddings[:, None].double() - embeddings.double()).norm(dim=2)
    torch.testing.assert_close(found.double(), expected, atol=2e-4, rtol=0)
    found.sum().backward()
    assert leaf.grad.isfinite().all()
