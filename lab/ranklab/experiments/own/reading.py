"""Pictures of your own, in class folders or in a table: read, checked and split by class before any training."""

import csv
import hashlib
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from rankedu.checks import check_number
from ranklab.datasets.files import UNREADABLE, ImageFiles, read_image
from ranklab.datasets.published import TWO, Published
from ranklab.datasets.transforms import draw, view

__all__ = ["OwnPictures", "Read", "read"]

#: What is taken for a picture, by the end of its name.
ENDINGS = (".bmp", ".gif", ".jpeg", ".jpg", ".png", ".ppm", ".tif", ".tiff", ".webp")
#: Folders, or words of the column "split", and the side that they stand for.
SIDES = {"train": "train", "test": "test", "val": "test"}


class Row(NamedTuple):
    """A picture as it was listed: where, its file, the names of its labels from root to leaf, its side if given."""

    where: str
    file: str
    names: tuple[str, ...]
    part: str


@dataclass(frozen=True)
class Read:
    """What was read without fault: ``rows`` in random order, each in "train" or "test", which share no class."""

    source: Path
    folder: Path  #: that all files are below
    levels: tuple[str, ...]  #: from root to leaf
    rows: list[Row]
    split: str  #: in words
    digest: str  #: of the pictures' bytes, their labels and their sides
    notes: list[str]

    def count(self, part: str) -> str:
        """Of a side, the pictures and the classes of each level, in words."""
        names = [row.names for row in self.rows if row.part == part]
        many = [f"{name} {len({path[:depth] for path in names}):,}" for depth, name in enumerate(self.levels, 1)]
        return f"pictures {len(names):,}, {', '.join(many)}"


class OwnPictures(ImageFiles):
    """One side of what was read; a training view is a window of 7/8 of the sides, mirrored only if that is asked."""

    def __init__(self, read: Read, split: str, *, size: int, mirror: bool = False) -> None:
        facts = Published("own", read.source.name, str(read.source), str(read.folder), read.levels, TWO)
        super().__init__(facts, read.folder, read.rows, split, image_size=size, crop="window")  # type: ignore[arg-type]
        self.mirror = mirror

    def load(self, index: int, generator: torch.Generator | None = None) -> Tensor:
        """Decode one picture, (3, S, S): the view of the test, or one that the generator draws."""
        draws = None if generator is None else draw(generator)
        if draws is not None and not self.mirror:
            draws[0] = 1.0
        size, crop = self.image_size, self.crop
        return read_image(self.paths[index], self.facts, lambda image: view(image, draws, size=size, crop=crop))


def read(
    source: Path,
    root: Path | None = None,
    *,
    share: float = 1 / 3,
    seed: int = 0,
    skip_unreadable: bool = False,
    skip_single: bool = False,
    progress: bool = True,
) -> Read:
    """Read a folder of class folders, or a .csv with a column "path"; a ValueError names file, line and remedy.

    Folders in folders, or several columns of labels, are a hierarchy from root to leaf. The pictures of a table lie
    below its own folder, or ``root``. Without a split, a ``share`` of the classes, drawn by the ``seed``, is the test.
    """
    check_number(share, "test_share", above=0, most=1, hint="of the classes")
    if not source.is_dir() and source.suffix.lower() != ".csv":
        raise ValueError(f"{source} must be a folder of class folders, or a table .csv (is the path right?)")
    folder = source if source.is_dir() else root or source.parent
    rows, levels, notes = _from_folder(source) if source.is_dir() else _from_table(source, folder)
    notes += _check_tree(rows, levels, source)
    digests = _decode(rows, folder, skip_unreadable, notes, progress)
    rows = _without_single([row for row in rows if row.file in digests], levels, skip_single, notes)
    rows, split = _split(rows, levels, share, seed)
    lines = sorted("\t".join([row.part, *row.names, row.file, digests[row.file]]) for row in rows)
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(seed))  # ties go by position
    return Read(source, folder, levels, [rows[at] for at in order.tolist()], split, digest, notes)


