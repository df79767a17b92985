"""The sliders of chapter 4: every frame renders, stays small, and tells what it shows."""

from __future__ import annotations

import re

import pytest
import torch

from rankbook.ch04_interpolated_ranking import explorables as chapter
from rankbook.kit import style
from rankedu.blackbox import interpolate
from rankedu.solvers import ranking


def test_the_gradient_appears_as_lam_grows():
    shares = []
    for lam in (0.001, 0.01, 0.1, 1.0):
        told = style.description(chapter.interpolation_landscape(lam=lam, seed=1))
        shares.append(int(re.search(r"exactly zero on (\d+)%", told).group(1)))
    assert shares[0] > 80 and shares == sorted(shares, reverse=True) and shares[-1] == 0


def test_the_colours_sink_with_the_surface():
    """The mean lightness of the map falls as λ grows, on every plane."""
    for seed in range(5):
        lightness = []
        for lam in (0.001, 0.1, 0.794, 10.0):
            (map_,) = chapter.interpolation_landscape(lam=lam, seed=seed).axes[0].images
            lightness.append(map_.cmap(map_.norm(map_.get_array()))[..., :3].mean())
        assert lightness == sorted(lightness, reverse=True)


@pytest.mark.parametrize("lam", chapter.secant.controls["lam"].values[::5])
@pytest.mark.parametrize("position", chapter.secant.controls["position"].values[::6])
def test_the_slope_of_the_secant_is_the_interpolation(lam, position):
    c = torch.from_numpy(chapter.LINE_GRADIENT)
    wanted = interpolate(ranking, c, lam)(torch.from_numpy(chapter.LINE_SCORES) + position * c).item()
    told = style.description(chapter.secant(lam=lam, position=position))
    assert float(re.search(r"a slope of (-?[\d.]+)\.", told).group(1)) == pytest.approx(wanted, abs=0.006)


def test_the_first_frame_is_the_table_of_the_chapter():
    assert "its mean over the step of length λ = 0.25 is 6.20" in style.description(chapter.secant())


def test_the_scale_stays_and_the_surface_sinks_on_it():
    scales = [chapter.interpolation_landscape(lam=lam, seed=1).axes[1] for lam in (0.001, 1.0, 10.0)]
    assert len({scale.get_ylim() for scale in scales}) == 1
    tops = [max(patch.get_y() + patch.get_height() for patch in scale.patches) for scale in scales]
    assert tops[0] > tops[1] > tops[2] > scales[0].get_ylim()[0]
