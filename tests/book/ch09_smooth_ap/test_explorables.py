"""The sliders of chapter 9: every frame renders, stays small, and tells what it shows."""

from __future__ import annotations

import pytest

from rankbook.ch09_smooth_ap import explorables as chapter


def test_a_larger_batch_has_the_same_share_and_more_items_that_move():
    shares = [chapter.measure(0.01, size)[2] for size in chapter.SIZES]
    moved = [int((chapter.measure(0.01, size)[3].abs() > 1e-3).sum()) for size in chapter.SIZES]
    assert max(shares) - min(shares) < 0.1
    assert moved == sorted(moved) and moved[-1] > 5 * moved[0]


@pytest.mark.parametrize("size", chapter.SIZES)
def test_the_descent_lifts_the_relevant_and_sums_to_zero(size):
    exact, smooth, _, push = chapter.measure(0.001, size)
    assert smooth == pytest.approx(exact, abs=0.02)
    assert push.sum().item() == pytest.approx(0, abs=1e-9)
