"""Read the lists of the papers' data sets, each in the layout in which its owner publishes it."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rankedu_lab.datasets.lists import ListedImage, malformed, read_lines
from rankedu_lab.datasets.published import DYML, INAT_LISTS, RANKS, Published

LEVELS = ("coarse", "middle", "fine")
IN_SHOP_LIST = "list_eval_partition.txt"


def _fields(path: Path, facts: Published, pattern: str, expected: str, head: int = 0) -> Iterator[Any]:
    """Read the groups of a pattern off each line of a list below its head; ValueError for a line that differs."""
    for line in read_lines(path, facts)[head:]:
        found = re.fullmatch(pattern, line.strip())
        if found is None:
            raise malformed(path, line, expected)
        yield found.groups()


def _cub(folder: Path, facts: Published) -> list[ListedImage]:
    """Read lists of images, of their classes, and of the classes' names, each line a number and a word.

    The first 100 classes train. The owner's own ``train_test_split.txt``, which is for classification, is not used.
    """
    lists = (folder / name for name in ("images.txt", "image_class_labels.txt", "classes.txt"))
    files, classes, names = (dict(_fields(path, facts, r"(\d+) +(.+)", "number name")) for path in lists)
    first = set(sorted(names, key=int)[:100])
    rows = []
    for image, file in files.items():
        number = classes.get(image, "")
        if number not in names:
            path = folder / "image_class_labels.txt"
            raise ValueError(f"{path} must have a class of {facts.title} for image {image}")
        rows.append(ListedImage("train" if number in first else "test", f"images/{file}", (names[number],)))
    return sorted(rows, key=lambda row: row.part == "test")


def _sop(folder: Path, facts: Published) -> list[ListedImage]:
    """Read two lists. A super-class has the name of its folder, less ``_final``."""
    rows = []
    for part in ("train", "test"):
        pattern, columns = r"\S+\s+(\S+)\s+\S+\s+(\S*/\S*)", "image_id class_id super_class_id path"
        for name, file in _fields(folder / f"Ebay_{part}.txt", facts, pattern, columns, head=1):
            super_class = file.split("/")[0].removesuffix("_final")
            rows.append(ListedImage(part, file, (super_class, name)))
    return rows


def _inshop(folder: Path, facts: Published) -> list[ListedImage]:
    """Read the number of images, the heads of the columns, then one image per line; the first category counts."""
    path = folder / IN_SHOP_LIST if (folder / IN_SHOP_LIST).is_file() else folder / "Eval" / IN_SHOP_LIST
    images = "Img/" if (folder / "Img" / "img").is_dir() else ""
    rows: list[ListedImage] = []
    category: dict[str, str] = {}
    pattern = r"(\S*/\S*/\S*/\S*)\s+(\S+)\s+(train|query|gallery)"
    columns = "img/SEX/category/item/image.jpg item_id train|query|gallery"
    for file, item, part in _fields(path, facts, pattern, columns, head=2):
        of = category.setdefault(item, "/".join(file.split("/")[1:3]))
        rows.append(ListedImage(part, images + file, (of, item)))
    return sorted(rows, key=lambda row: row.part != "train")


def _inaturalist(folder: Path, facts: Published) -> list[ListedImage]:
    """Read the two lists of Smooth-AP's authors. A path ends in super-category/category/image."""
    full = facts.name == "inat_full"
    taxonomy = _taxonomy(folder, facts) if full else {}
    rows = []
    for part in ("train", "test"):
        path = folder / "Inat_dataset_splits" / f"Inaturalist_{part}_set1.txt"
        if not path.exists():
            raise FileNotFoundError(f"{path} is missing (the authors of Smooth-AP publish the lists at {INAT_LISTS})")
        pattern, columns = r"(?:.*/)?([^/]+)/(\d+)/([^/]+)", "train_val2018/super-category/category/image.jpg"
        for super_category, category, image in _fields(path, facts, pattern, columns):
            if full and int(category) not in taxonomy:
                raise ValueError(f"the taxonomy in {folder} must have category {category} of {path.name}")
            names = taxonomy[int(category)] if full else (super_category, category)
            rows.append(ListedImage(part, f"train_val2018/{super_category}/{category}/{image}", names))
    return rows


def _taxonomy(folder: Path, facts: Published) -> dict[int, tuple[str, ...]]:
    """Read for each category the names from kingdom to genus, and its number with its own name."""
    paths = [folder / "categories.json", folder / "train2018.json"]
    path = next((path for path in paths if path.exists()), None)
    if path is None:
        raise FileNotFoundError(f"{paths[0]} is missing, and so is train2018.json ({facts.where()})")
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))
        return {
            int(entry["id"]): (*(str(entry[rank]) for rank in RANKS[:-1]), f"{entry['id']} {entry['name']}")
            for entry in (listed["categories"] if isinstance(listed, dict) else listed)
        }
    except (KeyError, TypeError, ValueError) as error:
        expected = ", ".join(("id", "name", *RANKS[:-1]))
        raise ValueError(f"{path} must be the owner's list of categories with {expected}: {error!r}") from None


def _dyml(folder: Path, facts: Published) -> list[ListedImage]:
    tests = [f"{part}_{level}" for level in facts.benchmarks for part in ("query", "gallery")] or ["test"]
    return [row for part in ("train", *tests) for row in _dyml_part(folder, facts, part)]


def read_dyml(folder: Path, facts: Published, split: str, level: str) -> list[ListedImage]:
    """Read one split, with labels of one level where queries and gallery are of one: numbered on their own."""
    if split == "train" or not facts.benchmarks:
        return _dyml_part(folder, facts, split)
    parts = {part: _dyml_part(folder, facts, f"{part}_{level}") for part in ("query", "gallery")}
    return [row._replace(part=part) for part, rows in parts.items() for row in rows]


def _dyml_part(folder: Path, facts: Published, part: str) -> list[ListedImage]:
    """Read one list: of "train", of "test", or of "query_fine" and its like.

    In the authors' code and in HAPPIER's the head of a list and its first image share a line; a list that has them on
    two is read as well.
    """
    kind, _, level = part.partition("_")
    home = f"bmk_{level}" if level else {"train": "train", "test": "mini-bmk_all_in_one"}[part]
    path, images = (folder / home / f"{kind}.csv", kind) if level else (folder / home / "label.csv", "imgs")
    columns = "fname, labels" if level else "fname, coarse_id, middle_id, fine_id"
    lines = read_lines(path, facts) or [""]
    head = re.match(r"\s*" + columns.replace("labels", "labels?").replace(", ", r"\s*,\s*") + r"\s*,?", lines[0])
    if head is None:
        raise malformed(path, lines[0], columns)
    rows = []
    for line in filter(str.strip, [lines[0][head.end() :], *lines[1:]]):
        file, *labels = (field.strip() for field in line.split(","))
        if len(labels) != columns.count(","):
            raise malformed(path, line, columns)
        rows.append(ListedImage(part, f"{home}/{images}/{file}", tuple(labels)))
    return rows


#: The function that reads a data set, by the name of the data set.
READ: Mapping[str, Callable[[Path, Published], list[ListedImage]]] = {
    "cub": _cub,
    "sop": _sop,
    "inshop": _inshop,
    **dict.fromkeys(("inat_base", "inat_full"), _inaturalist),
    **dict.fromkeys((f"dyml_{kind}" for kind in DYML), _dyml),
}
