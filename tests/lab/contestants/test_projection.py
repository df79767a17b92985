"""ProjectionRanker: a certificate that it solves the quadratic program that defines it; where it is exact."""

import sys
from itertools import product

import pytest
import torch
from drawn import random

from rankedu import rank
from ranklab.contestants import ProjectionRanker


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