def _from_folder(folder: Path) -> tuple[list[Row], tuple[str, ...], list[str]]:
    """Every picture below it: the folders between are its labels, but for a first one that is train, test or val."""
    found = [path.relative_to(folder) for path in sorted(folder.rglob("*")) if path.is_file()]
    shown = [path for path in found if not any(part.startswith(".") for part in path.parts)]
    pictures = [path for path in shown if path.suffix.lower() in ENDINGS]
    if not pictures:
        raise ValueError(f"{folder} must hold a folder of pictures for each class, got none ({', '.join(ENDINGS)})")
    tops = {path.parts[0] for path in pictures}
    split, first, rows = int("train" in tops and tops <= {*SIDES}), pictures[0], []
    for path in pictures:
        names = path.parts[split:-1]
        if not names or len(path.parts) != len(first.parts):
            told = f"{folder / path}, in none" if not names else f"{folder / first} and {folder / path}"
            raise ValueError(f"every picture must lie in a class folder, all as deep, got {told} (move it)")
        whole = tuple("/".join(names[: depth + 1]) for depth in range(len(names)))
        rows.append(Row(str(folder / path), path.as_posix(), whole, SIDES[path.parts[0]] if split else ""))
    levels = (*(f"level {depth}" for depth in range(1, len(rows[0].names))), "class")
    others = [str(path) for path in shown if path.suffix.lower() not in ENDINGS]
    return rows, levels, [f"{len(others)} other files are passed over: {_some(others)}"] * bool(others)


def _from_table(table: Path, folder: Path) -> tuple[list[Row], tuple[str, ...], list[str]]:
    """A line a picture; all columns but "path" and "split" are labels, from root to leaf."""
    try:
        with table.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file)
            lines = [(reader.line_num, [cell.strip() for cell in cells]) for cells in reader if cells]
    except UnicodeDecodeError as error:
        raise ValueError(f"{table} must be text in UTF-8: {error} (save it as CSV UTF-8)") from None
    columns = lines[0][1] if lines else []
    levels = tuple(name for name in columns if name not in ("path", "split"))
    if "path" not in columns or not levels or len({*columns}) != len(columns):
        got = ",".join(columns) or "an empty file"
        raise ValueError(f"{table}, line 1: the head must be path,label[,label …][,split], each once, got {got}")
    if len(lines) == 1:
        raise ValueError(f"{table} must have a line for each picture below its head, got none")
    inside, rows, seen = folder.resolve(), list[Row](), dict[str, int]()
    for line, cells in lines[1:]:
        row, wrong = dict(zip(columns, cells, strict=False)), ""
        if len(cells) != len(columns) or not all(cells):
            wrong = f"must have {len(columns)} cells, none empty, got {','.join(cells)!r} (fill it in)"
        elif row.get("split", "train") not in SIDES:
            wrong = f"split must be train or test, got {row['split']!r} (without the column one is drawn)"
        elif not (inside / row["path"]).resolve().is_relative_to(inside):
            wrong = f"path must lie below {folder}, got {row['path']!r} (name the folder of all pictures with --root)"
        elif (before := seen.setdefault(row["path"], line)) != line:
            wrong = f"path must be given once, got {row['path']!r} of line {before} again (leave one out)"
        if wrong:
            raise ValueError(f"{table}, line {line}: {wrong}")
        names, side = tuple(row[name] for name in levels), row.get("split", "")
        rows.append(Row(f"{table}, line {line}", row["path"], names, SIDES.get(side, "")))
    return rows, levels, []


def _check_tree(rows: Sequence[Row], levels: Sequence[str], source: Path) -> list[str]:
    """Every label has one parent, or else the columns run from leaf to root, or are no hierarchy."""
    sizes, notes = [len({row.names[depth] for row in rows}) for depth in range(len(levels))], []
    for depth in range(1, len(levels)):
        upper, lower, known = levels[depth - 1], levels[depth], dict[str, Row]()
        pairs = {row.names[depth - 1 : depth + 1] for row in rows}
        for row in rows:
            own, first = row.names, known.setdefault(row.names[depth], row)
            if first.names[depth - 1] == own[depth - 1]:
                continue
            if len(pairs) == sizes[depth - 1]:
                order = ",".join(sorted(levels, key=lambda name: sizes[levels.index(name)]))
                raise ValueError(
                    f"{source}, line 1: labels must run from root to leaf, got {upper} before {lower}, but each "
                    f"{upper} has one {lower}, and {lower} {own[depth]!r} several (write them as {order})"
                )
            raise ValueError(
                f"{row.where}: {lower} {own[depth]!r} must have one {upper}, got {own[depth - 1]!r}, and "
                f"{first.names[depth - 1]!r} at {first.where} (two classes need two names; if {upper} is no level "
                f"above {lower}, leave the column out)"
            )
        if sizes[depth] == sizes[depth - 1]:
            notes.append(f"{lower} splits no class of {upper}: the two levels are one")
    return notes


