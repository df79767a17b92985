"""The papers' data sets of image files, each read from the lists of its owner."""

import json
import os
import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from rankedu.checks import check_choice
from ranklab.datasets.files import ImageFiles
from ranklab.datasets.lists import ListedImage, data_folder, malformed, read_lines
from ranklab.datasets.published import DYML, INAT_LISTS, PUBLISHED, RANKS, Published

Root = str | os.PathLike[str] | None
LEVELS = ("coarse", "middle", "fine")
IN_SHOP_LIST = "list_eval_partition.txt"
#: The head of a list of DyML. In the files as released the first image may follow it on the same line.
DYML_HEAD = re.compile(r"\s*fname((?:\s*,\s*(?:coarse_id|middle_id|fine_id|label_id|labels?))+)\s*,?")


class CUB200(ImageFiles):
    """CUB-200-2011, birds of 200 species, in ``root/CUB_200_2011``: the first 100 classes train, the others test.

    The owner's own ``train_test_split.txt``, which is for classification, is not used.
    """

    def __init__(self, split: str = "train", root: Root = None, **settings: Any) -> None:
        super().__init__(*_listed("cub", root), split, **settings)


class OnlineProducts(ImageFiles):
    """Stanford Online Products, in ``root/Stanford_Online_Products``: super-class → product."""

    def __init__(self, split: str = "train", root: Root = None, **settings: Any) -> None:
        super().__init__(*_listed("sop", root), split, **settings)


class InShop(ImageFiles):
    """In-shop Clothes Retrieval: category, such as WOMEN/Dresses → item. Queries are answered from a gallery.

    Splits are "train", "query" and "gallery"; ``"test"`` is both in one set: another task. The folder ``root/In-shop
    Clothes Retrieval Benchmark`` has ``Eval/list_eval_partition.txt`` and the images as ``Img/img`` or ``img``. The
    category is read from the path; of an item that had two, the first would count.
    """

    def __init__(self, split: str = "train", root: Root = None, **settings: Any) -> None:
        super().__init__(*_listed("inshop", root), split, **settings)


class INaturalist2018(ImageFiles):
    """iNaturalist 2018, split by species as in Smooth-AP and HAPPIER.

    ``hierarchy`` "base": super-category → species, both read from the paths; "full": kingdom → phylum → class → order →
    family → genus → species. The folder ``root/inaturalist_2018`` you make: the owner's archives have none of their
    own. In it lie ``train_val2018``, the split lists ``Inat_dataset_splits`` and, for the full hierarchy,
    ``categories.json`` (small, real names) or ``train2018.json`` (large, with made-up names). A label stands for a name
    and all that is above it: a genus of plants and one of animals that share their name, as Morus does, are two labels;
    HAPPIER's code makes them one.
    """

    def __init__(self, split: str = "train", hierarchy: str = "base", root: Root = None, **settings: Any) -> None:
        check_choice(hierarchy, ("base", "full"), name="hierarchy")
        super().__init__(*_listed(f"inat_{hierarchy}", root), split, **settings)


class DyML(ImageFiles):
    """DyML-Vehicle, DyML-Animal or DyML-Product: coarse → middle → fine.

    Of vehicles and animals the test is a set of queries and a gallery for each ``level``, with labels of that level
    only; ``"test"`` is both in one set, which is not the published protocol.

    The layout was learned from the authors' reading code and from HAPPIER's, not from the files: ``train/label.csv``
    with ``train/imgs``; ``bmk_fine``, ``bmk_middle`` and ``bmk_coarse``, each with ``query.csv``, ``gallery.csv`` and
    folders ``query`` and ``gallery``; of products ``mini-bmk_all_in_one`` with ``label.csv`` and ``imgs``. Both codes
    show that the head of a list and its first image share a line; a list that has them on two is read as well.
    HAPPIER's code loses that first image. Test labels are numbered apart from those of the training.
    """

    def __init__(
        self, kind: str, split: str = "train", level: str = "fine", root: Root = None, **settings: Any
    ) -> None:
        check_choice(kind, DYML, name="kind")
        check_choice(level, LEVELS, name="level")
        facts = PUBLISHED[f"dyml_{kind}"]
        check_choice(split, tuple(facts.splits), name="split")
        folder = data_folder(facts, root)
        if split == "train" or not facts.benchmarks:
            rows = _dyml_part(folder, facts, split)
        else:
            parts = {part: _dyml_part(folder, facts, f"{part}_{level}") for part in ("query", "gallery")}
            rows = [row._replace(part=part) for part, listed in parts.items() for row in listed]
        super().__init__(facts, folder, rows, split, **settings)
        if self.labels.shape[1] == 1:
            self.levels = (level,)


def _listed(name: str, root: Root) -> tuple[Published, Path, list[ListedImage]]:
    facts = PUBLISHED[name]
    folder = data_folder(facts, root)
    return facts, folder, READ[name](folder, facts)


def _cub(folder: Path, facts: Published) -> list[ListedImage]:
    """Lists of images, of their classes, and of the classes' names, each line a number and a word."""

    def table(path: Path) -> dict[str, str]:
        words = {}
        for line in read_lines(path, facts):
            number, _, word = line.strip().partition(" ")
            if not (number.isdigit() and word):
                raise malformed(path, line, "number name")
            words[number] = word.strip()
        return words

    files, classes, names = (table(folder / name) for name in ("images.txt", "image_class_labels.txt", "classes.txt"))
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
    """Two lists. A super-class has the name of its folder, less ``_final``."""
    rows = []
    for part in ("train", "test"):
        path = folder / f"Ebay_{part}.txt"
        for line in read_lines(path, facts)[1:]:
            fields = line.split()
            if len(fields) != 4 or "/" not in fields[3]:
                raise malformed(path, line, "image_id class_id super_class_id path")
            super_class = fields[3].split("/")[0].removesuffix("_final")
            rows.append(ListedImage(part, fields[3], (super_class, fields[1])))
    return rows


