"""Data sets by name: open one, list them all."""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rankedu.checks import check_choice
from rankedu_lab.datasets.files import ImageFiles
from rankedu_lab.datasets.glyphs import UnicodeGlyphs
from rankedu_lab.datasets.layouts import LEVELS, READ, read_dyml
from rankedu_lab.datasets.lists import data_folder
from rankedu_lab.datasets.published import DETECTION, PUBLISHED, Published
from rankedu_lab.datasets.scenes import SPLITS, Scenes
from rankedu_lab.datasets.voc import VOC, DetectionData

#: What is published of each data set for retrieval, by name.
DATASETS: Mapping[str, Published] = PUBLISHED
#: The years of each data set's training; the test is always that of 2007.
_YEARS: Mapping[str, tuple[int, ...]] = {"voc07": (2007,), "voc0712": (2007, 2012)}
#: The names that `open_detection` takes.
DETECTION_NAMES = ("scenes", *_YEARS)


def open_dataset(
    name: str, split: str = "train", root: str | os.PathLike[str] | None = None, **settings: Any
) -> UnicodeGlyphs | ImageFiles:
    """Open a split of a data set of :data:`DATASETS`, below ``root`` or ``$RANKEDU_DATA``.

    It has ``labels`` (N, L), ``names`` and ``split``; the glyphs have ``images``, the others ``load(index,
    generator)``. Settings are the data set's own: ``image_size`` and ``crop`` of image files, ``level`` of the queries
    and galleries of DyML.

    Examples
    --------
    >>> open_dataset("glyphs", "all", characters="eéз")
    UnicodeGlyphs('all': 36 images, 3 characters)
    """
    check_choice(name, tuple(DATASETS), name="name")
    facts = DATASETS[name]
    check_choice(split, tuple(facts.splits), name="split")
    known = ["salt", "letters", "characters"] if name == "glyphs" else ["image_size", "crop"]
    for setting in settings:
        check_choice(setting, [*known, *["level"] * name.startswith("dyml")], name=f"settings of {name!r}")
    if name == "glyphs":
        return UnicodeGlyphs(split, root=root, **settings)
    folder = data_folder(facts, root)
    if not name.startswith("dyml"):
        return ImageFiles(facts, folder, READ[name](folder, facts), split, **settings)
    level = settings.pop("level", "fine")
    check_choice(level, LEVELS, name="level")
    rows = read_dyml(folder, facts, split, level)
    if rows and len(rows[0].names) == 1:
        facts = replace(facts, levels=(level,))
    return ImageFiles(facts, folder, rows, split, **settings)


def open_detection(
    name: str, split: str = "train", root: str | os.PathLike[str] | None = None, **settings: Any
) -> DetectionData:
    """Open a split, "train" or "test", of "scenes", "voc07" or "voc0712"; scenes have "val" and "held_out" too.

    ``data[i]`` is an image, uint8 (3, H, W), and a target with ``boxes``, ``labels`` from 1 on, and ``difficult``;
    ``data.names[label - 1]`` is a name; ``data.flips`` is true if a picture may be mirrored. All take the number of
    ``images``; scenes also ``size`` and ``seed``.

    Examples
    --------
    >>> open_detection("scenes", "test", images=500)
    Scenes('test': 500 images, 20 classes)
    """
    check_choice(name, DETECTION_NAMES, name="name")
    check_choice(split, SPLITS if name == "scenes" else SPLITS[:2], name=f"split of {name!r}")
    for setting in settings:
        check_choice(
            setting, ("images", "size", "seed") if name == "scenes" else ("images",), name=f"settings of {name!r}"
        )
    if name == "scenes":
        return Scenes(split, **settings)
    if split == "test":
        return VOC("test", root, **settings)
    return VOC("trainval", root, years=_YEARS[name], **settings)


def catalogue(root: str | os.PathLike[str] | None = None) -> str:
    """Write a paragraph about each data set: its published counts, its folder if it is found, its owner."""
    lines = []
    for name, facts in {**DATASETS, **DETECTION}.items():
        try:
            found = f"found in {data_folder(facts, root)}" if facts.folder else "drawn on this machine"
        except FileNotFoundError:
            found = "not found"
        lines.append(f"{name:14}{facts.title} ({found})")
        lines += [f"{'':14}{text}" for text in (counted(facts), facts.url) if text]
    if not (root or os.environ.get("RANKEDU_DATA")):
        lines.append("\nName the folder that holds the data sets with --data-root or $RANKEDU_DATA.")
    return "\n".join(lines)


def counted(facts: Published) -> str:
    """Write the published counts of each part."""
    listed = {part: [f"{what} {count:,}" for what, count in counts.items()] for part, counts in facts.counts.items()}
    return "; ".join(f"{part}: {', '.join(counts)}" for part, counts in listed.items())
