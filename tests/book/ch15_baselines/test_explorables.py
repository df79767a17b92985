"""The sliders of chapter 15: every frame renders, stays small, and tells what it shows."""

from __future__ import annotations

import numpy as np
import pytest

from rankbook.ch15_baselines import explorables as chapter
from rankbook.ch15_baselines import study
from rankbook.kit import style


@pytest.mark.parametrize("name", chapter.OPTIONS)
def test_the_step_follows_the_curve(name):
    """The slope of the loss along the arc, by differences, is minus the step of the item that moves."""
    angle, h = 113.3, 1e-4
    low, high = (chapter.step(name, angle + sign * h)[0] for sign in (-1, 1))
    assert chapter.turn(name, angle) == pytest.approx(-(high - low) / (2 * np.deg2rad(h)), rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("name", chapter.OPTIONS)
def test_arrows_have_one_scale_for_all_places(name):
    """A step of half the length is an arrow of half the length, and no arrow is longer than half a radius."""
    scales = []
    for angle in chapter.one_item_moves.controls["angle"].stops:
        (arrows,) = (
            one for one in chapter.one_item_moves(loss=name, angle=angle).axes[0].collections if hasattr(one, "U")
        )
        drawn, steps = np.hypot(arrows.U, arrows.V), np.linalg.norm(chapter.step(name, angle)[1], axis=1)
        scales.append(drawn.max() / steps.max())
        assert drawn.max() <= 0.5 + 1e-9
    np.testing.assert_allclose(scales, scales[0])


@pytest.mark.parametrize("name", chapter.OPTIONS)
def test_every_place_has_a_finite_step(name):
    for angle in chapter.one_item_moves.controls["angle"].values:
        value, steps = chapter.step(name, angle)
        assert np.isfinite(value) and np.isfinite(steps).all()


def test_at_home_it_is_the_batch_of_the_chapter():
    assert chapter.angles_with(72.0) == list(study.ANGLES)
    ap, hap = study.measures(study.embed(study.ANGLES))
    told = style.description(chapter.one_item_moves())
    assert f"mean AP {ap:.2f}, mean H-AP {hap:.2f}" in told
