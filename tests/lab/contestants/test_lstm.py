"""LSTMRanker: its contract and its limits; SoDeep's hand-made sorter against its definition."""

import pytest
import torch
from drawn import DEVICES, random

from rankedu import rank
from rankedu.losses import APLoss, OnEmbeddings, RecallLoss, SpearmanLoss
from rankedu.rankers import BlackboxRanker, SigmoidRanker
from ranklab.contestants import LSTMRanker, equivariance_error, exact_sorter, exact_sorter_temperature
from ranklab.contestants.lstm import ARCHITECTURES

nan, inf = float("nan"), float("inf")


def untrained(n=5, architecture="lstm", **options):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return LSTMRanker(n, architecture, **options).requires_grad_(False)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("mode", [True, False])
def test_gradient_passes_through_a_frozen_network_to_the_scores(device, architecture, mode):
    """cuDNN refuses the gradient of a recurrent network that is in eval mode."""
    ranker = untrained(architecture=architecture).to(device).train(mode)
    y = random(3, 5, dtype=torch.float32).to(device).requires_grad_()
    (3 * ranker(y)[:, 0]).sum().backward()
    tripled, y.grad = y.grad, None
    ranker(y)[:, 0].sum().backward()
    torch.testing.assert_close(tripled, 3 * y.grad)
    assert tripled.any() and all(parameter.grad is None for parameter in ranker.parameters())


def test_every_place_depends_on_every_score():
    for architecture in ARCHITECTURES:
        jacobian = torch.autograd.functional.jacobian(untrained(20, architecture).double(), random(20))
        assert (jacobian != 0).all(), architecture


SORTER, Y, YES = untrained(3), torch.tensor([0.3, 0.1, 0.2]), torch.tensor([True, True, False])
BAD = {
    "length": (
        lambda: SORTER(random(2, 4)),
        ValueError,
        r"scores must have 3 items .* got \(2, 4\) .*train_sorter\(4\)",
    ),
    "inf": (lambda: SORTER(Y + inf), ValueError, "scores must be finite, got .*infinity.*clamp"),
    "device": (
        lambda: untrained(3).to("meta")(Y),
        ValueError,
        "scores must be on the device of the ranker, meta, got cpu",
    ),
    "where": (
        lambda: SORTER(Y, where=YES),
        ValueError,
        r"where and members must be all True, .* exactly n=3 items, got 1 of 3 left out .*SpearmanLoss.*train_sorter",
    ),
    "members": (lambda: SORTER.among(Y, YES), ValueError, "members must be all True, .* 1 of 3 left out"),
    "ap_loss": (lambda: APLoss(SORTER)(Y, YES), ValueError, "members must be all True, .* SpearmanLoss"),
    "recall_loss": (lambda: RecallLoss(SORTER)(Y, YES), ValueError, "members must be all True"),
    "exclude_self": (
        lambda: OnEmbeddings(APLoss(SORTER))(random(3, 2, dtype=torch.float32), torch.tensor([0, 0, 1])),
        ValueError,
        "where and members must be all True",
    ),
    "architecture": (lambda: LSTMRanker(3, "rnn"), ValueError, "architecture must be one of 'lstm', .* got 'rnn'"),
    "n": (lambda: LSTMRanker(1), ValueError, "n must be >= 2, got 1"),
    "hidden": (lambda: LSTMRanker(3, hidden=0), ValueError, "hidden must be >= 1, got 0"),
    "layers": (lambda: LSTMRanker(3, layers=True), TypeError, "layers must be an int, got bool"),
    "draws": (lambda: equivariance_error(SORTER, Y, draws=0), ValueError, "draws must be >= 1, got 0"),
}


