"""What every loss keeps, whatever it computes; each has what is its own in a test of its own."""

import math
import warnings

import pytest
import torch
from cases import EMBEDDED, LOSSES
from drawn import DEVICES, DTYPES, HALF, coin, cosines, grades, gradient, random, refused, value_and_gradients
from torch import nn

from rankedu import losses, pairs, rank, ranks
from rankedu.blackbox import interpolate
from rankedu.losses import APLoss, MAPLoss, RecallLoss
from rankedu.rankers import BlackboxRanker, SigmoidRanker
from rankedu_lab import contestants, detections

#: Losses share a ranker, which tells once of a step that moves nobody: in which test hangs on their order.
pytestmark = pytest.mark.filterwarnings("ignore:lam=")
nan, inf = math.nan, math.inf
SCALES = [0.01, 0.25, 1.0, 3.0, 65536.0]
close = torch.testing.assert_close


def cases(*promises):
    """The cases that keep what they are asked for, by name."""
    kept = {name: case for name, case in LOSSES.items() if all(map(case.keeps, promises))}
    return pytest.mark.parametrize("case", kept.values(), ids=kept)


def batch(case, rows=4, n=9, dtype=torch.float64, seed=0):
    """Scores without ties, labels with a relevant item in each row, and who takes part: each with one of both kinds."""
    scores, relevant = cosines(rows, n, seed=seed, dtype=dtype), coin(rows, n, seed=seed + 1)
    relevant[:, 0], relevant[:, 1] = True, False
    where = coin(rows, n, p=0.8, seed=seed + 2)
    where[:, :3] = True
    if case.labels == "target":
        return scores, cosines(rows, n, seed=seed + 3), where
    return scores, relevant * (1 + grades(rows, n)) if case.labels == "graded" else relevant, where


def both(loss, scores, labels, where=None, weight=1.0):
    """The value and the gradient by the scores."""
    return value_and_gradients(lambda s: loss(s, labels, where=where), scores, weight=weight)


def test_every_loss_of_scores_is_here():
    offered = {name: getattr(part, name) for part in (losses, detections) for name in part.__all__}
    offered |= {name: getattr(contestants, name) for name in contestants.__all__ if "Loss" in name}
    part = {name for name, value in offered.items() if isinstance(value, type) and issubclass(value, nn.Module)}
    part -= {name for name in part if getattr(offered[name], "takes_items", False)}  # these have tests of their own
    listed = [case.loss for case in LOSSES.values()] + [make() for make, _ in EMBEDDED.values()]
    assert part == {type(loss).__name__ for loss in listed}
    assert all(reason for case in LOSSES.values() for reason in case.breaks.values())
    assert all(repr(loss).startswith(type(loss).__name__) for loss in listed)


@cases()
def test_one_number_in_32_bits_at_least(case):
    for dtype in DTYPES:
        scores, labels, where = batch(case, dtype=dtype)
        wide = torch.promote_types(dtype, torch.float32)
        value, found = both(case.loss, scores, labels, where)
        assert value.shape == () and value.dtype == wide and value.isfinite() and value > 0
        assert found.dtype == dtype and found.shape == scores.shape and found.any()
        expected = both(case.loss, scores.to(wide), labels, where)
        close((value, found), (expected[0], expected[1].to(dtype)))
        for quiet in (torch.no_grad, torch.inference_mode):
            with quiet():
                close(case.loss(scores, labels, where=where), value)
        if dtype == torch.float32:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                close(both(case.loss, scores, labels, where), (value, found))


@cases()
def test_order_layout_and_rows(case):
    """Items in any order; leading axes; strides of any kind."""
    scores, labels, where = batch(case)
    order = torch.randperm(9, generator=torch.Generator().manual_seed(2))
    value, found = both(case.loss, scores, labels, where)
    shuffled = both(case.loss, scores[:, order], labels[:, order], where[:, order])
    close(shuffled, (value, found[:, order]))
    pairs = [torch.stack(pair) for pair in zip(batch(case), batch(case, seed=7), strict=True)]
    turned = [x.mT.contiguous().mT for x in pairs]
    assert not turned[0].is_contiguous()
    results = [both(case.loss, *x) for x in (pairs, turned)]
    close(*results)
    if case.keeps("rows"):
        alone = [case.loss(s, r, where=w) for s, r, w in zip(*(x.flatten(0, 1) for x in pairs), strict=True)]
        close(torch.stack(alone).mean(), results[0][0])


