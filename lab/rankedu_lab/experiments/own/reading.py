"""Read pictures of your own from class folders or a table, check them, and split them by class, before any training."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from rankedu.checks import check_count, check_number
from rankedu.files import MISSING, spellings
from rankedu_lab.datasets.lists import number_paths
from rankedu_lab.experiments.own.listing import Row, from_folder, from_table
from rankedu_lab.experiments.own.pictures import Found, keep, remarked, some, window

__all__ = ["OwnPictures", "Read", "read"]


@dataclass(frozen=True)
class Read:
    """Pictures without fault: ``rows`` in random order, each in "train" or "test", which share no class."""

    source: Path
    folder: Path  #: that all files are below
    levels: tuple[str, ...]  #: from root to leaf
    rows: list[Row]
    pixels: Tensor  #: uint8 (files, 3, side, side)
    at: Tensor  #: of each row, where its pixels are
    size: int  #: of a window, which a network sees
    as_stored: bool  #: the EXIF orientation was ignored
    split: str  #: in words
    digest: str  #: of the pictures' bytes, their labels, their sides, and how they were loaded
    notes: list[str]

    def count(self, part: str) -> str:
        """Count the pictures of a side, and the classes of each level, in words."""
        names = [row.names for row in self.rows if row.part == part]
        many = [f"{name} {len({path[:depth] for path in names}):,}" for depth, name in enumerate(self.levels, 1)]
        return f"pictures {len(names):,}, {', '.join(many)}"


class OwnPictures:
    """One side of the pictures; a training view is a window of 7/8 of the sides, mirrored only if that is asked."""

    def __init__(self, read: Read, split: str, *, mirror: bool = False) -> None:
        labels, self.names = number_paths(row.names for row in read.rows)
        part = torch.tensor([row.part == split for row in read.rows])
        self.rows = [row for row in read.rows if row.part == split]
        self.labels, self.at, self.pixels, self.size = labels[part], read.at[part], read.pixels, read.size
        self.split, self.mirror = split, mirror

    def __len__(self) -> int:
        return len(self.rows)

    def load(self, index: int, generator: torch.Generator | None = None) -> Tensor:
        """Make a picture as the network sees it, (3, size, size): the middle, or a window that the generator draws."""
        if generator is None:
            return window(self.pixels[self.at[index]], self.size)
        flip, *places = torch.rand(3, generator=generator).tolist()
        seen = window(self.pixels[self.at[index]], self.size, places)
        return seen.flip(2) if self.mirror and flip < 0.5 else seen


def read(
    source: Path,
    root: Path | None = None,
    *,
    size: int = 32,
    as_stored: bool = False,
    share: float = 1 / 3,
    draw_split: bool = False,
    seed: int = 0,
    skip_unreadable: bool = False,
    skip_single: bool = False,
    progress: bool = True,
) -> Read:
    """Read a folder of class folders, or a .csv with a column "path"; a ValueError names file, line and remedy.

    Folders in folders, or several columns of labels, are a hierarchy from root to leaf. The pictures of a table lie
    below its own folder, or ``root``. Without a split, or with ``draw_split``, a ``share`` of the classes, drawn by the
    ``seed``, is the test. Pictures are kept as windows of ``size`` need them, and upright unless ``as_stored``.
    """
    check_number(share, "test_share", above=0, most=1, hint="of the classes")
    check_count(size, "size")
    if not source.is_dir() and source.suffix.lower() != ".csv":
        raise ValueError(f"{source} must be a folder of class folders, or a table .csv (is the path right?)")
    folder = source if source.is_dir() else root or source.parent
    rows, levels, notes = from_folder(source, skip_unreadable) if source.is_dir() else from_table(source, folder)
    if draw_split:
        rows = [row._replace(part="") for row in rows]
    _check_tree(rows, levels)
    notes += _check_names(rows, levels)
    pixels, made = keep([folder / row.file for row in rows], size, as_stored=as_stored, progress=progress)
    place = {row.file: at for at, row in enumerate(rows)}
    found = _readable(rows, made, skip_unreadable, notes)
    rows = _without_single([row for row in rows if row.file in found], levels, skip_single, notes)
    rows, split = _split(rows, levels, share, seed)
    notes += remarked(found) + _copies(rows, found, size)
    lines = sorted("\t".join([row.part, *row.names, row.file, found[row.file].content]) for row in rows)
    digest = hashlib.sha256("\n".join([f"{size} {as_stored}", *lines]).encode()).hexdigest()
    order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(seed))  # ties go by position
    rows = [rows[at] for at in order.tolist()]
    at = torch.tensor([place[row.file] for row in rows])
    return Read(source, folder, levels, rows, pixels, at, size, as_stored, split, digest, notes)


def _check_names(rows: Sequence[Row], levels: Sequence[str]) -> list[str]:
    """Write notes on classes that may be one, and on words for a missing label."""
    notes = []
    for depth, level in enumerate(levels):
        words = list(dict.fromkeys(row.names[depth] for row in rows))
        pairs = [f"{one!r} and {other!r}" for one, other in spellings(words)]
        notes += [f"{level}: {len(pairs)} pairs of classes differ only in spelling: {some(pairs)}"] * bool(pairs)
        absent = [repr(word) for word in words if word.rpartition("/")[2].lower() in MISSING]
        notes += [f"{level}: {some(absent)} is the name of a class here, and not a missing label"] * bool(absent)
    return notes


def _check_tree(rows: Sequence[Row], levels: Sequence[str]) -> None:
    """Check that every label has one parent; else the columns run from leaf to root, or are no hierarchy."""
    for depth in range(1, len(levels)):
        upper, lower, known = levels[depth - 1], levels[depth], dict[str, Row]()
        for row in rows:
            first, own = known.setdefault(row.names[depth], row).names[depth - 1], row.names[depth - 1]
            if first != own:
                raise ValueError(
                    f"{row.where}: {lower} {row.names[depth]!r} must have one {upper}, got {own!r}, and {first!r} at "
                    f"{known[row.names[depth]].where} (labels run from root to leaf, and two classes need two names; "
                    f"if {upper} is no level above {lower}, leave the column out)"
                )


def _readable(rows: Sequence[Row], made: Sequence[Found | str], skip: bool, notes: list[str]) -> dict[str, Found]:
    """Return the readable files; a ValueError names the others, unless they are skipped with a note."""
    found = {row.file: one for row, one in zip(rows, made, strict=True) if isinstance(one, Found)}
    bad = [
        f"{row.where}{'' if row.where.endswith(row.file) else f', {row.file}'} ({why})"
        for row, why in zip(rows, made, strict=True)
        if isinstance(why, str)
    ]
    message = f"{len(bad)} of {len(rows)} pictures cannot be read"
    if bad and not (skip and found):
        elsewhere = "" if found else "; if paths start from another folder, name it with --root"
        how = f"repair or remove them, or go on without them: --skip-unreadable{elsewhere}"
        raise ValueError(f"{message}: {some(bad)} ({how})")
    notes += [f"{message} and are left out: {some(bad)}"] * bool(bad)
    lost = sorted({row.names[-1] for row in rows} - {row.names[-1] for row in rows if row.file in found})
    notes += [f"classes that are left out with them: {some(lost)}"] * bool(lost)
    return found


def _copies(rows: Sequence[Row], found: Mapping[str, Found], size: int) -> list[str]:
    """Write notes on pictures that are the same, in several classes or in one."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(found[row.file].small, []).append(row)
    if len(groups) == 1:
        return [f"all {len(rows):,} pictures are alike at side {size}: the network can learn nothing from them"]
    across, within = list[str](), list[str]()
    for first, *others in groups.values():
        other = next((row for row in others if row.names != first.names), others[0] if others else None)
        if other is not None:
            pair = " and ".join(f"{row.file} ({row.names[-1]}, {row.part})" for row in (first, other))
            (within if other.names == first.names else across).append(pair)
    kinds = {"are the same in several classes": across, "are in one class more than once": within}
    return [f"{len(pairs):,} pictures {text}: {some(pairs)}" for text, pairs in kinds.items() if pairs]


