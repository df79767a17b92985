"""The contact sheet of the data card."""

from __future__ import annotations

import numpy as np

from rankbook.datasets.figures import CHARACTERS, glyphs


def test_the_contact_sheet_shows_every_character_twice():
    made = glyphs()
    plain, augmented = (axis.images[0].get_array() for axis in made.axes)
    assert plain.shape == augmented.shape == (32 * len(CHARACTERS), 32 * 6)
    assert not np.allclose(plain, augmented)
    for row in range(len(CHARACTERS)):
        assert plain[32 * row : 32 * (row + 1)].any()


def test_the_rows_are_named_by_their_script():
    made = glyphs()
    assert [label.get_text() for label in made.axes[0].get_yticklabels()][:3] == ["Latin", "Latin", "Cyrillic"]
