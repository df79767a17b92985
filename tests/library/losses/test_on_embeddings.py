"""Losses of embeddings: against a loop over the queries, the definitions, and other libraries, which call them too."""

import re
import warnings
from functools import partial

import pytest
import torch
from drawn import random, value_and_gradients
from pytorch_metric_learning import distances, miners
from pytorch_metric_learning import losses as theirs
from pytorch_metric_learning.utils.loss_and_miner_utils import get_all_pairs_indices
from torch.nn.functional import normalize

from rankedu import hierarchy, losses, reference
from rankedu.losses import APLoss, HAPLoss, HAPPIERLoss, OnEmbeddings, RecallLoss, SmoothAPLoss, SupAPLoss
from rankedu.losses.on_embeddings import similarities
from rankedu.memory import EmbeddingMemory
from rankedu.metrics import evaluate_retrieval
from rankedu.rankers import BlackboxRanker

LABELS = torch.tensor([0, 1, 0, 2, 0, 1, 3, 2, 0])  # classes of 4, 2, 2 and 1
REF_LABELS = torch.tensor([2, 0, 3, 1, 5])
AP, on = APLoss(BlackboxRanker(1.0)), OnEmbeddings(SmoothAPLoss(0.1))
close = torch.testing.assert_close


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
    """Gradients flow to the references, but not to what is remembered."""
    embeddings, other = random(9, 6), random(5, 6, seed=1).requires_grad_()
    memory = EmbeddingMemory(2) if refs == "memory" else None
    if memory is not None:
        memory(other, REF_LABELS)
    on = OnEmbeddings(make(BlackboxRanker(900.0), 0.1), exclude_self, memory)
    mine, again = (embeddings.clone().requires_grad_() for _ in range(2))
    extra = {"none": (), "same": (None, mine, LABELS), "other": (None, other, REF_LABELS), "memory": ()}[refs]
    found = on(mine, LABELS, *extra)

    candidates, labels = {
        "other": (other, REF_LABELS),
        "memory": (torch.cat([again, other]), torch.cat([LABELS, REF_LABELS])),
    }.get(refs, (again, LABELS))
    own = exclude_self and refs != "other"
    queries = 8 if own and refs != "memory" else 9
    loss = make(BlackboxRanker(900.0 / queries), 0.1)  # the mean over Q queries gives each λ/Q
    pairs = {(i, j) for i in range(9) for j in range(len(labels)) if not (own and i == j)}
    values = by_loop(loss, again, candidates, pairs, labels)
    assert len(values) == queries
    found.backward()
    of_others, other.grad = other.grad, None
    values.mean().backward()
    close((found, mine.grad), (values.mean(), again.grad), rtol=1e-4, atol=1e-5)
    assert mine.grad.any() and (of_others is not None) == (refs == "other")
    if refs == "other":
        close(of_others, other.grad, rtol=1e-4, atol=1e-5)  # and they have a long name, too
        assert found == on(mine, LABELS, ref_embeddings=other, ref_labels=REF_LABELS)


def test_cosines_of_a_batch_have_the_gradient_of_normalised_products():
    embeddings, weights = random(7, 5), random(7, 7, seed=1)
    embeddings[2] = 0.0
    found = value_and_gradients(lambda e: similarities(e, e), embeddings, weight=weights)
    product = lambda e: normalize(e, dim=1) @ normalize(e, dim=1).T  # noqa: E731
    value, slope = value_and_gradients(product, embeddings, weight=weights)
    slope[2] = 0.0  # which has no direction; normalize divides by 1e-12
    close(found, (value, slope))
    leaf = random(4, 3).requires_grad_()
    assert torch.autograd.gradgradcheck(lambda e: similarities(e, e), leaf)
    assert torch.autograd.gradgradcheck(lambda e: similarities(e * 1e-14, e * 1e-14), leaf)


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
    close(found, expected.mean())
    assert len(set(pairs_of(indices))) < 9 * (5 if refs else 8)


