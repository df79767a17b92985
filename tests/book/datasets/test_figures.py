"""The contact sheets of the data cards."""

from __future__ import annotations

import pytest

from rankbook.datasets.figures import SCENES, scenes
from rankbook.kit import style
from ranklab.datasets import Scenes


@pytest.mark.filterwarnings("ignore:Scenes. .* draws other pixels")
def test_every_object_has_a_box_and_is_named():
    data, made = Scenes(images=max(SCENES) + 1), scenes()
    above, below = made.axes[: len(SCENES)], made.axes[len(SCENES) :]
    assert all(len(axis.images) == 1 for axis in made.axes) and not any(axis.patches for axis in above)
    for axis, index in zip(below, SCENES, strict=True):
        target = data.target(index)
        assert {tuple(patch.get_bbox().extents) for patch in axis.patches} == set(map(tuple, target["boxes"].tolist()))
        assert " ".join(data.names[label - 1] for label in target["labels"].tolist()) in style.description(made)
