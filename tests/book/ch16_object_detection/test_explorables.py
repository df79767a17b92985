"""The sliders of chapter 16: every frame renders, stays small, and tells what it shows."""

from __future__ import annotations

import pytest

from rankbook.ch16_object_detection import explorables as chapter
from rankbook.kit import style


@pytest.mark.parametrize("window", chapter.two_judges.controls["window"].stops)
def test_easy_background_moves_cross_entropy_and_not_ap(window):
    few, many = chapter.judge(1, window), chapter.judge(30, window)
    assert many.cross_entropy < few.cross_entropy / 2
    assert many.ap == pytest.approx(few.ap, abs=1e-9)
    assert many.cross_entropy_shares[2] > few.cross_entropy_shares[2]


@pytest.mark.parametrize("ratio", chapter.two_judges.controls["ratio"].stops)
def test_the_shares_add_up(ratio):
    for window in (0.05, 0.5, 0.95):
        found = chapter.judge(ratio, window)
        assert sum(found.cross_entropy_shares) == pytest.approx(1)
        assert sum(found.blame) == pytest.approx(1 - found.ap)


def test_the_window_climbs_and_ap_falls():
    found = [chapter.judge(100, window) for window in (0.05, 0.5, 0.95)]
    assert found[0].ap > found[1].ap > found[2].ap
    assert found[2].cross_entropy < 1.2 * found[0].cross_entropy


def test_the_description_tells_the_numbers():
    found = chapter.judge(100, 0.85)
    told = style.description(chapter.two_judges(ratio=100, window=0.85))
    assert f"Cross entropy is {found.cross_entropy:.3f}" in told and f"AP is {found.ap:.3f}" in told


def test_a_perfect_list_has_nobody_to_blame():
    assert chapter.judge(1, 0.05).ap == 1.0
    assert "is charged to the window and 0.000" in style.description(chapter.two_judges(ratio=1, window=0.05))
