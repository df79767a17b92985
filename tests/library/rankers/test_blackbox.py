"""BlackboxRanker against Algorithm 1 written out."""

import pytest
import torch
from drawn import random

from rankedu import rank, rank_among
from rankedu.rankers import BlackboxRanker

DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
HALF = [torch.float16, torch.bfloat16]


def coin(*shape, seed=0):
    return torch.rand(shape, generator=torch.Generator().manual_seed(seed)) < 0.6


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(7,), (4, 7), (2, 3, 7)])
@pytest.mark.parametrize("lam", [0.1, 4.0])
@pytest.mark.parametrize("ragged", [False, True])
def test_forward_and_backward_are_algorithm_1(dtype, shape, lam, ragged):
    y = random(*shape, dtype=dtype).requires_grad_()
    where = coin(*shape) if ragged else None
    ranks = BlackboxRanker(lam)(y, where=where)
    wide = torch.float32 if dtype in HALF else dtype
    assert ranks.dtype == wide and torch.equal(ranks, rank(y, where=where).to(wide))

    g = random(*shape, seed=1, dtype=wide)
    ranks.backward(g)
    y_lam = y.detach().to(wide) + lam * g
    expected = -(rank(y, where=where) - rank(y_lam, where=where)).to(wide) / lam
    assert y.grad.dtype == dtype
    torch.testing.assert_close(y.grad, expected.to(dtype))


@pytest.mark.parametrize("ragged", [False, True])
def test_among_ranks_members_and_moves_nobody_else(ragged):
    y, members = random(6, 8).requires_grad_(), coin(6, 8, seed=2)
    where = coin(6, 8, seed=3) if ragged else None
    inside = members if where is None else members & where
    ranks = BlackboxRanker(2.0).among(y, members, where=where)
    assert torch.equal(ranks, rank_among(y, members, where=where).double())
    g = random(6, 8, seed=1)
    ranks.backward(g)
    expected = (rank(y + 2.0 * g, where=inside) - rank(y, where=inside)) / 2.0
    torch.testing.assert_close(y.grad, expected.double())
    assert (y.grad[~inside] == 0).all()


@pytest.mark.parametrize("n", [4, 8, 64, 10, 37])
@pytest.mark.parametrize("lam_of_the_code", [0.125, 0.5, 2.0])
def test_lam_of_the_paper_is_n_times_lam_of_the_code(n, lam_of_the_code):
    """L is any function of rk/n: the released scale with λ gives the gradient of the paper's with n·λ."""
    y, c = random(3, n).requires_grad_(), 64 * random(3, n, seed=1)
    in_code = BlackboxRanker(lam_of_the_code, normalized=True)
    in_paper = BlackboxRanker(n * lam_of_the_code)
    assert torch.equal(in_code(y), in_paper(y) / n)
    (of_code,) = torch.autograd.grad((c * in_code(y)).sum(), y)
    (of_paper,) = torch.autograd.grad((c * (in_paper(y) / n)).sum(), y)
    exact = n & (n - 1) == 0  # division by a power of two does not round
    torch.testing.assert_close(of_code, of_paper, rtol=0, atol=0 if exact else 1e-12)
    assert of_code.any()


def test_normalized_ranks_count_those_who_take_part():
    scores = torch.tensor([[0.9, 0.1, 0.5, 0.7], [0.1, 0.2, 0.3, 0.4]])
    where = torch.tensor([[True, True, False, True], [False, False, False, False]])
    ranker = BlackboxRanker(1.0, normalized=True)
    torch.testing.assert_close(ranker(scores, where=where)[0], torch.tensor([1, 3, 0, 2]) / 3)
    assert (ranker(scores, where=where)[1] == 0).all()
    members = torch.tensor([[False, True, True, True], [True, True, True, True]])
    torch.testing.assert_close(ranker.among(scores, members, where=where)[0], torch.tensor([0, 2, 0, 1]) / 3)


@pytest.mark.parametrize("dtype", HALF)
def test_16_bit_scores_have_exact_ranks_beyond_2048(dtype):
    scores = torch.zeros(5000, dtype=dtype)
    assert torch.equal(BlackboxRanker(1.0)(scores), torch.arange(1.0, 5001.0))
