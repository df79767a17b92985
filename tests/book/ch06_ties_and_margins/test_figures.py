import itertools

import numpy as np
import pytest
import torch

from rankedu import reference
from rankedu.losses import APLoss
from rankedu.metrics import average_precision
from rankedu.rankers import BlackboxRanker
from rankedu_book.ch06_ties_and_margins import study
from rankedu_book.kit.check import find
from rankedu_book.kit.ranks import ranks_of


def algorithm_1(scores, incoming, lam):
    return np.array(reference.rank_gradient(scores.tolist(), incoming.tolist(), lam))


def lists(count=100):
    """Scores, relevance, incoming gradients and λ, at random; every fourth list has ties."""
    random = np.random.default_rng(0)
    for trial in range(count):
        y, c = random.standard_normal((2, 15))
        yield (y.round() if trial % 4 == 3 else y), random.random(15) < 0.4, c, float(np.exp(random.normal(0, 2)))


def test_every_value_of_ap_is_reached_near_a_tie():
    for labels in ((0, 1, 0, 1, 0), (1, 1, 1, 0, 0, 0), (0, 0, 1)):
        relevance = torch.tensor(labels).bool()
        nudges = torch.tensor(list(itertools.permutations(range(len(labels))))).double() / len(labels)
        values = average_precision(0.3 + 1e-9 * nudges, relevance.expand(len(nudges), -1))
        found = sorted({round(v, 9) for v in values.tolist()})
        np.testing.assert_allclose(found, find("all_values_near_a_tie").reference(labels))
        away = average_precision(1e-9 * nudges - torch.arange(len(labels)), relevance.expand(len(nudges), -1))
        assert len(away.unique()) == 1 < len(found), "near scores that differ"
        assert (0.3 + 1e-9 * nudges).std(-1).max() < nudges.std(-1).min(), "of a function that sees more than ranks"


@pytest.mark.filterwarnings("ignore:lam=")
def test_the_gradient_is_that_of_the_loss():
    for n, lam, margin in itertools.product((2, 9, 60), (1.0, 30.0, 1000.0), (0.0, 0.2)):
        y, relevance = np.random.default_rng(n).standard_normal(n), np.arange(n) < max(1, n // 4)
        scores = torch.tensor(y, requires_grad=True)
        APLoss(BlackboxRanker(lam), margin)(scores, torch.from_numpy(relevance)).backward()
        np.testing.assert_allclose(study.ap_gradient(y, relevance, lam, margin), scores.grad.numpy(), atol=1e-12)


def test_overtakings_cost_spread_unless_scores_tie_or_lam_is_negative_or_the_gradient_is_another():
    for z, _, c, lam in lists():
        g, ahead = algorithm_1(z, c, lam), z - z[:, None]
        moved = ranks_of(z + lam * c)
        passes = (ahead > 0) & (moved[:, None] < moved)  # row: who overtakes
        assert z @ g == pytest.approx((ahead * passes).sum() / lam, abs=1e-9)
        if len(set(z)) == len(z) and g.any():
            step = 2 * z @ g / (g @ g) * g  # a shorter one draws the list together, a longer one spreads it
            assert z @ g > 1e-12 and z.std() > (z - 0.99 * step).std() and z.std() < (z - 1.01 * step).std()
        assert z @ (ranks_of(z - lam * c) - ranks_of(z)) / -lam <= 1e-9
    assert algorithm_1(np.zeros(3), np.array([0.0, 0.0, 1.0]), 1.0).any()  # and yet z · g = 0
    assert np.array([2.0, -2.0]) @ (-1 / (1 + np.exp([2.0, 2.0])) * [1, -1]) < 0  # cross entropy, in the right order


def test_the_weights_of_a_linear_model_have_the_product_of_its_scores_and_a_bias_does_not_move():
    random = np.random.default_rng(2)
    for _, _, c, lam in lists(40):
        x, w, b = random.standard_normal((15, 4)), random.standard_normal(4), 3.0
        g = algorithm_1(x @ w + b, c, lam)
        assert w @ (x.T @ g) == pytest.approx((x @ w + b) @ g, abs=1e-8) and g.sum() == pytest.approx(0, abs=1e-8)
        assert w @ (x.T @ g) >= -1e-8
    y, jacobian = np.array([4.0, 1.0]), np.array([8.0, 2.0])  # not linear: (x w)² and its slope at w = 1, x = 2 and 1
    g = algorithm_1(y, np.array([0.0, 1.0]), 5.0)
    assert jacobian @ g == pytest.approx(2 * y @ g) and g.any()  # twice, not once


def test_no_step_leads_away_from_the_tip_while_the_margin_stays_the_same():
    for y, relevance, c, lam in lists():
        for margin in (0.0, 0.1, 1.0):
            z = y - np.where(relevance, margin / 2, -margin / 2)
            assert z @ algorithm_1(z, c, lam) > -1e-9
    # with another margin in each step the distance from the tip of the first grows
    y, relevance = np.array([0.3, 0.0]), np.array([True, False])
    g = study.ap_gradient(y, relevance, 10.0, 1.0)
    assert study.ap_gradient(y, relevance, 10.0, 0.1).tolist() == [0, 0] and (y - [0.05, -0.05]) @ g < 0


def test_an_overtaking_costs_its_length_less_the_margin_if_it_passes_a_negative():
    random = np.random.default_rng(1)
    relevance = np.arange(40) < 12
    for lam, margin in itertools.product((60.0, 2000.0), (0.0, 0.3)):
        y, p = random.standard_normal(40), relevance.sum()
        z, before, after = study._two_rankings(y, relevance, lam, margin)
        passes = (before[:, None] > before) & (after[:, None] < after)
        assert not passes[~relevance].any() and passes[:p, :p].any() >= (lam > 100)
        lengths = z - z[:, None] - margin * (relevance[:, None] & ~relevance)
        total = (lengths * passes).sum() / lam
        assert y @ study.ap_gradient(y, relevance, lam, margin) == pytest.approx(total)
    # a loss that lets negatives overtake has another sum
    g = algorithm_1(np.array([0.5, -0.5]) - [0.1, -0.1], np.array([0.0, 1.0]), 2.0)
    assert np.array([0.5, -0.5]) @ g == pytest.approx((0.8 + 0.2) / 2)


def test_weights_lam_margin_and_the_root_of_the_rate_have_one_unit_under_plain_descent():
    plain = study.train((0.1, 0.0), (30.0,), (0.1,), steps=80)
    double = study.train((0.2, 0.0), (60.0,), (0.4,), steps=80, begin=2.0)
    np.testing.assert_array_equal(double.weights, 2 * plain.weights)
    other = study.train((0.2, 0.0), (60.0,), (0.2,), steps=80, begin=2.0)  # a rate that is only doubled
    assert not np.allclose(other.weights, 2 * plain.weights)


def test_scores_collapse_without_a_margin_and_not_with_one():
    runs = study.train((0.0, 0.05, 0.1, 0.2))
    rest = runs.scale[3 * len(runs.steps) // 4 :].mean((0, 2))
    assert (np.diff(rest) > 0).all() and rest[0] < 0.05 < 0.15 < rest[2]
    assert runs.average_precision()[40, 0].mean() > 0.95 and runs.scale[40, 0].max() < 0.2  # AP does not show it
