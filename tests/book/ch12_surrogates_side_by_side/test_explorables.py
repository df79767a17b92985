"""The sliders of chapter 12: every frame renders, stays small, and tells what it shows."""

from __future__ import annotations

import re

import pytest

from rankbook.ch12_surrogates_side_by_side import explorables as chapter
from rankbook.ch12_surrogates_side_by_side.surrogates import SURROGATES
from rankbook.kit import style


@pytest.mark.parametrize("method", SURROGATES)
def test_the_gradient_appears_as_the_loss_is_distorted(method):
    shares = []
    for distortion in (0.02, 0.1, 0.75):
        told = style.description(chapter.method_and_strength(method=method, distortion=distortion))
        shares.append(int(re.search(r"Bars: (\d+)% of score vectors without", told).group(1)))
    assert shares == sorted(shares, reverse=True) and shares[-1] == 0
