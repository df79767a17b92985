"""SupAP: against its definition in float64; the bound, drawn at random and searched for; and what breaks it."""

import math
from itertools import product

import pytest
import torch
from drawn import coin, gradient

from rankbook.ch14_happier.bounds import upper_bound
from rankedu._fast import tiles
from rankedu.losses import APLoss, OnEmbeddings, SupAPLoss
from rankedu.metrics import average_precision
from rankedu.rankers import PRESETS, SupremumRanker

nan, inf = float("nan"), float("inf")
SETTINGS = {name: dict(PRESETS[name]) for name in PRESETS} | {"warm": {"temperature": 0.3, "delta": 0.2, "slope": 2.0}}
KEPT = [name for name in PRESETS if upper_bound(**PRESETS[name]).holds]
BROKEN = [name for name in PRESETS if name not in KEPT]


def random(*shape, seed=0, spread=0.1, dtype=torch.float64):
    drawn = torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return (spread * drawn).to(dtype)


def step(x, temperature=0.01, slope=100.0, delta=0.05, offset=None, start=0.5):
    curve = 1 / (1 + torch.exp(-x / temperature))
    begin = start + 1 / (1 + math.exp(-delta / temperature)) if offset is None else offset
    if x <= 0:
        return curve
    return start + curve if x <= delta else slope * (x - delta) + begin


def definition(scores, relevance, **setting):
    """One list, item by item; differentiable."""
    positive, total = relevance.nonzero().flatten().tolist(), 0.0
    for k in positive:
        within = sum(bool(scores[j] >= scores[k]) for j in positive)
        against = sum(step(scores[j] - scores[k], **setting) for j in range(len(scores)) if j not in positive)
        total = total + within / (within + against)
    return 1 - total / len(positive)


def per_query(ranker, scores, positive):
    """The loss of each row by itself, all rows at once."""
    within = ranker.among(scores, positive)
    ranks = within + ranker.against(scores, positive, ~positive)
    return 1 - (within / ranks.clamp(min=1)).sum(-1) / positive.sum(-1)


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("ragged", [False, True])
def test_value_and_gradient_are_those_of_the_definition(name, dtype, ragged):
    y, relevance = random(2, 3, 7, dtype=dtype), coin(2, 3, 7, seed=3)
    where = coin(2, 3, 7, p=0.8, seed=5) if ragged else torch.ones_like(relevance)
    exact = y.double().requires_grad_()
    rows = [(exact[q][where[q]], relevance[q][where[q]]) for q in product(range(2), range(3))]
    expected = torch.stack([definition(s, r, **SETTINGS[name]) for s, r in rows if r.any()]).mean()
    expected.backward()
    assert exact.grad.any()
    loss = SupAPLoss(**SETTINGS[name])
    options = {"where": where} if ragged else {}
    tolerance = {"rtol": 2e-4, "atol": 1e-5} if dtype == torch.float32 else {"rtol": 1e-10, "atol": 1e-12}
    torch.testing.assert_close(loss(y, relevance, **options).double(), expected.detach(), **tolerance)
    torch.testing.assert_close(gradient(loss, y, relevance, **options).double(), exact.grad, **tolerance)


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("tile", [1, 64, 1 << 17])
def test_fast_path_is_the_readable_one(monkeypatch, name, tile):
    monkeypatch.setitem(tiles.TILE, "cpu", tile)
    loss = SupAPLoss(**SETTINGS[name])
    for seed, ties, ragged in product(range(3), (False, True), (False, True)):
        y, relevance = random(2, 3, 31, seed=seed), coin(2, 3, 31, seed=seed, p=0.1 + 0.3 * seed)
        if ties:
            y = (20 * y).round() / 20
            y[0, 0, :2], y[1, 1, 3:5] = inf, -inf
        where = coin(2, 3, 31, p=0.8, seed=seed + 20) if ragged else None
        if ragged:
            y[~where] = nan
        positive = relevance if where is None else relevance & where
        leaf = y.clone().requires_grad_()
        ranks, within = loss.ranker.ranks_of_positives(leaf, positive, where, within_grad=False)
        count = positive.sum(-1, keepdim=True).expand_as(positive)[positive]
        expected = ((1 - within / ranks) / count / positive.any(-1).sum()).sum()
        (-2 * expected).backward()
        torch.testing.assert_close(loss(y, relevance, where=where), expected.detach(), rtol=1e-12, atol=1e-12)
        found = gradient(loss, y, relevance, where=where, scale=-2.0)
        torch.testing.assert_close(found, leaf.grad, rtol=1e-9, atol=1e-9)
        assert found.any()


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


def gap(ranker, scores, positive):
    """How far the loss lies above 1 − AP; below 0 it breaks the bound."""
    return per_query(ranker, scores, positive) - (1 - average_precision(scores, positive))


def search(ranker, scores, positive, seed, steps=25):
    """Move each ranking at random, and keep what brings the loss nearer to 1 − AP or below it."""
    generator, best = torch.Generator().manual_seed(seed), gap(ranker, scores, positive)
    for count in range(steps):
        size = (0.1, 0.02, 0.003, 0.0003)[count % 4]
        moved = scores + size * torch.randn(scores.shape, generator=generator, dtype=scores.dtype)
        found = gap(ranker, moved, positive)
        better = found < best
        scores, best = torch.where(better.unsqueeze(-1), moved, scores), torch.where(better, found, best)
    return scores, best


def test_per_query_is_the_loss():
    scores, positive = draws(0, rows=50)
    torch.testing.assert_close(per_query(SupremumRanker(), scores, positive).mean(), SupAPLoss()(scores, positive))