@pytest.mark.parametrize(("call", "error", "message"), BAD.values(), ids=BAD)
def test_the_error_names_the_parameter(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_all_members_and_all_taking_part_are_allowed():
    everyone = torch.ones(3, dtype=torch.bool)
    assert torch.equal(SORTER(Y, where=everyone), SORTER(Y))
    assert torch.equal(SORTER.among(Y, everyone, where=everyone), SORTER(Y))


def test_spearman_loss_is_the_distance_of_the_learned_ranks():
    ranker, target = untrained(5).double(), random(4, 5, seed=1)
    y = random(4, 5).requires_grad_()
    loss = SpearmanLoss(ranker)(y, target)
    expected = (6 / (5 * 24) * (ranker(y) - rank(target)).square().sum(-1)).mean()
    torch.testing.assert_close(loss, expected)
    loss.backward()
    assert y.grad.any()


def test_the_counterexample_to_equivariance():
    """A network of zeros answers (1, 2) to everything. Swapped scores must have swapped ranks, each off by one."""
    ranker = untrained(2, "mlp").double()
    for parameter in ranker.parameters():
        parameter.zero_()
    ranker.head.bias.copy_(torch.tensor([0.5, 1.0]))
    y = torch.tensor([0.9, 0.1], dtype=torch.float64)
    assert ranker(y).tolist() == ranker(y.flip(0)).tolist() == [1.0, 2.0]
    swapped = [torch.equal(torch.randperm(2, generator=g), torch.tensor([1, 0])) for g in [seeded(3)] for _ in range(8)]
    assert 0 < sum(swapped) < 8
    assert equivariance_error(ranker, y, draws=8, seed=3) == sum(swapped) / 8


def seeded(seed):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_no_untrained_network_is_equivariant_but_sorts_and_comparisons_are(architecture):
    y = random(50, 6)
    assert equivariance_error(untrained(6, architecture).double(), y) > 1e-3
    assert equivariance_error(BlackboxRanker(1.0), y) == 0
    assert equivariance_error(SigmoidRanker(0.1), y) < 1e-12


def released(y):
    """What SoDeep's `sorter_exact` computes, times n, pair by pair."""
    n = len(y)
    above = torch.zeros(n, n, dtype=y.dtype)
    for i in range(n):
        for j in range(i + 1, n):
            above[i, j] = y[j] - y[i]
    temperature = above.std() / 6.8
    ranks = [1 + sum(torch.sigmoid((y[j] - y[k]) / temperature) for j in range(n) if j != k) for k in range(n)]
    return temperature, torch.stack(ranks)


@pytest.mark.parametrize("n", [2, 3, 9])
def test_exact_sorter_is_its_definition_and_the_rank_of_smooth_ap(n):
    y = random(4, n) + 100
    for row in y:
        temperature, ranks = released(row)
        torch.testing.assert_close(exact_sorter_temperature(row), temperature)
        torch.testing.assert_close(exact_sorter(row), ranks)
        torch.testing.assert_close(SigmoidRanker(temperature.item())(row), ranks)
    torch.testing.assert_close(exact_sorter(y), torch.stack([released(row)[1] for row in y]))


def test_exact_sorter_has_the_gradient_of_a_fixed_temperature():
    y, c = random(6).requires_grad_(), random(6, seed=1)
    (found,) = torch.autograd.grad((c * exact_sorter(y)).sum(), y)
    fixed = SigmoidRanker(exact_sorter_temperature(y).item())
    (expected,) = torch.autograd.grad((c * fixed(y)).sum(), y)
    torch.testing.assert_close(found, expected)
    assert found.any()


def test_the_temperature_follows_the_scale_and_the_order_of_the_scores():
    y = random(7)
    torch.testing.assert_close(exact_sorter_temperature(3 * y), 3 * exact_sorter_temperature(y))
    torch.testing.assert_close(exact_sorter(3 * y - 1), exact_sorter(y))
    ordered = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
    other = ordered[[1, 0, 2]]
    # differences 1, 2, 1 of squares 6 and sum 4; then -1, 1, 2 of sum 2: std² = (6 − sum²/9)/8
    for y, total in ((ordered, 4), (other, 2)):
        expected = torch.tensor((6 - total**2 / 9) / 8, dtype=torch.float64).sqrt() / 6.8
        torch.testing.assert_close(exact_sorter_temperature(y), expected)
    assert equivariance_error(exact_sorter, ordered) > 1e-5


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_exact_sorter_of_equal_scores_and_of_one(dtype):
    assert exact_sorter(torch.full((5,), 0.3, dtype=dtype)).tolist() == [3.0] * 5
    assert exact_sorter(torch.zeros(1, dtype=dtype)).tolist() == [1.0]
