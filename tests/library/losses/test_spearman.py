"""SpearmanLoss is one minus the metric where ranks are exact, and a squared distance of ranks for any ranker."""

import pytest
import scipy.stats
import torch
from drawn import cosines, gradient

from rankedu import rank
from rankedu.blackbox import interpolate
from rankedu.losses import SpearmanLoss
from rankedu.metrics import spearman
from rankedu.rankers import BlackboxRanker, HistogramRanker, SigmoidRanker
from rankedu.solvers import ranking
from ranklab.contestants import ProjectionRanker

RANKERS = {
    "blackbox": BlackboxRanker(2.0),
    "normalized": BlackboxRanker(2.0, normalized=True),
    "sigmoid": SigmoidRanker(0.1),
    "histogram": HistogramRanker(10),
    "projection": ProjectionRanker(0.5),
}
SHARP = {
    **{name: RANKERS[name] for name in ("blackbox", "normalized")},
    "sigmoid": SigmoidRanker(1e-6),
    "histogram": HistogramRanker(10**4),
    "projection": ProjectionRanker(1e-6),
}
each_ranker = pytest.mark.parametrize("ranker", RANKERS.values(), ids=RANKERS)
nan = float("nan")


def coin(*shape, p=0.7, seed=1):
    return torch.rand(shape, generator=torch.Generator().manual_seed(seed)) < p


@pytest.mark.parametrize("ranker", SHARP.values(), ids=SHARP)
@pytest.mark.parametrize("ragged", [False, True])
@pytest.mark.parametrize("shape", [(9,), (4, 9), (2, 3, 9)])
def test_with_exact_ranks_it_is_one_minus_spearman(ranker, ragged, shape):
    scores = cosines(*shape).argsort(-1).double() / 9 - 0.5  # distinct, and not too near
    target, where = cosines(*shape, seed=1), coin(*shape) if ragged else None
    expected = 1 - spearman(scores, target, where=where).mean()
    torch.testing.assert_close(SpearmanLoss(ranker)(scores, target, where=where), expected, rtol=1e-9, atol=1e-9)


def test_it_is_one_minus_scipys():
    scores, target = cosines(30), torch.arange(30)
    expected = 1 - scipy.stats.spearmanr(scores, target).statistic
    assert SpearmanLoss(BlackboxRanker(1.0))(scores, target).item() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n", [2, 3, 10, 1000])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_its_bounds_are_0_and_2(n, dtype):
    scores = torch.linspace(-1, 1, n, dtype=dtype)
    loss = SpearmanLoss(BlackboxRanker(1.0))
    assert loss(scores, torch.arange(n)).item() == 0
    assert loss(scores, -torch.arange(n)).item() == pytest.approx(2, abs=1e-6)
    assert loss(scores, torch.arange(n)).dtype == (torch.float64 if dtype == torch.float64 else torch.float32)


@each_ranker
@pytest.mark.parametrize("ragged", [False, True])
def test_it_is_the_scaled_squared_distance(ranker, ragged):
    scores, target = cosines(5, 8), cosines(5, 8, seed=1)
    where = coin(5, 8) if ragged else torch.ones(5, 8, dtype=torch.bool)
    ranks = ranker(scores, where=where) * (where.sum(-1, keepdim=True) if getattr(ranker, "normalized", False) else 1)
    each = []
    for r, t, here in zip(ranks, target, where, strict=True):
        n = int(here.sum())
        each.append(6 / (n * (n * n - 1)) * sum((a - b) ** 2 for a, b in zip(r[here], rank(t[here]), strict=True)))
    found = SpearmanLoss(ranker)(scores, target, where=where if ragged else None)
    torch.testing.assert_close(found, torch.stack(each).mean())


@pytest.mark.parametrize("lam", [2.0, 5.0, 50.0])
def test_with_the_blackbox_ranker_the_gradient_is_that_of_the_interpolation(lam):
    scores, target = cosines(9), cosines(9, seed=1)
    ranks = rank(scores).double().requires_grad_()
    (6 / (9 * 80) * (ranks - rank(target)).square().sum()).backward()
    torch.testing.assert_close(ranks.grad, 12 * (ranks.detach() - rank(target)) / (9 * 80))
    smooth, step = interpolate(ranking, ranks.grad, lam), 1e-6 * torch.eye(9, dtype=torch.float64)
    expected = torch.stack([(smooth(scores + h) - smooth(scores - h)) / 2e-6 for h in step])
    found = gradient(SpearmanLoss(BlackboxRanker(lam)), scores, target)
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-6)
    assert found.any()


def test_lam_of_the_paper_is_n_times_lam_of_the_code():
    scores, target = cosines(3, 8), cosines(3, 8, seed=1)
    of_code = gradient(SpearmanLoss(BlackboxRanker(2.0, normalized=True)), scores, target)
    torch.testing.assert_close(of_code, gradient(SpearmanLoss(BlackboxRanker(16.0)), scores, target))
    assert of_code.any()


@pytest.mark.parametrize("name", ["sigmoid", "histogram", "projection"])
def test_descent_finds_the_order(name):
    ranker = {"sigmoid": SigmoidRanker(0.5), "histogram": HistogramRanker(3), "projection": ProjectionRanker(3.0)}[name]
    scores, target = (cosines(6) / 2).requires_grad_(), cosines(6, seed=1)
    loss, start = SpearmanLoss(ranker), spearman(scores, target)
    for _ in range(200):
        (slope,) = torch.autograd.grad(loss(scores, target), scores)
        scores.data -= 0.1 * slope
    assert start < 0.9 < spearman(scores, target)


def test_collapsed_ranks_are_punished_though_they_correlate():
    target = torch.arange(5.0)
    ranks = ProjectionRanker(1e4)(target)
    assert spearman(-ranks, target) == 1
    assert SpearmanLoss(ProjectionRanker(1e4))(target, target).item() == pytest.approx(0.5, abs=1e-3)


def test_equal_targets_want_equal_ranks():
    target = torch.tensor([0, 1, 1, 2])
    tied = SpearmanLoss(ProjectionRanker(0.1))(target.double(), target)
    assert tied.item() == 0
    loss = SpearmanLoss(BlackboxRanker(1.0))
    assert loss(target.double(), target).item() == pytest.approx(6 / 60 * 0.5)  # by position: ranks 2 and 3, not 2.5
    assert spearman(target.double(), target) == 1


def test_the_target_may_be_of_any_type_and_gets_no_gradient():
    scores, target = cosines(6).requires_grad_(), torch.tensor([3, 1, 2, 6, 5, 4])
    loss = SpearmanLoss(RANKERS["sigmoid"])
    as_float = target.float().requires_grad_()
    loss(scores, as_float).backward()
    assert as_float.grad is None
    assert torch.equal(loss(scores, target), loss(scores, as_float))


y, loss = torch.tensor([0.3, 0.1]), SpearmanLoss(BlackboxRanker(1.0))
BAD = {
    "ranker": (lambda: SpearmanLoss(4.0), TypeError, r"ranker must be one of .* got 4.0"),
    "target NaN": (lambda: loss(y, y * nan), ValueError, "target must not contain NaN, got 2 of 2"),
}


@pytest.mark.parametrize(("call", "error", "message"), BAD.values(), ids=BAD)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
