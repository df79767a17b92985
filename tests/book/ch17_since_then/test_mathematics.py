"""What chapter 17 proves, held against every list that is short enough to be tried, and against limits."""

import math
from itertools import combinations, permutations, product

import numpy as np
import pytest
import torch

from rankedu import reference
from rankedu.losses import NDCGLoss, RecallAtKSurrogateLoss
from rankedu.rankers import BlackboxRanker, IdentityRanker, SupremumRanker

GAINS = [gains for n in (2, 3, 4, 5) for gains in product((0, 1, 3), repeat=n) if len(set(gains)) > 1]


def discount(rank):
    return 1 / math.log2(1 + rank)


@pytest.mark.parametrize("spread", [1e-9, 0.2, 5.0])
def test_lambda_rank_loss_is_no_less_than_the_loss_of_ndcg(spread):
    """Proposition: the pairs in the wrong order alone cover it."""
    rng = np.random.default_rng(0)
    for gains in GAINS:
        y = (spread * rng.standard_normal(len(gains))).tolist()
        true, ranks = 1 - reference.ndcg(y, gains), reference.rank(y)
        ideal = sum(g * discount(r) for g, r in zip(gains, reference.rank(gains), strict=True))
        wrong = sum(
            (gains[i] - gains[j]) * (discount(ranks[j]) - discount(ranks[i]))
            for i, j in permutations(range(len(y)), 2)
            if gains[i] > gains[j] and ranks[i] > ranks[j]
        )
        assert true - 1e-12 <= wrong / ideal <= reference.lambda_rank_loss(y, gains) + 1e-12


def test_lambda_rank_loss_of_pairs_far_apart_is_theirs_in_the_wrong_order_and_ties_count_in_full():
    assert reference.lambda_rank_loss([3.0, 2.0, 1.0], [3, 1, 0], temperature=1e-3) == pytest.approx(0)
    tied = [1.0, 1.0]
    assert reference.lambda_rank_loss(tied, [0, 1]) >= 1 - reference.ndcg(tied, [0, 1])


def test_lambda_rank_s_gradient_with_the_weights_held_is_that_of_the_loss_at_distinct_scores():
    rng = np.random.default_rng(0)
    for gains in GAINS[::3]:
        y, n = rng.standard_normal(len(gains)), len(gains)
        ranks, best = reference.rank(y.tolist()), sorted(gains, reverse=True)
        ideal = sum(gain * discount(place) for place, gain in enumerate(best, 1))
        held = np.zeros(n)
        for i, j in permutations(range(n), 2):
            if gains[i] > gains[j]:
                weight = (gains[i] - gains[j]) * abs(discount(ranks[i]) - discount(ranks[j])) / ideal
                push = weight / (1 + math.exp(y[i] - y[j])) / math.log(2)
                held += push * (np.eye(n)[j] - np.eye(n)[i])
        moved = [[reference.lambda_rank_loss((y + h * e).tolist(), gains) for h in (1e-5, -1e-5)] for e in np.eye(n)]
        assert np.allclose(np.subtract(*np.transpose(moved)) / 2e-5, held, atol=1e-8)


@pytest.mark.filterwarnings("ignore:lam must")
def test_recall_at_k_of_a_small_t_pushes_only_what_stands_at_k():
    y = torch.tensor([0.9, 0.8, 0.7, 0.6, 0.5], dtype=torch.float64, requires_grad=True)
    relevant = torch.tensor([True, True, False, True, False])
    for k, room in ((1, 1), (2, 2), (4, 3)):
        RecallAtKSurrogateLoss(IdentityRanker("none"), k, temperature=0.01)(y, relevant).backward()
        assert y.grad.tolist() == pytest.approx([-25 / room if rank == k else 0 for rank in (1, 2, 3, 4, 5)])
        y.grad = None
    RecallAtKSurrogateLoss(BlackboxRanker(1.0), 1, temperature=0.01)(y, relevant).backward()
    assert not y.grad.any(), "rank 1 cannot fall"


def test_the_surrogate_of_recall_counts_one_half_at_k_and_is_no_bound_but_a_hinge_is():
    list_of_2 = [1.0, 0.0], [False, True]
    for temperature in (0.1, 1.0, 5.0):
        assert reference.recall_at_k_surrogate(*list_of_2, 1, temperature) > 0, "the true one is 0"
    for n in (2, 3, 4, 5):
        for relevant in product((False, True), repeat=n):
            if not any(relevant):
                continue
            y, p = list(range(n, 0, -1)), sum(relevant)
            for k in range(1, n + 1):
                within = [sum(relevant[: k - 1]) / min(k, p), sum(relevant[:k]) / min(k, p)]
                found = reference.recall_at_k_surrogate(y, relevant, k, 1e-3)
                assert found == pytest.approx(sum(within) / 2)
                for extra in (0.0, 0.4, 3.0):  # ranks from above
                    ranks = [r + extra for r in reference.rank(y)]
                    hinge = [min(1, max(0, k + 1 - r)) for r, own in zip(ranks, relevant, strict=True) if own]
                    assert sum(hinge) / min(k, p) <= within[1] + 1e-12


def test_recall_at_k_takes_one_k():
    y, relevant = torch.tensor([0.9, 0.8, 0.7]), torch.tensor([False, True, True])
    one, several = (RecallAtKSurrogateLoss(BlackboxRanker(1.0), k)(y, relevant) for k in (2, (2,)))
    assert one == several


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


def test_soft_permutations_and_soft_ranks_become_exact_and_keep_their_sums():
    y = [0.3, -0.4, 1.1, 0.6]
    exact = [[float(r == place) for r in reference.rank(y)] for place in (1, 2, 3, 4)]
    for method in (reference.neural_sort, reference.soft_sort):
        assert np.allclose(method(y, 1e-3), exact) and np.allclose(np.sum(method(y, 0.5), 1), 1)
        assert np.allclose(reference.place_of(method(y, 1e-3)), reference.rank(y))
        assert not np.allclose(np.sum(method(y, 0.5), 0), 1), "columns need not have the sum 1"
    assert np.allclose(reference.lap_sum_rank(y, 1e-3), reference.rank(y))
    assert sum(reference.lap_sum_rank(y, 0.5)) == pytest.approx(10)


def test_soap_of_this_batch_alone_is_the_gradient_of_ap_and_of_many_batches_that_of_the_whole():
    within, ranks = [1.0, 2.0], [2.0, 5.0]
    _, slopes = reference.soap([(9.0, 9.0)] * 2, list(zip(within, ranks, strict=True)), gamma=1.0)
    leaves = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in (within, ranks)]
    gradients = torch.autograd.grad(1 - (leaves[0] / leaves[1]).mean(), leaves)
    assert np.allclose(np.transpose(slopes), [g.tolist() for g in gradients])
    # One item of rank 4 of seven, 2 relevant ones above it: the mean over all batches of three, scaled, is its rank.
    others, found = [True, True, True, False, False, False], []
    for batch in combinations(others, 2):
        found.append(1 + 6 / 2 * sum(batch))
    assert np.mean(found) == 4 and np.mean([1 / x for x in found]) > 1 / 4