@cases()
def test_where_is_leaving_out(case):
    """Whatever stands there; and an overflow on its way back does not reach it."""
    columns = isinstance(case.loss, MAPLoss)
    scores, labels, _ = batch(case, rows=9 if columns else 1)
    stays = torch.arange(9) % 4 != 2
    where = stays[:, None].expand(scores.shape) if columns else stays.expand(scores.shape)
    inside = stays if columns else (slice(None), stays)
    padded = scores.masked_fill(~where, nan)
    value, found = both(case.loss, padded, labels, where)
    close((value, found[inside]), both(case.loss, scores[inside], labels[inside]))
    assert found.any() and not found[~where].any()
    for incoming in (nan, inf):
        assert not gradient(case.loss, padded, labels, where=where, scale=incoming)[~where].any()


@cases("rows")
def test_rows_with_nothing_to_rank_do_not_count(case):
    scores, labels, _ = batch(case)
    labels[1], rest = 0, [0, 2, 3]
    value, found = both(case.loss, scores, labels)
    close((value, found[rest]), both(case.loss, scores[rest], labels[rest]))
    assert not found[1].any() and found[rest].any()


@cases()
def test_nothing_to_rank_at_all_is_one_warning_and_zero(case):
    scores, labels, _ = batch(case)
    leaf = (scores - 5 if case.empty is None else scores).requires_grad_()  # calibrated, for there is no positive
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        value = case.loss(leaf, torch.zeros_like(labels))
    assert [found.category for found in caught] == ([] if case.empty is None else [case.empty])
    assert all(found.filename == __file__ for found in caught)
    value.backward()
    if isinstance(case.loss, losses.ROADMAPLoss):
        assert "only the calibration of the others is left" in str(caught[0].message)
        close(value, 0.5 * losses.CalibrationLoss()(scores, torch.zeros_like(labels)))
    assert (value.item() == 0 and not leaf.grad.any()) or isinstance(case.loss, losses.ROADMAPLoss)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert case.loss(scores[:0], labels[:0]) == 0  # no rows


@cases("slope")
def test_the_gradient_is_the_derivative(case):
    scores, labels, where = batch(case, seed=4)
    loss = case.loss
    near = scores.mul(0.2).requires_grad_()
    assert torch.autograd.gradcheck(lambda s: 3 * loss(s, labels, where=where), near, eps=1e-7, atol=1e-5)


class Held(BlackboxRanker):
    """Exact ranks to differentiate by, kept with the scores that they are of."""

    linear = True

    def _exact(self, scores, members, n, last=None):
        ranks = super()._exact(scores.detach(), members, n, last).requires_grad_()
        self.seen.append((ranks, scores, torch.ones_like(scores, dtype=torch.bool) if members is None else members))
        return ranks


#: Losses of the ranker of which `Held` is one.
HELD = ["ap", "ap, through both ranks", "recall", "recall, own W", "map", "h-ap", "ndcg", "spearman"]


@pytest.mark.parametrize("name", HELD)
def test_the_gradient_of_exact_ranks_is_that_of_their_interpolation(name):
    """Of f_λ of c·rk with c = dL/drk at rk(y), and of the ranks among the relevant if the gradient flows there too."""
    for scores, labels, where in (batch(LOSSES[name], seed=seed) for seed in (0, 4)):
        held, ranker = LOSSES[name].loss, Held(60.0)
        ranker.seen = []
        (held.average_precision if name == "map" else held).ranker = ranker
        held(leaf := scores.clone().requires_grad_(), labels, where=where).backward()
        leaf.grad = None
        for own, moved, members in (seen for seen in ranker.seen if seen[0].grad is not None):
            for y, c, inside in zip(*(x.reshape(-1, x.shape[-1]) for x in (moved, own.grad, members)), strict=True):
                if inside.any():
                    (interpolate(rank, c[inside], 60.0)(y[inside]) + 0 * leaf.sum()).backward(retain_graph=True)
        found = gradient(LOSSES[name].loss, scores, labels, where=where)
        close(found, leaf.grad, rtol=1e-9, atol=1e-12)
        assert found.any()


