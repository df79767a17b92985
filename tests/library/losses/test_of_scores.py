"""What is a loss's own: against other libraries, the metric it stands for, its bound, and what is printed or released.

Values are held to the definitions in `test_reference.py`, gradients in `test_contract.py`.
"""

import math

import pytest
import torch
from cases import BLACKBOX, LOSSES
from drawn import coin, grades, gradient, random, seeded, value_and_gradients
from pytorch_metric_learning.losses import FastAPLoss as OfPytorchMetricLearning

from rankedu import losses, reference
from rankedu.losses import APLoss, FastAPLoss, HAPLoss, MAPLoss, NDCGLoss, OnEmbeddings, SmoothAPLoss
from rankedu.rankers import PRESETS, BlackboxRanker, HistogramRanker, SigmoidRanker, SupremumRanker

pytestmark = pytest.mark.filterwarnings("ignore:lam=")  # as in test_contract.py
nan, inf = float("nan"), float("inf")
close = torch.testing.assert_close


@pytest.mark.parametrize("kind", [APLoss, losses.RecallLoss, HAPLoss])
def test_stopping_the_gradient_through_the_inner_rank_changes_it(kind):
    y, relevance = 0.3 * random(3, 12), coin(3, 12)
    for ranker in (BlackboxRanker(20.0), SigmoidRanker(0.1)):
        of_both = [kind(ranker, within_grad=within) for within in (False, True)]
        stopped, whole = (value_and_gradients(lambda s, loss=loss: loss(s, relevance), y) for loss in of_both)
        assert torch.equal(stopped[0], whole[0]) and not torch.allclose(stopped[1], whole[1])
    shifted = losses.shift_by_margin(y, relevance, 0.2)
    assert kind(ranker, 0.2)(y, relevance) == kind(ranker)(shifted, relevance) != kind(ranker)(y, relevance)


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


# SupAP, H-AP, HAPPIER


@pytest.mark.parametrize("name", ["happier", "happier, from below", "h-ap of a sigmoid", "h-ap"])
def test_the_scale_of_relevance_does_not_matter(name):
    scores, relevance, loss = 0.3 * random(3, 12), grades(3, 12), LOSSES[name].loss
    expected = value_and_gradients(lambda s: loss(s, relevance), scores)
    each_row = torch.tensor([[1.0], [5.0], [0.01]], dtype=torch.float64)
    for scale in (1e-310, 1e-300, 7.0, 1e300, each_row):
        close(value_and_gradients(lambda s: loss(s, scale * relevance), scores), expected)  # noqa: B023


# NDCG


def test_a_cut_of_ndcg_as_deep_as_the_list_is_none_and_gains_have_any_size():
    scores, grades_ = random(4, 9), torch.randint(5, (4, 9), generator=seeded())
    for soft in (SigmoidRanker(0.1), SupremumRanker()):
        cut, whole = (value_and_gradients(lambda s, k=k: NDCGLoss(soft, k=k)(s, grades_), scores) for k in (9, None))  # noqa: B023
        assert (cut[0] == whole[0]) == isinstance(soft, SigmoidRanker)  # ranks from above may pass n
        assert NDCGLoss(soft)(scores, grades_) == NDCGLoss(soft, k=10**9)(scores, grades_)
    for scale in (1e-300, 1e300):
        scaled = NDCGLoss(BLACKBOX, gains=lambda x, scale=scale: scale * x)
        close(scaled(scores, grades_), NDCGLoss(BLACKBOX, gains="linear")(scores, grades_))


def test_beyond_the_cut_of_ndcg_nothing_is_pulled_but_passed():
    """The gradient is Algorithm 1 for g ln 2 / (IDCG (1 + r) ln²(1 + r)), and for 0 beyond k."""
    scores, grades_ = 0.1 * random(12), torch.randint(5, (12,), generator=seeded())
    gains, ranks = [2**grade - 1 for grade in grades_.tolist()], reference.rank(scores.tolist())
    ideal = sum(g / math.log2(1 + r) for r, g in enumerate(sorted(gains)[::-1][:5], start=1))
    slopes = [math.log(2) / ((1 + r) * math.log(1 + r) ** 2) * (r <= 5) for r in ranks]
    pulled = [g / ideal * slope for g, slope in zip(gains, slopes, strict=True)]
    found = gradient(NDCGLoss(BlackboxRanker(9.0), k=5), scores, grades_)
    close(found, torch.tensor(reference.rank_gradient(scores.tolist(), pulled, 9.0), dtype=torch.float64))
    assert found.any()


def test_auto_lam_moves_lists_all_of_whose_items_have_a_gain():
    scores, grades_ = 1e-3 * random(3, 12, dtype=torch.float32), torch.randint(1, 5, (3, 12), generator=seeded())
    for exact in (scores, scores.double()):
        assert gradient(NDCGLoss(BlackboxRanker("auto")), exact, grades_).any()


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


@pytest.mark.parametrize("at", [1.0, 0.5, 0.0, -0.5, -1.0])
def test_at_a_centre_the_slope_of_bins_is_that_towards_lower_similarities(at):
    """At the last centre, towards higher ones: it is always that of the inside."""
    others, y = torch.tensor([0.9, 0.6, 0.1, -0.3, -0.8]).double(), torch.tensor(at, dtype=torch.float64)
    relevance, step = torch.tensor([True, False, True, True, False, True]), 1e-7 if at == -1 else -1e-7
    for of_bins in (lambda scores: FastAPLoss(4)(scores, relevance), lambda scores: HistogramRanker(4)(scores)[0]):
        first = lambda score, f=of_bins: f(torch.cat([score.view(1), others]))  # noqa: E731
        _, slope = value_and_gradients(first, y)
        close(slope, (first(y + step) - first(y)) / step, rtol=1e-6, atol=1e-6)
        assert slope != 0


def test_what_rounding_carries_beyond_one_counts_as_one():
    relevance = torch.tensor([True, False, True, False])
    scores = torch.tensor([[1.0, -1.0, 0.3, 0.2], [1.0 + 2**-23, -1.004, 0.3, 0.2]])
    inside, outside = (value_and_gradients(lambda s: FastAPLoss()(s, relevance), row) for row in scores)
    close(outside, inside, rtol=0, atol=0)
    hidden, where = torch.tensor([7.0, inf, nan, 0.2, 0.3]), torch.tensor([False, False, False, True, True])
    assert FastAPLoss(10)(hidden, torch.tensor([1, 1, 1, 0, 1]), where=where).item() < 1


# Calibration


def test_roadmap_is_the_weighted_sum():
    """Twice the default is the released sum."""
    y, relevance, where = 0.5 + 0.3 * random(4, 9), coin(4, 9), coin(4, 9, p=0.8, seed=2)
    for name, weight in (("joined", 0.0), ("roadmap", 0.1), ("roadmap_inat", 0.5), ("roadmap_2021", 1.0)):
        roadmap, of_bounds = losses.ROADMAPLoss(weight, 0.8, 0.5, **PRESETS[name]), losses.CalibrationLoss(0.8, 0.5)
        found, *parts = (
            value_and_gradients(lambda s, loss=loss: loss(s, relevance, where=where), y, weight=-2.0)
            for loss in (roadmap, losses.SupAPLoss(**PRESETS[name]), of_bounds)
        )
        close(found, tuple((1 - weight) * a + weight * b for a, b in zip(*parts, strict=True)))
    assert losses.ROADMAPLoss().weight == 0.5
