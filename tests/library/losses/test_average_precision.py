"""AP and mAP losses: against their definitions, against f_λ, and the fast path against the readable one."""

import subprocess
import sys
from itertools import permutations, product

import pytest
import torch
from drawn import coin, gradient, random
from sklearn.metrics import average_precision_score

from rankedu import rank, rank_among, readable, reference
from rankedu._fast import packed
from rankedu.blackbox import interpolate
from rankedu.losses import APLoss, MAPLoss, RecallLoss, shift_by_margin
from rankedu.rankers import BlackboxRanker
from rankedu.solvers import ranking

nan, inf = float("nan"), float("inf")


def difference_quotient(function, y, step=1e-6):
    """Central differences; exact up to rounding where the function is affine."""
    result = torch.empty_like(y)
    for index in product(*map(range, y.shape)):
        up, down = y.clone(), y.clone()
        up[index] += step
        down[index] -= step
        result[index] = (function(up) - function(down)) / (2 * step)
    return result


def eq_22(ranks, within, positive):
    """1 − E Prec for each row; nan without a positive."""
    precision = torch.where(positive, within / ranks.clamp(min=1), 0.0)
    return 1 - precision.sum(-1) / positive.sum(-1)


def linearised(y, positive, lam, margin, where=None, weight=1.0):
    """f_λ of weight · (mean AP loss of the rows), linearised at the ranks of y, as a function of the scores."""
    shifted = shift_by_margin(y, positive, margin)
    ranks = rank(shifted, where=where).double().requires_grad_()
    (weight * eq_22(ranks, rank_among(shifted, positive, where=where), positive).nanmean()).backward()
    slope = ranks.grad

    def smooth(scores):
        moved = shift_by_margin(scores, positive, margin)
        total = 0.0
        for row in range(len(y)):
            here = torch.ones_like(positive[row]) if where is None else where[row]
            total = total + interpolate(ranking, slope[row][here], lam)(moved[row][here])
        return total

    return smooth


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
def test_value_is_the_definition_for_all_permutations(n):
    """The relevant items are the first p; as all orders of scores are tried, so are all places of the relevant."""
    loss = APLoss(BlackboxRanker(1.0))
    for p, order in product(range(1, n + 1), permutations(range(n))):
        expected = 1 - reference.average_precision(order, [i < p for i in range(n)])
        found = loss(torch.tensor(order, dtype=torch.float32), torch.arange(n) < p)
        assert abs(found.item() - expected) < 1e-6


@pytest.mark.parametrize("lam", [0.3, 5.0, 60.0])
@pytest.mark.parametrize("margin", [0.0, 0.4])
@pytest.mark.parametrize("ragged", [False, True])
def test_gradient_is_that_of_the_interpolation(lam, margin, ragged):
    y, relevance = random(3, 8), coin(3, 8)
    where = coin(3, 8, p=0.8, seed=5) if ragged else None
    positive = relevance if where is None else relevance & where
    found = gradient(APLoss(BlackboxRanker(lam), margin), y, relevance, where=where)
    expected = difference_quotient(linearised(y, positive, lam, margin, where), y)
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-6)
    assert found.any() or lam < 1


@pytest.mark.parametrize("lam", [30.0, 300.0])
def test_gradient_through_both_ranks_adds_the_interpolation_among_the_positives(lam):
    y, positive = 0.3 * random(7), torch.tensor([0, 1, 1, 0, 1, 0, 1]).bool()
    found = gradient(APLoss(BlackboxRanker(lam), 0.1, within_grad=True), y, positive)
    stopped = gradient(APLoss(BlackboxRanker(lam), 0.1), y, positive)
    slope = -1 / (rank(shift_by_margin(y, positive, 0.1))[positive].double() * positive.sum())
    among = interpolate(ranking, slope, lam)
    expected = difference_quotient(lambda s: among(s[positive] - 0.05), y)
    torch.testing.assert_close(found - stopped, expected, rtol=1e-6, atol=1e-6)
    assert expected.any()


@pytest.mark.parametrize("weight", [0.0, 1 / 3, 1.0])
def test_gradient_of_map_is_that_of_both_terms(weight):
    y, relevance, lam = random(6, 3), coin(6, 3), 20.0
    found = gradient(MAPLoss(BlackboxRanker(lam), 0.2, class_agnostic_weight=weight), y, relevance)
    by_class = linearised(y.T, relevance.T, lam, 0.2, weight=1 - weight)
    in_one = linearised(y.T.reshape(1, -1), relevance.T.reshape(1, -1), lam, 0.2, weight=weight)
    expected = difference_quotient(lambda s: by_class(s.T) + in_one(s.T.reshape(1, -1)), y)
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("seed", range(5))
def test_ap_loss_is_one_minus_scikit_learns_ap(dtype, seed):
    y, relevance = random(50, seed=seed, dtype=dtype), coin(50, p=0.2, seed=seed + 10)
    expected = 1 - average_precision_score(relevance.numpy(), y.numpy())
    assert abs(APLoss(BlackboxRanker(1.0))(y, relevance).item() - expected) < 1e-6


