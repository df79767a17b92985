"""The sum and the single losses are the mean's own parts, in value and in gradient."""

import pytest
import torch
from drawn import coin, cosines, gradient, random

from rankedu import reference
from rankedu.losses import APLoss, FastAPLoss, HAPLoss, NoPositivesWarning, RecallLoss, SmoothAPLoss, SupAPLoss
from rankedu.rankers import BlackboxRanker, HistogramRanker
from ranklab.contestants import APSVMLoss, ErrorDrivenAPLoss

LOSSES = {
    "ap": lambda **r: APLoss(BlackboxRanker(60.0), 0.1, **r),
    "ap, through both ranks": lambda **r: APLoss(BlackboxRanker(60.0), 0.1, within_grad=True, **r),
    "ap of a histogram": lambda **r: APLoss(HistogramRanker(5), within_grad=True, **r),
    "recall": lambda **r: RecallLoss(BlackboxRanker(6.0, normalized=True), 0.1, **r),
    "smooth ap": lambda **r: SmoothAPLoss(0.1, **r),
    "sup ap": lambda **r: SupAPLoss(0.1, **r),
    "fast ap": lambda **r: FastAPLoss(5, **r),
    "h-ap": lambda **r: HAPLoss(BlackboxRanker(60.0), 0.1, **r),
    "happier": lambda **r: HAPLoss(**r),
    "error-driven": lambda **r: ErrorDrivenAPLoss(0.5, **r),
    "ap-svm": lambda **r: APSVMLoss(**r),
}


def batch(rows=6, n=9):
    """Two axes of queries; the third query has nothing relevant, and some items take no part."""
    scores, relevance = cosines(rows, n), coin(rows, n, seed=1)
    relevance[:, 0], relevance[:, 1], relevance[2] = True, False, False
    where = coin(rows, n, seed=2)
    where[:, :2] = True
    return (x.view(2, 3, n) for x in (scores, relevance, where))


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("make", LOSSES.values(), ids=LOSSES)
def test_sum_and_single_losses_are_parts_of_the_mean(make, masked):
    scores, relevance, where = batch()
    where = where if masked else None
    mean, total, single = (make(reduction=r)(scores, relevance, where=where) for r in ("mean", "sum", "none"))
    assert single.shape == (2, 3) and single[0, 2] == 0
    torch.testing.assert_close(single.sum() / 5, mean)
    torch.testing.assert_close(total, 5 * mean)
    expected = gradient(make(), scores, relevance, where=where)
    assert expected.any()
    torch.testing.assert_close(gradient(make(reduction="sum"), scores, relevance, where=where), 5 * expected)
    weights = random(2, 3, seed=4)
    leaf = scores.clone().requires_grad_()
    (weights * make(reduction="none")(leaf, relevance, where=where)).sum().backward()
    torch.testing.assert_close(leaf.grad, 5 * weights.unsqueeze(-1) * expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_single_losses_are_those_of_the_reference(dtype):
    scores, relevance = cosines(5, 8, dtype=dtype), coin(5, 8, seed=1)
    relevance[:, 3] = True
    found = APLoss(BlackboxRanker(1.0), reduction="none")(scores, relevance)
    expected = [1 - reference.average_precision(s, r) for s, r in zip(scores.tolist(), relevance.tolist(), strict=True)]
    torch.testing.assert_close(found, torch.tensor(expected, dtype=dtype))


def test_nothing_relevant_at_all_is_a_zero_for_each_query():
    scores = random(3, 4).requires_grad_()
    with pytest.warns(NoPositivesWarning):
        found = SmoothAPLoss(reduction="none")(scores, torch.zeros(3, 4, dtype=torch.bool))
    assert torch.equal(found, torch.zeros(3, dtype=torch.float64))
    found.sum().backward()
    assert not scores.grad.any()


def test_one_list_of_16_bits():
    relevance = torch.tensor([False, True, True])
    found = SmoothAPLoss(0.1, reduction="none")(torch.tensor([0.5, 0.4, 0.1], dtype=torch.bfloat16), relevance)
    assert found.shape == () and found.dtype == torch.float32


def test_an_unknown_reduction_is_refused():
    with pytest.raises(ValueError, match=r"reduction must be .*'mean'.* got 'avg'"):
        HAPLoss(reduction="avg")