def _without_single(rows: list[Row], levels: Sequence[str], skip: bool, notes: list[str]) -> list[Row]:
    """Leave out, or refuse, pictures that are alone in their class: nothing can find them."""
    counts = Counter(row.names for row in rows)
    single = [f"{row.names[-1]!r} ({row.where})" for row in rows if counts[row.names] == 1]
    message = f"{len(single)} of {len(counts)} classes have one picture"
    if single and not skip:
        other = f"leave {levels[-1]!r} out if it is no label" if len(levels) > 1 else "a class needs two"
        raise ValueError(f"{message}: {some(single)} (add pictures, or go on without: --skip-single; {other})")
    notes += [f"{message} and are left out: {some(single)}"] * bool(single)
    return [row for row in rows if counts[row.names] > 1]


def _split(rows: list[Row], levels: Sequence[str], share: float, seed: int) -> tuple[list[Row], str]:
    """Check the given split, whose sides must share no class, or draw one; each side needs two classes or more."""
    first, message = dict[tuple[str, ...], Row](), "as given"
    for row in rows:
        other = first.setdefault(row.names, row)
        if other.part != row.part:
            raise ValueError(
                f"{row.where}: {levels[-1]} {row.names[-1]!r} is in {row.part}, and in {other.part} at {other.where}: "
                "the test must be of classes that training never saw (move one, or draw another split: --draw-split)"
            )
    parts, classes = {names: row.part for names, row in first.items()}, sorted(first)
    if not all(parts.values()):
        order = torch.randperm(len(classes), generator=torch.Generator().manual_seed(seed)).tolist()
        tested = order[: min(max(round(share * len(classes)), 2), max(len(classes) - 2, 0))]
        parts = {names: "test" if at in tested else "train" for at, names in enumerate(classes)}
        message = f"{len(tested)} of {len(classes)} classes, drawn by seed {seed}, are the test"
    for side in ("train", "test"):
        if (many := sum(part == side for part in parts.values())) < 2:
            raise ValueError(f"{side} must have two classes or more of two pictures or more, got {many}")
    return [row._replace(part=parts[row.names]) for row in rows], message
