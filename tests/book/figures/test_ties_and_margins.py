"""What the figures of chapter 6 claim, in numbers."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
import torch

from rankedu.book.exercises import find
from rankedu.book.figures import style
from rankedu.book.figures import ties_and_margins as figures
from rankedu.losses import APLoss, shift_by_margin
from rankedu.metrics import average_precision
from rankedu.rankers import BlackboxRanker


@pytest.mark.parametrize("distance", [1e-9, 1.0])
@pytest.mark.parametrize("labels", [(0, 1, 0, 1, 0), (1, 1, 1, 0, 0, 0), (0, 0, 1)])
def test_every_value_of_ap_is_reached_near_a_tie(labels, distance):
    relevance = torch.tensor(labels).bool()
    nudges = torch.tensor(list(itertools.permutations(range(len(labels))))).double() / len(labels)
    values = average_precision(0.3 + distance * nudges, relevance.expand(len(nudges), -1))
    np.testing.assert_allclose(
        sorted({round(v, 9) for v in values.tolist()}), find("all_values_near_a_tie").reference(labels)
    )


@pytest.mark.parametrize("margin", [0.0, 0.1, 0.7])
def test_the_shift_is_eq_14(margin):
    scores, relevance = torch.randn(6, 9), torch.rand(6, 9) < 0.4
    wanted = scores - margin / 2 * relevance + margin / 2 * ~relevance
    torch.testing.assert_close(shift_by_margin(scores, relevance, margin), wanted)


@pytest.mark.parametrize("margin", [0.0, 0.2])
@pytest.mark.parametrize("lam", [1.0, 30.0, 1000.0])
@pytest.mark.parametrize("n", [2, 9, 60])
def test_the_gradient_is_that_of_the_loss(n, lam, margin):
    random = np.random.default_rng(n)
    y, relevance = random.standard_normal(n), np.arange(n) < max(1, n // 4)
    scores = torch.tensor(y, requires_grad=True)
    APLoss(BlackboxRanker(lam), margin)(scores, torch.from_numpy(relevance)).backward()
    np.testing.assert_allclose(figures.ap_gradient(y, relevance, lam, margin), scores.grad.numpy(), atol=1e-12)


@pytest.mark.parametrize("margin", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("lam", [1.0, 100.0])
def test_no_step_leads_away_from_the_tip(lam, margin):
    random = np.random.default_rng(0)
    for _ in range(50):
        y, relevance = random.standard_normal(30), np.arange(30) < 8
        g = figures.ap_gradient(y, relevance, lam, margin)
        tip = np.where(relevance, margin / 2, -margin / 2)
        assert (y - tip) @ g > -1e-9 and abs(g.sum()) < 1e-9
        assert (g == 0).all() or (y - tip) @ g > 0
        gap, spread = random.uniform(-1, 1), random.uniform(0.01, 1)
        move = figures.gap_spread_descent(gap, spread, margin, lam)
        assert (gap - margin) * move[0] + spread * move[1] <= 1e-9


def test_an_overtaking_costs_its_length_less_the_margin():
    random = np.random.default_rng(1)
    for _ in range(20):
        y, relevance, lam, margin = random.standard_normal(40), np.arange(40) < 1, 60.0, 0.3  # one positive
        lengths = figures.overtaking_lengths(y, relevance, lam, margin)
        assert (lengths > 0).all()
        g = figures.ap_gradient(y, relevance, lam, margin)
        assert y @ g == pytest.approx((lengths - margin).sum() / lam)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_scores_collapse_without_a_margin_and_not_with_one(seed):
    free, held = (figures.train_scorer(margin, seed=seed) for margin in (0.0, 0.1))
    late = free.steps > 2000
    assert np.median(free.spread()[late]) < 0.2 < 1.2 < held.spread()[late].min()
    assert np.median(free.average_precision()[late]) > 0.9  # the metric does not notice
    assert np.median(free.average_precision(noise=0.1)[late]) < held.average_precision(noise=0.1)[late].min() - 0.05


def test_the_larger_the_margin_the_larger_the_scale():
    spreads = [np.median(figures.train_scorer(margin).spread()[-20:]) for margin in (0.02, 0.05, 0.1, 0.2)]
    assert spreads == sorted(spreads) and spreads[-1] > 10 * spreads[0]


def test_what_counts_is_the_gap_in_units_of_the_noise():
    relevance = np.arange(200) < 20
    small, large = (figures.expected_ap_after_shift(0.7 * s, s, relevance) for s in (0.01, 0.1))
    assert small == pytest.approx(large)


def test_the_fan_is_the_same_at_every_magnification():
    told = style.description(figures.fan_around_a_tie())
    shares = [int(share) for share in re.findall(r"(\d+)% for AP", told)]
    assert len(shares) == 3 and abs(sum(shares) - 100) <= 1
    assert "AP = 0.33" in told and "AP = 0.50" in told and "AP = 1.00" in told


@pytest.mark.parametrize(
    "draw",
    [figures.shift_curves, figures.collapse_and_cure, figures.spread_and_brittleness, figures.gap_and_spread],
    ids=lambda draw: draw.__name__,
)
def test_figures_are_described_with_numbers(draw):
    assert len(re.findall(r"\d\.\d", style.description(draw()))) >= 2


def test_cosines_are_told():
    made = figures.cosines_in_training({0.0: np.array([[0.9, 0.8, 0.1], [0.99, 0.98, 0.01]])})
    assert "0.990 within a character, 0.980 ± 0.010" in style.description(made)
