"""Is a data set whole? Its lists, files and counts against what is published."""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rankedu.checks import check_choice
from ranklab.datasets import rendering, scenes, voc
from ranklab.datasets.files import decode as decode_file
from ranklab.datasets.files import read_image, undecodable
from ranklab.datasets.glyphs import UnicodeGlyphs
from ranklab.datasets.layouts import READ
from ranklab.datasets.lists import ListedImage, data_folder
from ranklab.datasets.published import DETECTION, PUBLISHED, Published

NOT_DECODED = "Images were not decoded (--decode does it)."


@dataclass(frozen=True)
class Count:
    """How many there are of something in one part of a data set, and how many there should be, if it is known."""

    part: str
    what: str
    found: int
    published: int | None = None

    @property
    def ok(self) -> bool:
        return self.published in (None, self.found)


@dataclass(frozen=True)
class Report:
    """What :func:`ranklab.datasets.check` found."""

    name: str
    title: str
    folder: Path | None
    counts: tuple[Count, ...]
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    counted_by: str = ""

    @property
    def ok(self) -> bool:
        """Whether everything is as published."""
        return not self.problems and all(count.ok for count in self.counts)

    def __str__(self) -> str:
        lines = [f"{self.title}{f' in {self.folder}' if self.folder else ''}"]
        for count in self.counts:
            if count.published is None:
                note = "no published count"
            else:
                note = "as published" if count.ok else f"published: {count.published:,}"
            mark = "✗" if not count.ok else "✓" if count.published else " "
            lines.append(f"{mark} {count.part:16}{count.what:16}{count.found:>9,}  {note}")
        lines += [f"✗ {problem}" for problem in self.problems] + [f"  {note}" for note in self.notes]
        if self.counted_by:
            lines.append(f"  Published counts: {self.counted_by}.")
        wrong = sum(not count.ok for count in self.counts) + len(self.problems)
        differ = "1 thing differs." if wrong == 1 else f"{wrong} things differ."
        return "\n".join([*lines, differ if wrong else "Nothing differs."])


def check(
    name: str, root: str | os.PathLike[str] | None = None, *, decode: bool = False, progress: bool = False
) -> Report:
    """Compare a data set on disk with what is published; with ``decode`` every image is decoded, which takes long.

    Counts images and distinct names of each level in every part, looks for every listed file, and for leaf classes that
    are in the training and in the test.
    """
    check_choice(name, (*PUBLISHED, *DETECTION), name="name")
    if name in ("glyphs", "scenes"):
        return _check_drawings(name, root)
    facts = {**PUBLISHED, **DETECTION}[name]
    folder = data_folder(facts, root)
    found = _check_voc(folder, facts, decode, progress) if name == "voc" else _listed(folder, facts, decode, progress)
    counts, problems, notes = found
    notes += [] if decode else [NOT_DECODED]
    return Report(name, facts.title, folder, tuple(counts), tuple(problems), tuple(notes), facts.counted_by)


Found = tuple[list[Count], list[str], list[str]]  # counts, problems, notes


def _listed(folder: Path, facts: Published, decode: bool, progress: bool) -> Found:
    """A data set of labelled image files."""
    rows = READ[facts.name](folder, facts)
    paths = list(dict.fromkeys(folder / row.file for row in rows))
    there = [path for path in paths if path.is_file()]
    missing = [path for path in paths if not path.is_file()]
    corrupt = undecodable(there, lambda path: decode_file(path, facts), progress) if decode else []
    remedy = "on_corrupt='skip' passes over them"
    problems = [
        *_complaint(missing, "listed image is missing", "listed images are missing", facts.where()),
        *_complaint(corrupt, "image cannot be decoded", "images cannot be decoded", remedy),
        *_shared(rows, facts),
    ]
    return _counts(rows, facts), problems, _alone(rows)


def _complaint(paths: Sequence[Path], one: str, many: str, remedy: str) -> list[str]:
    """A complaint about files that names the first three."""
    if not paths:
        return []
    names = ", ".join(map(str, paths[:3])) + (", …" if len(paths) > 3 else "")
    return [f"{len(paths):,} {one if len(paths) == 1 else many}: {names} ({remedy})"]


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
    return [f"{len(both)} classes are in the training and in the test, {' '.join(min(both))!r} first"] if both else []


