"""Smooth-AP against its definition, against the hard metric, and against what is printed and what is released."""

from itertools import product

import pytest
import torch
from drawn import coin, gradient, random
from pytorch_metric_learning.losses import SmoothAPLoss as OfPytorchMetricLearning
from torch.nn.functional import normalize
from torch.profiler import ProfilerActivity, profile

from rankedu import readable
from rankedu._fast import tiles
from rankedu.losses import APLoss, OnEmbeddings, RecallLoss, SmoothAPLoss
from rankedu.metrics import average_precision
from rankedu.rankers import SigmoidRanker
from rankedu.rankers._pairwise import PairwiseRanker

TEMPERATURES = [0.005, 0.01, 0.05, 0.1, 1.0]
nan, inf = float("nan"), float("inf")


def batch(sizes, *, dim=8, noise=0.7, seed=0, dtype=torch.float64):
    """Embeddings of classes of the given sizes, sorted by class."""
    labels = torch.arange(len(sizes)).repeat_interleave(torch.tensor(sizes))
    centres = random(len(sizes), dim, seed=seed)
    return (centres[labels] + noise * random(len(labels), dim, seed=seed + 1)).to(dtype), labels


def definition(y, relevant, temperature):
    """1 − (1/|rel|) Σ_{k ∈ rel} (1 + Σ_{j ∈ rel, j ≠ k} σ)/(1 + Σ_{j ≠ k} σ), one query, one positive after another."""
    precision = []
    for k in relevant.nonzero()[:, 0].tolist():
        step = torch.sigmoid((y - y[k]) / temperature)
        others = torch.arange(len(y)) != k
        precision.append((1 + step[others & relevant].sum()) / (1 + step[others].sum()))
    return 1 - torch.stack(precision).mean()


@pytest.mark.parametrize("temperature", TEMPERATURES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("ragged", [False, True])
def test_value_and_gradient_are_the_definition(temperature, dtype, ragged):
    y, relevance = 0.1 * random(2, 3, 9, dtype=dtype), coin(2, 3, 9)
    where = coin(2, 3, 9, p=0.8, seed=5) if ragged else torch.ones_like(relevance)
    exact = y.double().requires_grad_()
    rows = [(exact[q][where[q]], relevance[q][where[q]]) for q in product(range(2), range(3))]
    expected = torch.stack([definition(s, r, temperature) for s, r in rows if r.any()]).mean()
    expected.backward()
    assert exact.grad.any()
    loss = SmoothAPLoss(temperature)
    options = {"where": where} if ragged else {}
    tight = {"rtol": 1e-5, "atol": 1e-5} if dtype == torch.float32 else {"rtol": 1e-11, "atol": 1e-12}
    torch.testing.assert_close(loss(y, relevance, **options).double(), expected.detach(), **tight)
    torch.testing.assert_close(gradient(loss, y, relevance, **options).double(), exact.grad, **tight)


@pytest.mark.parametrize("temperature", TEMPERATURES)
@pytest.mark.parametrize("exclude_self", [False, True])
@pytest.mark.parametrize("sizes", [(4, 4, 4, 4), (1, 2, 9, 4, 1), (1, 30)])
def test_on_embeddings_of_any_class_sizes(temperature, exclude_self, sizes):
    embeddings, labels = batch(sizes)
    leaf = embeddings.clone().requires_grad_()
    unit = normalize(leaf, dim=1)
    rows = []
    for q, row in enumerate(unit @ unit.T):
        keep = torch.arange(len(labels)) != q if exclude_self else torch.ones(len(labels), dtype=torch.bool)
        if (labels[keep] == labels[q]).any():
            rows.append(definition(row[keep], (labels == labels[q])[keep], temperature))
    expected = torch.stack(rows).mean()
    expected.backward()
    found = embeddings.clone().requires_grad_()
    loss = OnEmbeddings(SmoothAPLoss(temperature), exclude_self=exclude_self)(found, labels)
    loss.backward()
    torch.testing.assert_close(loss, expected, rtol=1e-11, atol=1e-12)
    torch.testing.assert_close(found.grad, leaf.grad, rtol=1e-9, atol=1e-10)
    assert found.grad.any()


@pytest.mark.parametrize("make", [APLoss, RecallLoss])
@pytest.mark.parametrize("within_grad", [False, True])
@pytest.mark.parametrize("tile", [1, 64, 1 << 18])
@pytest.mark.parametrize("temperature", [0.005, 0.5])
def test_fast_path_is_the_readable_one(monkeypatch, make, within_grad, tile, temperature):
    monkeypatch.setitem(tiles.TILE, "cpu", tile)
    for seed, ties, ragged, margin in product(range(2), (False, True), (False, True), (0.0, 0.1)):
        y, relevance = random(2, 3, 31, seed=seed), coin(2, 3, 31, seed=seed, p=0.1 + 0.4 * seed)
        relevance[0, 1] = False
        if ties:
            y = (2 * y).round() / 2
            y[0, 0, :2], y[1, 1, 3:5] = inf, -inf
        where = coin(2, 3, 31, p=0.8, seed=seed + 20) if ragged else None
        if ragged:
            y[~where] = nan
        fast = make(SigmoidRanker(temperature), margin, within_grad=within_grad)
        slow = readable()(fast)
        expected = slow(y, relevance, where=where)
        torch.testing.assert_close(fast(y, relevance, where=where), expected, rtol=1e-12, atol=1e-12)
        expected = gradient(slow, y, relevance, where=where, scale=-3.0)
        found = gradient(fast, y, relevance, where=where, scale=-3.0)
        torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9)
        assert found.any() and (where is None or (found[~where] == 0).all())


