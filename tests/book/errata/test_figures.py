"""The errata page's numbers: gains of a text against its tables, and what a test set flatters the step it chose by."""

import math
from itertools import product

import torch

from rankbook.errata import study
from rankbook.errata.best_step import flattery


def test_a_column_of_a_printed_table():
    for table, data, metric, method, expected in (
        ("rambo_tab_7", "In-shop", "R@1", "Full RaMBO", 88.1),
        ("happier_tab_1", "iNat-full", "H-AP", "HAPPIER", 47.9),
        ("happier_tab_3", "Online Products", "AP coarse", "HAPPIER", 58.4),
        ("rambo_tab_7", "In-shop", "R@1", "No margin", None),  # a cell without a number
    ):
        assert study.values(table, data, metric).get(method) == expected


def test_a_verdict_is_what_numbers_of_more_decimals_allow():
    """Count in thousandths of a point: which differences are rounded to the text's number, or cut to it?"""
    for gain in study.GAINS:
        given, text = round(1000 * gain.given), round(1000 * gain.text)
        half = 500 if gain.text.is_integer() else 50
        unrounded = [given + a - b for a, b in product(range(-49, 50), repeat=2)]  # of numbers that round to these
        possible = any(text - half <= difference < text + half for difference in unrounded)
        assert (gain.verdict in ("same", "rounded")) == possible, gain
        assert (gain.verdict == "cut") == (not possible and gain.text == math.floor(gain.given)), gain


def test_noise_flatters_by_the_mean_of_its_maximum_and_two_sets_that_agree_nobody():
    """Of m uniform numbers the largest is m/(m + 1) in the mean, and the choice is worth nothing elsewhere."""
    generator = torch.Generator().manual_seed(1)
    curve = torch.rand(5, 1, 9, dtype=torch.float64, generator=generator)
    found = flattery(curve.expand(-1, 2, -1))
    assert found.too_good == found.half_width == 0 and found.reported == found.elsewhere > 0
    found = flattery(torch.rand(20_000, 2, 9, dtype=torch.float64, generator=generator))
    assert abs(found.too_good - 100 * (0.9 - 0.5)) < 0.8 and abs(found.elsewhere) < 0.8
    assert abs(found.reported - found.too_good) < 0.8
