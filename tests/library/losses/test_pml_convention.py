"""OnEmbeddings called as pytorch-metric-learning calls its losses, and inside its wrappers and reducers."""

import pytest
import torch
from drawn import random
from pytorch_metric_learning import distances, losses, miners
from pytorch_metric_learning.utils.loss_and_miner_utils import get_all_pairs_indices

from rankedu import reference
from rankedu.losses import APLoss, HAPPIERLoss, OnEmbeddings, SmoothAPLoss
from rankedu.losses._cosine import similarities
from rankedu.metrics import evaluate_retrieval
from rankedu.rankers import BlackboxRanker

LABELS = torch.tensor([0, 1, 0, 2, 0, 1, 2, 2, 0])
REF_LABELS = torch.tensor([2, 0, 1, 1, 0])
on = OnEmbeddings(SmoothAPLoss(0.1))


def by_definition(embeddings, refs, pairs, ref_labels=LABELS):
    """The mean over queries of 1 − AP of the items that stand with it in a pair."""
    values = []
    for i, query in enumerate(embeddings):
        items = sorted({int(b) for a, b in pairs if int(a) == i})
        y = [float(query @ refs[j] / query.norm() / refs[j].norm()) for j in items]
        relevant = [bool(LABELS[i] == ref_labels[j]) for j in items]
        if any(relevant):
            values.append(1 - reference.average_precision(y, relevant))
    return sum(values) / len(values)


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
    found = OnEmbeddings(APLoss(BlackboxRanker(1.0)))(embeddings, LABELS, indices, *extra)
    expected = by_definition(embeddings, *(extra[:1] or (embeddings,)), pairs_of(indices), *extra[1:])
    assert abs(found.item() - expected) < 1e-12
    assert len(set(pairs_of(indices))) < 9 * (5 if refs else 8)


def test_all_pairs_are_the_default():
    embeddings = random(9, 6)
    assert on(embeddings, LABELS, get_all_pairs_indices(LABELS)) == on(embeddings, LABELS)
    happier = HAPPIERLoss(3, 6)
    assert happier(embeddings, LABELS, get_all_pairs_indices(LABELS)) == happier(embeddings, LABELS)


def test_cross_batch_memory_ranks_all_but_the_query_itself():
    class Memory(losses.CrossBatchMemory):
        supported_losses = staticmethod(lambda: ["OnEmbeddings"])

    memory = Memory(OnEmbeddings(APLoss(BlackboxRanker(1.0))), embedding_size=6, memory_size=20)
    first, second = random(9, 6, seed=3), random(9, 6, seed=4)
    memory(first, LABELS)
    found = memory(second, LABELS)
    pairs = [(i, j) for i in range(9) for j in range(18) if j != i + 9]
    expected = by_definition(second, torch.cat([first, second]), pairs, torch.cat([LABELS, LABELS]))
    assert abs(found.item() - expected) < 1e-12


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
    found = OnEmbeddings(APLoss(BlackboxRanker(1.0)), similarity=kind)(embeddings, LABELS)
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
