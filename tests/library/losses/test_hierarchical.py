"""H-AP losses: against the cubic definition in float64, the metric and special cases; the bound, drawn and searched."""

import warnings
from functools import partial
from itertools import product

import pytest
import torch
from cases import LOSSES
from drawn import cosines, grades, value_and_gradients
from drawn import random as standard_normal
from torch.nn.functional import normalize

from rankbook.ch14_happier.bounds import upper_bound
from rankedu import hierarchy, reference
from rankedu.losses import ClusterLoss, HAPLoss, HAPPIERLoss, OnEmbeddings, SupAPLoss
from rankedu.memory import EmbeddingMemory
from rankedu.metrics import hierarchical_average_precision
from rankedu.rankers import PRESETS, BlackboxRanker, InfimumStep, SigmoidRanker, SupremumRanker

close = torch.testing.assert_close


def random(*shape, seed=0, spread=0.3, dtype=torch.float64):
    return (spread * standard_normal(*shape, seed=seed)).to(dtype)


def per_query(scores, relevance, step, lower=None):
    """Eq. 2, 3 and 5 with everything laid out: (..., k, j)."""
    x = scores.unsqueeze(-2) - scores.unsqueeze(-1)
    of_k, of_j = relevance.unsqueeze(-1), relevance.unsqueeze(-2)
    ranks = torch.where(of_j < of_k, step(x), (x >= 0).double()).sum(-1)
    seen = torch.where(of_j < of_k, x > 0, x >= 0).double()
    seen = seen if lower is None else torch.where(of_j > of_k, lower(x), seen)
    h_ranks = (torch.minimum(of_k, of_j) * seen).sum(-1)
    return 1 - torch.where(relevance > 0, h_ranks / ranks.clamp(min=0.5), 0.0).sum(-1) / relevance.sum(-1)


def test_value_and_gradient_are_the_cubic_definition():
    rankers = [SupremumRanker.preset("joined"), SupremumRanker.preset("roadmap_2021")]
    rankers += [SupremumRanker(temperature=0.3, delta=0.2, slope=2.0)]
    for ranker, lower, n_grades in product(rankers, (None, InfimumStep()), (1, 3, 12)):
        scores, relevance = random(5, 13, seed=n_grades), grades(5, 13, seed=n_grades, n_grades=n_grades)
        loss = HAPLoss(ranker, lower=lower)
        found = value_and_gradients(lambda s: loss(s, relevance), scores, weight=3.0)  # noqa: B023
        cubic = lambda s: per_query(s, relevance, ranker.step, lower).nanmean()  # noqa: B023, E731
        expected = value_and_gradients(cubic, scores, weight=3.0)
        close(found, expected, rtol=1e-9, atol=1e-12)
        assert found[1].any()


def test_a_tied_item_of_lower_level_is_not_counted():
    """The released code counts it as 1 in the numerator and as 1/2 in the denominator, and passes one."""
    scores, relevance = torch.zeros(2, dtype=torch.float64), torch.tensor([1.0, 0.9], dtype=torch.float64)
    assert HAPLoss()(scores, relevance).item() == pytest.approx(1 - (1 / 1.5 + 1.8 / 2) / 1.9)


def test_h_rank_of_a_soft_ranker_is_a_sum_over_pairs():
    """H-rank(k) = rel(k) + Σ min(rel(k), rel(j)) σ((y_j − y_k)/τ): the sum over nested sets is Eq. 2."""
    scores, relevance = random(3, 9), grades(3, 9)
    steps = ((scores.unsqueeze(-2) - scores.unsqueeze(-1)) / 0.1).sigmoid() * ~torch.eye(9, dtype=torch.bool)
    h_ranks = relevance + (torch.minimum(relevance.unsqueeze(-1), relevance.unsqueeze(-2)) * steps).sum(-1)
    expected = (1 - (h_ranks / (1 + steps.sum(-1))).sum(-1) / relevance.sum(-1)).mean()
    close(HAPLoss(SigmoidRanker(0.1))(scores, relevance), expected)


@pytest.mark.parametrize("name", [name for name in PRESETS if not name.startswith("roadmap") or "2021" in name])
def test_bound_in_a_hundred_thousand_draws(name):
    """Far apart, near each other, all within δ, and similarities on a circle."""
    step, violated = SupremumRanker.preset(name).step, 0
    drawn, relevance = cosines(25_000, 6), grades(25_000, 6)
    relevance[:, 0] = relevance[:, 0].clamp(min=0.5)
    for scores in (drawn, 0.05 * drawn, 0.01 * drawn, (3 * drawn).cos()):
        gap = per_query(scores, relevance, step) - (1 - hierarchical_average_precision(scores, relevance))
        violated += int((gap < -1e-12).sum())
    assert (violated == 0) if upper_bound(**PRESETS[name]).holds else (violated > 1000), violated


@pytest.mark.parametrize("name", ["happier", "happier, from below", "h-ap of a sigmoid", "h-ap"])
def test_the_scale_of_relevance_does_not_matter(name):
    scores, relevance, loss = random(3, 12), grades(3, 12), LOSSES[name].loss
    expected = value_and_gradients(lambda s: loss(s, relevance), scores)
    each_row = torch.tensor([[1.0], [5.0], [0.01]], dtype=torch.float64)
    for scale in (1e-310, 1e-300, 7.0, 1e300, each_row):
        close(value_and_gradients(lambda s: loss(s, scale * relevance), scores), expected)  # noqa: B023


# On embeddings

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
}


@pytest.mark.filterwarnings("ignore::rankedu.hierarchy.InvertedRelevanceWarning")
@pytest.mark.parametrize("name", RELEVANCE)
def test_paths_become_relevance(name):
    loss, told, expected = RELEVANCE[name]
    unit = normalize(random(9, 6), dim=1)
    values = []
    for i in range(9):
        others = [j for j in range(9) if j != i]
        relevance = expected(hierarchy.levels(PATHS[i : i + 1], PATHS[others]))[0]
        values += [loss(unit[others] @ unit[i], relevance)] if relevance.any() else []
    close(OnEmbeddings(loss, relevance=told)(random(9, 6), PATHS), torch.stack(values).mean())
    on, classes = OnEmbeddings(HAPLoss()), PATHS[:, 1] + 1
    assert torch.equal(on(random(9, 6), classes), on(random(9, 6), classes.unsqueeze(1)))  # one level is a list


@pytest.mark.parametrize("make", [lambda: OnEmbeddings(HAPLoss()), lambda: HAPPIERLoss(5, 6)], ids=["on", "happier"])
def test_an_inverted_order_is_told_once(make):
    labels = torch.tensor([[0, 0], [0, 0], [0, 0], [0, 0], [0, 1], [1, 2]])  # 3 fine items a query, and 1 coarse one
    loss, embeddings = make(), random(6, 6, dtype=torch.float32)
    with pytest.warns(hierarchy.InvertedRelevanceWarning, match="monotone=True") as caught:
        first, second = (loss(embeddings, labels) for _ in range(2))
    assert len(caught) == 1 and torch.equal(first, second)
    with warnings.catch_warnings():
        warnings.simplefilter("error", hierarchy.InvertedRelevanceWarning)
        loss(embeddings, labels)
        with pytest.raises(hierarchy.InvertedRelevanceWarning):
            make()(embeddings, labels)


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
    assert isinstance(remembering.cluster, ClusterLoss) and len(list(remembering.parameters())) == 1
