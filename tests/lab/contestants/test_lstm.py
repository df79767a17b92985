"""Learned and projected ranks: contracts and limits; SoDeep's hand-made sorter; where a projection is exact."""

import sys
from itertools import product

import pytest
import torch
from drawn import DEVICES, random

from rankedu import rank
from rankedu.rankers import SigmoidRanker
from rankedu_lab.contestants import (
    LSTMRanker,
    ProjectionRanker,
    equivariance_error,
    exact_sorter,
    exact_sorter_temperature,
)
from rankedu_lab.contestants.lstm import ARCHITECTURES


def untrained(n=5, architecture="lstm"):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return LSTMRanker(n, architecture).requires_grad_(False)


@pytest.mark.parametrize("device", DEVICES)
@torch.backends.cudnn.flags(enabled=True, allow_tf32=False)  # else its recurrent networks keep three digits
def test_gradient_passes_through_a_frozen_network_to_the_scores(device):
    """cuDNN refuses the gradient of a recurrent network that is in eval mode."""
    near = {"rtol": 1e-4, "atol": 1e-4} if device == "cuda" else {}  # sums in another order
    for architecture in ARCHITECTURES:
        for mode in (True, False):
            ranker = untrained(architecture=architecture).to(device).train(mode)
            y = random(3, 5, dtype=torch.float32).to(device).requires_grad_()
            (3 * ranker(y)[:, 0]).sum().backward()
            tripled, y.grad = y.grad, None
            ranker(y)[:, 0].sum().backward()
            torch.testing.assert_close(tripled, 3 * y.grad, **near, msg=architecture)
            assert tripled.any() and all(parameter.grad is None for parameter in ranker.parameters()), architecture
            assert not hasattr(ranker.body, "rnn") or ranker.body.rnn.training, "eval mode has no gradient on a GPU"


def test_the_counterexample_to_equivariance():
    """A network of zeros answers (1, 2) to everything. Swapped scores must have swapped ranks, each off by one."""
    ranker, everyone = untrained(2, "mlp").double(), torch.ones(2, dtype=torch.bool)
    for parameter in ranker.parameters():
        parameter.zero_()
    ranker.head.bias.copy_(torch.tensor([0.5, 1.0]))
    y, generator = torch.tensor([0.9, 0.1], dtype=torch.float64), torch.Generator().manual_seed(3)
    answers = ranker(y), ranker(y.flip(0)), ranker.among(y, everyone, where=everyone)
    assert [answer.tolist() for answer in answers] == [[1, 2]] * 3
    swapped = [torch.equal(torch.randperm(2, generator=generator), torch.tensor([1, 0])) for _ in range(8)]
    assert 0 < sum(swapped) < 8
    assert equivariance_error(ranker, y, draws=8, seed=3) == sum(swapped) / 8


def released(y):
    """What SoDeep's `sorter_exact` computes, times n, pair by pair."""
    above = (y - y[:, None]).triu(1)  # y[j] - y[i] where i < j
    temperature, n = above.std() / 6.8, len(y)
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
            found, expected = (torch.autograd.grad((c * f(row)).sum(), y)[0] for f in (exact_sorter, fixed))
            torch.testing.assert_close(found, expected)  # the gradient of a fixed temperature
            assert found.any()
        torch.testing.assert_close(exact_sorter(y), torch.stack([released(row)[1] for row in y.detach()]))
    for dtype in (torch.float16, torch.float32, torch.float64):
        assert exact_sorter(torch.full((5,), 0.3, dtype=dtype)).tolist() == [3.0] * 5
        assert exact_sorter(torch.zeros(1, dtype=dtype)).tolist() == [1.0]


def test_it_is_the_nearest_point_of_the_permutahedron():
    """r is in the permutahedron, and (r + y/ε)·(p − r) >= 0 for all rankings p.

    The p with the least product gives rank 1 to the largest factor: the rearrangement inequality.
    """
    for strength, n, ties in product((0.01, 0.3, 1.0, 3.0, 100.0), (1, 2, 3, 7, 60), (False, True)):
        scores, case = random(10, n, seed=n), f"{strength=} {n=} {ties=}"
        scores = (2 * scores).round() / 2 if ties else scores
        r, least = ProjectionRanker(strength)(scores), torch.arange(1.0, n + 1, dtype=torch.float64)
        assert (r.sort(-1).values.cumsum(-1) >= least.cumsum(-1) - 1e-9).all(), case  # majorised by (1, …, n)
        torch.testing.assert_close(r.sum(-1), torch.full((10,), n * (n + 1) / 2, dtype=torch.float64), msg=case)
        factor = r + scores / strength
        best = (factor.sort(-1, descending=True).values * least).sum(-1)
        torch.testing.assert_close((factor * r).sum(-1), best, rtol=1e-9, atol=1e-9, msg=case)


def test_ranks_are_exact_up_to_the_least_difference_and_equal_scores_share_theirs():
    for seed in range(5):
        scores = random(3, 8, seed=seed)
        threshold = scores.sort(-1).values.diff().min().item()
        below = scores.clone().requires_grad_()
        ranks = ProjectionRanker(0.999 * threshold)(below)
        assert torch.equal(ranks, rank(scores).double())
        ranks.backward(random(3, 8))
        assert not below.grad.any()
        assert not torch.equal(ProjectionRanker(1.001 * threshold)(scores), rank(scores).double())
    far = torch.tensor([1e17, 1.0, 0.0], dtype=torch.float64)  # a large gap does not swallow a small one
    assert ProjectionRanker(0.5)(far).tolist() == [1, 2, 3]
    for strength, at in product((1e-300, 1e-20, 1.0, 1e300), (0.1, 1e8, 1e-200)):
        scores = torch.tensor([at, -at, at, at, -at], dtype=torch.float64)
        ranks = ProjectionRanker(strength)(scores)
        assert ranks[0] == ranks[2] == ranks[3] and ranks[1] == ranks[4], (strength, at)
        assert 2 * at < 3 * strength or ranks.tolist() == [2, 4.5, 2, 2, 4.5], (strength, at)
        assert strength < 1e300 or ranks.tolist() == [3] * 5, at


def test_16_bits_are_projected_in_64_and_without_scipy_it_says_what_to_install(monkeypatch):
    for dtype in (torch.float16, torch.bfloat16):
        scores = random(2, 3000, dtype=dtype).requires_grad_()
        ranks = ProjectionRanker(0.01)(scores)
        assert ranks.dtype == torch.float32
        torch.testing.assert_close(ranks, ProjectionRanker(0.01)(scores.detach().double()).float())
        ranks[0, 0].backward()
        assert scores.grad.dtype == dtype and scores.grad[0].any() and not scores.grad[1].any()
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(ModuleNotFoundError, match=r"SciPy 1.12 or newer, .*\(run: pip install .*rankedu\[lab\]"):
        ProjectionRanker(1.0)(torch.tensor([0.3, 0.1]))
