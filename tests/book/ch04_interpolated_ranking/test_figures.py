"""What the figures of chapter 4 claim, in numbers."""

from __future__ import annotations

import re

import numpy as np
import pytest

from rankbook.ch04_interpolated_ranking import figures, study
from rankbook.kit import style, timing
from rankedu.landscapes import interpolated_landscape, random_coefficients, random_section, rank_landscape


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
    assert len(ranges) == 4
    assert [low for low, _ in ranges] == sorted((low for low, _ in ranges), reverse=True)
    assert ranges[-1][1] - ranges[-1][0] < ranges[0][1] - ranges[0][0]


def test_every_bar_chart_adds_up_to_zero():
    weak, *others = ([bar.get_width() for bar in axes.patches] for axes in figures.gradient_bars().axes)
    assert weak == [0] * 5 and all(sum(bars) == 0 and any(bars) for bars in others)


def test_the_share_of_items_that_move_reaches_half_at_three_gaps():
    for n in (20, 200, 2000):
        moved, _ = study.regime(n, 3 / n, trials=40)
        assert 0.4 < moved < 0.65


def test_fitted_exponent_finds_the_exponent():
    lengths = np.geomspace(1e3, 1e6, 9).astype(int)
    noise = np.exp(0.05 * np.random.default_rng(0).standard_normal(9))
    exponent, margin = timing.fitted_exponent(
        {int(n): float(t) for n, t in zip(lengths, noise * lengths**2.0, strict=True)}
    )
    assert abs(exponent - 2) < margin < 0.1


def test_the_scaling_figure_names_the_exponents(lines):
    made = figures.measured_scaling({"a": {10: 1.0, 20: 2.0, 40: 4.0}, "b": {10: 1.0, 20: 4.0, 40: 16.0}})
    assert set(lines(made.axes[0])) == {"a: $n^{1.00}$", "b: $n^{2.00}$"}


@pytest.mark.parametrize("n", [20, 200])
@pytest.mark.parametrize("ratio", [0.3, 1.0, 4 / 3, 9.47])
def test_how_far_the_interpolation_has_sunk_has_a_closed_form(n, ratio):
    _, drawn = study.regime(n, ratio, trials=200)
    assert abs(drawn - study.sunk(ratio)) < 0.01
    assert study.sunk(4 / 3) == pytest.approx(0.5)