@cases()
def test_a_scaled_loss_has_the_scaled_gradient_and_a_second_backward_is_the_first(case):
    for dtype, rtol in ((torch.float32, 1e-5), (torch.float64, 1e-12)):
        scores, labels, where = batch(case, dtype=dtype)
        plain = gradient(case.loss, scores, labels, where=where)
        for scale in SCALES:
            found = gradient(case.loss, scores, labels, where=where, scale=scale)
            close(found / scale, plain, rtol=rtol, atol=1e-7)
    value = case.loss(scores.requires_grad_(), labels, where=where)
    again = [torch.autograd.grad(value, scores, retain_graph=True)[0] for _ in range(2)]
    assert torch.equal(again[0], plain) and torch.equal(*again)


@cases()
def test_a_gradient_of_the_gradient_is_given_or_refused(case):
    scores, labels, where = batch(case)
    value = case.loss(scores.requires_grad_(), labels, where=where)
    (first,) = torch.autograd.grad(value, scores, create_graph=True)
    if case.keeps("twice"):
        assert first.grad_fn is None or torch.autograd.grad(first.square().sum(), scores)[0].isfinite().all()
    else:
        with pytest.raises(RuntimeError, match="differentiate twice"):
            first.square().sum().backward()


@cases()
@pytest.mark.parametrize("device", DEVICES)
def test_every_device_gives_the_same(case, device):
    scores, labels, where = batch(case, rows=5, n=60)
    expected = gradient(case.loss, scores, labels, where=where)
    found = gradient(case.loss, scores.float().to(device), labels.to(device), where=where.to(device))
    assert found.device.type == device
    close(found.cpu().double(), expected, rtol=1e-4, atol=1e-4 * expected.abs().max().item())


@cases()
def test_chunks_and_blocks_change_nothing(monkeypatch, case):
    """With ties, infinities, both zeros, denormal numbers, items left out, and rows with nothing to rank."""
    tiny = torch.finfo(torch.float32).smallest_normal * torch.finfo(torch.float32).eps
    for number, (size, dtype) in enumerate((s, d) for s in (1, 7, 200) for d in (torch.float32, torch.float64)):
        for ties in (False, True):
            y = 0.5 * random(2, 3, 31, seed=number, dtype=dtype).clamp(-2, 2)
            relevant, where = coin(2, 3, 31, p=0.1 * (1 + number % 6), seed=number), coin(2, 3, 31, p=0.8, seed=number)
            relevant[0, 1] = False
            if ties:
                y = (8 * y).round() / 8 * (1.0 - 2.0 * coin(2, 3, 31, p=0.5, seed=7).to(dtype))
                y[1, 2, 3:6] = torch.tensor([tiny, -tiny, 3 * tiny])
                if case.keeps("infinite"):
                    y[0, 0, :2], y[1, 1, 3:5] = inf, -inf
            labels = {"relevant": relevant, "graded": relevant * grades(2, 3, 31, seed=number), "target": y.flip(-1)}
            where = where if number % 3 else None
            y = y if where is None else y.masked_fill(~where, nan)
            whole = both(case.loss, y, labels[case.labels], where, -2.0)
            with monkeypatch.context() as patch:
                patch.setitem(pairs.CHUNK, "cpu", size)
                patch.setattr(ranks, "BLOCK", size)
                cut = both(case.loss, y, labels[case.labels], where, -2.0)
            close(cut, whole, rtol=1e-4 if dtype == torch.float32 else 1e-9, atol=1e-5)


@cases("reduction")
def test_sum_and_single_losses_are_parts_of_the_mean(case):
    """Two axes of queries; the third query has nothing relevant, and some items take no part."""
    scores, labels, where = (x.view(2, 3, 9) for x in batch(case, rows=6))
    labels[0, 2], weights = 0, random(2, 3, seed=4)
    ways = (("mean", 1.0), ("sum", 1.0), ("none", weights))
    for here in (where, None):
        mean, total, single = (both(case.make(reduction=r), scores, labels, here, weight) for r, weight in ways)
        assert single[0].shape == (2, 3) and single[0][0, 2] == 0 and mean[1].any()
        close(single[0].sum() / 5, mean[0])
        close(total, (5 * mean[0], 5 * mean[1]))
        close(single[1], 5 * weights.unsqueeze(-1) * mean[1])
    with pytest.warns(case.empty):
        none = case.make(reduction="none")(scores.requires_grad_(), torch.zeros_like(labels))
    none.sum().backward()
    assert torch.equal(none, torch.zeros(2, 3, dtype=torch.float64)) and not scores.grad.any()
    one = case.make(reduction="none")(scores[0, 0].bfloat16(), labels[0, 0])
    assert (one.shape, one.dtype) == ((), torch.float32)
    refused((lambda: case.make(reduction="avg"), ValueError, r"reduction must be .*'mean'.* got 'avg'"))


