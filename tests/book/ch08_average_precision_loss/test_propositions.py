import itertools

import pytest
import torch

from rankedu import rank
from rankedu.losses import APLoss, MAPLoss
from rankedu.rankers import BlackboxRanker

SEEDS = range(30)
pytestmark = pytest.mark.filterwarnings("ignore:lam must")


def gradient(loss, scores, relevant):
    leaf = scores.clone().requires_grad_()
    value = loss(leaf, relevant)
    return value.item(), torch.autograd.grad(value, leaf)[0]


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
    assert loss()(torch.zeros(2, 1), one[1]) == 0  # no threshold, and no loss, with a tie
    y, relevant = torch.tensor([0.0, 1.0], dtype=torch.float64), torch.tensor([True, False])
    leaf = y[:1].requires_grad_()
    APLoss(BlackboxRanker(100.0))(torch.cat([leaf, y[1:].detach()]), relevant).backward()
    assert leaf.grad.sum() != 0  # of a list with remembered scores


def test_in_a_random_order_the_push_is_that_of_the_recall_loss_times_the_share_of_positives():
    n, p, generator = 1000, 20, torch.Generator().manual_seed(0)
    place = torch.stack([1.0 + torch.randperm(n, generator=generator)[:p].sort().values for _ in range(300)])
    k = torch.arange(1.0, p + 1)
    ratio = ((k / place**2) * (1 + place - k)).median(0).values * n / p
    assert 0.8 < ratio.min() < ratio.max() < 2
    assert (1 / place[:, 0]).mean() > (p + 1) / (n + 1) > p / n, "of the first positive, by Jensen"
