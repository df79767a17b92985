"""The ground that a ball rolls on is the gradient of the library, as fine as letters tell it."""

from __future__ import annotations

import numpy as np
import pytest

from rankbook.ch02_blackbox_differentiation import explorables as blackbox_differentiation
from rankbook.ch04_interpolated_ranking import explorables as interpolated_ranking
from rankbook.ch12_surrogates_side_by_side import explorables as surrogates_side_by_side
from rankbook.kit.explorable.grounds import FIRST, LETTERS, SIDE, ground_of
from rankbook.kit.explorable.sliders import widget
from rankedu.landscapes import Section, random_coefficients, random_section, rank_landscape, section_gradient

MAPS = (
    interpolated_ranking.interpolation_landscape,
    surrogates_side_by_side.method_and_strength,
    blackbox_differentiation.two_dimensional_section,
)


@pytest.mark.parametrize("lam", [0.001, 0.1, 10.0])
def test_it_is_minus_the_gradient_of_algorithm_1(lam):
    found, section = ground_of(MAPS[0](lam=lam, seed=2)), random_section(seed=2)
    places = Section(section.origin, section.u, section.v, interpolated_ranking.EXTENT, SIDE)
    down = -section_gradient(places, random_coefficients(seed=2), lam)
    ways, heights = (
        np.array([ord(one) - FIRST for one in text]).reshape(SIDE, SIDE) for text in (found.way, found.loss)
    )
    assert ((ways == 0) == (down == 0).all(-1)).all()
    angle = 2 * np.pi * (ways - 1) / (LETTERS - 1)
    along = (down * np.stack([np.cos(angle), np.sin(angle)], -1)).sum(-1)
    assert (along >= np.cos(np.pi / (LETTERS - 1) + 1e-9) * np.linalg.norm(down, axis=-1) - 1e-9)[ways > 0].all()
    told, high = found.low + heights / (LETTERS - 1) * (found.high - found.low), found.high - found.low
    assert np.abs(told - rank_landscape(places, random_coefficients(seed=2))).max() <= high / (LETTERS - 1) / 2 + 1e-3


def test_the_box_is_that_of_the_map_and_the_live_widget_has_it():
    for found in MAPS:
        made = found()
        made.canvas.draw()
        wide, high = made.get_size_inches()
        left, top, width, height = ground_of(made).box
        assert min(left, top) > 0 and max(left + width, top + height) < 1
        assert width * wide == pytest.approx(height * high, rel=0.03), "what is square is kept as a square"
    assert ground_of(interpolated_ranking.secant()) is None
    lam, _, picture, _ = widget(MAPS[0]).children
    lam.value = lam.options[-1][1]
    assert picture.ground == ground_of(MAPS[0](lam=lam.value))._asdict()
