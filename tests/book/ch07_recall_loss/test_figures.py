"""What the figures of chapter 7 claim, in numbers."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from rankbook.ch07_recall_loss import figures
from rankedu.losses import RecallLoss
from rankedu.metrics import recall_at_k
from rankedu.rankers import BlackboxRanker

SCORES, RELEVANT = torch.tensor(figures.QUERY_SCORES), torch.tensor(figures.QUERY_RELEVANT).bool()


def test_recall_moves_one_relevant_item_and_the_refined_one_moves_all():
    sparse, dense = ([bar.get_height() for bar in axes.patches] for axes in figures.who_gets_a_gradient().axes)
    relevant = RELEVANT.nonzero().flatten().tolist()
    up = [[item for item, places in enumerate(moved) if places > 0] for moved in (sparse, dense)]
    assert up == [relevant[:1], relevant] and sum(sparse) == sum(dense) == 0


def test_the_loss_of_the_best_positive_is_the_weighted_sum_of_recall():
    weights = np.log1p(1 / np.arange(1.0, 15))
    printed = sum(w * (1 - recall_at_k(SCORES, RELEVANT, k).item()) for k, w in enumerate(weights, start=1))
    assert figures.best_positive_loss(SCORES, RELEVANT, lam=1.0).item() == pytest.approx(printed, abs=1e-6)


@pytest.mark.parametrize("lam", [0.5, 3.0, 10.0, 100.0])
@pytest.mark.parametrize("shape", ["r", "log", "log-log"])
def test_with_falling_weights_only_irrelevant_items_are_passed(lam, shape):
    loss = RecallLoss(BlackboxRanker(lam), weights=figures.DESIGNS[shape])
    for seed in range(20):
        generator = torch.Generator().manual_seed(seed)
        scores = torch.rand(30, generator=generator, dtype=torch.float64)
        relevant = torch.rand(30, generator=generator) < 0.3
        r = torch.from_numpy((scores[~relevant].numpy() > scores[relevant].numpy()[:, None]).sum(1)).double()
        leaf = r.clone().requires_grad_()
        (push,) = torch.autograd.grad(figures.DESIGNS[shape](leaf).mean(), leaf)
        lifted = scores[relevant] + lam * push
        passed = (scores[~relevant] > scores[relevant, None]) & (scores[~relevant] < lifted[:, None])
        places = torch.tensor(figures.places_gained(lambda y, rel=relevant: loss(y, rel), scores, lam))
        assert torch.equal(places[relevant], passed.sum(1))
        assert torch.equal(places[~relevant], -passed.sum(0))


@pytest.mark.parametrize("outranked", [figures.LATER, (1, 3), (0, 5, 2)])
def test_both_walls_have_the_same_height(outranked):
    for axes in figures.bricks(outranked).axes:
        assert sum(brick.get_height() for brick in axes.patches) == pytest.approx(np.log1p(outranked).sum())


def test_designs_are_weightings():
    for shape in figures.DESIGNS.values():
        RecallLoss(BlackboxRanker(1.0), weights=shape)  # refuses what is not
