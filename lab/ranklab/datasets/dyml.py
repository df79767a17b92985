"""Dynamic Metric Learning: vehicles, animals and products, each with three levels of labels."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from rankedu.checks import check_choice
from ranklab.datasets.files import ImageFiles
from ranklab.datasets.lists import ListedImage, data_folder, malformed, read_lines
from ranklab.datasets.published import PUBLISHED, Published

__all__ = ["DyML"]

KINDS = ("vehicle", "animal", "product")
LEVELS = ("coarse", "middle", "fine")
#: The head of a list. In the files as released the first image may follow it on the same line.
_HEAD = re.compile(r"\s*fname((?:\s*,\s*(?:coarse_id|middle_id|fine_id|label_id|labels?))+)\s*,?")


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
        self,
        kind: str,
        split: str = "train",
        level: str = "fine",
        root: str | os.PathLike[str] | None = None,
        **settings: Any,
    ) -> None:
        check_choice(kind, KINDS, name="kind")
        check_choice(level, LEVELS, name="level")
        facts = PUBLISHED[f"dyml_{kind}"]
        check_choice(split, tuple(facts.splits), name="split")
        folder = data_folder(facts, root)
        if split == "train" or not facts.benchmarks:
            rows = read_part(folder, facts, split)
        else:
            rows = [
                row._replace(part=part)
                for part in ("query", "gallery")
                for row in read_part(folder, facts, f"{part}_{level}")
            ]
        super().__init__(facts, folder, rows, split, **settings)
        if self.labels.shape[1] == 1:
            self.levels = (level,)


def read(folder: Path, facts: Published) -> list[ListedImage]:
    """Read all lists, training first."""
    tests = [f"{part}_{level}" for level in facts.benchmarks for part in ("query", "gallery")] or ["test"]
    return [row for part in ("train", *tests) for row in read_part(folder, facts, part)]


def read_part(folder: Path, facts: Published, part: str) -> list[ListedImage]:
    """Read one list: of "train", of "test", or of "query_fine" and its like."""
    kind, _, level = part.partition("_")
    path, images = folder / "train" / "label.csv", "train/imgs"
    if part == "test":
        path, images = folder / "mini-bmk_all_in_one" / "label.csv", "mini-bmk_all_in_one/imgs"
    elif level:
        path, images = folder / f"bmk_{level}" / f"{kind}.csv", f"bmk_{level}/{kind}"
    wanted = ("label",) if level else LEVELS
    columns, lines = _columns(path, facts)
    if not set(wanted) <= set(columns):
        raise malformed(path, columns, ", ".join(("fname", *wanted)))
    rows = []
    for line in lines:
        fields = [field.strip() for field in line.split(",")]
        if len(fields) != len(columns):
            raise malformed(path, line, ", ".join(columns))
        entry = dict(zip(columns, fields, strict=True))
        rows.append(ListedImage(part, f"{images}/{entry['fname']}", tuple(entry[name] for name in wanted)))
    return rows


def _columns(path: Path, facts: Published) -> tuple[list[str], list[str]]:
    """The names of the columns, and the lines of images, the one that shares the line of the head included."""
    lines = read_lines(path, facts)
    head = _HEAD.match(lines[0]) if lines else None
    if head is None:
        raise malformed(path, lines[0] if lines else "", "fname, coarse_id, middle_id, fine_id")
    names = [name.strip().removesuffix("_id").removesuffix("s") for name in head.group(1).split(",")[1:]]
    rest = lines[0][head.end() :].strip()
    return ["fname", *names], [rest, *lines[1:]] if rest else lines[1:]
