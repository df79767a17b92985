"""Certificates written out: every swap, every item, and what fails."""

from fractions import Fraction

from rankbook.ch14_happier.bounds import explain_bound, upper_bound
from rankbook.kit.proof_tables import explain_h_ap, explain_swaps
from rankedu.proofs import hierarchical, rearrangement
from rankedu.rankers import PRESETS

SWAPS = rearrangement.certificate([Fraction(1, 2), Fraction(1, 4), 1, Fraction(3, 4)], [1, 2, 4, 3])
NESTED = hierarchical.certificate([Fraction(1, 3), 1, 0, Fraction(1, 3), Fraction(2, 3)], [1, 3, 2, 5, 4])


def test_explain_shows_every_swap():
    text = explain_swaps(SWAPS, "abcd")
    lines = text.splitlines()
    assert len(lines) == 3 + len(SWAPS.swaps) + 1
    assert lines[2].split("|")[1].split() == list("abdc")
    assert lines[-2].split("|")[1].split() == list("cdab")
    assert f"total gain {SWAPS.total_gain} = {SWAPS.start_value} − {SWAPS.end_value}" in lines[-1]


def test_explain_shows_every_item():
    text = explain_h_ap(NESTED, "abcde")
    lines = text.splitlines()
    assert [line.split("|")[0].strip() for line in lines[2:-1]] == list("acbed")
    cells = [cell.strip() for cell in lines[4].split("|")]
    assert cells == ["b", "3", "1", "1/3 x 2", "1/3 x 1", "1/3 x 1", "4/3", "4/9"]
    assert lines[-1] == f"H-AP = {NESTED.h_ap * Fraction(7, 3)} / 7/3 = {NESTED.h_ap}"


def test_explain_says_what_fails():
    text = explain_bound(upper_bound(**PRESETS["happier_inat"]))
    assert "0 < x <= delta: step > 0.5, H = 1: fails, as at x = 0.0025" in text
    assert "scores 0.0025, 0 of relevance 0, 1: loss 0.35987 < 1 - AP = 0.5" in text
