"""LSTMRanker: its contract and its limits; SoDeep's hand-made sorter against its definition."""

import pytest
import torch
from drawn import DEVICES, random

from rankedu.rankers import SigmoidRanker
from ranklab.contestants import LSTMRanker, equivariance_error, exact_sorter, exact_sorter_temperature
from ranklab.contestants.lstm import ARCHITECTURES


def untrained(n=5, architecture="lstm"):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return LSTMRanker(n, architecture).requires_grad_(False)


@pytest.mark.parametrize("device", DEVICES)
def test_gradient_passes_through_a_frozen_network_to_the_scores(device):
    """cuDNN refuses the gradient of a recurrent network that is in eval mode."""
    for architecture in ARCHITECTURES:
        for mode in (True, False):
            ranker = untrained(architecture=architecture).to(device).train(mode)
            y = random(3, 5, dtype=torch.float32).to(device).requires_grad_()
            (3 * ranker(y)[:, 0]).sum().backward()
            tripled, y.grad = y.grad, None
            ranker(y)[:, 0].sum().backward()
            torch.testing.assert_close(tripled, 3 * y.grad, msg=architecture)
            assert tripled.any() and all(parameter.grad is None for parameter in ranker.parameters()), architecture
            assert not hasattr(ranker.body, "rnn") or ranker.body.rnn.training, "eval mode has no gradient on a GPU"


def test_the_counterexample_to_equivariance():
    """A network of zeros answers (1, 2) to everything. Swapped scores must have swapped ranks, each off by one."""
    ranker, everyone = untrained(2, "mlp").double(), torch.ones(2, dtype=torch.bool)
    for parameter in ranker.parameters():
        parameter.zero_()
    ranker.head.bias.copy_(torch.tensor([0.5, 1.0]))
    y, generator = torch.tensor([0.9, 0.1], dtype=torch.float64), torch.Generator().manual_seed(3)
    assert (
        ranker(y).tolist() == ranker(y.flip(0)).tolist() == ranker.among(y, everyone, where=everyone).tolist() == [1, 2]
    )
    swapped = [torch.equal(torch.randperm(2, generator=generator), torch.tensor([1, 0])) for _ in range(8)]
    assert 0 < sum(swapped) < 8
    assert equivariance_error(ranker, y, draws=8, seed=3) == sum(swapped) / 8


def released(y):
    """What SoDeep's `sorter_exact` computes, times n, pair by pair."""
    n = len(y)
    above = (y - y[:, None]).triu(1)  # y[j] - y[i] where i < j
    temperature = above.std() / 6.8
    ranks = [1 + sum(torch.sigmoid((y[j] - y[k]) / temperature) for j in range(n) if j != k) for k in range(n)]
    return temperature, torch.stack(ranks)


def test_exact_sorter_is_its_definition_and_the_rank_of_smooth_ap():
    for n in (2, 3, 9):
        y, c = (random(4, n) + 100).requires_grad_(), random(n, seed=1)
        for row in y:
            temperature, ranks = released(row.detach())
            fixed = SigmoidRanker(temperature.item())
            torch.testing.assert_close(exact_sorter_temperature(row), temperature)
            torch.testing.assert_close(exact_sorter(row), ranks)
            torch.testing.assert_close(fixed(row), ranks)
            found, expected = (torch.autograd.grad((c * f(row)).sum(), y)[0] for f in (exact_sorter, fixed))
            torch.testing.assert_close(found, expected)  # the gradient of a fixed temperature
            assert found.any()
        torch.testing.assert_close(exact_sorter(y), torch.stack([released(row)[1] for row in y.detach()]))
    for dtype in (torch.float16, torch.float32, torch.float64):
        assert exact_sorter(torch.full((5,), 0.3, dtype=dtype)).tolist() == [3.0] * 5
        assert exact_sorter(torch.zeros(1, dtype=dtype)).tolist() == [1.0]
