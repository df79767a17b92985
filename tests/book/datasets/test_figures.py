"""The contact sheets of the data cards."""

from __future__ import annotations

import numpy as np
import pytest

from rankbook.datasets.figures import CHARACTERS, SCENES, glyphs, scenes
from rankbook.kit import style
from ranklab.datasets import Scenes


def test_every_character_is_shown_twice_and_named_by_its_script():
    made = glyphs()
    plain, augmented = (axis.images[0].get_array() for axis in made.axes)
    assert plain.shape == augmented.shape == (32 * len(CHARACTERS), 32 * 6)
    assert not np.allclose(plain, augmented)
    assert all(plain[32 * row : 32 * (row + 1)].any() for row in range(len(CHARACTERS)))
    assert [label.get_text() for label in made.axes[0].get_yticklabels()][:3] == ["Latin", "Latin", "Cyrillic"]


@pytest.mark.filterwarnings("ignore:Scenes. .* draws other pixels")
def test_every_object_has_a_box_and_is_named():
    data, made = Scenes(images=max(SCENES) + 1), scenes()
    above, below = made.axes[: len(SCENES)], made.axes[len(SCENES) :]
    assert all(len(axis.images) == 1 for axis in made.axes) and not any(axis.patches for axis in above)
    for axis, index in zip(below, SCENES, strict=True):
        target = data.target(index)
        assert {tuple(patch.get_bbox().extents) for patch in axis.patches} == set(map(tuple, target["boxes"].tolist()))
        assert " ".join(data.names[label - 1] for label in target["labels"].tolist()) in style.description(made)
