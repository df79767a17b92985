import itertools

import pytest
import torch
from drawn import value_and_gradients

from rankedu import rank
from rankedu.losses import APLoss, MAPLoss
from rankedu.metrics import average_precision
from rankedu.rankers import BlackboxRanker, IdentityRanker

pytestmark = pytest.mark.filterwarnings("ignore:lam=")


# Propositions


SEEDS = range(30)


def gradient(loss, scores, relevant):
    return value_and_gradients(lambda y: loss(y, relevant), scores)


def drawn(seed, *shape):
    """Scores, of every third seed with ties, and which are relevant; the first two in each list are one of each."""
    random = torch.Generator().manual_seed(seed)
    scores = torch.randn(*shape, generator=random, dtype=torch.float64)
    relevant = torch.rand(*shape, generator=random) < 0.4
    relevant[0], relevant[1] = True, False
    return (scores.round() if seed % 3 == 0 else scores), relevant, 10 ** (2 * torch.rand((), generator=random)).item()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_negative_is_moved_by_those_who_overtake_it_and_the_second_path_moves_positives_together(seed):
    y, relevant, lam = drawn(seed, 9)
    relevant = relevant.sort().values  # so that ties by position go against the relevant items, as in the loss
    (_, first), (_, both) = (gradient(APLoss(BlackboxRanker(lam), within_grad=on), y, relevant) for on in (False, True))
    p, ranks = relevant.sum(), rank(y)
    within = ((ranks[:, None] >= ranks) & relevant).sum(1)
    after = rank(y + lam * relevant * within / ranks**2 / p)
    overtaken = ((ranks[:, None] < ranks) & (after[:, None] > after) & relevant).sum(1)
    torch.testing.assert_close((lam * first)[~relevant], overtaken[~relevant].double())
    torch.testing.assert_close(first.sum(), torch.zeros((), dtype=torch.float64), atol=1e-9, rtol=0)
    second = (both - first) * lam
    assert second[~relevant].abs().max() < 1e-9 and abs(second.sum()) < 1e-9
    of_positives, fallen = ranks[relevant], rank(y[relevant] - lam / ranks[relevant] / p)
    lowered = ((of_positives[:, None] < of_positives) & (fallen[:, None] > fallen)).sum(1)
    raised = ((of_positives[:, None] > of_positives) & (fallen[:, None] < fallen)).sum(1)
    torch.testing.assert_close(second[relevant], (lowered - raised).double())


def separated(scores, relevant):
    return bool(scores[relevant].min() > scores[~relevant].max())


@pytest.mark.parametrize("seed", SEEDS)
def test_the_two_losses_ask_for_thresholds_and_a_bias_gets_nothing_from_map(seed):
    y, both, lam = drawn(3 * seed + 1, 4, 2)
    for by_class, relevant in itertools.product((False, True), (both, both & torch.tensor([True, False]))):
        scores = y + 3.0 * relevant + by_class * torch.tensor([0.0, 5.0])
        for weight in (0.0, 1.0):
            value, slope = gradient(MAPLoss(BlackboxRanker(lam), class_agnostic_weight=weight), scores, relevant)
            lists = [(scores, relevant)] if weight else list(zip(scores.T, relevant.T, strict=True))
            assert (value < 1e-12) == all(separated(*one) for one in lists if one[1].any())
            assert slope.sum(None if weight else 0).abs().max() < 1e-9


def test_where_the_hypotheses_of_the_thresholds_and_of_the_bias_fail():
    def loss(**settings):
        return MAPLoss(BlackboxRanker(100.0), class_agnostic_weight=0.0, **settings)

    one = torch.tensor([[1.0], [0.0]]), torch.tensor([[True], [False]])
    assert loss()(*one) == 0 < loss(margin=2.0)(*one)  # a threshold, and a loss, with a margin
    assert loss()(torch.zeros(2, 1), one[1]) == 0.5  # a tie goes against the relevant item: no threshold, and a loss
    y, relevant = torch.tensor([0.0, 1.0], dtype=torch.float64), torch.tensor([True, False])
    leaf = y[:1].requires_grad_()
    APLoss(BlackboxRanker(100.0))(torch.cat([leaf, y[1:].detach()]), relevant).backward()
    assert leaf.grad.sum() != 0  # of a list with remembered scores
    _, slope = gradient(APLoss(IdentityRanker("none")), y, relevant)
    assert slope.sum() < -0.2  # ranks that stay under a shift, and a gradient that is not their derivative


def test_a_positive_can_be_lowered_and_apc_can_be_larger_than_map():
    _, slope = gradient(APLoss(BlackboxRanker(400.0)), torch.linspace(1, 0, 20).double(), torch.arange(20) >= 10)
    assert slope[10] > 0 > slope[11:].max()
    y, relevant = torch.tensor([[0.9, 0.1], [0.4, 0.3]]), torch.tensor([[True, False], [False, True]])  # a row a class
    assert average_precision(y, relevant).mean() == 0.75
    assert average_precision(y.flatten(), relevant.flatten()).item() == pytest.approx(5 / 6)
