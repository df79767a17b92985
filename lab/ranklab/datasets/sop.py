"""Stanford Online Products: pictures of things for sale, several of each."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ranklab.datasets.files import ImageFiles
from ranklab.datasets.lists import ListedImage, data_folder, malformed, read_lines
from ranklab.datasets.published import PUBLISHED

__all__ = ["OnlineProducts"]

FACTS = PUBLISHED["sop"]


class OnlineProducts(ImageFiles):
    """Stanford Online Products, in ``root/Stanford_Online_Products``: super-class → product."""

    def __init__(self, split: str = "train", root: str | os.PathLike[str] | None = None, **settings: Any) -> None:
        folder = data_folder(FACTS, root)
        super().__init__(FACTS, folder, read(folder), split, **settings)


def read(folder: Path) -> list[ListedImage]:
    """Read the owner's two lists. A super-class has the name of its folder, less ``_final``."""
    rows = []
    for part in ("train", "test"):
        path = folder / f"Ebay_{part}.txt"
        for line in read_lines(path, FACTS)[1:]:
            fields = line.split()
            if len(fields) != 4 or "/" not in fields[3]:
                raise malformed(path, line, "image_id class_id super_class_id path")
            super_class = fields[3].split("/")[0].removesuffix("_final")
            rows.append(ListedImage(part, fields[3], (super_class, fields[1])))
    return rows
