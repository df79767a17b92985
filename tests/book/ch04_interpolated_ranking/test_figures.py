import re

import numpy as np
import pytest
import torch

from rankbook.ch04_interpolated_ranking import explorables, figures, study
from rankbook.kit import style, timing
from rankedu.blackbox import interpolate
from rankedu.landscapes import interpolated_landscape, random_coefficients, random_section, rank_landscape
from rankedu.solvers import ranking


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


def test_half_move_at_three_gaps_and_how_far_the_interpolation_has_sunk_has_a_closed_form():
    for n in (20, 200, 2000):
        assert 0.4 < study.regime(n, 3 / n, trials=40)[0] < 0.65
    for ratio in (0.3, 1.0, 4 / 3, 9.47):
        assert abs(study.regime(20, ratio, trials=200)[1] - study.sunk(ratio)) < 0.01
    assert study.sunk(4 / 3) == pytest.approx(0.5)


def test_fitted_exponent_finds_the_exponent():
    lengths = np.geomspace(1e3, 1e6, 9).astype(int)
    seconds = np.exp(0.05 * np.random.default_rng(0).standard_normal(9)) * lengths**2.0
    exponent, margin = timing.fitted_exponent(dict(zip(lengths.tolist(), seconds.tolist(), strict=True)))
    assert abs(exponent - 2) < margin < 0.1


def test_the_slope_of_the_secant_is_the_interpolation():
    c, controls = torch.from_numpy(explorables.LINE_GRADIENT), explorables.secant.controls
    for lam in controls["lam"].values[::10]:
        for position in controls["position"].values[::20]:
            wanted = interpolate(ranking, c, lam)(torch.from_numpy(explorables.LINE_SCORES) + position * c).item()
            told = style.description(explorables.secant(lam=lam, position=position))
            assert float(re.search(r"a slope of (-?[\d.]+)\.", told).group(1)) == pytest.approx(wanted, abs=0.006)
