"""BlackboxRanker against Algorithm 1 written out."""

import pytest
import torch
from drawn import DTYPES, HALF, coin, random, value_and_gradients

from rankedu import rank, rank_among
from rankedu.rankers import BlackboxRanker


@pytest.mark.parametrize("dtype", DTYPES)
def test_forward_and_backward_are_algorithm_1(dtype):
    y, wide = random(2, 3, 7, dtype=dtype), torch.promote_types(dtype, torch.float32)
    g = random(2, 3, 7, seed=1, dtype=wide)
    for lam in (0.1, 4.0):
        for where in (None, coin(2, 3, 7, p=0.6)):
            ranks, found = value_and_gradients(lambda s: BlackboxRanker(lam)(s, where=where), y, weight=g)  # noqa: B023
            assert ranks.dtype == wide and torch.equal(ranks, rank(y, where=where).to(wide))
            moved = rank(y.to(wide) + lam * g, where=where)
            assert found.dtype == dtype
            torch.testing.assert_close(found, ((moved - rank(y, where=where)).to(wide) / lam).to(dtype))


def test_among_ranks_members_and_moves_nobody_else():
    y, g, members = random(6, 8), random(6, 8, seed=1), coin(6, 8, p=0.6, seed=2)
    for where in (None, coin(6, 8, p=0.6, seed=3)):
        inside = members if where is None else members & where
        among = lambda s: BlackboxRanker(2.0).among(s, members, where=where)  # noqa: B023, E731
        ranks, found = value_and_gradients(among, y, weight=g)
        assert torch.equal(ranks, rank_among(y, members, where=where).double())
        expected = (rank(y + 2.0 * g, where=inside) - rank(y, where=inside)) / 2.0
        torch.testing.assert_close(found, expected.double())
        assert (found[~inside] == 0).all()


@pytest.mark.parametrize("n", [8, 37])
def test_lam_of_the_paper_is_n_times_lam_of_the_code(n):
    """L is any function of rk/n: the released scale with λ gives the gradient of the paper's with n·λ."""
    y, c = random(3, n), 64 * random(3, n, seed=1)
    for lam in (0.125, 2.0):
        of_code = value_and_gradients(BlackboxRanker(lam, normalized=True), y, weight=c)
        of_paper = value_and_gradients(lambda s: BlackboxRanker(n * lam)(s) / n, y, weight=c)  # noqa: B023
        # division by a power of two does not round
        torch.testing.assert_close(of_code, of_paper, rtol=0, atol=0 if n == 8 else 1e-12)
        assert of_code[1].any()


def test_normalized_ranks_count_those_who_take_part():
    scores = torch.tensor([[0.9, 0.1, 0.5, 0.7], [0.1, 0.2, 0.3, 0.4]])
    where = torch.tensor([[True, True, False, True], [False, False, False, False]])
    ranker = BlackboxRanker(1.0, normalized=True)
    torch.testing.assert_close(ranker(scores, where=where)[0], torch.tensor([1, 3, 0, 2]) / 3)
    assert (ranker(scores, where=where)[1] == 0).all()
    members = torch.tensor([[False, True, True, True], [True, True, True, True]])
    torch.testing.assert_close(ranker.among(scores, members, where=where)[0], torch.tensor([0, 2, 0, 1]) / 3)


def test_16_bit_scores_have_exact_ranks_beyond_2048():
    for dtype in HALF:
        assert torch.equal(BlackboxRanker(1.0)(torch.zeros(5000, dtype=dtype)), torch.arange(1.0, 5001.0))
