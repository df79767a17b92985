"""AP-SVM: both ways of inference against all rankings, against each other, and the bound they attain."""

from itertools import permutations, product

import pytest
import torch
from drawn import coin, gradient, random

from rankedu_lab.contestants import APSVMLoss, ap_svm, most_violated_ranking

INFERENCE = ["mohapatra", "yue"]


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


def cases(sizes, *, spread):
    for n, seed in product(sizes, range(6)):
        y, positive = spread * random(n, seed=10 * n + seed), coin(n, seed=n + 50 * seed)
        positive[seed % n], positive[(seed + 1) % n] = True, False
        yield (y if seed % 2 else (2 * y / spread).round() * spread / 2).tolist(), positive


@pytest.mark.parametrize("inference", INFERENCE)
def test_value_is_the_maximum_over_all_interleavings(inference):
    """And so over all rankings: these are tried; of several best it is the one with the fewest swaps."""
    for spread in (0.1, 0.5, 3.0):
        for y, positive in cases([2, 3, 4, 5], spread=spread):
            expected = max(bracket(ranking, y, positive) for ranking in permutations(range(len(y))))
            scores = torch.tensor(y, dtype=torch.float64)
            assert abs(APSVMLoss(inference)(scores, positive).item() - expected) < 1e-12, (y, positive)
            found = most_violated_ranking(scores, positive, inference=inference)
            assert sorted(found.tolist()) == list(range(1, len(y) + 1)), (y, positive)
            assert abs(bracket(found.argsort().tolist(), y, positive) - expected) < 1e-12, (y, positive)
    y, positive = torch.tensor([0.75, 0.5]), torch.tensor([True, False])  # swapping costs as much as it brings
    assert most_violated_ranking(y, positive, inference=inference).tolist() == [1, 2]
    assert not gradient(APSVMLoss(inference), y, positive).any()


@pytest.mark.parametrize("tile", [1, 1 << 16])
def test_both_inferences_agree(monkeypatch, tile):
    monkeypatch.setattr(ap_svm, "TILE", tile)
    sizes = [(2, 1), (50, 1), (50, 49), (300, 3), (300, 150), (300, 290)] + [(3000, 30)] * (tile > 1)
    for (n, p), seed, spread, ties in product(sizes, range(2), (0.1, 1.0, 0.2), (False, True)):
        spread, case = spread * n if spread == 0.2 else spread, (n, p, seed, spread, ties)
        y = (4 * random(n, seed=seed)).round() * spread / 4 if ties else spread * random(n, seed=seed)
        positive = torch.randperm(n, generator=torch.Generator().manual_seed(seed)).argsort() < p
        one, other = (APSVMLoss(inference)(y, positive).item() for inference in INFERENCE)
        assert abs(one - other) < 1e-12 * (1 + spread), case
        assert torch.equal(*(most_violated_ranking(y, positive, inference=inference) for inference in INFERENCE)), case
        assert torch.equal(*(gradient(APSVMLoss(inference), y, positive) for inference in INFERENCE)), case
