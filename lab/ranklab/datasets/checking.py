"""Is a data set whole? Its lists, files and counts against what is published."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from rankedu.checks import check_choice
from ranklab.datasets import cub, dyml, files, inaturalist, inshop, sop
from ranklab.datasets._report import Count, Report, complaint
from ranklab.datasets._voc_check import check_voc
from ranklab.datasets.lists import ListedImage, data_folder
from ranklab.datasets.published import DETECTION, PUBLISHED, Published

__all__ = ["Count", "Report", "check"]

_READ: dict[str, Callable[[Path], list[ListedImage]]] = {
    "cub": cub.read,
    "sop": sop.read,
    "inshop": inshop.read,
    "inat_base": partial(inaturalist.read, hierarchy="base"),
    "inat_full": partial(inaturalist.read, hierarchy="full"),
    **{f"dyml_{kind}": partial(dyml.read, facts=PUBLISHED[f"dyml_{kind}"]) for kind in dyml.KINDS},
}


def check(
    name: str, root: str | os.PathLike[str] | None = None, *, decode: bool = False, progress: bool = False
) -> Report:
    """Compare a data set on disk with what is published; with ``decode`` every image is decoded, which takes long.

    Counts images and distinct names of each level in every part, looks for every listed file, and for leaf classes that
    are in the training and in the test.
    """
    check_choice(name, (*PUBLISHED, *DETECTION), name="name")
    if name == "voc":
        return check_voc(root, decode=decode, progress=progress)
    if name == "scenes":
        return _check_scenes(DETECTION[name])
    facts = PUBLISHED[name]
    if not facts.folders:
        return _check_glyphs(facts, root)
    folder = data_folder(facts, root)
    rows = _READ[name](folder)
    paths = list(dict.fromkeys(folder / row.file for row in rows))
    missing = [path for path in paths if not path.is_file()]
    corrupt = (
        files.undecodable([path for path in paths if path.is_file()], lambda path: files.decode(path, facts), progress)
        if decode
        else []
    )
    problems = [
        *complaint(missing, "listed image is missing", "listed images are missing", facts.where()),
        *complaint(
            corrupt, "image cannot be decoded", "images cannot be decoded", "on_corrupt='skip' passes over them"
        ),
        *_shared(rows, facts),
    ]
    undecoded = () if decode else ("Images were not decoded (--decode does it).",)
    notes = (*_alone(rows), *undecoded)
    return Report(name, facts.title, folder, _counts(rows, facts), tuple(problems), notes, facts.counted_by)


def _counts(rows: Sequence[ListedImage], facts: Published) -> tuple[Count, ...]:
    """Images and classes of every part, and of all parts what is published of them."""
    counts = []
    for part in [*dict.fromkeys(row.part for row in rows), *(["all"] if "all" in facts.counts else [])]:
        published = facts.counts.get(part, {})
        own = [row.names for row in rows if part in (row.part, "all")]
        levels = facts.levels if len(own[0]) > 1 or len(facts.levels) == 1 else (part.partition("_")[2],)
        if part != "all":
            counts.append(Count(part, "images", len(own), published.get("images")))
        for level, names in zip(levels, zip(*set(own), strict=True), strict=True):
            if part != "all" or level in published:
                counts.append(Count(part, level, len(set(names)), published.get(level)))
    return tuple(counts)


def _shared(rows: Sequence[ListedImage], facts: Published) -> list[str]:
    """A complaint about leaf classes on both sides; those of DyML's separate benchmarks are numbered on their own."""
    if facts.name.startswith("dyml"):
        return []
    train = {row.names for row in rows if row.part == "train"}
    both = train & {row.names for row in rows if row.part != "train"}
    return [f"{len(both)} classes are in the training and in the test, {' '.join(min(both))!r} first"] if both else []


def _alone(rows: Sequence[ListedImage]) -> list[str]:
    """A note about classes of one image: alone in the training, or in queries and gallery together."""
    groups = Counter((row.part.replace("query", "test").replace("gallery", "test"), row.names) for row in rows)
    alone = Counter(part for (part, _), count in groups.items() if count == 1)
    return [
        f"{part}: {count} class{'es' * (count > 1)} with one image only; as a query it has no positive and is left out."
        for part, count in sorted(alone.items())
    ]


def _check_glyphs(facts: Published, root: str | os.PathLike[str] | None) -> Report:
    """The glyphs have no owner to compare with: their pixels are those of the pinned checksum, or others."""
    from ranklab.datasets.glyphs import UnicodeGlyphs
    from ranklab.datasets.rendering import PINNED_SHA256, cached_rendering

    same = cached_rendering(root).sha256() == PINNED_SHA256
    counts = []
    for split in ("train", "test"):
        data = UnicodeGlyphs(split, root=root)
        classes = {level: len(column.unique()) for level, column in zip(facts.levels, data.labels.T, strict=True)}
        counts += [Count(split, "images", len(data)), *(Count(split, what, count) for what, count in classes.items())]
    return _report_pixels(facts, tuple(counts), same)


def _check_scenes(facts: Published) -> Report:
    """The scenes are made of glyphs, whose pixels are those of a pinned checksum of their own, or others."""
    from ranklab.datasets.rendering import render
    from ranklab.datasets.scenes import CLASSES, CLUTTER, PINNED_SHA256

    same = render(CLASSES + CLUTTER).sha256() == PINNED_SHA256
    return _report_pixels(facts, (Count("all", "classes", len(CLASSES)),), same)


def _report_pixels(facts: Published, counts: tuple[Count, ...], same: bool) -> Report:
    from ranklab.datasets.rendering import CHECKED_WITH, drawn_with

    other = f"{drawn_with()} draws other pixels than {CHECKED_WITH}, with which the set was checked"
    notes = (f"Pixels as with {CHECKED_WITH}.",) if same else ()
    return Report(facts.name, facts.title, None, counts, () if same else (other,), notes)
