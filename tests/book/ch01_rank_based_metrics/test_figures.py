from itertools import pairwise, permutations

import torch

from rankedu import rank, reference
from rankedu_book.ch01_rank_based_metrics import figures


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


def test_two_models_have_the_same_cross_entropy_and_a_third_has_less_and_ranks_like_the_worse():
    scores, relevant = figures.models()
    loss = {m: torch.nn.functional.binary_cross_entropy_with_logits(y, relevant.double()) for m, y in scores.items()}
    assert torch.isclose(loss["A"], loss["B"], rtol=0, atol=1e-12) and loss["C"] < loss["A"] - 0.01
    assert rank(scores["B"]).equal(rank(scores["C"])) and rank(scores["A"])[relevant].sum() == 6


def test_half_precision_has_fewer_cosines_than_online_products_has_images():
    every = torch.arange(-(2**15), 2**15).to(torch.int16).view(torch.float16).float()
    assert len(every[every.abs() <= 1].unique()) < 60_501