def _inshop(folder: Path, facts: Published) -> list[ListedImage]:
    """The number of images, the heads of the columns, then one image a line."""
    path = folder / IN_SHOP_LIST if (folder / IN_SHOP_LIST).is_file() else folder / "Eval" / IN_SHOP_LIST
    images = "Img/" if (folder / "Img" / "img").is_dir() else ""
    rows: list[ListedImage] = []
    category: dict[str, str] = {}
    for line in read_lines(path, facts)[2:]:
        fields = line.split()
        if len(fields) != 3 or fields[0].count("/") < 3 or fields[2] not in ("train", "query", "gallery"):
            raise malformed(path, line, "img/SEX/category/item/image.jpg item_id train|query|gallery")
        file, item, part = fields
        of = category.setdefault(item, "/".join(file.split("/")[1:3]))
        rows.append(ListedImage(part, images + file, (of, item)))
    return sorted(rows, key=lambda row: row.part != "train")


def _inaturalist(folder: Path, facts: Published) -> list[ListedImage]:
    """The two lists of Smooth-AP's authors. A path ends in super-category/category/image."""
    full = facts.name == "inat_full"
    taxonomy = _taxonomy(folder, facts, required=full)
    rows = []
    for part in ("train", "test"):
        path = folder / "Inat_dataset_splits" / f"Inaturalist_{part}_set1.txt"
        if not path.exists():
            raise FileNotFoundError(f"{path} is missing (the authors of Smooth-AP publish the lists at {INAT_LISTS})")
        for line in read_lines(path, facts):
            *_, super_category, category, image = ("", "", "", *line.strip().split("/"))
            if not (super_category and category.isdigit() and image):
                raise malformed(path, line, "train_val2018/super-category/category/image.jpg")
            above, name = taxonomy.get(int(category), ((), category))
            if not full:
                above = (super_category,)
            elif not above:
                raise ValueError(f"the taxonomy in {folder} must have category {category} of {path.name}")
            rows.append(ListedImage(part, f"train_val2018/{super_category}/{category}/{image}", (*above, name)))
    return rows


def _taxonomy(folder: Path, facts: Published, *, required: bool) -> dict[int, tuple[tuple[str, ...], str]]:
    """For each category the names from kingdom to genus, and its number with its own name."""
    path = folder / "categories.json"
    if not path.exists() and required:
        path = folder / "train2018.json"
    if not path.exists():
        if not required:
            return {}
        missing = f"{folder / 'categories.json'} is missing, and so is train2018.json ({facts.where()})"
        raise FileNotFoundError(missing)
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))
        return {
            int(entry["id"]): (tuple(str(entry[rank]) for rank in RANKS[:-1]), f"{entry['id']} {entry['name']}")
            for entry in (listed["categories"] if isinstance(listed, dict) else listed)
        }
    except (KeyError, TypeError, ValueError) as error:
        expected = ", ".join(("id", "name", *RANKS[:-1]))
        raise ValueError(f"{path} must be the owner's list of categories with {expected}: {error!r}") from None


def _dyml(folder: Path, facts: Published) -> list[ListedImage]:
    """All lists, training first."""
    tests = [f"{part}_{level}" for level in facts.benchmarks for part in ("query", "gallery")] or ["test"]
    return [row for part in ("train", *tests) for row in _dyml_part(folder, facts, part)]


def _dyml_part(folder: Path, facts: Published, part: str) -> list[ListedImage]:
    """One list: of "train", of "test", or of "query_fine" and its like."""
    kind, _, level = part.partition("_")
    if level:
        path, images = folder / f"bmk_{level}" / f"{kind}.csv", f"bmk_{level}/{kind}"
    else:
        home = {"train": "train", "test": "mini-bmk_all_in_one"}[part]
        path, images = folder / home / "label.csv", f"{home}/imgs"
    wanted = ("label",) if level else LEVELS
    lines = read_lines(path, facts)
    head = DYML_HEAD.match(lines[0]) if lines else None
    if head is None:
        raise malformed(path, lines[0] if lines else "", "fname, coarse_id, middle_id, fine_id")
    named = [name.strip().removesuffix("_id").removesuffix("s") for name in head.group(1).split(",")[1:]]
    columns, first = ["fname", *named], lines[0][head.end() :].strip()
    if not set(wanted) <= set(columns):
        raise malformed(path, columns, ", ".join(("fname", *wanted)))
    rows = []
    for line in [first, *lines[1:]] if first else lines[1:]:
        fields = [field.strip() for field in line.split(",")]
        if len(fields) != len(columns):
            raise malformed(path, line, ", ".join(columns))
        entry = dict(zip(columns, fields, strict=True))
        rows.append(ListedImage(part, f"{images}/{entry['fname']}", tuple(entry[name] for name in wanted)))
    return rows


#: How the lists of each data set are read, and how one of its splits is opened.
READ: Mapping[str, Callable[[Path, Published], list[ListedImage]]] = {
    "cub": _cub,
    "sop": _sop,
    "inshop": _inshop,
    "inat_base": _inaturalist,
    "inat_full": _inaturalist,
    **{f"dyml_{kind}": _dyml for kind in DYML},
}
OPEN: Mapping[str, Any] = {
    "cub": CUB200,
    "sop": OnlineProducts,
    "inshop": InShop,
    "inat_base": partial(INaturalist2018, hierarchy="base"),
    "inat_full": partial(INaturalist2018, hierarchy="full"),
    **{f"dyml_{kind}": partial(DyML, kind) for kind in DYML},
}