def _decode(rows: Sequence[Row], folder: Path, skip: bool, notes: list[str], progress: bool) -> dict[str, str]:
    """A hash of each file whose picture can be read; the others are named, and refused unless they are skipped."""
    from PIL import Image
    from tqdm import tqdm

    digests, bad = {}, []
    for row in tqdm(rows, desc="reading", unit="picture", disable=None if progress else True, delay=2):
        try:
            content = (folder / row.file).read_bytes()
            with Image.open(io.BytesIO(content)) as image:
                image.load()
            digests[row.file] = hashlib.sha256(content).hexdigest()
        except (*UNREADABLE, Image.DecompressionBombError) as error:
            why = "it is not there" if isinstance(error, FileNotFoundError) else str(error).partition("<")[0].strip()
            bad.append(f"{row.where}{'' if row.where.endswith(row.file) else f', {row.file}'} ({why})")
    told = f"{len(bad)} of {len(rows)} pictures cannot be read"
    if bad and not (skip and digests):
        raise ValueError(f"{told}: {_some(bad)} (mend or remove them, or go on without them: --skip-unreadable)")
    notes += [f"{told} and are left out: {_some(bad)}"] * bool(bad)
    return digests


def _without_single(rows: list[Row], levels: Sequence[str], skip: bool, notes: list[str]) -> list[Row]:
    """A picture that is alone in its class finds nothing, and nothing finds it."""
    counts = Counter(row.names for row in rows)
    single = [f"{row.names[-1]!r} ({row.where})" for row in rows if counts[row.names] == 1]
    told = f"{len(single)} of {len(counts)} classes have one picture"
    if single and not skip:
        other = f"leave {levels[-1]!r} out if it is no label" if len(levels) > 1 else "a class needs two"
        raise ValueError(f"{told}: {_some(single)} (add pictures, or go on without: --skip-single; {other})")
    notes += [f"{told} and are left out: {_some(single)}"] * bool(single)
    return [row for row in rows if counts[row.names] > 1]


def _split(rows: list[Row], levels: Sequence[str], share: float, seed: int) -> tuple[list[Row], str]:
    """The given split, whose sides must share no class, or one that is drawn; each side has two classes or more."""
    first, told = dict[tuple[str, ...], Row](), "as given"
    for row in rows:
        other = first.setdefault(row.names, row)
        if other.part != row.part:
            raise ValueError(
                f"{row.where}: {levels[-1]} {row.names[-1]!r} is in {row.part}, and in {other.part} at {other.where}: "
                "the test must be of classes that training never saw (move one, or leave the split out)"
            )
    parts, classes = {names: row.part for names, row in first.items()}, sorted(first)
    if not all(parts.values()):
        order = torch.randperm(len(classes), generator=torch.Generator().manual_seed(seed)).tolist()
        tested = order[: min(max(round(share * len(classes)), 2), max(len(classes) - 2, 0))]
        parts = {names: "test" if at in tested else "train" for at, names in enumerate(classes)}
        told = f"{len(tested)} of {len(classes)} classes, drawn by seed {seed}, are the test"
    for side in ("train", "test"):
        if (many := sum(part == side for part in parts.values())) < 2:
            raise ValueError(f"{side} must have two classes or more of two pictures or more, got {many}")
    return [row._replace(part=parts[row.names]) for row in rows], told


def _some(items: Iterable[Any]) -> str:
    """The first three."""
    listed = list(map(str, items))
    return "; ".join(listed[:3]) + "; …" * (len(listed) > 3)
