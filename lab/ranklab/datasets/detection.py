"""Data sets for object detection by name."""

import os
from collections.abc import Mapping
from typing import Any

from rankedu.checks import check_choice
from ranklab.datasets.scenes import SPLITS, Scenes
from ranklab.datasets.voc import VOC, DetectionData

__all__ = ["NAMES", "DetectionData", "open_detection"]

#: The years of each data set's training; the test is always that of 2007.
_YEARS: Mapping[str, tuple[int, ...]] = {"voc07": (2007,), "voc0712": (2007, 2012)}
NAMES = ("scenes", *_YEARS)


def open_detection(
    name: str, split: str = "train", root: str | os.PathLike[str] | None = None, **settings: Any
) -> DetectionData:
    """Open a split, "train" or "test", of a data set for object detection, by its name in ``NAMES``.

    Scenes have the splits "val" and "held_out" too.

    ``data[i]`` is an image, uint8 (3, H, W), and a target with ``boxes``, ``labels`` from 1 on, and ``difficult``;
    ``data.names[label - 1]``; ``data.flips``: may a picture be mirrored? Scenes take ``images``, ``size`` and ``seed``.

    Examples
    --------
    >>> open_detection("scenes", "test", images=500)
    Scenes('test': 500 images, 20 classes)
    """
    check_choice(name, NAMES, name="name")
    check_choice(split, SPLITS if name == "scenes" else SPLITS[:2], name=f"split of {name!r}")
    known = ("images", "size", "seed") if name == "scenes" else ("images",)
    for setting in settings:
        check_choice(setting, known, name=f"settings of {name!r}")
    if name == "scenes":
        return Scenes(split, **settings)
    if split == "test":
        return VOC("test", root, **settings)
    return VOC("trainval", root, years=_YEARS[name], **settings)
