"""What the figures of chapter 8 claim, in numbers."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from rankbook.ch08_average_precision_loss import figures, study
from rankbook.kit import style
from rankedu.losses import APLoss
from rankedu.metrics import average_precision
from rankedu.rankers import BlackboxRanker


@pytest.mark.parametrize(("k", "r"), [(1, 0), (1, 7), (3, 3), (10, 2)])
def test_the_push_is_the_gradient_of_the_loss(k, r):
    """The k-th of k positives stands below r negatives; a long λ lets it move by its whole shift."""
    ranks = torch.tensor([float(k + r)], requires_grad=True)
    APLoss(BlackboxRanker(1.0)).formula(ranks, torch.tensor([float(k)])).sum().backward()
    assert ranks.grad.item() == pytest.approx(k / (k + r) ** 2)


def test_the_curves_of_the_push_end_where_they_should(lines):
    drawn = lines(figures.push_by_place(places=(1, 2, 4), most=9).axes[0])
    np.testing.assert_allclose([drawn[f"AP: positive no. {k}"][[0, -1]] for k in (1, 4)], [[1, 0.01], [1 / 4, 4 / 169]])


def test_each_class_is_perfect_and_the_single_list_is_not():
    scores, relevant = torch.tensor(figures.SCORES).T, torch.tensor(figures.RELEVANT).T
    assert average_precision(scores, relevant).tolist() == [1.0, 1.0]
    value = (1 + 1 + 3 / 6 + 4 / 7) / 4
    assert average_precision(scores.flatten(), relevant.flatten()).item() == pytest.approx(value)
    told = style.description(figures.two_lists_and_one())
    assert "fox: AP 1.00; badger: AP 1.00" in told and f"APC {value:.2f}" in told


def test_descent_tells_when_a_list_was_perfect():
    run = study.Descent(np.array([[0.5, 1.0, 0.9, 1.0], [0.2, 0.3, 0.4, 0.5]]), np.array([0.5, 0.5]))
    assert run.reached() == 1 and run.stayed() == pytest.approx(2 / 3) and run.median_step() == np.inf


def test_stopping_holds_on_to_a_perfect_ranking_and_differentiating_both_does_not():
    stopped, both = (study.train(APLoss(BlackboxRanker(256.0), within_grad=w), seeds=6, steps=60) for w in (0, 1))
    assert stopped.reached() == 6 and stopped.stayed() == 1.0
    assert both.reached() > 0 and both.stayed() < 1.0
