"""FastAPLoss against its formula in float64, pytorch-metric-learning, and the metric it stands for."""

from functools import partial

import pytest
import torch
from drawn import coin, cosines, random, value_and_gradients
from pytorch_metric_learning.losses import FastAPLoss as OfPytorchMetricLearning

from rankedu._fast import tiles
from rankedu.losses import FastAPLoss, OnEmbeddings

nan, inf = float("nan"), float("inf")


def histograms(scores, bins, *masks):
    """h_l of those in each mask, by the triangle about each of bins + 1 squared distances from 0 to 4."""
    centres = torch.linspace(0, 4, bins + 1, dtype=scores.dtype)
    pulse = torch.relu(1 - ((2 - 2 * scores).unsqueeze(-1) - centres).abs() / (4 / bins))
    return [(pulse * mask.unsqueeze(-1)).sum(-2) for mask in masks]


def average_precisions(h_pos, h):
    """(1/N⁺) Σ_l h⁺_l H⁺_l / H_l, one a query."""
    above, all_above = h_pos.cumsum(-1), h.cumsum(-1)
    precision = torch.where(all_above > 0, above / torch.where(all_above > 0, all_above, 1.0), 0.0)
    return (h_pos * precision).sum(-1) / h_pos.sum(-1)


def definition(scores, relevance, bins, where=None):
    where = torch.ones_like(relevance) if where is None else where
    positive = relevance & where
    h_pos, h = histograms(scores, bins, positive, where)
    some = positive.any(-1)
    return 1 - average_precisions(h_pos[some], h[some]).mean()


def fast_ap(scores, relevance, bins, where=None):
    return FastAPLoss(bins)(scores, relevance, where=where)


@pytest.mark.parametrize("bins", [1, 5, 10, 40])
def test_value_and_gradient_are_the_formula(monkeypatch, bins):
    for seed, tile in enumerate((4, 80, 1 << 18)):
        monkeypatch.setitem(tiles.TILE, "cpu", tile)
        scores, relevance = cosines(2, 6, 9, seed=seed), coin(2, 6, 9, p=0.3, seed=seed + 5)
        for where in (None, coin(2, 6, 9, p=0.8, seed=seed + 9)):
            found, expected = (
                value_and_gradients(partial(f, relevance=relevance, bins=bins, where=where), scores)
                for f in (fast_ap, definition)
            )
            torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-14)
            assert expected[1].any()


def test_it_is_that_of_pytorch_metric_learning():
    """Rows in any order; classes of one item are no query there either."""
    for bins, sizes in ((1, (4, 4, 4, 4)), (10, (1, 2, 3, 5, 7)), (40, (1, 2, 3, 5, 7))):
        labels = torch.repeat_interleave(torch.arange(len(sizes)), torch.tensor(sizes))
        order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(3))
        embeddings, labels = random(len(labels), 6)[order], labels[order]
        ours, theirs = OnEmbeddings(FastAPLoss(bins)), OfPytorchMetricLearning(bins)
        found, expected = (value_and_gradients(lambda e, f=f: f(e, labels), embeddings) for f in (ours, theirs))  # noqa: B023
        torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-11)
        assert expected[1].any()


@pytest.mark.parametrize("at", [1.0, 0.5, -0.5, -1.0])
def test_at_a_centre_the_slope_is_that_towards_lower_similarities(at):
    """At the last centre, towards higher ones. Autograd of the formula has the slope 0 there: neither side's."""
    others = torch.tensor([0.9, 0.6, 0.1, -0.3, -0.8]).double()
    relevance = torch.tensor([True, False, True, True, False, True])

    def first(y, loss=fast_ap):
        return loss(torch.cat([y.view(1), others]), relevance, 4)

    y, step = torch.tensor(at, dtype=torch.float64), 1e-7 if at == -1 else -1e-7
    _, slope = value_and_gradients(first, y)
    torch.testing.assert_close(slope, (first(y + step) - first(y)) / step, rtol=1e-5, atol=1e-6)
    assert slope != 0 and value_and_gradients(partial(first, loss=definition), y)[1] == 0


def test_what_rounding_carries_beyond_one_counts_as_one():
    relevance = torch.tensor([True, False, True, False])
    scores = torch.tensor([[1.0, -1.0, 0.3, 0.2], [1.0 + 2**-23, -1.004, 0.3, 0.2]])
    inside, outside = (value_and_gradients(lambda s: FastAPLoss()(s, relevance), row) for row in scores)
    torch.testing.assert_close(outside, inside, rtol=0, atol=0)
    hidden = torch.tensor([7.0, inf, nan, 0.2, 0.3])
    where = torch.tensor([False, False, False, True, True])
    assert fast_ap(hidden, torch.tensor([1, 1, 1, 0, 1]), 10, where).item() < 1
