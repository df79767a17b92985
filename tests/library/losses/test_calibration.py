"""Calibration and ROADMAP: against the definition, and against the contrastive loss of pytorch-metric-learning."""

import warnings

import pytest
import torch
from drawn import coin, gradient
from pytorch_metric_learning.distances import DotProductSimilarity
from pytorch_metric_learning.losses import ContrastiveLoss
from torch.nn.functional import normalize

from rankedu.losses import CalibrationLoss, NoPositivesWarning, OnEmbeddings, ROADMAPLoss, SupAPLoss
from rankedu.rankers import PRESETS

nan, inf = float("nan"), float("inf")


def random(*shape, seed=0, dtype=torch.float64):
    drawn = torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return (0.5 + 0.3 * drawn).to(dtype)


def definition(scores, relevance, where, at_least, at_most):
    """Item by item; the mean over what is not zero."""
    terms = {True: [], False: []}
    for s, r, w in zip(scores.flatten(), relevance.flatten(), where.flatten(), strict=True):
        short = at_least - s if r else s - at_most
        if w and short > 0:
            terms[bool(r)].append(short)
    means = [sum(t) / len(t) for t in terms.values() if t]
    return sum(means) if means else 0 * scores.sum()


@pytest.mark.parametrize(("at_least", "at_most"), [(0.9, 0.6), (0.5, 0.5), (0.2, 0.8), (-1.0, 1.5), (3.0, -3.0)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("ragged", [False, True])
def test_value_and_gradient_are_those_of_the_definition(at_least, at_most, dtype, ragged):
    y, relevance = random(2, 3, 9, dtype=dtype), coin(2, 3, 9)
    where = coin(2, 3, 9, p=0.7, seed=2) if ragged else torch.ones_like(relevance)
    exact = y.double().requires_grad_()
    expected = definition(exact, relevance, where, at_least, at_most)
    expected.backward()
    loss, options = CalibrationLoss(at_least, at_most), {"where": where} if ragged else {}
    torch.testing.assert_close(loss(y, relevance, **options).double(), expected.detach(), rtol=1e-6, atol=1e-6)
    found = gradient(loss, y, relevance, **options)
    torch.testing.assert_close(found.double(), exact.grad, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("scores", "relevance", "expected"),
    [
        ([0.95, 0.5, 0.75, 0.25], [1, 1, 0, 0], 0.4 + 0.15),
        ([0.7, 0.8, 0.5, 0.4], [1, 1, 0, 0], (0.2 + 0.1) / 2),
        ([0.9, 0.6], [1, 0], 0.0),
        ([1.0, -1.0], [1, 0], 0.0),
        ([-1.0, 1.0], [1, 0], 1.9 + 0.4),
        ([0.7, 0.8], [0, 0], (0.1 + 0.2) / 2),
        ([0.7, 0.8], [1, 1], (0.2 + 0.1) / 2),
    ],
)
def test_by_hand(scores, relevance, expected):
    y = torch.tensor(scores, dtype=torch.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert CalibrationLoss(0.9, 0.6)(y, torch.tensor(relevance)).item() == pytest.approx(expected, abs=1e-12)
    assert repr(CalibrationLoss()) == "CalibrationLoss(at_least=0.9, at_most=0.6)"


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("at_least", "at_most"), [(0.9, 0.6), (0.3, 0.1)])
def test_it_is_the_contrastive_loss_of_pytorch_metric_learning(seed, at_least, at_most):
    """On dot products, as the released code has it: that one adds the means over the pairs that are not zero."""
    drawn = random(12, 5, seed=seed).requires_grad_()
    labels = torch.tensor([0, 0, 0, 1, 1, 2, 2, 2, 2, 3, 3, 4])
    other = ContrastiveLoss(pos_margin=at_least, neg_margin=at_most, distance=DotProductSimilarity())
    expected = other(normalize(drawn, dim=1), labels)
    expected.backward()
    leaf = drawn.detach().clone().requires_grad_()
    found = OnEmbeddings(CalibrationLoss(at_least, at_most))(leaf, labels)
    found.backward()
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(leaf.grad, drawn.grad)
    assert leaf.grad.any()


@pytest.mark.parametrize("weight", [0.0, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("name", ["joined", "roadmap", "roadmap_inat", "roadmap_2021"])
def test_roadmap_is_the_weighted_sum(weight, name):
    y, relevance, where = random(4, 9), coin(4, 9), coin(4, 9, p=0.8, seed=2)
    loss = ROADMAPLoss(weight, 0.8, 0.5, **PRESETS[name])
    supremum, calibration = SupAPLoss(**PRESETS[name]), CalibrationLoss(0.8, 0.5)
    parts = [x(y, relevance, where=where) for x in (supremum, calibration)]
    torch.testing.assert_close(loss(y, relevance, where=where), (1 - weight) * parts[0] + weight * parts[1])
    slopes = [gradient(x, y, relevance, where=where) for x in (supremum, calibration)]
    torch.testing.assert_close(
        gradient(loss, y, relevance, where=where, scale=-2.0), -2 * ((1 - weight) * slopes[0] + weight * slopes[1])
    )


def test_twice_the_default_is_the_released_sum():
    y, relevance = random(4, 9), coin(4, 9)
    released = SupAPLoss(**PRESETS["roadmap"])(y, relevance) + CalibrationLoss(0.9, 0.6)(y, relevance)
    torch.testing.assert_close(2 * ROADMAPLoss(**PRESETS["roadmap"])(y, relevance), released)


def test_the_calibration_alone_knows_the_scale():
    """Scores that are all too high by the same amount are ranked as before."""
    y, relevance = random(4, 9), coin(4, 9)
    torch.testing.assert_close(SupAPLoss()(y + 0.3, relevance), SupAPLoss()(y, relevance))
    assert CalibrationLoss()(y + 0.3, relevance) != CalibrationLoss()(y, relevance)


def test_no_positives_leave_the_calibration_and_one_warning():
    y = random(4, 3).requires_grad_()
    with pytest.warns(NoPositivesWarning) as caught:
        value = ROADMAPLoss()(y, torch.zeros(4, 3))
    assert len(caught) == 1 and caught[0].filename == __file__
    torch.testing.assert_close(value, 0.5 * CalibrationLoss()(y, torch.zeros(4, 3)))
    value.backward()
    assert y.grad.any()


y, yes = torch.tensor([0.3, 0.1]), torch.tensor([True, False])
BAD = {
    "at_least": (lambda: CalibrationLoss(nan), ValueError, "at_least must be finite, got nan .*cosine"),
    "at_most": (lambda: CalibrationLoss(0.9, None), TypeError, "at_most must be a number, got None"),
    "weight": (lambda: ROADMAPLoss(1.5), ValueError, r"weight must be finite and in \[0, 1\], got 1.5"),
    "bound": (lambda: ROADMAPLoss(at_most=inf), ValueError, "at_most must be finite, got inf"),
    "slope": (lambda: ROADMAPLoss(slope=-1), ValueError, "slope must be finite and >= 0"),
}


@pytest.mark.parametrize(("call", "error", "message"), BAD.values(), ids=BAD)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
