"""The errata page's numbers: gains of a text against its tables, and the perfect list in FastAP's bins."""

import math
from itertools import product

import pytest

from rankbook.errata import figures as errata
from rankbook.errata import study
from rankbook.kit import style


@pytest.mark.parametrize(
    ("table", "data", "metric", "method", "expected"),
    [
        ("rambo_tab_7", "In-shop", "R@1", "Full RaMBO", 88.1),
        ("happier_tab_1", "iNat-full", "H-AP", "HAPPIER", 47.9),
        ("happier_tab_3", "Online Products", "AP coarse", "HAPPIER", 58.4),
    ],
)
def test_a_column_of_a_printed_table(table, data, metric, method, expected):
    assert study.values(table, data, metric)[method] == expected


def test_a_cell_without_a_number_is_left_out():
    assert "No margin" not in study.values("rambo_tab_7", "In-shop", "R@1")


@pytest.mark.parametrize("gain", study.GAINS, ids=str)
def test_a_verdict_is_what_numbers_of_more_decimals_allow(gain):
    """Count in thousandths of a point: which differences are rounded to the text's number, or cut to it?"""
    given, text = round(1000 * gain.given), round(1000 * gain.text)
    half = 500 if gain.text.is_integer() else 50
    unrounded = [given + a - b for a, b in product(range(-49, 50), repeat=2)]  # of numbers that round to the table's
    possible = any(text - half <= difference < text + half for difference in unrounded)
    assert (gain.verdict in ("same", "rounded")) == possible
    assert (gain.verdict == "cut") == (not possible and gain.text == math.floor(gain.given))


def test_the_figures_are_described_with_their_numbers():
    assert "12.7 in the text, 10.7 in the table" in style.description(errata.gains())
    assert "0.581 with 5" in style.description(errata.bins_of_a_perfect_list((5, 10)))