@pytest.mark.parametrize("n", [257, 4001])
def test_fast_path_keeps_its_precision_in_float32(n):
    y, relevance = 0.2 * random(3, n, dtype=torch.float32), coin(3, n, p=0.05)
    loss = SmoothAPLoss()
    torch.testing.assert_close(loss(y, relevance).double(), loss(y.double(), relevance), rtol=0, atol=1e-6)
    found, expected = gradient(loss, y, relevance).double(), gradient(loss, y.double(), relevance)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5 * expected.abs().max().item())


def test_it_is_ap_loss_of_the_sigmoid_ranker():
    y, relevance = 0.1 * random(4, 30), coin(4, 30)
    whole, stopped = (APLoss(SigmoidRanker(0.05), within_grad=w) for w in (True, False))
    assert torch.equal(SmoothAPLoss(0.05)(y, relevance), whole(y, relevance))
    assert torch.equal(stopped(y, relevance), whole(y, relevance))
    assert torch.equal(gradient(SmoothAPLoss(0.05), y, relevance), gradient(whole, y, relevance))
    assert not torch.allclose(gradient(stopped, y, relevance), gradient(whole, y, relevance))


def test_a_step_that_learns_takes_the_readable_path():
    class Learnt(PairwiseRanker):
        def __init__(self):
            super().__init__()
            self.scale = torch.nn.Parameter(torch.tensor(10.0))

        def step(self, differences):
            return (self.scale * differences).sigmoid()

    y, relevance, ranker = random(3, 8, dtype=torch.float32), coin(3, 8), Learnt()
    value = APLoss(ranker, within_grad=True)(y, relevance)
    torch.testing.assert_close(value, SmoothAPLoss(0.1)(y, relevance))
    value.backward()
    assert ranker.scale.grad.abs() > 0


# Limits and invariances


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_as_the_temperature_falls_it_meets_the_hard_metric(seed, dtype):
    generator = torch.Generator().manual_seed(seed)
    y = torch.stack([torch.randperm(60, generator=generator) for _ in range(4)]).to(dtype) / 64
    relevance = coin(4, 60, p=0.2, seed=seed)
    hard = 1 - average_precision(y, relevance).mean()
    torch.testing.assert_close(SmoothAPLoss(1e-4)(y, relevance), hard, rtol=0, atol=1e-6)
    assert (SmoothAPLoss(0.2)(y, relevance) - hard).abs() > 1e-3