def test_a_miner_of_the_batch_leaves_the_memory_in_the_lists():
    first, second = random(9, 6, seed=3), random(9, 6, seed=4)
    mined = miners.MultiSimilarityMiner(0.1)(second, LABELS)
    remembering = OnEmbeddings(AP, memory=EmbeddingMemory(1))
    remembering(first, LABELS)
    pairs = [*pairs_of(mined), *((i, j) for i in range(9) for j in range(9, 18))]
    expected = by_loop(AP, second, torch.cat([second, first]), pairs, torch.cat([LABELS, LABELS]))
    close(remembering(second, LABELS, mined), expected.mean())


def test_all_pairs_are_the_default():
    for loss in (on, HAPPIERLoss(4, 6)):
        assert loss(random(9, 6), LABELS, get_all_pairs_indices(LABELS)) == loss(random(9, 6), LABELS)


def test_cross_batch_memory_and_two_views_of_pytorch_metric_learning():
    """The memory ranks all but the query itself; two views are one batch with a class for each picture."""

    class Memory(theirs.CrossBatchMemory):
        supported_losses = staticmethod(lambda: ["OnEmbeddings"])

    class Views(theirs.SelfSupervisedLoss):
        supported_losses = staticmethod(lambda: ["OnEmbeddings"])

    memory = Memory(OnEmbeddings(AP), embedding_size=6, memory_size=20)
    first, second = random(9, 6, seed=3), random(9, 6, seed=4)
    memory(first, LABELS)
    pairs = [(i, j) for i in range(9) for j in range(18) if j != i + 9]
    expected = by_loop(AP, second, torch.cat([first, second]), pairs, torch.cat([LABELS, LABELS]))
    close(memory(second, LABELS), expected.mean())
    ids = torch.arange(9)
    assert Views(on)(first, second) == on(torch.cat([first, second]), ids.repeat(2))
    assert Views(on, symmetric=False)(first, second) == on(first, ids, ref_emb=second, ref_labels=ids)


THEIRS = {
    "cosine": distances.CosineSimilarity(),
    "dot": distances.DotProductSimilarity(normalize_embeddings=False),
    "euclidean": distances.LpDistance(normalize_embeddings=False),
}


@pytest.mark.filterwarnings("ignore:1 at level 1 of 9 queries")  # the only item of its class
@pytest.mark.parametrize("kind", THEIRS)
def test_similarities_are_those_of_the_library_and_ranked_as_in_the_evaluation(kind):
    embeddings = random(9, 6).requires_grad_()
    for others in (embeddings, random(5, 6, seed=1)):
        found, own = similarities(embeddings, others, kind), others is embeddings
        apart = ~torch.eye(*found.shape, dtype=torch.bool) if own else torch.ones_like(found, dtype=torch.bool)
        expected = (-1 if kind == "euclidean" else 1) * THEIRS[kind](embeddings, others)
        close(found[apart], expected[apart])
        close(*(torch.autograd.grad(x[apart].exp().sum(), embeddings) for x in (found, expected)))
    embeddings = random(9, 3) + 4
    with torch.autocast("cpu", dtype=torch.bfloat16):  # 16 bits would tie many
        found = similarities(embeddings.float(), embeddings.float(), kind)
    close(found.double(), similarities(embeddings, embeddings, kind), atol=1e-4, rtol=0)
    found = OnEmbeddings(AP, similarity=kind)(embeddings, LABELS)
    assert abs(1 - found.item() - evaluate_retrieval(embeddings, LABELS, similarity=kind, metrics=["ap"])["ap"]) < 1e-12


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_distance_far_from_the_origin_is_exact_and_has_a_gradient_that_is_finite(dtype):
    embeddings = (1000 + random(4, 3)).to(dtype)
    embeddings[1] = embeddings[0]  # of distance 0
    leaf = embeddings.clone().requires_grad_()
    found = similarities(leaf, leaf, "euclidean")
    expected = -(embeddings[:, None].double() - embeddings.double()).norm(dim=2)
    close(found.double(), expected, atol=2e-4, rtol=0)
    found.sum().backward()
    assert leaf.grad.isfinite().all()


# Losses with proxies