def _alone(rows: Sequence[ListedImage]) -> list[str]:
    """A note about classes of one image: alone in the training, or in queries and gallery together."""
    groups = Counter((row.part.replace("query", "test").replace("gallery", "test"), row.names) for row in rows)
    alone = Counter(part for (part, _), count in groups.items() if count == 1)
    return [
        f"{part}: {count} class{'es' * (count > 1)} with one image only; as a query it has no positive and is left out."
        for part, count in sorted(alone.items())
    ]


def _check_voc(devkit: Path, facts: Published, decode: bool, progress: bool) -> Found:
    """Pascal VOC; 2007 is complete without 2012."""
    counts: list[Count] = []
    problems: list[str] = []
    notes: list[str] = []
    listed: dict[str, set[str]] = {}
    for part, published in facts.counts.items():
        year, split = part.split()
        if year != "2007" and not (devkit / f"VOC{year}").is_dir():
            notes.append(f"VOC{year} is not there: voc0712 needs it, voc07 does not.")
            continue
        try:
            paths = voc.listed(devkit, int(year), split)
        except FileNotFoundError as error:
            problems.append(str(error))
            continue
        listed[part] = {path.stem for path in paths}
        annotations, complaints = _annotations(paths, facts.where(), decode, progress)
        problems += complaints
        difficult = sum(sum(annotation.difficult) for annotation in annotations)
        names = [name for annotation in annotations for name in annotation.names]
        found = {"images": len(annotations), "objects": len(names) - difficult, "difficult": difficult}
        found["classes"] = len(set(names))
        counts += [Count(part, what, count, published.get(what)) for what, count in found.items()]
    both = listed.get("2007 trainval", set()) & listed.get("2007 test", set())
    are = "picture of 2007 is" if len(both) == 1 else "pictures of 2007 are"
    problems += [f"{len(both):,} {are} in trainval and in test, {min(both)!r} first"] if both else []
    return counts, problems, notes


def _annotations(
    paths: Sequence[Path], where: str, decode: bool, progress: bool
) -> tuple[list[voc.Annotation], list[str]]:
    """The annotations that can be read; complaints about the others, and about pictures and names."""
    annotations: dict[Path, voc.Annotation] = {}
    missing, wrong = [], []
    for path in paths:
        try:
            annotations[path] = voc.read_annotation(path)
        except FileNotFoundError:
            missing.append(path)
        except ValueError:
            wrong.append(path)
    images = [voc.picture(path, annotation) for path, annotation in annotations.items()]
    there = [image for image in images if image.is_file()]
    gone = sorted(set(images) - set(there))
    corrupt = undecodable(there, lambda image: read_image(image, voc.FACTS, voc.pixels), progress) if decode else []
    strange = [path for path, annotation in annotations.items() if not set(annotation.names) <= set(voc.NAMES)]
    return list(annotations.values()), [
        *_complaint(missing, "listed annotation is missing", "listed annotations are missing", where),
        *_complaint(wrong, "annotation cannot be read", "annotations cannot be read", where),
        *_complaint(gone, "picture is missing", "pictures are missing", where),
        *_complaint(corrupt, "picture cannot be decoded", "pictures cannot be decoded", where),
        *_complaint(
            strange, "annotation names another class", "annotations name other classes", f"there are {len(voc.NAMES)}"
        ),
    ]


def _check_drawings(name: str, root: str | os.PathLike[str] | None) -> Report:
    """What is drawn here has no owner to compare with: its pixels are those of a pinned checksum, or others."""
    facts = {**PUBLISHED, **DETECTION}[name]
    if name == "scenes":
        same = rendering.render(scenes.CLASSES + scenes.CLUTTER).sha256() == scenes.PINNED_SHA256
        counts = [Count("all", "classes", len(scenes.CLASSES))]
    else:
        same = rendering.cached_rendering(root).sha256() == rendering.PINNED_SHA256
        counts = []
        for data in (UnicodeGlyphs("train", root=root), UnicodeGlyphs("test", root=root)):
            classes = {level: len(column.unique()) for level, column in zip(facts.levels, data.labels.T, strict=True)}
            found = {"images": len(data), **classes}
            counts += [Count(data.split, what, count) for what, count in found.items()]
    other = f"{rendering.drawn_with()} draws other pixels than {rendering.CHECKED_WITH}, with which the set was checked"
    notes = (f"Pixels as with {rendering.CHECKED_WITH}.",) if same else ()
    return Report(name, facts.title, None, tuple(counts), () if same else (other,), notes)
