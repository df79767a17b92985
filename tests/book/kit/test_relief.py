"""Height fields as solid blocks."""

from __future__ import annotations

import numpy as np
import pytest

from rankbook.kit import relief
from rankbook.kit.relief import view


@pytest.mark.parametrize("stepped", [True, False])
def test_a_relief_is_seen_from_the_front_and_above(stepped):
    levels = np.zeros((80, 80))
    levels[:20] = 1.0  # a wall in front hides what lies behind it
    inside = np.ones_like(levels, dtype=bool)
    image = relief.relief(levels, inside, 1.0, stepped=stepped)
    column = image[:, 40][(image[:, 40] < 1).any(-1)]
    floor = relief.relief(0 * levels, inside, 1.0, stepped=stepped)[:, 40]
    assert len(column) > (floor < 1).any(-1).sum() - 20
    np.testing.assert_allclose(column[-1], relief.STEEL)


def test_the_staircase_fills_the_vertical_scale_and_stands_in_the_square():
    seen = view(60)
    assert seen.staircase.shape == seen.inside.shape == (60, 60)
    assert 0.4 < seen.inside.mean() < 1, "a turned square does not fill its frame"
