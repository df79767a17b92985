"""ProjectionRanker against the quadratic program that defines it."""

import sys
from itertools import combinations

import numpy as np
import pytest
import torch
from drawn import random
from scipy.optimize import minimize

from rankedu import rank
from rankedu.losses import APLoss
from ranklab.contestants import ProjectionRanker

HALF = [torch.float16, torch.bfloat16]
STRENGTHS = [0.01, 0.3, 1.0, 3.0, 100.0]
nan, inf = float("nan"), float("inf")


def coin(*shape, p=0.6, seed=1):
    return torch.rand(shape, generator=torch.Generator().manual_seed(seed)) < p


def quadratic_program(scores, strength):
    """The nearest point to −y/ε of which any k coordinates have a sum of 1 + … + k at least, and all exactly."""
    n, goal = len(scores), -scores.numpy() / strength
    some = [list(subset) for k in range(1, n) for subset in combinations(range(n), k)]
    constraints = [
        {"type": "eq", "fun": lambda r: r.sum() - n * (n + 1) / 2},
        {"type": "ineq", "fun": lambda r: np.array([r[s].sum() - len(s) * (len(s) + 1) / 2 for s in some])},
    ]
    start, scale = np.full(n, (n + 1) / 2), max(1.0, np.abs(goal).max())
    found = minimize(
        lambda r: ((r - goal) ** 2).sum() / scale,
        start,
        jac=lambda r: 2 * (r - goal) / scale,
        constraints=constraints if some else constraints[:1],
        options={"ftol": 1e-14, "maxiter": 300},
    )
    return torch.from_numpy(found.x)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("strength", [0.2, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("seed", range(3))
def test_it_solves_the_quadratic_program(n, strength, seed):
    scores = random(n, seed=seed)
    torch.testing.assert_close(
        ProjectionRanker(strength)(scores), quadratic_program(scores, strength), rtol=1e-5, atol=1e-5
    )


@pytest.mark.parametrize("strength", STRENGTHS)
@pytest.mark.parametrize("n", [2, 7, 60])
@pytest.mark.parametrize("ties", [False, True])
def test_no_ranking_lies_in_the_direction_of_descent(strength, n, ties):
    """A certificate for any n: r is in the permutahedron, and (r + y/ε)·(p − r) >= 0 for all rankings p.

    The p with the least product gives rank 1 to the largest factor: the rearrangement inequality."""
    scores = random(10, n, seed=n)
    scores = (2 * scores).round() / 2 if ties else scores
    r = ProjectionRanker(strength)(scores)
    least = torch.arange(1.0, n + 1, dtype=torch.float64)
    assert (r.sort(-1).values.cumsum(-1) >= least.cumsum(-1) - 1e-9).all()  # majorised by (1, …, n)
    torch.testing.assert_close(r.sum(-1), torch.full((10,), n * (n + 1) / 2, dtype=torch.float64))
    factor = r + scores / strength
    best = (factor.sort(-1, descending=True).values * least).sum(-1)
    torch.testing.assert_close((factor * r).sum(-1), best, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_ranks_are_exact_up_to_the_least_difference(seed):
    scores = random(3, 8, seed=seed)
    threshold = scores.sort(-1).values.diff().min().item()
    below = scores.clone().requires_grad_()
    ranks = ProjectionRanker(0.999 * threshold)(below)
    assert torch.equal(ranks, rank(scores).double())
    ranks.backward(random(3, 8))
    assert not below.grad.any()
    assert not torch.equal(ProjectionRanker(1.001 * threshold)(scores), rank(scores).double())


@pytest.mark.parametrize("seed", range(5))
def test_ranks_are_linear_from_the_other_threshold_on(seed):
    scores, n = random(8, seed=seed), 8
    ordered = scores.sort(descending=True).values
    threshold = 2 / n * max((ordered[:k].mean() - ordered[k:].mean()).item() for k in range(1, n))

    def linear(strength):
        return (n + 1) / 2 - (scores - scores.mean()) / strength

    torch.testing.assert_close(ProjectionRanker(1.001 * threshold)(scores), linear(1.001 * threshold))
    before = ProjectionRanker(0.99 * threshold)(scores)
    assert (before - linear(0.99 * threshold)).abs().max() > 1e-3
    torch.testing.assert_close(ProjectionRanker(1e12)(scores), torch.full((n,), 4.5, dtype=torch.float64))


@pytest.mark.parametrize("strength", [0.3, 1.0])
def test_the_jacobian_is_that_of_the_blocks(strength):
    scores = random(9, seed=4)
    jacobian = torch.autograd.functional.jacobian(ProjectionRanker(strength), scores)
    same = jacobian != 0
    size = same.sum(-1, keepdim=True)
    expected = -(torch.eye(9).double() - same / size.clamp(min=1)) / strength
    expected = torch.where(size > 0, expected, 0.0)  # alone: no gradient
    torch.testing.assert_close(jacobian, expected)
    torch.testing.assert_close(jacobian, jacobian.T)
    torch.testing.assert_close(jacobian.sum(-1), torch.zeros(9, dtype=torch.float64), rtol=0, atol=1e-12)
    assert (size == 0).any() or strength == 1
    assert 1 < size.max() < 9 or strength == 1


@pytest.mark.parametrize("strength", [1e-300, 1e-20, 1.0, 1e300])
@pytest.mark.parametrize("at", [0.1, 1e8, 1e-200])
def test_equal_scores_share_the_mean_of_their_ranks(strength, at):
    scores = torch.tensor([at, -at, at, at, -at], dtype=torch.float64)
    ranks = ProjectionRanker(strength)(scores)
    assert ranks[0] == ranks[2] == ranks[3] and ranks[1] == ranks[4]
    if 2 * at >= 3 * strength:
        assert ranks.tolist() == [2, 4.5, 2, 2, 4.5]
    if strength == 1e300:
        assert ranks.tolist() == [3] * 5


def test_touching_blocks_have_the_same_ranks():
    """A kink: apart or joined makes a difference to the gradient alone, which is one or the other."""
    scores = torch.tensor([0.5, 0.0], requires_grad=True)
    ranks = ProjectionRanker(0.5)(scores)
    assert ranks.tolist() == [1, 2]
    ranks[0].backward()
    assert scores.grad.tolist() in ([0, 0], [-1, 1])


@pytest.mark.parametrize("dtype", HALF)
def test_16_bits_are_projected_in_64_and_returned_in_32(dtype):
    scores = random(2, 3000, dtype=dtype).requires_grad_()
    ranks = ProjectionRanker(0.01)(scores)
    assert ranks.dtype == torch.float32
    torch.testing.assert_close(ranks, ProjectionRanker(0.01)(scores.detach().double()).float())
    ranks[0, 0].backward()
    assert scores.grad.dtype == dtype and scores.grad[0].any() and not scores.grad[1].any()


def test_it_is_a_ranker_of_the_losses():
    scores, relevance = random(4, 10).requires_grad_(), coin(4, 10)
    exact = APLoss(ProjectionRanker(1e-9))(scores, relevance)
    soft = APLoss(ProjectionRanker(1.0), within_grad=True)(scores, relevance)
    soft.backward()
    assert abs(exact - soft) > 0.01 and scores.grad[relevance].sum() < 0


def test_without_scipy_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(ModuleNotFoundError, match=r"SciPy 1.12 or newer, .*\(run: pip install .*rankedu\[lab\]"):
        ProjectionRanker(1.0)(torch.tensor([0.3, 0.1]))


y, yes = torch.tensor([0.3, 0.1]), torch.tensor([True, False])
BAD = {
    "zero": (
        lambda: ProjectionRanker(0),
        ValueError,
        r"strength must be finite and > 0, got 0.0 \(in units of a score",
    ),
    "NaN": (
        lambda: ProjectionRanker()(torch.tensor([0.1, nan])),
        ValueError,
        "scores must not contain NaN, got 1 of 2",
    ),
    "inf": (
        lambda: ProjectionRanker()(torch.tensor([0.1, -inf])),
        ValueError,
        "must be finite, got 1 of 2 like -inf",
    ),
    "where of among": (
        lambda: ProjectionRanker().among(y, yes, where=yes[:1]),
        ValueError,
        "where must have the shape",
    ),
}


@pytest.mark.parametrize(("call", "error", "message"), BAD.values(), ids=BAD)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