def learnt(loss):
    """A loss as a function of the embeddings and its proxies."""
    return lambda e, p, labels: torch.func.functional_call(loss, {"proxies": p}, (e, labels))


def eq_6(embeddings, proxies, labels, temperature):
    """Item by item and proxy by proxy."""
    total = 0.0
    for v, y in zip(embeddings, labels.tolist(), strict=True):
        shares = [torch.exp(v @ p / (v.norm() * p.norm()) / temperature) for p in proxies]
        total = total - torch.log(shares[y] / sum(shares))
    return total / len(embeddings)


def test_value_and_gradient_are_eq_6():
    """With warm temperature, and as the normalised softmax of pytorch-metric-learning; the leaf of a path counts."""
    embeddings, proxies, labels = random(7, 6), random(5, 6, seed=1), torch.tensor([0, 2, 4, 4, 1, 0, 2])
    for temperature in (0.05, 0.5, 3.0):
        loss = learnt(losses.ClusterLoss(5, 6, temperature=temperature))
        found, expected = (
            value_and_gradients(f, embeddings, proxies, weight=3.0)
            for f in (lambda e, p: loss(e, p, labels), lambda e, p: eq_6(e, p, labels, temperature))  # noqa: B023
        )
        close(found, expected)
        paths = torch.stack([torch.tensor([3, 8, 3, 3, 8, 3, 8]), labels], dim=1)
        for same in (paths, labels.to(torch.uint8)):
            assert torch.equal(loss(embeddings, proxies, same), found[0])
    oracle = theirs.NormalizedSoftmaxLoss(num_classes=5, embedding_size=6, temperature=3.0)
    oracle.W.data = proxies.T.float()
    close(found[0].float(), oracle(embeddings.float(), labels))


# Label paths

PATHS = torch.tensor([[0, 0], [0, 0], [0, 1], [1, 2], [1, 2], [1, 3], [0, 1], [2, 4], [0, -1]])
ALPHA = partial(hierarchy.relevance, alpha=5.0)
WEIGHTED = partial(hierarchy.weighted_ap_relevance, weights=[0.3, 0.7])
#: A loss, what it is told of relevance, and what that makes of the levels.
RELEVANCE = {
    "graded": (HAPLoss(), None, partial(hierarchy.relevance, n_levels=2)),
    "binary": (SupAPLoss(), None, lambda levels: levels == 2),
    "alpha": (HAPLoss(), ALPHA, ALPHA),
    "any function": (SupAPLoss(), lambda levels, where: levels >= 1, lambda levels: levels >= 1),
    "weighted AP": (HAPLoss(), WEIGHTED, WEIGHTED),
    "levels": (losses.NDCGLoss(BlackboxRanker(1.0)), None, lambda levels: levels),
}


@pytest.mark.filterwarnings("ignore::rankedu.hierarchy.InvertedRelevanceWarning")
@pytest.mark.parametrize("name", RELEVANCE)
def test_paths_become_relevance(name):
    loss, told, expected = RELEVANCE[name]
    unit = normalize(0.3 * random(9, 6), dim=1)
    values = []
    for i in range(9):
        others = [j for j in range(9) if j != i]
        relevance = expected(hierarchy.levels(PATHS[i : i + 1], PATHS[others]))[0]
        values += [loss(unit[others] @ unit[i], relevance)] if relevance.any() else []
    close(OnEmbeddings(loss, relevance=told)(0.3 * random(9, 6), PATHS), torch.stack(values).mean())
    on, classes = OnEmbeddings(HAPLoss()), PATHS[:, 1] + 1
    assert torch.equal(on(0.3 * random(9, 6), classes), on(0.3 * random(9, 6), classes.unsqueeze(1)))


