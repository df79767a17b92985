"""The slider of chapter 7: every frame renders, stays small, and tells what it shows."""

from __future__ import annotations

import re

import numpy as np
import pytest

from rankbook.ch07_recall_loss import explorables as chapter
from rankbook.kit import style


@pytest.mark.parametrize("power", chapter.weights_to_loss.controls["power"].values[::6])
@pytest.mark.parametrize("cut_off", chapter.weights_to_loss.controls["cut_off"].values)
def test_shares_of_the_push_are_what_passing_one_saves(power, cut_off):
    told = style.description(chapter.weights_to_loss(power=power, cut_off=cut_off))
    shares = [int(share) for share in re.findall(r"(\d+)%", told)]
    last = 20 if cut_off == chapter.NO_CUT else cut_off
    push = np.array([float(r) ** -power if 0 < r <= last else 0.0 for r in chapter.OUTRANKED])
    np.testing.assert_allclose(shares, 100 * push / push.sum(), atol=0.51)


def test_the_ends_of_the_family():
    assert np.array_equal(chapter.weights(0, "none").cumsum(), np.arange(1, 21))  # W(r) = r
    assert np.array_equal(chapter.weights(2, 1).cumsum(), np.ones(20))  # W(r) = min(r, 1)
    np.testing.assert_allclose(chapter.weights(1, "none").sum(), sum(1 / k for k in range(1, 21)))
