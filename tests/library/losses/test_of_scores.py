"""What is a loss's own: against other libraries, the metric it stands for, its bound, and what is printed or released.

Values are held to the definitions in `test_reference.py`, gradients in `test_contract.py`.
"""

import pytest
import scipy.stats
import torch
from drawn import coin, cosines, gradient, random, value_and_gradients
from pytorch_metric_learning.losses import FastAPLoss as OfPytorchMetricLearning

from rankbook.ch14_happier.bounds import upper_bound
from rankedu.losses import (
    APLoss,
    CalibrationLoss,
    FastAPLoss,
    HAPLoss,
    MAPLoss,
    OnEmbeddings,
    RecallLoss,
    ROADMAPLoss,
    SmoothAPLoss,
    SpearmanLoss,
    SupAPLoss,
)
from rankedu.metrics import average_precision, spearman
from rankedu.rankers import PRESETS, BlackboxRanker, HistogramRanker, SigmoidRanker, SupremumRanker
from ranklab.contestants import ProjectionRanker

nan, inf = float("nan"), float("inf")
close = torch.testing.assert_close


@pytest.mark.parametrize("kind", [APLoss, RecallLoss, HAPLoss])
def test_stopping_the_gradient_through_the_inner_rank_changes_it(kind):
    y, relevance = 0.3 * random(3, 12), coin(3, 12)
    for ranker in (BlackboxRanker(20.0), SigmoidRanker(0.1)):
        losses = [kind(ranker, within_grad=within) for within in (False, True)]
        stopped, whole = (value_and_gradients(lambda s, loss=loss: loss(s, relevance), y) for loss in losses)
        assert torch.equal(stopped[0], whole[0]) and not torch.allclose(stopped[1], whole[1])


def test_apc_pushes_negatives_of_a_class_without_positives():
    """(P3): mean AP alone gives them no gradient."""
    scores = torch.tensor([[0.1, 0.9], [0.2, 0.8]])
    relevance = torch.tensor([[True, False], [False, False]])
    without = gradient(MAPLoss(BlackboxRanker(90.0), class_agnostic_weight=0.0), scores, relevance)
    assert (without[:, 1] == 0).all()
    assert (gradient(MAPLoss(BlackboxRanker(90.0)), scores, relevance)[:, 1] > 0).all()


# Smooth-AP


@pytest.mark.parametrize("n", [257, 4001])
def test_smooth_ap_keeps_its_precision_in_float32(n):
    y, relevance = 0.2 * random(3, n, dtype=torch.float32), coin(3, n, p=0.05)
    single, double = (value_and_gradients(lambda s: SmoothAPLoss()(s, relevance), s) for s in (y, y.double()))
    close(single[0].double(), double[0], rtol=0, atol=1e-6)
    close(single[1].double(), double[1], rtol=1e-4, atol=1e-5 * double[1].abs().max().item())


def as_printed(scores, gt, meant=False):
    """The published pseudo-code, for a row of scores (1, m) and of relevances (1, m).

    As it is meant, the rank among the positives is counted by the positives, and the sum weighted by the relevance.
    """
    m = scores.shape[1]
    s1 = scores.repeat(m, 1)
    steps = torch.sigmoid((s1 - s1.T) / 0.01) * (1 - torch.eye(m))
    ranks = 1 + steps.sum(1)
    among = gt[0] * (1 + (steps * gt).sum(1)) if meant else gt * ranks
    return 1 - (among / ranks).sum() / gt.sum()


def test_the_printed_pseudo_code_has_no_gradient():
    """R_pos / R is gt * R / R, which is gt: the AP is 1 whatever the ranking, and its gradient 0."""
    for seed in range(5):
        scores, gt = 0.02 * random(1, 9, seed=seed), coin(1, 9, seed=seed).double()
        value, slope = value_and_gradients(lambda s: as_printed(s, gt), scores)  # noqa: B023
        assert value.item() == pytest.approx(0, abs=1e-12) and slope.abs().max() < 1e-10
        meant = value_and_gradients(lambda s: as_printed(s, gt, meant=True), scores)  # noqa: B023
        close(value_and_gradients(lambda s: SmoothAPLoss()(s, gt), scores), meant)  # noqa: B023
        assert meant[0] > 0.05 and meant[1].abs().max() > 0.1


def test_scores_changed_before_the_backward_do_not_matter():
    """The gradient has been found with the value."""
    y, relevance = 0.1 * random(2, 9).requires_grad_(), coin(2, 9)
    scores = y * 1
    value = SmoothAPLoss()(scores, relevance)
    with torch.no_grad():
        scores.mul_(2)
    assert torch.equal(torch.autograd.grad(value, y)[0], gradient(SmoothAPLoss(), y, relevance))


