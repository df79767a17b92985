from itertools import product

import numpy as np
import pytest
import torch

from rankedu import outranking_negatives, rank
from rankedu.losses import RecallLoss
from rankedu.metrics import recall_at_k
from rankedu.rankers import BlackboxRanker
from rankedu_book.ch07_recall_loss import figures

SCORES, RELEVANT = figures.query()


def test_recall_moves_one_relevant_item_and_the_refined_one_moves_all():
    sparse, dense = ([bar.get_height() for bar in axes.patches] for axes in figures.who_gets_a_gradient().axes)
    relevant = RELEVANT.nonzero().flatten().tolist()
    up = [[item for item, places in enumerate(moved) if places > 0] for moved in (sparse, dense)]
    assert up == [relevant[:1], relevant] and sum(sparse) == sum(dense) == 0


def test_the_sum_over_k_is_W_of_the_best_relevant_item_whatever_the_weights_and_the_figure_takes_the_logarithm():
    random = np.random.default_rng(0)
    for weights in (np.log1p(1 / np.arange(1.0, 15)), *random.normal(size=(30, 14))):
        scores, relevant = torch.tensor(random.random(14)), torch.tensor(random.random(14) < 0.3)
        relevant[random.integers(14)] = True
        printed = sum(w * (1 - recall_at_k(scores, relevant, k).item()) for k, w in enumerate(weights, start=1))
        best = int(outranking_negatives(scores, relevant)[relevant].min())
        assert weights[:best].sum() == pytest.approx(printed)
        if weights[0] == np.log(2):
            assert figures.best_positive_loss(scores, relevant, lam=1.0).item() == pytest.approx(printed)


@pytest.mark.filterwarnings("ignore:lam=")
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("lam", [0.5, 3.0, 10.0, 100.0])
def test_with_falling_weights_only_irrelevant_items_are_passed(lam, ties):
    """In lists with ties, too: they go against the relevant items."""
    for shape, seed in product(("r", "log", "log-log"), range(8)):
        loss = RecallLoss(BlackboxRanker(lam), weights=figures.DESIGNS[shape])
        generator = torch.Generator().manual_seed(seed)
        scores = torch.rand(30, generator=generator, dtype=torch.float64)
        scores = (8 * scores).round() / 8 if ties else scores
        relevant = (torch.rand(30, generator=generator) < 0.3).sort().values  # so that ties by position go against them
        push = figures.slope(figures.DESIGNS[shape], outranking_negatives(scores, relevant)[relevant].double())
        before, after = rank(scores), rank(scores.index_add(0, relevant.nonzero()[:, 0], lam * push / len(push)))
        ahead, still = (at[~relevant] < at[relevant, None] for at in (before, after))
        places = torch.tensor(figures.places_gained(lambda y, rel=relevant, f=loss: f(y, rel), scores, lam))
        assert torch.equal(before[relevant].argsort(), after[relevant].argsort()), (shape, seed)
        assert torch.equal(places[relevant], (ahead & ~still).sum(1)), (shape, seed)
        assert torch.equal(places[~relevant], -(ahead & ~still).sum(0)), (shape, seed)


def below_zero(r):
    return torch.log1p(r) - torch.sin(2 * torch.pi * r) / torch.pi


@pytest.mark.parametrize("weights", [lambda r: r**2, torch.log1p, below_zero], ids=["growing", "both ranks", "falling"])
def test_relevant_items_pass_others_than_the_proposition_says_without_a_hypothesis(weights):
    """Of the proposition on falling weights: that W' never increases; that the second rank is stopped; that W' ≥ 0."""
    loss = RecallLoss(BlackboxRanker(6.0), weights=weights, within_grad=weights is torch.log1p)
    places = torch.tensor(figures.places_gained(lambda y: loss(y, RELEVANT), SCORES, 6.0))
    lifted = SCORES + 6.0 * figures.slope(weights, outranking_negatives(SCORES, RELEVANT).float()) / 5
    passed = (SCORES[~RELEVANT] > SCORES[:, None]) & (SCORES[~RELEVANT] < lifted[:, None])
    assert not torch.equal(places[RELEVANT], passed.sum(1)[RELEVANT])


def test_pushes_lie_between_two_weights():
    r = torch.arange(1.0, 60, dtype=torch.float64)
    for name, W in figures.DESIGNS.items():
        push, saved, cost = figures.slope(W, r), W(r) - W(r - 1), W(r + 1) - W(r)
        assert ((cost - 1e-12 <= push) & (push <= saved + 1e-12)).all(), name
    assert np.isclose(float(figures.slope(figures.DESIGNS["min(r, 1)"], torch.ones(1))), 1), "the slope on the left"
