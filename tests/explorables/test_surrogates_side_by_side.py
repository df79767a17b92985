"""The sliders of chapter 12: every frame renders, stays small, and tells what it shows."""

from __future__ import annotations

import re

import pytest

from rankedu.explorables import surrogates_side_by_side as chapter
from rankedu.explorables.book import MAX_BYTES, write_frames
from rankedu.figures import style
from rankedu.figures.surrogates_side_by_side import METHODS


def test_all_frames_render_and_are_small(tmp_path):
    frames = write_frames(chapter.method_and_strength, tmp_path)
    assert len({frame["alt"] for frame in frames}) == len(frames) == 44
    assert sum(path.stat().st_size for path in tmp_path.glob("*.webp")) < MAX_BYTES


@pytest.mark.parametrize("method", METHODS)
def test_the_gradient_appears_as_the_loss_is_distorted(method):
    shares = []
    for distortion in (0.02, 0.1, 0.75):
        told = style.description(chapter.method_and_strength(method=method, distortion=distortion))
        shares.append(int(re.search(r"Bars: (\d+)% of score vectors without", told).group(1)))
    assert shares == sorted(shares, reverse=True) and shares[-1] == 0
