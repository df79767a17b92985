import numpy as np
import pytest
import torch
from drawn import gradient

from rankedu.losses import APLoss
from rankedu.metrics import average_precision
from rankedu.rankers import BlackboxRanker
from rankedu_book.ch16_object_detection import since, study


@pytest.mark.parametrize("seed", range(5))
def test_the_blame_adds_up_to_one_minus_ap(seed):
    generator = torch.Generator().manual_seed(seed)
    scores, relevant = torch.randn(40, generator=generator), torch.rand(40, generator=generator) < 0.3
    charged = study.blame(scores.numpy(), relevant.numpy())
    assert (charged[relevant.numpy()] == 0).all() and (charged >= 0).all()
    assert charged.sum() == pytest.approx(1 - average_precision(scores, relevant).item(), abs=1e-6)


def negatives_move(scores, relevant, lam, **settings):
    slope = gradient(APLoss(BlackboxRanker(lam, normalized=True), **settings), scores, relevant)
    return slope[~relevant].any().item()


@pytest.mark.filterwarnings("ignore:lam=")
@pytest.mark.parametrize("within", [False, True])
@pytest.mark.parametrize(("positives", "negatives"), [(1, 5), (3, 30), (20, 4)])
def test_no_step_reaches_farther_than_the_bound(positives, negatives, within):
    relevant = torch.arange(positives + negatives) >= negatives
    bound, order = study.reach(positives, negatives, lam=7.0), 1e-9 * torch.arange(len(relevant), dtype=torch.float64)
    assert max(7.0 * k / (positives * (k + negatives) ** 2) for k in range(1, positives + 1)) <= bound
    for gap, moves in ((1.01 * bound, False), (3.5 / (positives * (1 + negatives) ** 2), True)):
        scores = torch.where(relevant, 0.0, gap).double() - order
        assert negatives_move(scores, relevant, 7.0 / len(relevant), within_grad=within) is moves


@pytest.mark.filterwarnings("ignore:lam=")
@pytest.mark.parametrize("within", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_a_cold_start_has_a_lambda_of_its_own(seed, within):
    generator = torch.Generator().manual_seed(seed)
    n = int(torch.randint(4, 60, (), generator=generator))
    relevant = torch.randperm(n, generator=generator) < 1 + seed * (n // 2 - 1) // 9
    scores, margin = 0.05 * torch.rand(n, generator=generator, dtype=torch.float64), 0.15
    spread = (scores.max() - scores.min()).item()
    for lam, moves in ((0.99 * n * (margin - spread), False), (1.01 * n * (margin + spread), True)):
        assert negatives_move(scores, relevant, lam, margin=margin, within_grad=within) is moves


@pytest.mark.filterwarnings("ignore:lam=")
def test_a_cold_start_asks_for_less_if_positives_are_many_or_scores_apart():
    many = torch.arange(10) < 9
    assert negatives_move(torch.linspace(0, 1e-3, 10), many, 0.5 * 10 * 0.15, margin=0.15)
    for apart in (False, True):
        scores = torch.linspace(0, 1.0 if apart else 1e-3, 10)
        assert negatives_move(scores, torch.arange(10) >= 9, 0.9 * 10 * 0.15, margin=0.15) is apart


def test_losses_since_are_one_minus_ap_where_boxes_fit_and_buckets_are_the_charges():
    rng = np.random.default_rng(0)
    for _ in range(50):
        y, relevant = rng.permutation(9) / 9, rng.permutation(9) < rng.integers(1, 6)
        lost = 1 - average_precision(torch.from_numpy(y), torch.from_numpy(relevant)).item()
        assert since.alrp_loss(y, relevant, np.zeros(9)) == pytest.approx(lost)
        assert since.alrp_loss(y, relevant, np.full(9, 0.5)) > lost
        ranking, sorting = since.rank_and_sort(y, np.where(relevant, 0.5 + y / 2, 0))
        assert ranking == pytest.approx(lost) and sorting == pytest.approx(0), "the best box first"
        ranking, sorting = since.rank_and_sort(y, np.where(relevant, 1 - y / 2, 0))
        assert ranking == pytest.approx(lost) and (sorting > 1e-9) == (relevant.sum() > 1)
        charges = study.blame(y, relevant)[np.argsort(-y)][~relevant[np.argsort(-y)]]
        found = since.buckets(y, relevant)
        assert np.allclose(np.repeat([c for _, c in found], [size for size, _ in found]), charges)
        assert len(found) <= relevant.sum() + 1