# SupAP


def gap(ranker, scores, positive):
    """How far the loss of each row lies above 1 − AP; below 0 it breaks the bound."""
    within = ranker.among(scores, positive)
    ranks = within + ranker.against(scores, positive, ~positive)
    soft = (within / ranks.clamp(min=1)).sum(-1) / positive.sum(-1)
    return average_precision(scores, positive) - soft


@pytest.mark.parametrize("name", PRESETS)
def test_the_bound_is_kept_in_100_000_rankings_or_broken_by_the_settings_that_break_it(name):
    """Rankings of every difficulty: wide and narrow, and nearly sorted the wrong way by gaps about τ or δ."""
    generator, rows = torch.Generator().manual_seed(1), 100_000
    spread = torch.tensor([1e-4, 3e-3, 0.01, 0.05, 0.3, 1.0], dtype=torch.float64)
    spread = spread[torch.randint(6, (rows, 1), generator=generator)]
    scores = spread * torch.randn(rows, 8, generator=generator, dtype=torch.float64)
    positive = torch.rand(rows, 8, generator=generator) < torch.rand(rows, 1, generator=generator)
    positive[:, 0] |= ~positive.any(-1)
    against = torch.rand(rows, 1, generator=generator) < 0.5
    scores -= against * spread * positive * torch.rand(rows, 1, generator=generator)
    ranker = SupremumRanker.preset(name)
    found = gap(ranker, scores, positive)
    if upper_bound(**PRESETS[name]).holds:
        assert found.min() >= -1e-14 and (found > 0.01).float().mean() > 0.2
        single = scores.float()
        distinct = (single.sort().values.diff() > 0).all(-1)
        assert gap(ranker, single[distinct], positive[distinct]).min() >= -1e-6  # up to rounding
    else:
        assert 0.05 < (found < -1e-3).float().mean() < 0.95 and found.min() < -0.1


def test_tied_relevant_items_break_the_bound():
    y, relevance = torch.tensor([0.001, 0.0, 0.0], dtype=torch.float64), torch.tensor([False, True, True])
    assert SupAPLoss()(y, relevance) < 0.35 < 5 / 12 == pytest.approx((1 - average_precision(y, relevance)).item())


def test_the_counterexample_of_the_errata():
    """Angles 0°, 40°, −39.9°, 180°, each item its own positive: 1 − AP is 1/24."""
    radians = torch.tensor([0.0, 40.0, -39.9, 180.0], dtype=torch.float64).deg2rad()
    embeddings, labels = torch.stack([radians.cos(), radians.sin()], 1), torch.tensor([0, 0, 1, 2])
    hard = 1 - average_precision(embeddings @ embeddings.T, labels[:, None] == labels).mean()
    assert hard.item() == pytest.approx(1 / 24)
    values = {"happier_inat": 0.02611, "roadmap_inat": 0.02611, "happier": 0.04244, "joined": 0.04244}
    for name, expected in values.items():
        found = OnEmbeddings(SupAPLoss(**PRESETS[name]), exclude_self=False)(embeddings, labels)
        assert found.item() == pytest.approx(expected, abs=5e-6)
        assert (found >= hard) == upper_bound(**PRESETS[name]).holds


# FastAP


def test_fast_ap_is_that_of_pytorch_metric_learning():
    """Rows in any order; classes of one item are no query there either."""
    for bins, sizes in ((1, (4, 4, 4, 4)), (10, (1, 2, 3, 5, 7)), (40, (1, 2, 3, 5, 7))):
        labels = torch.repeat_interleave(torch.arange(len(sizes)), torch.tensor(sizes))
        order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(3))
        embeddings, labels = random(len(labels), 6)[order], labels[order]
        ours, theirs = OnEmbeddings(FastAPLoss(bins)), OfPytorchMetricLearning(bins)
        found, expected = (value_and_gradients(lambda e, f=f: f(e, labels), embeddings) for f in (ours, theirs))  # noqa: B023
        close(found, expected, rtol=1e-9, atol=1e-11)
        assert expected[1].any()


