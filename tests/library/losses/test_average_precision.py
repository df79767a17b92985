"""AP and mAP losses: against their definitions, against f_λ, and of long lists against NumPy."""

from itertools import permutations, product

import pytest
import torch
from drawn import coin, difference_quotient, gradient, random
from sklearn.metrics import average_precision_score

from rankedu import rank, rank_among, reference
from rankedu.blackbox import interpolate
from rankedu.losses import APLoss, MAPLoss, shift_by_margin
from rankedu.rankers import BlackboxRanker
from rankedu.solvers import ranking


def linearised(y, positive, lam, margin, where=None, weight=1.0):
    """f_λ of weight · (mean AP loss of the rows, Eq. 22), linearised at the ranks of y, as a function of the scores."""
    shifted = shift_by_margin(y, positive, margin)
    ranks = rank(shifted, where=where).double().requires_grad_()
    within = rank_among(shifted, positive, where=where)
    precision = torch.where(positive, within / ranks.clamp(min=1), 0.0).sum(-1) / positive.sum(-1)
    (weight * (1 - precision).nanmean()).backward()

    def smooth(scores):
        moved, total = shift_by_margin(scores, positive, margin), 0.0
        for row in range(len(y)):
            here = torch.ones_like(positive[row]) if where is None else where[row]
            total = total + interpolate(ranking, ranks.grad[row][here], lam)(moved[row][here])
        return total

    return smooth


def test_value_is_the_definition_for_all_permutations():
    """The relevant items are the first p; as all orders of scores are tried, so are all places of the relevant."""
    loss = APLoss(BlackboxRanker(1.0))
    for n in range(1, 6):
        for p, order in product(range(1, n + 1), permutations(range(n))):
            expected = 1 - reference.average_precision(order, [i < p for i in range(n)])
            found = loss(torch.tensor(order, dtype=torch.float32), torch.arange(n) < p)
            assert abs(found.item() - expected) < 1e-6


@pytest.mark.parametrize("lam", [0.3, 5.0, 60.0])
@pytest.mark.parametrize("ragged", [False, True])
def test_gradient_is_that_of_the_interpolation(lam, ragged):
    y, relevance = random(3, 8), coin(3, 8)
    where = coin(3, 8, p=0.8, seed=5) if ragged else None
    positive = relevance if where is None else relevance & where
    for margin in (0.0, 0.4):
        found = gradient(APLoss(BlackboxRanker(lam), margin), y, relevance, where=where)
        expected = difference_quotient(linearised(y, positive, lam, margin, where), y)
        torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-6)
        assert found.any() or lam < 1


@pytest.mark.parametrize("lam", [30.0, 300.0])
def test_gradient_through_both_ranks_adds_the_interpolation_among_the_positives(lam):
    y, positive = 0.3 * random(7), torch.tensor([0, 1, 1, 0, 1, 0, 1]).bool()
    whole, stopped = (gradient(APLoss(BlackboxRanker(lam), 0.1, within), y, positive) for within in (True, False))
    slope = -1 / (rank(shift_by_margin(y, positive, 0.1))[positive].double() * positive.sum())
    among = interpolate(ranking, slope, lam)
    expected = difference_quotient(lambda s: among(s[positive] - 0.05), y)
    torch.testing.assert_close(whole - stopped, expected, rtol=1e-6, atol=1e-6)
    assert expected.any()


def test_gradient_of_map_is_that_of_both_terms():
    y, relevance, lam = random(6, 3), coin(6, 3), 20.0
    for weight in (0.0, 1 / 3, 1.0):
        found = gradient(MAPLoss(BlackboxRanker(lam), 0.2, class_agnostic_weight=weight), y, relevance)
        by_class = linearised(y.T, relevance.T, lam, 0.2, weight=1 - weight)
        in_one = linearised(y.T.reshape(1, -1), relevance.T.reshape(1, -1), lam, 0.2, weight=weight)
        expected = difference_quotient(lambda s: by_class(s.T) + in_one(s.T.reshape(1, -1)), y)  # noqa: B023
        torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-6)


def test_ap_loss_is_one_minus_scikit_learns_ap():
    for seed in range(5):
        y, relevance = random(50, seed=seed), coin(50, p=0.2, seed=seed + 10)
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