def test_as_the_temperature_grows_every_pair_counts_half():
    relevance = torch.arange(11) < 3
    found = SmoothAPLoss(1e9)(random(11), relevance)
    assert found.item() == pytest.approx(1 - (1 + 2 / 2) / (1 + 10 / 2))


# What is printed, and what is released


def as_printed(scores, gt, temperature=0.01):
    """The published pseudo-code, for a row of scores (1, m) and of relevances (1, m)."""
    m = scores.shape[1]
    s1 = scores.repeat(m, 1)
    difference = s1 - s1.T
    ranks = 1 + (torch.sigmoid(difference / temperature) * (1 - torch.eye(m))).sum(1)
    among = gt * ranks
    return 1 - (among / ranks).sum() / gt.sum()


def as_meant(scores, gt, temperature=0.01):
    """The same with the rank among the positives counted by the positives, and the sum weighted by the relevance."""
    m = scores.shape[1]
    s1 = scores.repeat(m, 1)
    steps = torch.sigmoid((s1 - s1.T) / temperature) * (1 - torch.eye(m))
    ranks, among = 1 + steps.sum(1), 1 + (steps * gt).sum(1)
    return 1 - (gt[0] * among / ranks).sum() / gt.sum()


@pytest.mark.parametrize("seed", range(5))
def test_the_printed_pseudo_code_has_no_gradient(seed):
    """R_pos / R is gt * R / R, which is gt: the AP is 1 whatever the ranking, and its gradient 0."""
    scores, gt = 0.02 * random(1, 9, seed=seed), coin(1, 9, seed=seed).double()
    leaf = scores.clone().requires_grad_()
    value = as_printed(leaf, gt)
    value.backward()
    assert value.item() == pytest.approx(0, abs=1e-12)
    torch.testing.assert_close(leaf.grad, torch.zeros_like(leaf), rtol=0, atol=1e-10)

    other = scores.clone().requires_grad_()
    meant = as_meant(other, gt)
    meant.backward()
    torch.testing.assert_close(SmoothAPLoss()(scores, gt), meant.detach())
    torch.testing.assert_close(gradient(SmoothAPLoss(), scores, gt), other.grad)
    assert meant > 0.05 and other.grad.abs().max() > 0.1


def test_a_column_of_ranks_makes_the_printed_ap_even_m():
    """With R as a column, gt.T * R is too; with gt.T a column and R a row, the sum is over an m x m matrix."""
    scores, gt = 0.02 * random(1, 6), torch.tensor([[1.0, 0, 1, 0, 0, 1]]).double()
    s1 = scores.repeat(6, 1)
    ranks = 1 + (torch.sigmoid((s1 - s1.T) / 0.01) * (1 - torch.eye(6))).sum(1)
    assert ((gt.T * ranks[:, None]) / ranks[:, None]).sum().item() / 3 == pytest.approx(1)
    assert ((gt.T * ranks) / ranks).sum().item() / 3 == pytest.approx(6)


def test_a_query_that_retrieves_itself_makes_the_loss_smaller():
    """Three pairs of near neighbours, each of two classes: the true partner is the last of the others."""
    angle = torch.tensor([0.0, 2.0, 4.0, 0.5, 2.5, 4.5], dtype=torch.float64)
    embeddings = torch.stack([angle.cos(), angle.sin()], dim=1)
    labels = torch.tensor([0, 1, 2, 1, 2, 0])
    without = OnEmbeddings(SmoothAPLoss(1e-3))(embeddings, labels)
    with_self = OnEmbeddings(SmoothAPLoss(1e-3), exclude_self=False)(embeddings, labels)
    unit = embeddings @ embeddings.T
    relevance = labels[:, None] == labels
    others = ~torch.eye(6, dtype=torch.bool)
    assert without.item() == pytest.approx(1 - average_precision(unit, relevance, where=others).mean().item(), abs=1e-6)
    assert with_self.item() == pytest.approx(1 - average_precision(unit, relevance).mean().item(), abs=1e-6)
    assert with_self < 0.6 * without


