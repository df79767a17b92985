"""Is a data set whole? Its lists, files and counts against what is published."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from rankedu.checks import check_choice
from rankedu_lab.datasets import voc
from rankedu_lab.datasets.layouts import READ
from rankedu_lab.datasets.lists import ListedImage, data_folder
from rankedu_lab.datasets.published import DETECTION, PUBLISHED, Published


class Count(NamedTuple):
    """How many there are of something in one part of a data set, and how many there should be, if it is known."""

    part: str
    what: str
    found: int
    published: int | None

    @property
    def ok(self) -> bool:
        return self.published in (None, self.found)


@dataclass(frozen=True)
class Report:
    """What :func:`rankedu_lab.datasets.check` found."""

    facts: Published
    folder: Path
    counts: Sequence[Count]
    problems: Sequence[str]

    @property
    def ok(self) -> bool:
        """Whether everything is as published."""
        return not self.problems and all(count.ok for count in self.counts)

    def __str__(self) -> str:
        lines = [f"{self.facts.title} in {self.folder}"]
        for count in self.counts:
            if count.published is None:
                mark, note = " ", "no published count"
            else:
                mark, note = ("✓", "as published") if count.ok else ("✗", f"published: {count.published:,}")
            lines.append(f"{mark} {count.part:16}{count.what:16}{count.found:>9,}  {note}")
        lines += [f"✗ {problem}" for problem in self.problems]
        lines.append(f"  Published counts: {self.facts.counted_by}.")
        wrong = sum(not count.ok for count in self.counts) + len(self.problems)
        differ = "1 thing differs." if wrong == 1 else f"{wrong} things differ."
        return "\n".join([*lines, differ if wrong else "Nothing differs."])


def check(name: str, root: str | os.PathLike[str] | None = None) -> Report:
    """Compare a data set on disk with what is published.

    Counts images and distinct names of each level in every part, looks for every listed file, and for leaf classes that
    are in the training and in the test.
    """
    check_choice(name, (*READ, "voc"), name="name")
    facts = {**PUBLISHED, **DETECTION}[name]
    folder = data_folder(facts, root)
    if name == "voc":
        return Report(facts, folder, *_check_voc(folder, facts))
    rows = READ[name](folder, facts)
    missing = [path for path in dict.fromkeys(folder / row.file for row in rows) if not path.is_file()]
    problems = [*_complaint("missing images", missing, facts), *_shared(rows, facts)]
    return Report(facts, folder, _counts(rows, facts), problems)


def _complaint(what: str, paths: Sequence[object], facts: Published) -> list[str]:
    """A complaint about files, if there are any, that names the first three."""
    names = ", ".join(map(str, paths[:3])) + (", …" if len(paths) > 3 else "")
    return [f"{what}: {len(paths):,}, among them {names} ({facts.where()})"] if paths else []


def _counts(rows: Sequence[ListedImage], facts: Published) -> list[Count]:
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
    return counts


def _shared(rows: Sequence[ListedImage], facts: Published) -> list[str]:
    """A complaint about leaf classes on both sides; those of DyML's separate benchmarks are numbered on their own."""
    if facts.name.startswith("dyml"):
        return []
    train = {row.names for row in rows if row.part == "train"}
    both = train & {row.names for row in rows if row.part != "train"}
    return [f"classes in training and test: {len(both):,}, among them {' '.join(min(both))!r}"] if both else []


def _check_voc(devkit: Path, facts: Published) -> tuple[list[Count], list[str]]:
    """Pascal VOC, whose annotations must be readable; 2007 is complete without 2012."""
    counts: list[Count] = []
    problems: list[str] = []
    for part, published in facts.counts.items():
        year, split = part.split()
        if year != "2007" and not (devkit / f"VOC{year}").is_dir():
            continue
        annotations = {path: voc.read_annotation(path) for path in voc.listed(devkit, int(year), split)}
        pictures = [voc.picture(path, annotation) for path, annotation in annotations.items()]
        missing = [picture for picture in pictures if not picture.is_file()]
        problems += _complaint(f"missing pictures of {part}", missing, facts)
        difficult = sum(sum(annotation.difficult) for annotation in annotations.values())
        names = [name for annotation in annotations.values() for name in annotation.names]
        found = {"images": len(annotations), "objects": len(names) - difficult, "difficult": difficult}
        found["classes"] = len(set(names))
        counts += [Count(part, what, count, published.get(what)) for what, count in found.items()]
    return counts, problems
