from itertools import pairwise, permutations

import torch

from rankedu import rank, reference


def test_where_scores_differ_the_two_definitions_agree():
    for n in (1, 2, 3, 5):
        y = torch.randperm(n, generator=torch.Generator().manual_seed(n)).tolist()
        for z in (y, [0, *y]):  # without and with a tie
            orders = [o for o in permutations(range(len(z))) if all(z[i] >= z[j] for i, j in pairwise(o))]
            assert ([[1 + o.index(i) for i in range(len(z))] for o in orders] == [reference.rank(z)]) == (z is y)
        assert rank(torch.tensor(z), ties="min").tolist().count(n) == 2, "no permutation"


def test_ranks_stay_within_half_the_smallest_gap_and_no_further():
    y = torch.randn(200, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    moved = y + 0.4995 * y.sort().values.diff().amin(1, keepdim=True) * y.sin().mul(1e4).cos().sign()
    assert rank(moved).equal(rank(y))
    assert (moved.amax(1) != y.amax(1)).all(), "the largest score is no function of the ranks"
    assert rank(torch.tensor([1.0 - 0.5, 0.0 + 0.5]), ties="min").tolist() == [1, 1], "at half the gap scores meet"
    assert rank(torch.tensor([1.0, 1.0 + 1e-6])).tolist() == [2, 1] and rank(torch.ones(2)).tolist() == [1, 2], "a tie"