def test_map_loss_is_two_parts_map_and_one_part_apc():
    y, relevance = random(9, 4), coin(9, 4)
    relevance[:, 3] = False  # no positive: not a class of this batch
    relevance[0, :3] = True
    by_class = [1 - average_precision_score(relevance[:, c], y[:, c]) for c in range(3)]
    class_agnostic = 1 - average_precision_score(relevance.flatten(), y.flatten())
    found = MAPLoss(BlackboxRanker(1.0), margin=0.0)(y, relevance)
    assert abs(found.item() - (2 * sum(by_class) / 3 + class_agnostic) / 3) < 1e-6


def test_apc_pushes_negatives_of_a_class_without_positives():
    """(P3): mean AP alone gives them no gradient."""
    scores = torch.tensor([[0.1, 0.9], [0.2, 0.8]])
    relevance = torch.tensor([[True, False], [False, False]])
    without = gradient(MAPLoss(BlackboxRanker(90.0), class_agnostic_weight=0.0), scores, relevance)
    assert (without[:, 1] == 0).all()
    assert (gradient(MAPLoss(BlackboxRanker(90.0)), scores, relevance)[:, 1] > 0).all()


@pytest.mark.parametrize("within_grad", [False, True])
@pytest.mark.parametrize("n", [8, 10])
def test_lam_of_the_paper_is_n_times_lam_of_the_code(n, within_grad):
    y, relevance = random(4, n), coin(4, n)
    of_code = gradient(APLoss(BlackboxRanker(2.0, normalized=True), 0.1, within_grad), y, relevance)
    of_paper = gradient(APLoss(BlackboxRanker(2.0 * n), 0.1, within_grad), y, relevance)
    torch.testing.assert_close(of_code, of_paper)
    assert of_code.any()


@pytest.mark.parametrize("make", [APLoss, RecallLoss])
@pytest.mark.parametrize("strategy", ["count", "merge", "sort"])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("ragged", [False, True])
@pytest.mark.parametrize("normalized", [False, True])
def test_fast_path_is_the_readable_one(monkeypatch, make, strategy, ties, ragged, normalized):
    monkeypatch.setattr(packed, "FEW", 99 if strategy == "count" else 0)
    monkeypatch.setattr(packed, "LONG", 1)
    monkeypatch.setattr(packed, "DENSE", 2.0 if strategy == "merge" else -1.0)
    for seed, chunk in product(range(0, 6, 2), (7, 1 << 16)):
        monkeypatch.setattr(packed, "CHUNK", chunk)
        y, relevance = random(2, 3, 31, seed=seed, dtype=torch.float32), coin(2, 3, 31, seed=seed, p=0.1 + 0.1 * seed)
        if ties:  # of both zeros too, and infinities
            y = (2 * y).round() / 2 * (1.0 - 2.0 * coin(2, 3, 31, p=0.5, seed=7).float())
            y[0, 0, :2], y[1, 1, 3:5] = inf, -inf
        where = coin(2, 3, 31, p=0.8, seed=seed + 20) if ragged else None
        if ragged:
            y[~where] = nan
        for lam, scale in ((0.1, 1.0), (4.0, -2.0), (100.0, 5.0)):
            fast = make(BlackboxRanker(lam, normalized), margin=0.5)
            slow = readable()(fast)
            torch.testing.assert_close(
                fast(y, relevance, where=where), slow(y, relevance, where=where), rtol=1e-6, atol=1e-7
            )
            found, expected = (gradient(x, y, relevance, where=where, scale=scale) for x in (fast, slow))
            torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6 / min(lam, 1))
            if not normalized:  # moved by exactly as many ranks
                assert torch.equal((found * lam).round(), (expected * lam).round())


def odd_values(n, dtype, seed=0):
    """Ties, both zeros, infinities, the smallest numbers that there are, and some that differ in the last bit."""
    info = torch.finfo(dtype)
    tiny = info.smallest_normal * info.eps  # the smallest denormal
    values = [0.0, -0.0, inf, -inf, tiny, -tiny, 3 * tiny, info.smallest_normal, info.max, -info.max, 1.0, 1 + info.eps]
    pick = torch.randint(len(values), (n,), generator=torch.Generator().manual_seed(seed))
    return torch.tensor(values, dtype=dtype)[pick]


