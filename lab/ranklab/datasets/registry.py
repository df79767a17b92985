"""Data sets by name: open one, list them all."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from torch import Tensor

from rankedu.checks import check_choice
from ranklab.datasets.glyphs import UnicodeGlyphs
from ranklab.datasets.layouts import OPEN
from ranklab.datasets.lists import data_folder
from ranklab.datasets.published import DETECTION, PUBLISHED, Published

#: What is published of each data set for retrieval, by name.
DATASETS: Mapping[str, Published] = PUBLISHED


class Data(Protocol):
    """What every data set has: a split, labels from root to leaf, and their names."""

    split: str
    labels: Tensor
    names: tuple[tuple[str, ...], ...]

    def __len__(self) -> int: ...


def open_dataset(name: str, split: str = "train", root: str | os.PathLike[str] | None = None, **settings: Any) -> Data:
    """Open a split of a data set of :data:`DATASETS`, below ``root`` or ``$RANKEDU_DATA``.

    It has ``labels`` (N, L), ``names`` and ``split``; the glyphs have ``images``, the others ``load(index,
    generator)``. Settings are the data set's own: ``image_size``, ``crop`` and ``on_corrupt`` of image files, ``level``
    of DyML.

    Examples
    --------
    >>> open_dataset("glyphs", "all", characters="eéз")
    UnicodeGlyphs('all': 36 images, 3 characters)
    """
    check_choice(name, tuple(DATASETS), name="name")
    check_choice(split, tuple(DATASETS[name].splits), name="split")
    try:
        data: Data = OPEN.get(name, UnicodeGlyphs)(split=split, root=root, **settings)
    except TypeError as error:
        if "unexpected keyword argument" not in str(error):
            raise
        unknown = str(error).rpartition("argument ")[2]
        raise ValueError(f"settings of {name!r} must be its own, got {unknown}") from None
    return data


def find(name: str, root: str | os.PathLike[str] | None = None) -> Path | None:
    """Find the folder of a data set; None if it is not there, or needs none."""
    known = {**DATASETS, **DETECTION}
    check_choice(name, tuple(known), name="name")
    try:
        return data_folder(known[name], root) if known[name].folders else None
    except FileNotFoundError:
        return None


def catalogue(root: str | os.PathLike[str] | None = None) -> str:
    """Write a paragraph about each data set: its counts as published, whether it is there, where it comes from."""
    lines = []
    for name, facts in {**DATASETS, **DETECTION}.items():
        folder = find(name, root)
        found = f"found in {folder}" if folder else "not found" if facts.folders else "drawn on this machine"
        lines.append(f"{name:14}{facts.title} ({found})")
        lines += [f"{'':14}{text}" for text in (_counted(facts), facts.url) if text]
    if not (root or os.environ.get("RANKEDU_DATA")):
        lines.append("\nName the folder that holds the data sets with --data-root or $RANKEDU_DATA.")
    return "\n".join(lines)


def markdown(datasets: Mapping[str, Published] = DATASETS) -> str:
    """Write the table of the papers' data sets, which the book's data sets page includes."""
    lines = ["| data set | levels | as published | folder |", "|---|---|---|---|"]
    for name, facts in datasets.items():
        if facts.url:
            title, published = f"[{facts.title}]({facts.url})", f"{_counted(facts)} ({facts.counted_by})"
            lines.append(f"| `{name}` {title} | {' → '.join(facts.levels)} | {published} | `{facts.folders[0]}` |")
    return "\n".join(lines) + "\n"


def _counted(facts: Published) -> str:
    listed = {part: [f"{what} {count:,}" for what, count in counts.items()] for part, counts in facts.counts.items()}
    return "; ".join(f"{part}: {', '.join(counts)}" for part, counts in listed.items())
