"""In-shop Clothes Retrieval, a part of DeepFashion: each piece of clothing from several sides."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ranklab.datasets.files import ImageFiles
from ranklab.datasets.lists import ListedImage, data_folder, malformed, read_lines
from ranklab.datasets.published import PUBLISHED

__all__ = ["InShop"]

FACTS = PUBLISHED["inshop"]
LIST = "list_eval_partition.txt"


class InShop(ImageFiles):
    """In-shop Clothes Retrieval: category, such as WOMEN/Dresses → item. Queries are answered from a gallery.

    Splits are "train", "query" and "gallery"; ``"test"`` is both in one set: another task. The folder ``root/In-shop
    Clothes Retrieval Benchmark`` has ``Eval/list_eval_partition.txt`` and the images as ``Img/img`` or ``img``. The
    category is read from the path; of an item that had two, the first would count.
    """

    def __init__(self, split: str = "train", root: str | os.PathLike[str] | None = None, **settings: Any) -> None:
        folder = data_folder(FACTS, root)
        super().__init__(FACTS, folder, read(folder), split, **settings)


def read(folder: Path) -> list[ListedImage]:
    """Read the owner's list: the number of images, the heads of the columns, then one image a line."""
    path = folder / LIST if (folder / LIST).is_file() else folder / "Eval" / LIST
    images = "Img/" if (folder / "Img" / "img").is_dir() else ""
    rows: list[ListedImage] = []
    category: dict[str, str] = {}
    for line in read_lines(path, FACTS)[2:]:
        fields = line.split()
        if len(fields) != 3 or fields[0].count("/") < 3 or fields[2] not in ("train", "query", "gallery"):
            raise malformed(path, line, "img/SEX/category/item/image.jpg item_id train|query|gallery")
        file, item, part = fields
        of = category.setdefault(item, "/".join(file.split("/")[1:3]))
        rows.append(ListedImage(part, images + file, (of, item)))
    return sorted(rows, key=lambda row: row.part != "train")
