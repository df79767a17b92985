import pytest
import torch

from rankedu import rank, reference

SEEDS = range(40)


def drawn(seed, n=7):
    """Distinct scores, and coefficients of which several are equal."""
    random = torch.Generator().manual_seed(seed)
    return torch.randn(n, generator=random).tolist(), torch.randint(-2, 3, (n,), generator=random).float().tolist()


def meeting_times(y, c):
    return [(y[j] - y[i]) / (c[i] - c[j]) for i in range(len(y)) for j in range(len(y)) if y[i] < y[j] and c[i] > c[j]]


def loss(y, c):
    return sum(place * weight for place, weight in zip(reference.rank(y), c, strict=True))


@pytest.mark.parametrize("seed", SEEDS)
def test_gradients_sum_to_zero_and_beyond_the_meeting_times_they_are_the_limits(seed):
    y, c = drawn(seed)
    times = meeting_times(y, c)
    assert sum(reference.rank_gradient(y, c, 1.0)) == pytest.approx(0)
    small, large = (0.99 * min(times), 1.01 * max(times)) if times else (1e3, 1.0)
    assert not any(reference.rank_gradient(y, c, small))
    assert reference.interpolated(y, c, small) == pytest.approx(loss(y, c))
    settled = reference.rank([weight + 1e-4 * score for weight, score in zip(c, y, strict=True)])
    found = [(a - b) / large for a, b in zip(settled, reference.rank(y), strict=True)]
    assert reference.rank_gradient(y, c, large) == pytest.approx(found)
    gaps = sum(score * (a - b) for score, a, b in zip(y, settled, reference.rank(y), strict=True))
    assert reference.interpolated(y, c, large) == pytest.approx(loss(c, c) + gaps / large)


def test_of_tied_scores_no_step_is_too_short_and_ranks_of_ties_that_are_no_permutation_do_not_sum_to_zero():
    assert reference.rank_gradient([0.5, 0.5], [0.0, 1.0], 1e-9) == pytest.approx([1e9, -1e9])
    before, after = (rank(torch.tensor(y), ties="max") for y in ([0.0, 0.0, 1.0], [0.0, 0.5, 1.0]))
    assert (after - before).sum() != 0


@pytest.mark.parametrize("seed", SEEDS)
def test_one_lam_moves_all_where_all_scores_are_equal_and_a_smaller_one_moves_some_where_they_are_not(seed):
    p, r, queries = torch.randint(1, 6, (3,), generator=torch.Generator().manual_seed(seed)).tolist()
    equal, c = [-0.05] * p + [0.05] * r, [1 / (queries * p * (1 + r))] * p + [0.0] * r
    bound = 0.1 * p * queries * (1 + r)
    assert not any(reference.rank_gradient(equal, c, 0.999 * bound))
    lam = 1.001 * bound
    assert reference.rank_gradient(equal, c, lam) == pytest.approx([-r / lam] * p + [p / lam] * r)
    assert any(reference.rank_gradient([0.0, *equal[1:]], c, 0.999 * bound))
