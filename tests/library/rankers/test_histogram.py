"""HistogramRanker against its definition, and against all outcomes of the coins that it averages over."""

from itertools import product

import pytest
import torch
from drawn import cosines, value_and_gradients

from rankedu import rank
from rankedu.rankers import HistogramRanker

inf = float("inf")


@pytest.mark.parametrize("bins", [1, 2, 5])
def test_it_is_the_expected_rank_when_coins_are_thrown(bins):
    scores = cosines(4, seed=3)
    upper = ((1 - scores) * bins / 2).floor().clamp(max=bins - 1)
    share = (1 - scores) * bins / 2 - upper
    expected = torch.zeros(4, dtype=torch.float64)
    for falls in product((False, True), repeat=4):
        lower = torch.tensor(falls)
        chance = torch.where(lower, share, 1 - share).prod()
        bin_ = -(upper + lower)
        expected += chance * (rank(bin_, ties="min") + rank(bin_, ties="max")) / 2
    torch.testing.assert_close(HistogramRanker(bins)(scores), expected, rtol=1e-12, atol=1e-12)
    mean = torch.zeros(bins + 1).double().index_add(0, upper.long(), 1 - share).index_add(0, upper.long() + 1, share)
    torch.testing.assert_close(HistogramRanker(bins).histogram(scores), mean)


@pytest.mark.parametrize("at", [1.0, 0.5, 0.0, -1.0])
def test_at_a_centre_the_slope_is_that_towards_lower_scores(at):
    """At the last centre, that towards higher ones: it is always that of the inside."""
    other, step = torch.tensor([0.6, -0.8], dtype=torch.float64), 1e-6 if at == -1 else -1e-6

    def first(y):
        return HistogramRanker(4)(torch.cat([y.view(1), other]))[0]

    y = torch.tensor(at, dtype=torch.float64)
    _, slope = value_and_gradients(first, y)
    torch.testing.assert_close(slope, (first(y + step) - first(y)) / step, rtol=1e-6, atol=1e-6)
    assert slope < 0


def test_the_range_is_a_change_of_units_and_beyond_it_lies_its_end():
    scores = cosines(4, 6)
    for low, high in ((-3.0, 5.0), (0.0, 0.5)):
        moved = low + (scores + 1) / 2 * (high - low)
        torch.testing.assert_close(HistogramRanker(7, (low, high))(moved), HistogramRanker(7)(scores))
    beyond = torch.tensor([1.5, inf, 0.2, -inf, -1.01])
    ranks, slope = value_and_gradients(HistogramRanker(10), beyond, weight=torch.arange(5.0))
    torch.testing.assert_close(ranks, torch.tensor([1.5, 1.5, 3.0, 4.5, 4.5]))
    assert slope.isfinite().all() and (slope[[0, 1, 3, 4]] == 0).all()