@cases("reduction")
@pytest.mark.parametrize("seed", range(3))
def test_flat_lists_in_any_order_are_padded_rows(case, seed):
    """Lists of 1 to 9 items, one of which has nothing relevant; some items take no part."""
    scores, labels, where = batch(case, rows=6, seed=seed)
    labels[2], weights = 0, random(6, seed=seed).abs()
    inside = torch.arange(9) < torch.randint(1, 10, (6, 1), generator=torch.Generator().manual_seed(seed))
    number = 7 * torch.arange(6).unsqueeze(1).expand_as(scores)[inside]
    shuffled = torch.randperm(len(number), generator=torch.Generator().manual_seed(seed))
    flat = [x[inside][shuffled] for x in (scores, labels, where)] + [number[shuffled]]
    for reduction in ("mean", "sum", "none"):
        loss, incoming = case.make(reduction=reduction), 1.0 if reduction != "none" else random(6, seed=9)
        padded = value_and_gradients(
            lambda s, loss=loss: loss(s, labels, where=inside & where, weight=weights), scores, weight=incoming
        )
        found = value_and_gradients(
            lambda s, loss=loss: loss(s, flat[1], where=flat[2], weight=weights, query=flat[3]),
            flat[0],
            weight=incoming,
        )
        close(found, (padded[0], padded[1][inside][shuffled]))
    with pytest.warns(case.empty):
        none = case.make(reduction="none")(flat[0], torch.zeros_like(flat[1]), query=flat[3])
    assert torch.equal(none, torch.zeros(6, dtype=torch.float64))
    refused(
        (lambda: case.loss(scores, labels, query=number), ValueError, r"scores must have shape \(n,\) beside query"),
        (lambda: case.loss(flat[0], flat[1], query=flat[0]), TypeError, "query must be integers"),
        (lambda: case.loss(flat[0] * nan, flat[1], query=flat[3]), ValueError, "scores must not contain NaN"),
    )


y, yes = torch.tensor([[0.3, 0.1], [0.2, 0.4]]), torch.tensor([[True, False], [False, True]])


@cases()
def test_bad_input(case):
    loss, labels = case.loss, yes.double() if case.labels == "target" else yes
    refused(
        (lambda: loss(y * nan, labels), ValueError, "scores must not contain NaN, got 4 of 4"),
        (lambda: loss(y[:, :0], labels[:, :0]), ValueError, r"(scores|target) .* n >= 1, got \(2, 0\)"),
        (lambda: loss(y.long(), labels), TypeError, "scores must be floating point"),
        (lambda: loss([0.1, 0.2], labels), TypeError, "scores must be a torch.Tensor, got list"),
        (lambda: loss(y, labels[:, :1]), ValueError, r"(relevance|target) must have the shape of scores, \(2, 2\)"),
        (lambda: loss(y, labels, where=y), TypeError, "where must be bool, got torch.float32"),
        (lambda: loss(y, labels, where=yes[:1]), ValueError, r"where must have the shape of scores, \(2, 2\)"),
    )
    for odd in {"relevant": (0.5, -1.0, nan), "graded": (-1.0, nan), "target": ()}[case.labels]:
        refused((lambda odd=odd: loss(y, yes * odd + 0 * y), ValueError, r"relevance must be .* got"))