@pytest.mark.parametrize("make", [lambda: OnEmbeddings(HAPLoss()), lambda: HAPPIERLoss(5, 6)], ids=["on", "happier"])
def test_an_inverted_order_is_told_once(make):
    labels = torch.tensor([[0, 0], [0, 0], [0, 0], [0, 0], [0, 1], [1, 2]])  # 3 fine items a query, and 1 coarse one
    loss, embeddings = make(), 0.3 * random(6, 6, dtype=torch.float32)
    with pytest.warns(hierarchy.InvertedRelevanceWarning, match="monotone=True") as caught:
        first, second = (loss(embeddings, labels) for _ in range(2))
    assert len(caught) == 1 and torch.equal(first, second)
    with warnings.catch_warnings():
        warnings.simplefilter("error", hierarchy.InvertedRelevanceWarning)
        loss(embeddings, labels)
        with pytest.raises(hierarchy.InvertedRelevanceWarning):
            make()(embeddings, labels)


def test_a_flat_hierarchy_is_told_once_and_what_numbers_leaves_keeps_it():
    leaf_first = PATHS[:8].flip(1)
    graded, embeddings = OnEmbeddings(HAPLoss()), random(8, 6)
    with pytest.warns(hierarchy.FlatHierarchyWarning, match=r"all 2 columns in common.*labels.flip\(1\)") as caught:
        first, second = (graded(embeddings, leaf_first) for _ in range(2))
    assert len(caught) == 1 and first == second == graded(embeddings, leaf_first[:, 0])
    labels = torch.tensor([[0, 0], [0, 0], [0, 1], [7, 0]])
    with pytest.raises(ValueError, match="leaf 0 under several") as refusal:
        HAPPIERLoss(3, 6)(embeddings[:4], labels)
    exec(re.search(r"through: (labels.*)\)", str(refusal.value))[1], {"labels": labels})
    assert labels.tolist() == [[0, 0], [0, 0], [0, 1], [7, 2]]
    HAPPIERLoss(3, 6, monotone=True)(embeddings[:4], labels)


def test_happier_is_eq_7():
    labels = torch.tensor([[0, 0], [0, 0], [0, 1], [0, 1], [1, 2], [1, 2]])
    embeddings = random(6, 4).requires_grad_()
    unit = normalize(embeddings.detach(), dim=1)
    for weight, alpha in ((0.1, 1.0), (0.0, 5.0), (1.0, 3.0)):
        loss = HAPPIERLoss(3, 4, weight, alpha, monotone=True).double()
        proxies = normalize(loss.cluster.proxies.detach(), dim=1)
        values = []
        for query in range(6):
            others = [i for i in range(6) if i != query]
            levels = [reference.level(labels[i].tolist(), labels[query].tolist()) for i in others]
            y, cosine = (unit[others] @ unit[query]).tolist(), (proxies @ unit[query]).tolist()
            relevance = reference.relevance(levels, alpha, monotone=True)
            values.append(reference.happier(y, relevance, cosine, int(labels[query, 1]), weight=weight))
        value = loss(embeddings, labels)
        assert value.item() == pytest.approx(reference.mean(values), rel=1e-12)
        embeddings.grad = None
        value.backward()
        assert embeddings.grad.any() and loss.cluster.proxies.grad.any() == (weight > 0)


def test_happier_takes_references_a_memory_and_any_ranker():
    labels = torch.tensor([[0, 0], [0, 0], [0, 1], [1, 2]])
    embeddings, refs = random(4, 6, dtype=torch.float32), random(3, 6, seed=1, dtype=torch.float32)
    loss = HAPPIERLoss(4, 6, ranker=BlackboxRanker(4.0), margin=0.02, exclude_self=False, monotone=True)
    on = OnEmbeddings(HAPLoss(BlackboxRanker(4.0), 0.02), False, relevance=partial(hierarchy.relevance, monotone=True))
    expected = torch.lerp(on(embeddings, labels, None, refs, labels[1:]), loss.cluster(embeddings, labels), 0.1)
    close(loss(embeddings, labels, None, refs, labels[1:]), expected)
    remembering = HAPPIERLoss(4, 6, weight=0.0, memory=EmbeddingMemory(1), monotone=True)
    first = remembering(embeddings, labels)
    assert remembering(embeddings, labels) != first  # each item now has its own copy among the candidates
    assert isinstance(remembering.cluster, losses.ClusterLoss) and len(list(remembering.parameters())) == 1
