"""AP-SVM: both ways of inference against all interleavings, against each other, and the bound they attain."""

from fractions import Fraction
from itertools import combinations, pairwise, permutations, product

import numpy as np
import pytest
import torch
from drawn import coin, gradient, random

from rankedu.metrics import average_precision
from ranklab.contestants import APSVMLoss, interleaving, most_violated_ranking

INFERENCE = ["mohapatra", "yue"]
nan, inf = float("nan"), float("inf")


def bracket(ranking, y, positive):
    """1 − AP(R) + w·Ψ(R) − w·Ψ(R*), to the letter; ``ranking`` lists items from the first to the last."""
    place = {item: k for k, item in enumerate(ranking)}
    P, N = ([i for i in range(len(y)) if bool(positive[i]) is kind] for kind in (True, False))

    def psi(sign):
        return sum(sign(i, j) * (y[i] - y[j]) for i, j in product(P, N)) / (len(P) * len(N))

    hits, precision = 0, 0.0
    for k, item in enumerate(ranking, start=1):
        if positive[item]:
            hits += 1
            precision += hits / k / len(P)
    return 1 - precision + psi(lambda i, j: 1 if place[i] < place[j] else -1) - psi(lambda i, j: 1)


def interleavings(y, positive):
    """All rankings that keep the order of the positives among themselves, and of the negatives."""
    best_first = sorted(range(len(y)), key=lambda item: -y[item])
    P, N = ([item for item in best_first if bool(positive[item]) is kind] for kind in (True, False))
    for places in combinations(range(len(y)), len(P)):
        p, n = iter(P), iter(N)
        yield [next(p) if k in places else next(n) for k in range(len(y))]


def cases(sizes, *, spread):
    for n, seed in product(sizes, range(6)):
        y, positive = spread * random(n, seed=10 * n + seed), coin(n, seed=n + 50 * seed)
        positive[seed % n], positive[(seed + 1) % n] = True, False
        yield (y if seed % 2 else (2 * y / spread).round() * spread / 2).tolist(), positive


@pytest.mark.parametrize("spread", [0.1, 0.5, 3.0])
@pytest.mark.parametrize("inference", INFERENCE)
def test_value_is_the_maximum_over_all_interleavings(inference, spread):
    for y, positive in cases([2, 3, 5, 6, 7], spread=spread):
        expected = max(bracket(ranking, y, positive) for ranking in interleavings(y, positive))
        scores = torch.tensor(y, dtype=torch.float64)
        assert abs(APSVMLoss(inference)(scores, positive).item() - expected) < 1e-12
        found = most_violated_ranking(scores, positive, inference=inference)
        assert sorted(found.tolist()) == list(range(1, len(y) + 1))
        assert abs(bracket(found.argsort().tolist(), y, positive) - expected) < 1e-12


@pytest.mark.parametrize("spread", [0.2, 1.0])
def test_no_other_permutation_is_better(spread):
    for y, positive in cases([4, 5], spread=spread):
        expected = max(bracket(ranking, y, positive) for ranking in permutations(range(len(y))))
        assert abs(APSVMLoss()(torch.tensor(y, dtype=torch.float64), positive).item() - expected) < 1e-12


@pytest.mark.parametrize("tile", [1, 1 << 16])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize(
    ("n", "p"), [(2, 1), (50, 1), (50, 49), (300, 3), (300, 150), (300, 290), (3000, 30), (3000, 1500)]
)
def test_both_inferences_agree(monkeypatch, n, p, ties, tile):
    monkeypatch.setattr(interleaving, "TILE", tile)
    seeds = range(3 if n < 3000 else 1)  # a long list holds many cases by itself
    for seed, spread in product(seeds, (0.1, 1.0, 0.2 * n)):
        y = spread * random(n, seed=seed)
        y = (y / spread * 4).round() / 4 if ties else y
        positive = torch.zeros(n, dtype=torch.bool)
        positive[torch.randperm(n, generator=torch.Generator().manual_seed(seed))[:p]] = True
        one, other = (APSVMLoss(inference)(y, positive).item() for inference in INFERENCE)
        assert abs(one - other) < 1e-12 * (1 + spread)
        ranks = [most_violated_ranking(y, positive, inference=inference) for inference in INFERENCE]
        assert torch.equal(*ranks)
        slopes = [gradient(APSVMLoss(inference), y, positive) for inference in INFERENCE]
        assert torch.equal(*slopes)


