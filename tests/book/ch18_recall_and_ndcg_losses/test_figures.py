"""What chapter 18 proves, checked on every list that is short enough, and what its figure shows."""

import math
from itertools import permutations, product

import numpy as np
import pytest
import torch
from drawn import gradient

from rankedu import reference
from rankedu.losses import NDCGLoss, RecallAtKSurrogateLoss
from rankedu.rankers import BlackboxRanker, IdentityRanker, SupremumRanker
from rankedu_book.ch18_recall_and_ndcg_losses import listwise

GAINS = [gains for n in (2, 3, 4, 5) for gains in product((0, 1, 3), repeat=n) if len(set(gains)) > 1]


def discount(rank):
    return 1 / math.log2(1 + rank)


def ideal(gains):
    return sum(gain * discount(place) for place, gain in enumerate(sorted(gains, reverse=True), 1))


@pytest.mark.parametrize("spread", [1e-9, 0.2, 5.0])
def test_the_loss_of_lambda_rank_is_no_less_than_the_loss_of_ndcg(spread):
    """Proposition 18.2: the pairs in the wrong order are enough."""
    rng = np.random.default_rng(0)
    for gains in GAINS:
        y = (spread * rng.standard_normal(len(gains))).tolist()
        true, ranks = 1 - reference.ndcg(y, gains), reference.rank(y)
        wrong = sum(
            (gains[i] - gains[j]) * (discount(ranks[j]) - discount(ranks[i]))
            for i, j in permutations(range(len(y)), 2)
            if gains[i] > gains[j] and ranks[i] > ranks[j]
        )
        assert true - 1e-12 <= wrong / ideal(gains) <= reference.lambda_rank_loss(y, gains) + 1e-12


def test_the_weight_of_lambda_loss_is_enough_for_the_pairs_in_the_wrong_order_of_every_short_list():
    for gains in GAINS:  # listed best score first
        places = range(len(gains))
        dcg = sum(gain * discount(place) for place, gain in enumerate(gains, 1))
        wrong = sum(
            (gains[i] - gains[j]) * (discount(i - j) - discount(i - j + 1))
            for i, j in permutations(places, 2)
            if gains[i] > gains[j] and i > j
        )
        assert wrong >= ideal(gains) - dcg - 1e-12


def test_lambda_rank_s_gradient_with_the_weights_held_is_that_of_the_loss_at_distinct_scores():
    rng = np.random.default_rng(0)
    for gains in GAINS[::3]:
        y, n = rng.standard_normal(len(gains)), len(gains)
        ranks, held = reference.rank(y.tolist()), np.zeros(n)
        for i, j in permutations(range(n), 2):
            if gains[i] > gains[j]:
                weight = (gains[i] - gains[j]) * abs(discount(ranks[i]) - discount(ranks[j])) / ideal(gains)
                push = weight / (1 + math.exp(y[i] - y[j])) / math.log(2)
                held += push * (np.eye(n)[j] - np.eye(n)[i])
        moved = [[reference.lambda_rank_loss((y + h * e).tolist(), gains) for h in (1e-5, -1e-5)] for e in np.eye(n)]
        assert np.allclose(np.subtract(*np.transpose(moved)) / 2e-5, held, atol=1e-8)


def test_rank_net_bounds_the_pairs_in_the_wrong_order_and_the_two_of_lists_are_probabilities():
    rng = np.random.default_rng(0)
    for gains in GAINS[::5]:
        y = rng.standard_normal(len(gains)).tolist()
        wrong = sum(gains[i] > gains[j] and y[i] < y[j] for i, j in permutations(range(len(y)), 2))
        assert listwise.rank_net(y, gains) >= wrong
        likely = [math.exp(-listwise.list_mle(y, order)) for order in permutations(range(len(y)))]
        assert sum(likely) == pytest.approx(1)
        assert likely.index(max(likely)) == [*permutations(range(len(y)))].index(tuple(reference.order(y)))
        assert listwise.list_net(y, gains) > listwise.list_net([float(g) for g in gains], gains) - 1e-12


@pytest.mark.filterwarnings("ignore:lam=")
def test_recall_at_k_of_a_small_t_pushes_only_the_item_at_rank_k():
    y = torch.tensor([0.9, 0.8, 0.7, 0.6, 0.5], dtype=torch.float64)
    relevant = torch.tensor([True, True, False, True, False])
    for k, room in ((1, 1), (2, 2), (4, 3)):
        slope = gradient(RecallAtKSurrogateLoss(IdentityRanker("none"), k, temperature=0.01), y, relevant)
        assert slope.tolist() == pytest.approx([-25 / room if rank == k else 0 for rank in (1, 2, 3, 4, 5)])
    of_blackbox = gradient(RecallAtKSurrogateLoss(BlackboxRanker(1.0), 1, temperature=0.01), y, relevant)
    assert not of_blackbox.any(), "rank 1 cannot fall"


def test_the_surrogate_is_capped_and_counts_one_half_at_k_and_twice_a_sigmoid_is_a_bound():
    y, relevant = torch.linspace(1, 0, 40).double(), torch.arange(40) < 20
    assert 0 <= RecallAtKSurrogateLoss(BlackboxRanker(1.0), 1, temperature=2.0)(y, relevant).item() < 1e-9
    for n in (2, 3, 4, 5):
        for marks in product((False, True), repeat=n):
            if not any(marks):
                continue
            listed, p = list(range(n, 0, -1)), sum(marks)
            for k in range(1, n + 1):
                inside, before = sum(marks[:k]), sum(marks[: k - 1])
                found = reference.recall_at_k_surrogate(listed, marks, k, 1e-3)
                assert found == pytest.approx((inside + before) / 2 / min(k, p))
                for temperature, extra in product((0.1, 1.0, 30.0), (0.0, 0.4, 3.0)):
                    ranks = [place + extra for place, mark in enumerate(marks, 1) if mark]
                    bound = sum(2 * reference.sigmoid((rank - k - 1) / temperature) for rank in ranks)
                    assert bound >= p - inside - 1e-12


@pytest.mark.parametrize(
    ("setting", "holds"), [({}, True), ({"offset": 1.44}, True), ({"offset": 1, "start": 0}, False)]
)
def test_ndcg_of_ranks_from_above_is_a_bound_for_the_settings_of_chapter_14(setting, holds):
    loss, kept = NDCGLoss(SupremumRanker(**setting), gains="linear"), []
    rng = np.random.default_rng(0)
    for gains in GAINS:
        y = torch.from_numpy(0.005 * rng.standard_normal(len(gains)))
        true = 1 - reference.ndcg(y.tolist(), gains)
        kept.append(loss(y, torch.tensor(gains)).item() >= true - 1e-9)
    assert all(kept) == holds


def test_recall_with_ranks_from_above_is_no_bound():
    y, relevant = torch.tensor([0.9, 0.8], dtype=torch.float64), torch.tensor([False, True])
    assert RecallAtKSurrogateLoss(SupremumRanker(), k=1)(y, relevant).item() < 1, "the true loss is 1"
