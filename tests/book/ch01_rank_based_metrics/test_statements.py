"""The propositions of chapter 1: cases within their hypotheses, and a failure without each. Ties: test_reference.py."""

from itertools import pairwise, permutations

import torch

import rankedu
from rankedu import reference


def sorting(y):
    """Every permutation with Eq. 1, as ranks."""
    orders = permutations(range(len(y)))
    return [tuple(1 + o.index(i) for i in range(len(y))) for o in orders if all(y[i] >= y[j] for i, j in pairwise(o))]


def test_where_scores_differ_the_two_definitions_agree():
    for n in (1, 2, 3, 5):
        y = torch.randperm(n, generator=torch.Generator().manual_seed(n)).tolist()
        assert sorting(y) == [tuple(reference.rank(y))]
        assert len(sorting([0, *y])) == 2 and rankedu.rank(torch.tensor([0, *y]), ties="min").tolist().count(n) == 2


def test_ranks_stay_within_half_the_smallest_gap_and_no_further():
    y = torch.randn(200, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    half = y.sort().values.diff().amin(1, keepdim=True) / 2
    moved = y + 0.999 * half * y.sin().mul(1e4).cos().sign()
    assert rankedu.rank(moved).equal(rankedu.rank(y))
    assert (moved.amax(1) != y.amax(1)).all(), "the largest score is no function of the ranks"
    met, tied = torch.tensor([1.0 - 0.5, 0.0 + 0.5]), torch.tensor([1.0, 1.0 + 1e-6])
    assert rankedu.rank(met, ties="min").tolist() == [1, 1], "at half the gap scores meet"
    assert rankedu.rank(tied).tolist() == [2, 1] != rankedu.rank(tied.round()).tolist(), "beside a tie ranks change"


def test_the_expected_ap_is_the_mean_over_all_orders_and_not_over_those_of_a_sorted_file():
    y, relevant = [1, 1, 1, 0], [True, False, False, True]
    every = [reference.average_precision([y[i] for i in o], [relevant[i] for i in o]) for o in permutations(range(4))]
    assert abs(reference.average_precision(y, relevant, "expected") - sum(every) / 24) < 1e-12
    assert sum(every[:6]) / 6 > sum(every) / 24 + 0.1, "the relevant one of the tied is listed first"