@pytest.mark.parametrize("size", [2, 3, 4, 6])
@pytest.mark.parametrize("temperature", [0.01, 0.1, 1.0])
def test_agrees_with_pytorch_metric_learning_where_that_is_right(size, temperature):
    """As many classes as members of each, rows sorted, the query being its own positive."""
    embeddings, labels = batch((size,) * size)
    theirs = OfPytorchMetricLearning(temperature=temperature)
    ours = OnEmbeddings(SmoothAPLoss(temperature), exclude_self=False)
    assert ours(embeddings, labels).item() == pytest.approx(theirs(embeddings, labels).item(), abs=1e-6)
    expected = gradient(theirs, embeddings, labels)
    torch.testing.assert_close(gradient(ours, embeddings, labels), expected, rtol=1e-5, atol=1e-6)
    assert expected.any()


def test_where_pytorch_metric_learning_is_not_right():
    """It takes the number of classes for that of their members: right is 0 for classes at right angles."""
    labels = torch.arange(4).repeat_interleave(8)
    apart = torch.eye(4, dtype=torch.float64)[labels]
    ours = OnEmbeddings(SmoothAPLoss(), exclude_self=False)
    assert ours(apart, labels).item() == pytest.approx(0, abs=1e-12)
    assert OfPytorchMetricLearning()(apart, labels).item() == pytest.approx(0.444, abs=1e-3)

    square = torch.arange(4).repeat_interleave(4)
    mixed = torch.arange(16) * 5 % 16  # rows that are not sorted by class
    apart = torch.eye(4, dtype=torch.float64)[square]
    assert OfPytorchMetricLearning()(apart, square).item() == pytest.approx(0, abs=1e-6)
    assert OfPytorchMetricLearning()(apart[mixed], square[mixed]).item() > 0.1
    assert ours(apart[mixed], square[mixed]).item() == pytest.approx(0, abs=1e-12)


# The contract of a loss


def test_scores_changed_before_the_backward_do_not_matter():
    """The gradient has been found with the value."""
    y, relevance = 0.1 * random(2, 9).requires_grad_(), coin(2, 9)
    (expected,) = torch.autograd.grad(SmoothAPLoss()(y, relevance), y)
    scores = y * 1
    value = SmoothAPLoss()(scores, relevance)
    with torch.no_grad():
        scores.mul_(2)
    assert torch.equal(torch.autograd.grad(value, y)[0], expected) and expected.any()


def peak(work):
    """The most bytes that torch held at once for this piece of work, from the events of its allocator."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as found:
        work()
    held, most = 0, 0
    for event in found.profiler.kineto_results.events():
        if event.name() == "[memory]":
            held += event.nbytes()
            most = max(most, held)
    return most


@pytest.mark.parametrize("sizes", [(4,) * 256, (*range(1, 45), 34), (2,) * 412 + (200,)])
def test_memory_is_as_for_the_scores_whatever_the_classes(monkeypatch, sizes):
    """1024 items each time, in classes of one size, of all sizes, and with one of 200 among pairs."""
    monkeypatch.setitem(tiles.TILE, "cpu", 1 << 16)
    labels = torch.arange(len(sizes)).repeat_interleave(torch.tensor(sizes))
    scores = random(1024, 1024, dtype=torch.float32).requires_grad_()
    relevance, where = labels[:, None] == labels, ~torch.eye(1024, dtype=torch.bool)
    SmoothAPLoss()(scores[:9, :9], relevance[:9, :9]).backward()
    scores.grad = None
    most = peak(lambda: SmoothAPLoss()(scores, relevance, where=where).backward())
    assert 1 <= most / (4 * 1024**2) <= 3


y, yes = torch.tensor([0.3, 0.1]), torch.tensor([True, False])
BAD = {"temperature": (lambda: SmoothAPLoss(0), ValueError, r"temperature must be finite and > 0, got 0.0 .*rank\(\)")}


@pytest.mark.parametrize(("call", "error", "message"), BAD.values(), ids=BAD)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
