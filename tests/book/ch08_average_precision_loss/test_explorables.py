"""The sliders of chapter 8: every frame renders, stays small, and tells what it shows."""

from __future__ import annotations

import pytest
import torch

from rankbook.ch08_average_precision_loss import explorables as chapter
from rankbook.kit import style


@pytest.mark.parametrize("shift", chapter.two_classes.controls["shift"].values[::8])
def test_shifting_a_class_changes_apc_alone(shift):
    by_class, one = chapter.measure(shift)
    assert by_class == chapter.measure(0.0)[0]
    assert 0 < one < 1
    assert f"APC, all in one list, {one:.2f}" in style.description(chapter.two_classes(shift=shift))


def test_apc_tells_scales_apart():
    values = [chapter.measure(shift)[1] for shift in (-0.2, 0.0, 0.3)]
    assert values == sorted(values) and values[0] < values[-1]


@pytest.mark.parametrize("lam", [1.0, 10.0, 100.0])
def test_map_moves_no_class_as_a_whole(lam):
    by_class, in_one = chapter.places(-0.2, lam, 0.0), chapter.places(-0.2, lam, 1.0)
    torch.testing.assert_close(by_class.sum(0), torch.zeros(2, dtype=torch.float64), atol=1e-9, rtol=0)
    assert abs(in_one.sum()) < 1e-9
    assert (by_class[~chapter.RELEVANT] < 1e-9).all() and (in_one[~chapter.RELEVANT] < 1e-9).all()


@pytest.mark.parametrize("shift", chapter.two_classes.controls["shift"].stops)
def test_each_stop_of_lam_shows_something_else(shift):
    lams = chapter.two_classes.controls["lam"].stops
    seen = {str([chapter.places(shift, lam, weight).tolist() for weight in (0.0, 1.0)]) for lam in lams}
    assert len(seen) == len(lams)
