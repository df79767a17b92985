"""What every loss of scores keeps, whatever it computes; each has its own definition in a test of its own."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import pytest
import torch
from drawn import DEVICES, coin, cosines, gradient, random
from torch import nn

from rankedu import losses, readable
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
from rankedu.rankers import BlackboxRanker, HistogramRanker, SigmoidRanker
from ranklab import contestants
from ranklab.contestants import APSVMLoss, ErrorDrivenAPLoss, ProjectionRanker

nan, inf = float("nan"), float("inf")


def by_definition(loss):
    """The same loss, without its shortcuts."""
    forward = loss.forward

    def slowly(*args, **options):
        with readable():
            return forward(*args, **options)

    loss.forward = slowly
    return loss


class Case(NamedTuple):
    loss: nn.Module
    labels: str = "relevance"  # the second argument: relevance or target
    slope: bool = False  # the gradient is the derivative of the value
    twice: bool = False  # that has a gradient too
    empty: type[Warning] | None = losses.NoPositivesWarning  # what it says where there is nothing to rank


Undefined = pytest.importorskip("rankedu.metrics").UndefinedMetricWarning
LOSSES = {
    "ap": Case(APLoss(BlackboxRanker(60.0), 0.1)),
    "ap, normalized": Case(APLoss(BlackboxRanker(6.0, normalized=True), 0.1)),
    "ap, through both ranks": Case(APLoss(BlackboxRanker(60.0), 0.1, within_grad=True)),
    "ap, readable": Case(by_definition(APLoss(BlackboxRanker(60.0), 0.1))),
    "ap of a sigmoid": Case(APLoss(SigmoidRanker(0.1), 0.1)),
    "ap of a histogram": Case(APLoss(HistogramRanker(5), within_grad=True), slope=True, twice=True),
    "ap of a projection": Case(APLoss(ProjectionRanker(0.3), within_grad=True), slope=True, twice=True),
    "recall": Case(RecallLoss(BlackboxRanker(60.0), 0.1)),
    "recall, own W": Case(RecallLoss(BlackboxRanker(60.0), 0.1, weights=torch.log1p)),
    "recall of a sigmoid": Case(RecallLoss(SigmoidRanker(0.1), weights=torch.log1p, within_grad=True), slope=True),
    "map": Case(MAPLoss(BlackboxRanker(60.0), 0.1)),
    "smooth ap": Case(SmoothAPLoss(0.1), slope=True),
    "sup ap": Case(SupAPLoss(0.1), slope=True),
    "fast ap": Case(FastAPLoss(5), slope=True),
    "h-ap": Case(HAPLoss(BlackboxRanker(60.0), 0.1)),
    "h-ap of a sigmoid": Case(HAPLoss(SigmoidRanker(0.1), within_grad=True), slope=True),
    "happier": Case(HAPLoss(), slope=True),
    "spearman": Case(SpearmanLoss(BlackboxRanker(60.0)), "target", empty=Undefined),
    "spearman of a sigmoid": Case(SpearmanLoss(SigmoidRanker(0.1)), "target", slope=True, twice=True, empty=Undefined),
    "error-driven": Case(ErrorDrivenAPLoss(0.5)),
    "ap-svm": Case(APSVMLoss(), slope=True),
    "calibration": Case(CalibrationLoss(), slope=True, twice=True, empty=None),
    "roadmap": Case(ROADMAPLoss(temperature=0.1), slope=True),
}
every_loss = pytest.mark.parametrize("case", LOSSES.values(), ids=LOSSES)
blackbox = {name: case for name, case in LOSSES.items() if not (case.slope or name == "ap of a sigmoid")}
SCALES = [0.01, 0.25, 1.0, 3.0, 65536.0]


def batch(case, rows=4, n=9, dtype=torch.float64, seed=0):
    """Scores without ties, labels with a relevant item in each row, and who takes part: each with one of both kinds."""
    scores, relevance = cosines(rows, n, seed=seed, dtype=dtype), coin(rows, n, seed=seed + 1)
    relevance[:, 0], relevance[:, 1] = True, False
    where = coin(rows, n, p=0.8, seed=seed + 2)
    where[:, :3] = True
    labels = cosines(rows, n, seed=seed + 3) if case.labels == "target" else relevance
    return scores, labels, where


def test_every_loss_of_scores_is_here():
    on_others = {"ClusterLoss", "CSLLoss", "HAPPIERLoss", "OnEmbeddings", "OnProposals"}
    offered = vars(losses) | {name: getattr(contestants, name) for name in contestants.__all__ if "Loss" in name}
    part = {name for name, value in offered.items() if isinstance(value, type) and issubclass(value, nn.Module)}
    assert part == {type(case.loss).__name__ for case in LOSSES.values()} | on_others


@every_loss
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_one_number_in_32_bits_at_least(case, dtype):
    scores, labels, where = batch(case, dtype=dtype)
    wide = torch.promote_types(dtype, torch.float32)
    value = case.loss(scores, labels, where=where)
    assert value.shape == () and value.dtype == wide and value.isfinite() and value > 0
    torch.testing.assert_close(value, case.loss(scores.to(wide), labels, where=where))
    found = gradient(case.loss, scores, labels, where=where)
    assert found.dtype == dtype and found.shape == scores.shape and found.any()
    torch.testing.assert_close(found, gradient(case.loss, scores.to(wide), labels, where=where).to(dtype))


@every_loss
def test_without_a_gradient_the_value_is_the_same(case):
    scores, labels, where = batch(case)
    expected = case.loss(scores.clone().requires_grad_(), labels, where=where)
    for mode in (torch.no_grad, torch.inference_mode):
        with mode():
            found = case.loss(scores, labels, where=where)
        assert not found.requires_grad
        torch.testing.assert_close(found, expected.detach())


@every_loss
def test_the_order_of_items_does_not_matter(case):
    scores, labels, where = batch(case)
    order = torch.randperm(9, generator=torch.Generator().manual_seed(2))
    shuffled = [x[:, order] for x in (scores, labels, where)]
    torch.testing.assert_close(case.loss(*shuffled[:2], where=shuffled[2]), case.loss(scores, labels, where=where))
    found = gradient(case.loss, *shuffled[:2], where=shuffled[2])
    torch.testing.assert_close(found, gradient(case.loss, scores, labels, where=where)[:, order])


@every_loss
def test_where_is_leaving_out(case):
    """Whatever stands there; and an overflow on its way back does not reach it."""
    (scores, labels, _), where = batch(case, rows=1 if not isinstance(case.loss, MAPLoss) else 9), None
    where = torch.arange(9) % 4 != 2
    where = where.expand(scores.shape) if not isinstance(case.loss, MAPLoss) else where[:, None].expand(scores.shape)
    inside = (slice(None), where[0]) if not isinstance(case.loss, MAPLoss) else where[:, 0]
    padded = scores.masked_fill(~where, nan)
    expected = case.loss(scores[inside], labels[inside])
    torch.testing.assert_close(case.loss(padded, labels, where=where), expected)
    found = gradient(case.loss, padded, labels, where=where)
    torch.testing.assert_close(found[inside], gradient(case.loss, scores[inside], labels[inside]))
    assert found.any() and not found[~where].any()
    for incoming in (nan, inf):
        assert not gradient(case.loss, padded, labels, where=where, scale=incoming)[~where].any()


@every_loss
def test_rows_with_nothing_to_rank_do_not_count(case):
    if case.empty is None or isinstance(case.loss, (MAPLoss, ROADMAPLoss)):
        pytest.skip("its rows, or those without a positive, count")
    scores, labels, _ = batch(case)
    labels = labels.clone()
    labels[1] = 0
    rest = [0, 2, 3]
    torch.testing.assert_close(case.loss(scores, labels), case.loss(scores[rest], labels[rest]))
    found = gradient(case.loss, scores, labels)
    assert not found[1].any() and found[rest].any()


@every_loss
def test_it_is_the_mean_of_its_rows_in_any_layout(case):
    scores, labels, where = (torch.stack(pair) for pair in zip(batch(case), batch(case, seed=7), strict=True))
    turned = [x.mT.contiguous().mT for x in (scores, labels, where)]
    assert not turned[0].is_contiguous()
    value = case.loss(scores, labels, where=where)
    torch.testing.assert_close(case.loss(turned[0], turned[1], where=turned[2]), value)
    found = gradient(case.loss, turned[0], turned[1], where=turned[2])
    torch.testing.assert_close(found, gradient(case.loss, scores, labels, where=where))
    if not isinstance(case.loss, (MAPLoss, CalibrationLoss, ROADMAPLoss)):  # whose mean is another
        alone = [case.loss(s, r, where=w) for s, r, w in zip(*(x.flatten(0, 1) for x in turned), strict=True)]
        torch.testing.assert_close(torch.stack(alone).mean(), value)


@every_loss
def test_nothing_to_rank_at_all_is_zero_and_one_warning(case):
    scores, labels, _ = batch(case)
    leaf = (scores - 5 if case.empty is None else scores).requires_grad_()  # calibrated, for there is no positive
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        value = case.loss(leaf, torch.zeros_like(labels))
    assert [found.category for found in caught] == ([] if case.empty is None else [case.empty])
    assert all(found.filename == __file__ for found in caught)
    if not isinstance(case.loss, ROADMAPLoss):  # whose calibration goes on
        assert value.item() == 0
        value.backward()
        assert not leaf.grad.any()


@every_loss
def test_ties_and_one_item_are_no_trouble(case):
    for scores in (torch.zeros(2, 4), torch.tensor([[0.5], [0.5]])):
        labels = torch.arange(scores.numel()).reshape(scores.shape) % 2 == 0
        labels[:, 0] = True
        labels = labels.double() if case.labels == "target" else labels
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value, found = case.loss(scores, labels), gradient(case.loss, scores, labels)
        assert value.isfinite() and found.isfinite().all()


@pytest.mark.parametrize("name", [name for name, case in LOSSES.items() if case.slope])
def test_the_gradient_is_the_derivative(name):
    scores, labels, where = batch(LOSSES[name], seed=4)
    loss = LOSSES[name].loss
    assert torch.autograd.gradcheck(lambda s: 3 * loss(s, labels, where=where), scores.requires_grad_(), eps=1e-7)


@every_loss
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_scaled_loss_has_the_scaled_gradient(case, scale, dtype):
    scores, labels, where = batch(case, dtype=dtype)
    plain = gradient(case.loss, scores, labels, where=where)
    found = gradient(case.loss, scores, labels, where=where, scale=scale)
    torch.testing.assert_close(found / scale, plain, rtol=1e-5 if dtype == torch.float32 else 1e-12, atol=1e-7)


@every_loss
def test_micro_batches_add_up(case):
    parts = [batch(case, seed=10 * i)[:2] for i in range(4)]
    weight = torch.ones(9, dtype=torch.float64, requires_grad=True)
    for scores, labels in parts:
        (case.loss(scores * weight, labels) / 4).backward()
    plain = [torch.autograd.grad(case.loss(scores * weight, labels), weight)[0] for scores, labels in parts]
    torch.testing.assert_close(weight.grad, sum(plain) / 4)
    total = sum(case.loss(scores * weight, labels) for scores, labels in parts)
    torch.testing.assert_close(torch.autograd.grad(total, weight)[0], sum(plain))


@every_loss
def test_a_gradient_scaler_changes_nothing(case):
    scores, labels, where = batch(case, dtype=torch.float32)
    steps = []
    for enabled in (False, True):
        torch.manual_seed(0)
        net = nn.Linear(9, 9)
        optimizer, scaler = torch.optim.SGD(net.parameters(), lr=1.0), torch.amp.GradScaler("cpu", enabled=enabled)
        scaler.scale(case.loss(net(scores).tanh(), labels, where=where)).backward()
        scaler.step(optimizer)
        scaler.update()
        steps.append(net.weight.detach())
    torch.testing.assert_close(*steps)


@every_loss
def test_a_second_backward_is_the_first(case):
    scores, labels, where = batch(case)
    value = case.loss(scores.requires_grad_(), labels, where=where)
    (first,) = torch.autograd.grad(value, scores, retain_graph=True)
    assert torch.equal(first, torch.autograd.grad(value, scores)[0])


@every_loss
def test_a_gradient_of_the_gradient_is_given_or_refused(case):
    scores, labels, where = batch(case)
    value = case.loss(scores.requires_grad_(), labels, where=where)
    (first,) = torch.autograd.grad(value, scores, create_graph=True)
    if case.twice:
        assert first.grad_fn is None or torch.autograd.grad(first.square().sum(), scores)[0].isfinite().all()
    else:
        with pytest.raises(RuntimeError, match="differentiate twice"):
            first.square().sum().backward()


@every_loss
@pytest.mark.parametrize("device", DEVICES)
def test_every_device_gives_the_same(case, device):
    scores, labels, where = batch(case, rows=5, n=60)
    expected = gradient(case.loss, scores, labels, where=where)
    found = gradient(case.loss, scores.float().to(device), labels.to(device), where=where.to(device))
    assert found.device.type == device
    torch.testing.assert_close(found.cpu().double(), expected, rtol=1e-4, atol=1e-4 * expected.abs().max().item())


y, yes = torch.tensor([[0.3, 0.1], [0.2, 0.4]]), torch.tensor([[True, False], [False, True]])
BAD: dict[str, Any] = {
    "NaN": ((y * nan, yes), {}, ValueError, "scores must not contain NaN, got 4 of 4"),
    "no items": ((y[:, :0], yes[:, :0]), {}, ValueError, r"scores .* n >= 1, got \(2, 0\)"),
    "integers": ((y.long(), yes), {}, TypeError, "scores must be floating point"),
    "a list": (([0.1, 0.2], yes), {}, TypeError, "scores must be a torch.Tensor, got list"),
    "shapes": ((y, yes[:, :1]), {}, ValueError, r"(relevance|target) must have the shape of scores, \(2, 2\)"),
    "where is float": ((y, yes), {"where": y}, TypeError, "where must be bool, got torch.float32"),
    "shape of where": ((y, yes), {"where": yes[:1]}, ValueError, r"where must have the shape of scores, \(2, 2\)"),
}


@every_loss
@pytest.mark.parametrize("bad", BAD)
def test_bad_input(case, bad):
    (scores, labels), options, error, message = BAD[bad]
    labels = labels.double() if case.labels == "target" else labels
    with pytest.raises(error, match=message):
        case.loss(scores, labels, **options)


@every_loss
@pytest.mark.parametrize("odd", [0.5, -1.0, nan])
def test_relevance_is_binary_or_at_least_a_number(case, odd):
    graded = isinstance(case.loss, HAPLoss) and odd == 0.5
    if case.labels == "target" or graded:
        pytest.skip("takes other numbers")
    with pytest.raises(ValueError, match=r"relevance must be .* got"):
        case.loss(y, yes * odd + 0 * y)


# What is not the scores has its gradient too


class Weighed(APLoss):
    """A formula with something to learn."""

    def __init__(self, ranker):
        super().__init__(ranker)
        self.weight = nn.Parameter(torch.tensor(2.0, dtype=torch.float64))

    def formula(self, ranks, within):
        return self.weight * super().formula(ranks, within)


class Tempered(BlackboxRanker):
    """A blackbox ranker with something to learn before it."""

    def __init__(self, lam):
        super().__init__(lam)
        self.scale = nn.Parameter(torch.tensor(1.5, dtype=torch.float64))

    def _ranks(self, scores, members, where):
        return super()._ranks(self.scale * scores, members, where)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("made", [lambda loss: loss, by_definition], ids=["fast", "readable"])
@pytest.mark.parametrize("ranker", [BlackboxRanker(60.0), Tempered(60.0), SigmoidRanker(0.1)], ids=repr)
def test_what_the_loss_has_to_learn(ranker, scale, made):
    scores, relevance, _ = batch(LOSSES["ap"])
    loss, temperature = made(Weighed(ranker)), torch.tensor(1.3, dtype=torch.float64, requires_grad=True)
    sources = [temperature, *loss.parameters()]
    plain = torch.autograd.grad(loss(scores / temperature, relevance), sources)
    scaled = torch.autograd.grad(scale * loss(scores / temperature, relevance), sources)
    for found, expected in zip(scaled, plain, strict=True):
        torch.testing.assert_close(found, scale * expected)
        assert expected.any()
    value = APLoss(ranker)(scores / temperature, relevance)
    torch.testing.assert_close(plain[[p is loss.weight for p in sources].index(True)], value.detach())


@pytest.mark.parametrize("made", [lambda loss: loss, by_definition], ids=["fast", "readable"])
@pytest.mark.parametrize("ranker", [BlackboxRanker(60.0), SigmoidRanker(0.1)], ids=repr)
def test_a_closure_learns_too(ranker, made):
    """What stands in no module, and was made of something else."""
    scores, relevance, _ = batch(LOSSES["ap"])
    raw = torch.tensor(0.3, dtype=torch.float64, requires_grad=True)
    power = raw.exp()
    loss = made(RecallLoss(ranker, weights=lambda r: power.detach() * torch.log1p(r)))
    loss.closed_form = lambda r: power * torch.log1p(r)
    value = loss(scores.requires_grad_(), relevance)
    (7 * value).backward()
    torch.testing.assert_close(raw.grad, 7 * value.detach())  # d exp(raw)/d raw is itself


def test_on_embeddings_the_weight_comes_before_the_product():
    loss, labels = OnEmbeddings(APLoss(BlackboxRanker(60.0), 0.1)), torch.arange(12) // 3
    plain = gradient(loss, random(12, 5), labels)
    for scale in SCALES:
        torch.testing.assert_close(gradient(loss, random(12, 5), labels, scale=scale), scale * plain)


def test_blackbox_ranks_alone_keep_algorithm_1():
    """There the incoming gradient is honoured: 16 times as much is another λ."""
    scores, c = random(8).requires_grad_(), random(8, seed=1)
    plain, scaled = (torch.autograd.grad(BlackboxRanker(0.3)(scores), scores, w * c)[0] for w in (1.0, 16.0))
    (strong,) = torch.autograd.grad(BlackboxRanker(16 * 0.3)(scores), scores, c)
    assert torch.equal(scaled, 16 * strong) and not torch.allclose(scaled, 16 * plain)
