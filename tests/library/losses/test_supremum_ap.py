"""SupAP: the bound, drawn at random and searched for; and what breaks it."""

import pytest
import torch

from rankbook.ch14_happier.bounds import upper_bound
from rankedu.losses import OnEmbeddings, SupAPLoss
from rankedu.metrics import average_precision
from rankedu.rankers import PRESETS, SupremumRanker

KEPT = [name for name in PRESETS if upper_bound(**PRESETS[name]).holds]
BROKEN = [name for name in PRESETS if name not in KEPT]


def per_query(ranker, scores, positive):
    """The loss of each row by itself, all rows at once."""
    within = ranker.among(scores, positive)
    ranks = within + ranker.against(scores, positive, ~positive)
    return 1 - (within / ranks.clamp(min=1)).sum(-1) / positive.sum(-1)


def draws(seed, rows=100_000, n=8):
    """Rankings of every difficulty: wide and narrow, and nearly sorted the wrong way by gaps about τ or δ."""
    generator = torch.Generator().manual_seed(seed)
    spread = torch.tensor([1e-4, 3e-3, 0.01, 0.05, 0.3, 1.0], dtype=torch.float64)
    spread = spread[torch.randint(6, (rows, 1), generator=generator)]
    scores = spread * torch.randn(rows, n, generator=generator, dtype=torch.float64)
    positive = torch.rand(rows, n, generator=generator) < torch.rand(rows, 1, generator=generator)
    positive[:, 0] |= ~positive.any(-1)
    against = torch.rand(rows, 1, generator=generator) < 0.5
    wrong = -spread * positive * torch.rand(rows, 1, generator=generator)
    return torch.where(against, scores + wrong, scores), positive


def gap(ranker, scores, positive, ties="ordinal"):
    """How far the loss lies above 1 − AP; below 0 it breaks the bound."""
    return per_query(ranker, scores, positive) - (1 - average_precision(scores, positive, ties=ties))


def search(ranker, scores, positive, steps=25):
    """Move each ranking at random, and keep what brings the loss nearer to 1 − AP or below it."""
    generator, best = torch.Generator().manual_seed(1), gap(ranker, scores, positive)
    for count in range(steps):
        size = (0.1, 0.02, 0.003, 0.0003)[count % 4]
        moved = scores + size * torch.randn(scores.shape, generator=generator, dtype=scores.dtype)
        found = gap(ranker, moved, positive)
        better = found < best
        scores, best = torch.where(better.unsqueeze(-1), moved, scores), torch.where(better, found, best)
    return scores, best


@pytest.mark.parametrize("name", KEPT)
def test_bound_is_kept_in_100_000_rankings_and_where_it_is_searched_to_be_broken(name):
    ranker, (scores, positive) = SupremumRanker.preset(name), draws(1)
    found = gap(ranker, scores, positive)
    assert found.min() >= -1e-14 and (found > 0.01).float().mean() > 0.2
    single = scores.float()
    distinct = (single.sort().values.diff() > 0).all(-1)
    assert distinct.float().mean() > 0.99
    assert gap(ranker, single[distinct], positive[distinct]).min() >= -1e-6  # up to rounding
    moved, after = search(ranker, scores[:4000], positive[:4000])
    assert after.min() >= -1e-14 and after.mean() < 0.7 * found[:4000].mean()
    assert (moved.sort().values.diff() > 0).all()  # no ties


@pytest.mark.parametrize("name", BROKEN)
def test_bound_is_broken_by_the_settings_that_break_it(name):
    ranker, (scores, positive) = SupremumRanker.preset(name), draws(3)
    found = gap(ranker, scores, positive)
    assert 0.05 < (found < -1e-3).float().mean() < 0.95 and found.min() < -0.1
    scores, after = search(ranker, scores[:2000], positive[:2000])
    assert after.min() < -0.16  # of at most 1/6: one relevant item, and one that is not just above it
    worst = after.argmin()
    hard = 1 - average_precision(scores[worst], positive[worst])
    torch.testing.assert_close(SupAPLoss(**PRESETS[name])(scores[worst], positive[worst]) - hard, after[worst])


def test_tied_relevant_items_break_the_bound():
    y, relevance = torch.tensor([0.001, 0.0, 0.0], dtype=torch.float64), torch.tensor([False, True, True])
    assert SupAPLoss()(y, relevance) < 0.35 < 5 / 12 == pytest.approx((1 - average_precision(y, relevance)).item())


def test_the_counterexample_of_the_errata():
    """Angles 0°, 40°, −39.9°, 180°, each item its own positive: 1 − AP is 1/24."""
    radians = torch.tensor([0.0, 40.0, -39.9, 180.0], dtype=torch.float64).deg2rad()
    embeddings, labels = torch.stack([radians.cos(), radians.sin()], 1), torch.tensor([0, 0, 1, 2])
    hard = 1 - average_precision(embeddings @ embeddings.T, labels[:, None] == labels).mean()
    assert hard.item() == pytest.approx(1 / 24)
    for name, expected in {
        "happier_inat": 0.02611,
        "roadmap_inat": 0.02611,
        "happier": 0.04244,
        "joined": 0.04244,
    }.items():
        found = OnEmbeddings(SupAPLoss(**PRESETS[name]), exclude_self=False)(embeddings, labels)
        assert found.item() == pytest.approx(expected, abs=5e-6)
        assert (found < hard) == (name in BROKEN)
