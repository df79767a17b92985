import numpy as np
import pytest
import torch

from rankedu.rankers import HistogramRanker
from rankedu_book.ch10_fastap_histograms import study
from rankedu_book.kit.relief import surface, view


def test_more_bins_come_closer_to_the_true_landscape():
    seen = view(30)
    off = {b: surface(seen, HistogramRanker(b, study.SCORE_RANGE)) - seen.staircase for b in (5, 10, 20, 40, 20000)}
    errors = [np.abs(height[seen.inside]).mean() for height in off.values()]
    assert errors == sorted(errors, reverse=True) and errors[0] > 4 * errors[-2] and errors[-1] < 0.05


def test_half_the_squared_distances_are_half_the_bins():
    scores, relevance = study.similarities()
    torch.testing.assert_close(study.fast_ap(1 - (1 - scores) / 2, relevance, 10), study.fast_ap(scores, relevance, 5))


def test_the_slopes_of_soft_ranks_reach_no_further_than_two_bins():
    bins, scores = 10, torch.tensor([0.61, 0.45, 0.23, -0.33], dtype=torch.float64)
    slopes = torch.autograd.functional.jacobian(HistogramRanker(bins), scores)
    near = (scores[:, None] - scores).abs() < 4 / bins
    assert (slopes[~near] == 0).all() and slopes[0, 1] != 0 and not near.all()


def test_a_lonely_positive_sags_by_the_same_depth_in_all_bins():
    line = torch.linspace(0.2, -0.2, 4001, dtype=torch.float64)
    for bins in (10, 40, 160):
        values = study.alone(line, bins)
        assert values.max().item() == pytest.approx(0.5, abs=1e-3)
        assert values.min().item() == pytest.approx(0.5 - (3 - 8**0.5) / 2, abs=1e-5)


def test_what_is_missing_is_the_formula_only_where_scores_are_two_widths_apart():
    random = np.random.default_rng(0)
    for width in (2.0, 0.3):  # least distance of two scores, in widths
        bins, off = 400, []
        for _ in range(50):
            places = np.cumsum(width + random.random(12)) + random.random()
            relevant, rank = torch.tensor(random.random(12) < 0.5), np.arange(1, 13)
            relevant[11] = True
            f, ahead = places % 1, np.cumsum(~relevant.numpy())
            lost = (f * (1 - f) * ahead / rank / (rank - f))[relevant.numpy()].sum() / int(relevant.sum())
            exact = (relevant.cumsum(0) / torch.arange(1, 13))[relevant].mean().item()
            found = study.fast_ap(torch.tensor(1 - places * 2 / bins)[None], relevant[None], bins).item()
            off.append(abs(exact - lost - found))
        assert (max(off) < 1e-6) == (width == 2)