@pytest.mark.parametrize("name", EMBEDDED)
@pytest.mark.parametrize("device", DEVICES)
def test_embeddings_of_any_length_on_every_device_have_the_scaled_gradient(name, device):
    """They are compared in 32 bits, and their gradient is rounded once."""
    make, labels = EMBEDDED[name]
    loss, embeddings, labels = make().to(device), random(7, 6).to(device), labels.to(device)
    for dtype in HALF:
        value, found = value_and_gradients(lambda e: loss(e, labels), embeddings.to(dtype).float())
        half = embeddings.to(dtype)
        close(value_and_gradients(lambda e: loss(e, labels), half), (value, found.to(dtype)), rtol=0, atol=0)
        with torch.autocast(device, dtype=torch.bfloat16):
            assert torch.equal(loss(half, labels), value)
        assert value.dtype == torch.float32 and found.any()
    loss = loss.double()
    sources = [embeddings.requires_grad_(), *loss.parameters()]
    value = loss(embeddings, labels)
    plain = torch.autograd.grad(value, sources, retain_graph=True)
    assert all(part.any() for part in plain)
    for scale in SCALES:
        close(torch.autograd.grad(scale * value, sources, retain_graph=True), tuple(scale * part for part in plain))
    other = make().double()
    other.load_state_dict(loss.state_dict())
    close(value.cpu().detach(), other(random(7, 6), labels.cpu()).detach())
    if name != "on proposals":  # whose logits have no length
        lengths = torch.arange(1.0, 8.0, dtype=torch.float64, device=device)[:, None]
        close(loss(lengths * embeddings, labels), value)


# What is not the scores has its gradient too


class Weighed(APLoss):
    """A formula with something to learn."""

    def __init__(self, ranker):
        super().__init__(ranker)
        self.weight = nn.Parameter(torch.tensor(2.0, dtype=torch.float64))

    def formula(self, ranks, within):
        return self.weight * super().formula(ranks, within)


def learnt(kind, method, *setting):
    """A ranker with something to learn before one of its methods."""

    def scaled(self, x, *others):
        return getattr(super(type(self), self), method)(self.scale * x, *others)

    ranker = type("Learnt", (kind,), {method: scaled})(*setting)
    ranker.scale = nn.Parameter(torch.tensor(1.0, dtype=torch.float64))
    return ranker


HARD, SOFT = BlackboxRanker(60.0), SigmoidRanker(0.1)
LEARNT = learnt(BlackboxRanker, "_exact", 60.0), learnt(SigmoidRanker, "step", 0.1)


@pytest.mark.parametrize("ranker", [HARD, SOFT, *LEARNT], ids=repr)
def test_what_the_loss_has_to_learn(ranker):
    scores, relevance, _ = batch(LOSSES["ap"])
    loss, temperature = Weighed(ranker), torch.tensor(1.3, dtype=torch.float64, requires_grad=True)
    sources = [loss.weight, temperature, *ranker.parameters()]
    compute = lambda: loss(scores / temperature, relevance)  # noqa: E731
    plain = torch.autograd.grad(compute(), sources)
    for scale in SCALES:
        close(torch.autograd.grad(scale * compute(), sources), tuple(scale * part for part in plain))
    assert all(part.any() for part in plain)
    close(plain[0], APLoss(ranker)(scores / temperature, relevance).detach())


@pytest.mark.parametrize("ranker", [HARD, SOFT], ids=repr)
def test_a_closure_learns_too_and_what_has_no_derivative_gives_a_loss_without_one(ranker):
    """What stands in no module, and was made of something else; backward() complains of a table of numbers."""
    scores, relevance, _ = batch(LOSSES["ap"])
    raw = torch.tensor(0.3, dtype=torch.float64, requires_grad=True)
    power, table = raw.exp(), torch.log1p(torch.arange(9.0))
    loss = RecallLoss(ranker, weights=lambda r: power.detach() * torch.log1p(r))
    loss.closed_form = lambda r: power * torch.log1p(r)
    value = loss(scores.requires_grad_(), relevance)
    (7 * value).backward()
    close(raw.grad, 7 * value.detach())  # d exp(raw)/d raw is itself
    flat = RecallLoss(ranker, weights=lambda r: table[r.long().clamp(max=8)])
    assert not any(flat(y, relevance).requires_grad for y in (scores, scores.float()))
    flat.closed_form = lambda r: power * table[r.long().clamp(max=8)]  # which learns, and gives the scores nothing
    learns = flat(scores, relevance)
    assert not torch.autograd.grad(learns, scores, allow_unused=True, materialize_grads=True)[0].any()
