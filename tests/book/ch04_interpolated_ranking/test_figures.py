import re

import numpy as np
import pytest
import torch

from rankedu import rank, reference
from rankedu_book.ch04_interpolated_ranking import figures
from rankedu_book.kit import style
from rankedu_book.kit.landscapes import interpolated_landscape, random_coefficients, random_section, rank_landscape


def largest_step(height):
    return max(np.abs(np.diff(height, axis=axis)).max() for axis in (0, 1))


def test_the_staircase_jumps_and_its_interpolations_do_not():
    c = random_coefficients(seed=figures.SEED)
    coarse, fine = (random_section(seed=figures.SEED, extent=figures.EXTENT, resolution=r) for r in (101, 401))
    assert largest_step(rank_landscape(fine, c)) > 0.5 * largest_step(rank_landscape(coarse, c))
    for lam in (0.06, 0.3):
        heights = [interpolated_landscape(section, c, lam) for section in (coarse, fine)]
        assert largest_step(heights[1]) < 0.3 * largest_step(heights[0])


def test_the_landscape_sinks_and_flattens_as_lam_grows():
    told = style.description(figures.evolution_with_lam())
    ranges = [tuple(map(float, pair)) for pair in re.findall(r"from (-?\d+) to (-?\d+)", told)]
    lows = [low for low, _ in ranges]
    assert len(ranges) == 4 and lows == sorted(lows, reverse=True)
    assert ranges[-1][1] - ranges[-1][0] < ranges[0][1] - ranges[0][0]


# Propositions


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
