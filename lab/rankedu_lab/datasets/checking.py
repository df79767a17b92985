"""Compare the lists, files and counts of a data set on disk with the published ones."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rankedu.checks import check_choice
from rankedu_lab.datasets import voc
from rankedu_lab.datasets.layouts import READ
from rankedu_lab.datasets.lists import ListedImage, data_folder
from rankedu_lab.datasets.published import DETECTION, PUBLISHED, Published


class Count(NamedTuple):
    """The number of things in one part of a data set, and the published number, if it is known."""

    part: str
    what: str
    found: int
    published: int | None

    @property
    def ok(self) -> bool:
        return self.published in (None, self.found)

    def __str__(self) -> str:
        mark, note = ("✓", "as published") if self.ok else ("✗", f"published: {self.published:,}")
        if self.published is None:
            mark, note = " ", "no published count"
        return f"{mark} {self.part:16}{self.what:16}{self.found:>9,}  {note}"


class Report(NamedTuple):
    """The result of :func:`rankedu_lab.datasets.check`."""

    facts: Published
    folder: Path
    counts: Sequence[Count]
    problems: Sequence[str]

    @property
    def ok(self) -> bool:
        """Whether everything is as published."""
        return not self.problems and all(count.ok for count in self.counts)

    def __str__(self) -> str:
        wrong = sum(not count.ok for count in self.counts) + len(self.problems)
        lines = [f"{self.facts.title} in {self.folder}", *map(str, self.counts)]
        lines += [*(f"✗ {problem}" for problem in self.problems), f"  Published counts: {self.facts.counted_by}."]
        return "\n".join(
            [*lines, f"{wrong} thing{'s differ' if wrong > 1 else ' differs'}." if wrong else "Nothing differs."]
        )


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
    problems = _missing("images", [folder / row.file for row in rows], facts)
    train, test = ({row.names for row in rows if (row.part == "train") == side} for side in (True, False))
    if train & test and not name.startswith("dyml"):  # whose benchmarks number their classes on their own
        problems.append(f"classes in training and test: {len(train & test):,}, among them {min(train & test)}")
    return Report(facts, folder, _counts(rows, facts), problems)


def _missing(what: str, paths: Sequence[Path], facts: Published) -> list[str]:
    """Write a complaint that names the first three missing files, if there are any."""
    gone = [path for path in dict.fromkeys(paths) if not path.is_file()]
    names = ", ".join(map(str, gone[:3])) + ", …" * (len(gone) > 3)
    return [f"missing {what}: {len(gone):,}, among them {names} ({facts.where()})"] if gone else []


def _counts(rows: Sequence[ListedImage], facts: Published) -> list[Count]:
    """Count images and classes of every part, and of all parts together whatever is published of them."""
    counts = []
    for part in [*dict.fromkeys(row.part for row in rows), *(["all"] if "all" in facts.counts else [])]:
        published = facts.counts.get(part, {})
        own = [row.names for row in rows if part in (row.part, "all")]
        levels = facts.levels if len(own[0]) > 1 or len(facts.levels) == 1 else (part.partition("_")[2],)
        found = {"images": len(own)} | {
            level: len({*of}) for level, of in zip(levels, zip(*own, strict=True), strict=True)
        }
        counts += [
            Count(part, *one, published.get(one[0])) for one in found.items() if part != "all" or one[0] in published
        ]
    return counts


def _check_voc(devkit: Path, facts: Published) -> tuple[list[Count], list[str]]:
    """Check Pascal VOC, whose annotations must be readable; 2007 is complete without 2012."""
    counts: list[Count] = []
    problems: list[str] = []
    for part, published in facts.counts.items():
        year, split = part.split()
        if year != "2007" and not (devkit / f"VOC{year}").is_dir():
            continue
        read = [voc.read_annotation(path) for path in voc.listed(devkit, int(year), split)]
        problems += _missing(f"pictures of {part}", [picture for picture, _ in read], facts)
        labels = [label for _, target in read for label in target["labels"].tolist()]
        difficult = sum(int(target["difficult"].sum()) for _, target in read)
        found = {"images": len(read), "objects": len(labels) - difficult, "difficult": difficult}
        found["classes"] = len(set(labels))
        counts += [Count(part, what, count, published.get(what)) for what, count in found.items()]
    return counts, problems
