from itertools import product

import numpy as np
import pytest
import torch
from drawn import gradient

from rankedu.losses import HAPLoss
from rankedu.metrics import hierarchical_average_precision
from rankedu.rankers import PRESETS, BlackboxRanker, SupremumRanker
from rankedu_book.ch14_happier import figures, study
from rankedu_book.ch14_happier.bounds import upper_bound

FINE = "AP of characters"


def test_the_readable_definition_is_the_loss():
    """HAPPIER Eq. 5, by all pairs: with the step it is `HAPLoss`, without it is 1 − H-AP."""
    for spread, name in product((0.01, 0.3), PRESETS):
        scores, relevance = study.draws(spread, rankings=50)
        ranker = SupremumRanker.preset(name)
        soft, hard = study.losses(scores, relevance, ranker.step), study.losses(scores, relevance)
        torch.testing.assert_close(soft.mean(), HAPLoss(ranker)(scores, relevance))
        torch.testing.assert_close(hard, 1 - hierarchical_average_precision(scores, relevance))


def test_the_verdict_changes_at_one_half_and_at_one_and_every_temperature_and_slope_keep_the_bound():
    for start, offset in product(np.arange(21) / 20, np.arange(10, 41, 3) / 20):
        assert upper_bound(start=start, offset=offset).holds == (start >= 0.5 and offset >= 1)
    scores, relevance = study.example()
    for temperature, slope in product(np.geomspace(0.001, 0.1, 5), (0, 1, 10, 100, 1000)):
        loss = HAPLoss(SupremumRanker(temperature, slope))
        assert loss(scores, relevance) >= 1 - hierarchical_average_precision(scores, relevance)
        assert abs(gradient(loss, scores, relevance).sum()) < 1e-9


@pytest.mark.filterwarnings("ignore:lam=")
@pytest.mark.parametrize(("a", "b"), [(1, 2), (1, 2.9), (1, 3.1), (1, 8), (0.1, 1), (0, 1)])
def test_which_inversions_blackbox_ranks_see(a, b):
    """The proposition: for a stopped H-rank b > 3a and λ (1/4 − a/(a + b)) > gap; for both λ a/(2 (a + b)) > gap."""
    relevance = torch.tensor([a, b], dtype=torch.float64)
    for gap, lam, within in product((0.01, 0.1), (0.5, 2.0, 30.0), (False, True)):
        scores = torch.tensor([gap, 0.0], dtype=torch.float64)
        slope = gradient(HAPLoss(BlackboxRanker(lam), within_grad=within), scores, relevance)[0].item()
        stopped = b > 3 * a and lam * (1 / 4 - a / (a + b)) > gap
        nested = within and lam * a / (2 * (a + b)) > gap
        assert slope >= 0 and (slope > 0) == (stopped or nested)


def test_the_records_say_what_the_chapter_says_of_them():
    alphas, weights = study.arms("α"), study.arms("λ")
    fine, scripts, whole = (study.gain(alphas[5], alphas[1], of).mean for of in (FINE, "AP of scripts", "H-AP"))
    assert fine > 0 > max(scripts, whole)
    little, *much = (study.gain(weights[w], weights[0], "H-AP").mean for w in (0.1, 0.5, 0.9))
    assert little > 0 > max(much)
    drawn = figures.alpha_and_weight().axes[1].containers[2]  # H-AP over the weights
    assert drawn.lines[0].get_ydata()[1] == pytest.approx(little)


def test_arrows_are_minus_the_gradient():
    scores, relevance = study.example()
    for axes, loss in zip(figures.two_gradients().axes, (HAPLoss(), HAPLoss(BlackboxRanker(32.0))), strict=False):
        slope = gradient(loss, scores, relevance)
        pushes = -slope / slope.abs().max()
        drawn = [pair for arrows in axes.collections for pair in zip(arrows.X, arrows.V, strict=True)]
        wanted = [pair for pair in zip(scores.tolist(), pushes.tolist(), strict=True) if abs(pair[1]) > 0.02]
        np.testing.assert_allclose(sorted(drawn), sorted(wanted), rtol=1e-5)
