"""iNaturalist 2018: photographs of living beings, with two levels of labels or with all seven of the taxonomy."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from rankedu.checks import check_choice
from ranklab.datasets.files import ImageFiles
from ranklab.datasets.lists import ListedImage, data_folder, malformed, read_lines
from ranklab.datasets.published import INAT_LISTS, PUBLISHED, RANKS

__all__ = ["INaturalist2018"]


class INaturalist2018(ImageFiles):
    """iNaturalist 2018, split by species as in Smooth-AP and HAPPIER.

    ``hierarchy`` "base": super-category → species, both read from the paths; "full": kingdom → phylum → class → order →
    family → genus → species. The folder ``root/inaturalist_2018`` you make: the owner's archives have none of their
    own. In it lie ``train_val2018``, the split lists ``Inat_dataset_splits`` and, for the full hierarchy,
    ``categories.json`` (small, real names) or ``train2018.json`` (large, with made-up names). A label stands for a name
    and all that is above it: a genus of plants and one of animals that share their name, as Morus does, are two labels;
    HAPPIER's code makes them one.
    """

    def __init__(
        self,
        split: str = "train",
        hierarchy: str = "base",
        root: str | os.PathLike[str] | None = None,
        **settings: Any,
    ) -> None:
        check_choice(hierarchy, ("base", "full"), name="hierarchy")
        facts = PUBLISHED[f"inat_{hierarchy}"]
        folder = data_folder(facts, root)
        super().__init__(facts, folder, read(folder, hierarchy), split, **settings)


def read(folder: Path, hierarchy: str = "base") -> list[ListedImage]:
    """Read the two lists of Smooth-AP's authors. A path ends in super-category/category/image."""
    facts = PUBLISHED[f"inat_{hierarchy}"]
    taxonomy = _taxonomy(folder, required=hierarchy == "full")
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
            if hierarchy == "base":
                above = (super_category,)
            elif not above:
                raise ValueError(f"the taxonomy in {folder} must have category {category} of {path.name}")
            rows.append(ListedImage(part, f"train_val2018/{super_category}/{category}/{image}", (*above, name)))
    return rows


def _taxonomy(folder: Path, *, required: bool) -> dict[int, tuple[tuple[str, ...], str]]:
    """For each category the names from kingdom to genus, and its number with its own name."""
    path = folder / "categories.json"
    if not path.exists() and required:
        path = folder / "train2018.json"
    if not path.exists():
        if not required:
            return {}
        where = PUBLISHED["inat_full"].where()
        raise FileNotFoundError(f"{folder / 'categories.json'} is missing, and so is train2018.json ({where})")
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))
        entries = listed["categories"] if isinstance(listed, dict) else listed
        return {
            int(entry["id"]): (tuple(str(entry[rank]) for rank in RANKS[:-1]), f"{entry['id']} {entry['name']}")
            for entry in entries
        }
    except (KeyError, TypeError, ValueError) as error:
        expected = ", ".join(("id", "name", *RANKS[:-1]))
        raise ValueError(f"{path} must be the owner's list of categories with {expected}: {error!r}") from None
