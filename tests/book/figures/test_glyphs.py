"""The contact sheet of the data card."""

from __future__ import annotations

import numpy as np

from rankedu.book.figures import style
from rankedu.book.figures.glyphs import SHOWN, contact_sheet


def test_the_contact_sheet_shows_every_character_twice():
    made = contact_sheet(columns=4)
    plain, augmented = (axis.images[0].get_array() for axis in made.axes)
    assert plain.shape == augmented.shape == (32 * len(SHOWN), 32 * 4)
    assert not np.allclose(plain, augmented)
    for row in range(len(SHOWN)):
        assert plain[32 * row : 32 * (row + 1)].any()


def test_the_contact_sheet_is_described_and_repeats_itself():
    first, again = contact_sheet("AЖ"), contact_sheet("AЖ")
    assert "Latin, Cyrillic" in style.description(first)
    assert style.png(first) == style.png(again)