@pytest.mark.parametrize("make", [APLoss, RecallLoss])
@pytest.mark.parametrize("strategy", ["count", "merge", "sort"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_fast_path_of_odd_values_is_the_readable_one(monkeypatch, dtype, strategy, make):
    """In pieces of seven, too, and counted in float64 as very long lists are."""
    settings = {"FEW": 99 if strategy == "count" else 0, "LONG": 1, "PIECE": 7, "PIECES": 9, "EXACT": 30}
    settings["DENSE"] = 2.0 if strategy == "merge" else -1.0
    for name, value in settings.items():
        monkeypatch.setattr(packed, name, value)
    for seed, margin in product(range(4), (0.0, 0.5)):
        y = torch.stack([odd_values(n, dtype, seed + n) for n in (31, 31, 31)])
        relevance, where = coin(3, 31, seed=seed), coin(3, 31, p=0.8, seed=seed + 9)
        fast = make(BlackboxRanker(4.0), margin=margin)
        slow = readable()(fast)
        value, expected = fast(y, relevance, where=where), slow(y, relevance, where=where)
        assert value.dtype == expected.dtype
        torch.testing.assert_close(value, expected, rtol=1e-6, atol=1e-7)
        found, expected = (gradient(x, y, relevance, where=where, scale=3.0) for x in (fast, slow))
        assert found.dtype == dtype
        assert torch.equal((found * 4.0).float().round(), (expected * 4.0).float().round())


@pytest.mark.parametrize("make", [APLoss, RecallLoss])
def test_one_list_in_pieces_is_the_readable_one(monkeypatch, make):
    """Several pieces, with ties across their edges."""
    monkeypatch.setattr(packed, "PIECE", 1000)
    y, relevance = (50 * random(9001, dtype=torch.float32)).round() / 50, coin(9001, p=0.05)
    for lam in (10.0, 1e4, 1e6):
        fast = make(BlackboxRanker(lam), margin=0.02)
        slow = readable()(fast)
        torch.testing.assert_close(fast(y, relevance), slow(y, relevance), rtol=1e-6, atol=1e-6)
        found, expected = (gradient(loss, y, relevance) for loss in (fast, slow))
        assert torch.equal((found * lam).round(), (expected * lam).round())
    assert found.any()


@pytest.mark.parametrize("share", [0.001, 0.01, 0.5])
def test_fast_path_on_a_long_list(share):
    y, relevance = random(30_000, dtype=torch.float32), coin(30_000, p=share)
    fast = APLoss(BlackboxRanker(1e5), margin=0.02)
    slow = readable()(fast)
    torch.testing.assert_close(fast(y, relevance), slow(y, relevance), rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(gradient(fast, y, relevance), gradient(slow, y, relevance), rtol=1e-6, atol=1e-12)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the peak of memory from /proc")
def test_ten_million_scores_take_at_most_20_bytes_each():
    script = """
import torch
from rankedu.losses import APLoss
from rankedu.rankers import BlackboxRanker
def kib(field):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(field))
n = 10**7
loss = APLoss(BlackboxRanker(1e6), margin=0.02)
loss(torch.rand(90000, requires_grad=True), torch.arange(90000) % 100 == 0).backward()
y, relevance = torch.empty(n).normal_().requires_grad_(), torch.arange(n) % 100 == 0
open("/proc/self/clear_refs", "w").write("5")
before = kib("VmRSS")
loss(y, relevance).backward()
print(1024 * (kib("VmHWM") - before) / n)
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    if "clear_refs" in run.stderr:
        pytest.skip("the peak of memory cannot be reset here")
    assert run.returncode == 0, run.stderr
    assert 8 < float(run.stdout) <= 20


y, yes = torch.tensor([0.3, 0.1]), torch.tensor([True, False])
BAD = {
    "margin": (lambda: APLoss(BlackboxRanker(1.0), -0.1), ValueError, r"margin must be finite and >= 0, got -0.1"),
    "ranker": (lambda: APLoss(4.0), TypeError, r"ranker must be one of rankedu.rankers, got 4.0 .*lam=4.0"),
    "class": (lambda: APLoss(BlackboxRanker), TypeError, "ranker must be one of"),
    "weight": (lambda: MAPLoss(BlackboxRanker(1.0), class_agnostic_weight=2), ValueError, r"in \[0, 1\], got 2"),
    "memory": (lambda: MAPLoss(BlackboxRanker(1.0), memory=7), TypeError, r"ScoreMemory, got 7"),
    "class ids": (lambda: MAPLoss(BlackboxRanker(1.0))(torch.eye(2), torch.tensor([0, 1])), ValueError, "one_hot"),
    "one list": (lambda: MAPLoss(BlackboxRanker(1.0))(y, yes), ValueError, r"\(\.\.\., batch, classes\), got \(2,\)"),
}


@pytest.mark.parametrize(("call", "error", "message"), BAD.values(), ids=BAD)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
