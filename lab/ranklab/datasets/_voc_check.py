"""Is Pascal VOC whole? Its lists, annotations, pictures and counts against what is published."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from ranklab.datasets._report import Count, Report, complaint
from ranklab.datasets._voc_files import FACTS, Annotation, read_annotation
from ranklab.datasets.files import read_image, undecodable
from ranklab.datasets.lists import data_folder
from ranklab.datasets.voc import NAMES, listed, pixels

__all__ = ["check_voc"]


def check_voc(root: str | os.PathLike[str] | None = None, *, decode: bool = False, progress: bool = False) -> Report:
    """Compare Pascal VOC on disk with what is published; 2007 is complete without 2012."""
    devkit = data_folder(FACTS, root)
    counts: list[Count] = []
    problems: list[str] = []
    notes: list[str] = []
    for part, published in FACTS.counts.items():
        year, split = part.split()
        if year != "2007" and not (devkit / f"VOC{year}").is_dir():
            notes.append(f"VOC{year} is not there: voc0712 needs it, voc07 does not.")
            continue
        try:
            paths = listed(devkit, int(year), split)
        except FileNotFoundError as error:
            problems.append(str(error))
            continue
        annotations, complaints = _read(paths)
        problems += complaints + _look_for(annotations, decode, progress)
        counts += _count(part, annotations, published)
    both = _overlap(devkit)
    are = "picture of 2007 is" if len(both) == 1 else "pictures of 2007 are"
    problems += [f"{len(both):,} {are} in trainval and in test, {min(both)!r} first"] if both else []
    notes += [] if decode else ["Images were not decoded (--decode does it)."]
    return Report(FACTS.name, FACTS.title, devkit, tuple(counts), tuple(problems), tuple(notes), FACTS.counted_by)


def _read(paths: Sequence[Path]) -> tuple[dict[Path, Annotation], list[str]]:
    """The annotations that can be read, and complaints about the others."""
    annotations, missing, wrong = {}, [], []
    for path in paths:
        try:
            annotations[path] = read_annotation(path)
        except FileNotFoundError:
            missing.append(path)
        except ValueError:
            wrong.append(path)
    return annotations, [
        *complaint(missing, "listed annotation is missing", "listed annotations are missing", FACTS.where()),
        *complaint(wrong, "annotation cannot be read", "annotations cannot be read", FACTS.where()),
    ]


def _look_for(annotations: dict[Path, Annotation], decode: bool, progress: bool) -> list[str]:
    """Complaints about pictures that are missing or cannot be decoded, and about names that are none of the owner's."""
    images = [path.parent.parent / "JPEGImages" / annotation.file for path, annotation in annotations.items()]
    there = [image for image in images if image.is_file()]
    corrupt = undecodable(there, lambda image: read_image(image, FACTS, pixels), progress) if decode else []
    strange = [path for path, annotation in annotations.items() if not set(annotation.names) <= set(NAMES)]
    return [
        *complaint(sorted(set(images) - set(there)), "picture is missing", "pictures are missing", FACTS.where()),
        *complaint(corrupt, "picture cannot be decoded", "pictures cannot be decoded", FACTS.where()),
        *complaint(
            strange, "annotation names another class", "annotations name other classes", f"there are {len(NAMES)}"
        ),
    ]


def _count(part: str, annotations: dict[Path, Annotation], published: Mapping[str, int]) -> list[Count]:
    """Pictures, objects and classes; the owner counts objects without difficult ones."""
    difficult = sum(sum(annotation.difficult) for annotation in annotations.values())
    objects = sum(len(annotation.names) for annotation in annotations.values()) - difficult
    classes = len({name for annotation in annotations.values() for name in annotation.names})
    counts = {"images": len(annotations), "objects": objects, "difficult": difficult, "classes": classes}
    return [Count(part, what, count, published.get(what)) for what, count in counts.items()]


def _overlap(devkit: Path) -> set[str]:
    """Names that are on both lists of 2007."""
    try:
        train, test = ({path.stem for path in listed(devkit, 2007, part)} for part in ("trainval", "test"))
    except FileNotFoundError:
        return set()
    return train & test