@pytest.mark.parametrize("at", [1.0, 0.5, -0.5, -1.0])
def test_at_a_centre_the_slope_of_fast_ap_is_that_towards_lower_similarities(at):
    """At the last centre, towards higher ones."""
    others = torch.tensor([0.9, 0.6, 0.1, -0.3, -0.8]).double()
    relevance = torch.tensor([True, False, True, True, False, True])

    def first(y):
        return FastAPLoss(4)(torch.cat([y.view(1), others]), relevance)

    y, step = torch.tensor(at, dtype=torch.float64), 1e-7 if at == -1 else -1e-7
    _, slope = value_and_gradients(first, y)
    close(slope, (first(y + step) - first(y)) / step, rtol=1e-5, atol=1e-6)
    assert slope != 0


def test_what_rounding_carries_beyond_one_counts_as_one():
    relevance = torch.tensor([True, False, True, False])
    scores = torch.tensor([[1.0, -1.0, 0.3, 0.2], [1.0 + 2**-23, -1.004, 0.3, 0.2]])
    inside, outside = (value_and_gradients(lambda s: FastAPLoss()(s, relevance), row) for row in scores)
    close(outside, inside, rtol=0, atol=0)
    hidden, where = torch.tensor([7.0, inf, nan, 0.2, 0.3]), torch.tensor([False, False, False, True, True])
    assert FastAPLoss(10)(hidden, torch.tensor([1, 1, 1, 0, 1]), where=where).item() < 1


# Spearman


def test_with_exact_ranks_it_is_one_minus_spearman():
    scores = cosines(2, 3, 9).argsort(-1).double() / 9 - 0.5  # distinct, and not too near
    target = cosines(2, 3, 9, seed=1)
    exact = BlackboxRanker(2.0), BlackboxRanker(2.0, normalized=True), SigmoidRanker(1e-6), HistogramRanker(10**4)
    for where in (None, coin(2, 3, 9, p=0.7)):
        expected = 1 - spearman(scores, target, where=where).mean()
        for ranker in (*exact, ProjectionRanker(1e-6)):
            close(SpearmanLoss(ranker)(scores, target, where=where), expected, rtol=1e-9, atol=1e-9)
    scores, target = cosines(30), torch.arange(30)
    expected = 1 - scipy.stats.spearmanr(scores, target).statistic
    assert SpearmanLoss(BlackboxRanker(1.0))(scores, target).item() == pytest.approx(expected, abs=1e-12)


def test_equal_targets_want_equal_ranks_and_a_target_of_any_type_gets_no_gradient():
    target = torch.tensor([0, 1, 1, 2])
    assert SpearmanLoss(ProjectionRanker(0.1))(target.double(), target).item() == 0
    loss = SpearmanLoss(BlackboxRanker(1.0))
    assert loss(target.double(), target).item() == pytest.approx(6 / 60 * 0.5)  # by position: ranks 2 and 3, not 2.5
    assert spearman(target.double(), target) == 1
    scores, as_float = cosines(4).requires_grad_(), target.float().requires_grad_()
    value = SpearmanLoss(SigmoidRanker(0.1))(scores, as_float)
    value.backward()
    assert as_float.grad is None and SpearmanLoss(SigmoidRanker(0.1))(scores, target) == value


# Calibration


def test_calibration_is_the_mean_over_what_is_too_low_and_over_what_is_too_high():
    y, relevance, where = 0.5 + 0.3 * random(4, 9), coin(4, 9), coin(4, 9, p=0.8, seed=2)
    for low, high in ((0.9, 0.6), (0.5, 0.5), (0.2, 0.8), (-1.0, 1.5), (3.0, -3.0)):
        wrong = (low - y)[relevance & where].relu(), (y - high)[~relevance & where].relu()
        expected = sum(x.sum() / x.count_nonzero().clamp(min=1) for x in wrong)
        close(CalibrationLoss(low, high)(y, relevance, where=where), expected)


def test_roadmap_is_the_weighted_sum():
    """Twice the default is the released sum."""
    y, relevance, where = 0.5 + 0.3 * random(4, 9), coin(4, 9), coin(4, 9, p=0.8, seed=2)
    for name, weight in (("joined", 0.0), ("roadmap", 0.1), ("roadmap_inat", 0.5), ("roadmap_2021", 1.0)):
        losses = [ROADMAPLoss(weight, 0.8, 0.5, **PRESETS[name]), SupAPLoss(**PRESETS[name]), CalibrationLoss(0.8, 0.5)]
        found, *parts = (
            value_and_gradients(lambda s, x=x: x(s, relevance, where=where), y, weight=-2.0) for x in losses
        )
        close(found, tuple((1 - weight) * a + weight * b for a, b in zip(*parts, strict=True)))
    assert ROADMAPLoss().weight == 0.5