def test_the_lemma_behind_both():
    """f_{j+1}(k) − f_j(k) grows with k; exactly, for any falling scores of the negatives."""
    p, n = 6, 8
    y_i = [Fraction(x, 7) for x in (9, 5, 5, 2, -1, -4)]
    y_j = [Fraction(x, 5) for x in (8, 8, 3, 2, 2, 0, -1, -9)]

    def f(j, k):
        terms = (Fraction(n * i, (i + j - 1) * (i + j)) + 2 * (y_j[j - 1] - y_i[i - 1]) for i in range(k + 1, p + 1))
        return sum(terms, Fraction(0))

    for j in range(1, n):
        growth = [f(j + 1, k) - f(j, k) for k in range(p + 1)]
        assert all(a < b for a, b in pairwise(growth))


def test_divide_and_conquer_looks_at_few_pairs(monkeypatch):
    """Counted, not timed: the elements that all steps touch, for scores in every order, equal ones too."""
    touched, flat = [], interleaving._flat

    def counting(start, stop):
        touched.append(int((stop - start).sum()))
        return flat(start, stop)

    monkeypatch.setattr(interleaving, "_flat", counting)
    n = 20_000
    ramp = np.linspace(-1, 1, n)
    shuffled = np.random.default_rng(1).permutation(ramp)
    for p, negatives in product((4, 64, 1024), (ramp, -ramp, shuffled, 0 * ramp, shuffled.round(1))):
        touched.clear()
        interleaving.mohapatra(np.linspace(-1, 1, p), negatives)
        assert sum(touched) < 5 * (n + p) * (1 + np.log2(p))
        assert sum(touched) < n * p or p == 4


@pytest.mark.parametrize("inference", INFERENCE)
@pytest.mark.parametrize("spread", [0.01, 1.0, 100.0])
def test_it_bounds_one_minus_ap_from_above(inference, spread):
    for seed in range(20):
        y, positive = spread * random(25, seed=seed), coin(25, p=0.05 + 0.04 * seed, seed=seed + 30)
        positive[0] = True
        for scores in (y, y.round()):
            loss = APSVMLoss(inference)(scores, positive).item()
            assert loss >= 1 - average_precision(scores, positive, ties="pessimistic").item() - 1e-12
            assert loss >= 0


@pytest.mark.parametrize("inference", INFERENCE)
def test_it_is_convex_and_the_gradient_is_a_subgradient(inference):
    loss, positive = APSVMLoss(inference), coin(14)
    for seed in range(20):
        y, z = random(14, seed=seed), random(14, seed=seed + 100).round()
        for scores, other in ((y, z), (z, y)):
            plane = loss(scores, positive) + (other - scores) @ gradient(loss, scores, positive)
            assert loss(other, positive) >= plane - 1e-12


@pytest.mark.parametrize("inference", INFERENCE)
@pytest.mark.parametrize(("p", "n"), [(1, 1), (1, 8), (3, 5), (10, 40)])
def test_the_margin_that_it_asks_for(inference, p, n):
    """Zero from n/(2p) · (1/2 + … + 1/(p + 1)) on, and not before."""
    gap = n / (2 * p) * sum(1 / (i + 1) for i in range(1, p + 1))
    positive = torch.arange(p + n) < p
    beyond, short = (torch.where(positive, gap * share, 0.0).double() for share in (1.001, 0.999))
    loss = APSVMLoss(inference)
    assert loss(beyond, positive).item() == 0 and not gradient(loss, beyond, positive).any()
    assert loss(short, positive).item() > 0 and gradient(loss, short, positive).any()


@pytest.mark.parametrize("inference", INFERENCE)
def test_of_several_best_the_one_with_the_fewest_swaps(inference):
    """With one of each, and 1/4 between them, swapping costs as much as it brings."""
    y, positive = torch.tensor([0.75, 0.5]), torch.tensor([True, False])
    assert most_violated_ranking(y, positive, inference=inference).tolist() == [1, 2]
    assert not gradient(APSVMLoss(inference), y, positive).any()


y, yes = torch.tensor([0.3, 0.1]), torch.tensor([True, False])
BAD = {
    "infinite": (lambda: APSVMLoss()(y * inf, yes), ValueError, "scores must be finite, got 2 of 2 .*isfinite"),
    "shapes": (lambda: most_violated_ranking(y, yes[:1]), ValueError, r"relevance .* \(2,\), got \(1,\)"),
    "where": (lambda: most_violated_ranking(y, yes, where=y), TypeError, "where must be bool"),
    "inference": (lambda: APSVMLoss("joachims"), ValueError, "'mohapatra', 'yue', got 'joachims'"),
    "ranking": (lambda: most_violated_ranking(y, yes, inference=""), ValueError, "inference must be one of"),
}


@pytest.mark.parametrize(("call", "error", "message"), BAD.values(), ids=BAD)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
