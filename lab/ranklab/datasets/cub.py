"""CUB-200-2011: photographs of 200 species of birds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ranklab.datasets.files import ImageFiles
from ranklab.datasets.lists import ListedImage, data_folder, malformed, read_lines
from ranklab.datasets.published import PUBLISHED

__all__ = ["CUB200"]

FACTS = PUBLISHED["cub"]


class CUB200(ImageFiles):
    """CUB-200-2011, split as for retrieval: the first 100 classes train, the others test.

    In ``root/CUB_200_2011``. The owner's own ``train_test_split.txt``, which is for classification, is not used.
    """

    def __init__(self, split: str = "train", root: str | os.PathLike[str] | None = None, **settings: Any) -> None:
        folder = data_folder(FACTS, root)
        super().__init__(FACTS, folder, read(folder), split, **settings)


def read(folder: Path) -> list[ListedImage]:
    """Read the owner's lists: of images, of their classes, and of the classes' names."""
    files, classes, names = (_table(folder / name) for name in ("images.txt", "image_class_labels.txt", "classes.txt"))
    order = {number: place for place, number in enumerate(sorted(names, key=int))}
    rows = []
    for image, file in files.items():
        if classes.get(image) not in names:
            raise ValueError(
                f"{folder / 'image_class_labels.txt'} must have a class of {FACTS.title} for image {image}"
            )
        number = classes[image]
        rows.append(ListedImage("train" if order[number] < 100 else "test", f"images/{file}", (names[number],)))
    return sorted(rows, key=lambda row: row.part == "test")


def _table(path: Path) -> dict[str, str]:
    """A list of numbers, each with a word."""
    table = {}
    for line in read_lines(path, FACTS):
        number, _, word = line.strip().partition(" ")
        if not (number.isdigit() and word):
            raise malformed(path, line, "number name")
        table[number] = word.strip()
    return table
