import itertools

import numpy as np
import pytest
import torch

from rankbook.ch06_ties_and_margins import study
from rankbook.kit.check import find
from rankedu.losses import APLoss, shift_by_margin
from rankedu.metrics import average_precision
from rankedu.rankers import BlackboxRanker


def test_every_value_of_ap_is_reached_near_a_tie():
    for labels in ((0, 1, 0, 1, 0), (1, 1, 1, 0, 0, 0), (0, 0, 1)):
        relevance = torch.tensor(labels).bool()
        nudges = torch.tensor(list(itertools.permutations(range(len(labels))))).double() / len(labels)
        values = average_precision(0.3 + 1e-9 * nudges, relevance.expand(len(nudges), -1))
        found = sorted({round(v, 9) for v in values.tolist()})
        np.testing.assert_allclose(found, find("all_values_near_a_tie").reference(labels))


def test_the_shift_is_eq_14():
    for margin in (0.0, 0.1, 0.7):
        scores, relevance = torch.randn(6, 9), torch.rand(6, 9) < 0.4
        wanted = scores - margin / 2 * relevance + margin / 2 * ~relevance
        torch.testing.assert_close(shift_by_margin(scores, relevance, margin), wanted)


def test_the_gradient_is_that_of_the_loss():
    for n, lam, margin in itertools.product((2, 9, 60), (1.0, 30.0, 1000.0), (0.0, 0.2)):
        y, relevance = np.random.default_rng(n).standard_normal(n), np.arange(n) < max(1, n // 4)
        scores = torch.tensor(y, requires_grad=True)
        APLoss(BlackboxRanker(lam), margin)(scores, torch.from_numpy(relevance)).backward()
        np.testing.assert_allclose(study.ap_gradient(y, relevance, lam, margin), scores.grad.numpy(), atol=1e-12)


def test_no_step_leads_away_from_the_tip():
    random, relevance = np.random.default_rng(0), np.arange(30) < 8
    for lam, margin, _ in itertools.product((1.0, 100.0), (0.0, 0.1, 1.0), range(30)):
        y = random.standard_normal(30)
        g = study.ap_gradient(y, relevance, lam, margin)
        tip = np.where(relevance, margin / 2, -margin / 2)
        assert (y - tip) @ g > -1e-9 and abs(g.sum()) < 1e-9
        assert (g == 0).all() or (y - tip) @ g > 0
        gap, spread = random.uniform(-1, 1), random.uniform(0.01, 1)
        move = study.gap_spread_descent(gap, spread, margin, lam)
        assert (gap - margin) * move[0] + spread * move[1] <= 1e-9


def test_an_overtaking_costs_its_length_less_the_margin():
    random = np.random.default_rng(1)
    for _ in range(20):
        y, relevance, lam, margin = random.standard_normal(40), np.arange(40) < 1, 60.0, 0.3  # one positive
        lengths = study.overtaking_lengths(y, relevance, lam, margin)
        assert (lengths > 0).all()
        assert y @ study.ap_gradient(y, relevance, lam, margin) == pytest.approx((lengths - margin).sum() / lam)


def test_scores_collapse_without_a_margin_and_not_with_one():
    free, held = (study.train_scorer(margin, seed=0) for margin in (0.0, 0.1))
    late = free.steps > 2000
    assert np.median(free.spread()[late]) < 0.2 < 1.2 < held.spread()[late].min()
    assert np.median(free.average_precision()[late]) > 0.9  # the metric does not notice
    assert np.median(free.average_precision(noise=0.1)[late]) < held.average_precision(noise=0.1)[late].min() - 0.05