@pytest.mark.parametrize("name", KEPT)
def test_bound_is_kept_in_100_000_rankings(name):
    scores, positive = draws(1)
    found = gap(SupremumRanker.preset(name), scores, positive)
    assert found.min() >= -1e-14 and (found > 0.01).float().mean() > 0.2


@pytest.mark.parametrize("name", KEPT)
def test_bound_is_kept_where_it_is_searched_to_be_broken(name):
    scores, positive = draws(2, rows=4000)
    ranker = SupremumRanker.preset(name)
    before = gap(ranker, scores, positive)
    found, after = search(ranker, scores, positive, seed=0)
    assert after.min() >= -1e-14 and after.mean() < 0.7 * before.mean()
    assert (found.sort().values.diff() > 0).all()  # no ties


@pytest.mark.parametrize("name", BROKEN)
def test_bound_is_broken_by_the_settings_that_break_it(name):
    ranker = SupremumRanker.preset(name)
    scores, positive = draws(3)
    found = gap(ranker, scores, positive)
    share = (found < -1e-3).float().mean()
    assert 0.05 < share < 0.95 and found.min() < -0.1
    _, positive = start = draws(4, rows=2000)
    scores, after = search(ranker, *start, seed=1)
    assert after.min() < -0.16  # of at most 1/6: one relevant item, and one that is not just above it
    worst = after.argmin()
    hard = 1 - average_precision(scores[worst], positive[worst])
    torch.testing.assert_close(SupAPLoss(**PRESETS[name])(scores[worst], positive[worst]) - hard, after[worst])


@pytest.mark.parametrize("name", KEPT)
def test_bound_up_to_rounding_in_float32(name):
    scores, positive = draws(5, rows=20_000)
    scores = scores.float()
    distinct = (scores.sort().values.diff() > 0).all(-1)
    assert distinct.float().mean() > 0.99
    assert gap(SupremumRanker.preset(name), scores[distinct], positive[distinct]).min() >= -1e-6


@pytest.mark.parametrize("name", KEPT)
def test_ties_between_relevant_and_others(name):
    """Against the best order and the mean over all orders the bound holds; against the worst order it does not."""
    scores, positive = draws(6, rows=20_000)
    scores = (scores * 50).round() / 50
    apart = (scores.unsqueeze(-1) == scores.unsqueeze(-2)) & positive.unsqueeze(-1) & positive.unsqueeze(-2)
    kept = (apart.sum((-1, -2)) == positive.sum(-1)) & (scores.sort().values.diff() == 0).any(-1)
    scores, positive = scores[kept], positive[kept]
    assert len(scores) > 1000
    found = per_query(SupremumRanker.preset(name), scores, positive)
    least = {
        ties: (found - (1 - average_precision(scores, positive, ties=ties))).min().item()
        for ties in ("optimistic", "expected", "pessimistic")
    }
    assert least["optimistic"] >= -1e-14 and least["expected"] >= -1e-14 and least["pessimistic"] < -0.1


def test_tied_relevant_items_break_the_bound():
    y, relevance = torch.tensor([0.001, 0.0, 0.0], dtype=torch.float64), torch.tensor([False, True, True])
    assert SupAPLoss()(y, relevance) < 0.35 < 5 / 12 == pytest.approx((1 - average_precision(y, relevance)).item())


@pytest.mark.parametrize(
    ("name", "expected"),
    [("happier_inat", 0.02611), ("roadmap_inat", 0.02611), ("happier", 0.04244), ("joined", 0.04244)],
)
def test_the_counterexample_of_the_errata(name, expected):
    """Angles 0°, 40°, −39.9°, 180°, each item its own positive: 1 − AP is 1/24."""
    radians = torch.tensor([0.0, 40.0, -39.9, 180.0], dtype=torch.float64).deg2rad()
    embeddings, labels = torch.stack([radians.cos(), radians.sin()], 1), torch.tensor([0, 0, 1, 2])
    hard = 1 - average_precision(embeddings @ embeddings.T, labels[:, None] == labels).mean()
    assert hard.item() == pytest.approx(1 / 24)
    found = OnEmbeddings(SupAPLoss(**PRESETS[name]), exclude_self=False)(embeddings, labels)
    assert found.item() == pytest.approx(expected, abs=5e-6)
    assert (found < hard) == (name in BROKEN)


def test_limit_is_one_minus_average_precision():
    y, relevance = random(5, 40, spread=1.0), coin(5, 40)
    hard = 1 - average_precision(y, relevance).mean()
    limit = SupAPLoss(temperature=1e-9, slope=0.0, delta=1e-7, offset=1.0, start=0.0)
    torch.testing.assert_close(limit(y, relevance), hard)


def test_relevant_items_have_no_gradient_from_each_other():
    y, relevance = torch.tensor([0.3, 0.2, 0.1]), torch.tensor([True, True, True])
    assert SupAPLoss()(y, relevance).item() == 0 and not gradient(SupAPLoss(), y, relevance).any()
    alone = gradient(SupAPLoss(), torch.tensor([0.3, 0.2, -9.0]), torch.tensor([True, True, False]))
    assert not alone.any()


def test_gradient_pulls_relevant_items_up_and_others_down():
    y, relevance = random(4, 9, dtype=torch.float32), coin(4, 9, seed=2)
    found = gradient(SupAPLoss(), y, relevance)
    assert (found[relevance] <= 0).all() and (found[~relevance] >= 0).all() and found.any()
    torch.testing.assert_close(found.sum(-1), torch.zeros(4), rtol=0, atol=1e-4)


y, yes = torch.tensor([0.3, 0.1]), torch.tensor([True, False])


def test_it_is_an_ap_loss_of_its_ranker():
    loss = SupAPLoss(**PRESETS["happier"])
    assert isinstance(loss, APLoss) and repr(loss.ranker) == repr(SupremumRanker.preset("happier"))
    assert not loss.state_dict()
