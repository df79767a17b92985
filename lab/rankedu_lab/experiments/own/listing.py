"""Find the pictures of a folder or of a table: each with the names of its classes, and its side of a given split."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from rankedu.files import numbers_rows, read_cells
from rankedu_lab.experiments.own.pictures import is_picture, some

__all__ = ["Row", "from_folder", "from_table"]

#: Words for the sides of a split, of folders and of the column "split", with a tail as in "val2017".
SIDE = re.compile(r"(train|test|val)(ing|id|idation)?([\W_]*(set|data|images|imgs|split|\d+))?")


class Row(NamedTuple):
    """A picture as it was listed."""

    where: str  #: the line of the table, or the path
    file: str  #: below the folder of all pictures
    names: tuple[str, ...]  #: of its classes, from root to leaf
    part: str  #: "train", "test", or "" where no split is given


Listed = tuple[list[Row], tuple[str, ...], list[str]]  # and the levels, and notes


def from_folder(folder: Path, skip: bool) -> Listed:
    """List every picture below a folder: the folders between are its classes, but for those that are a split."""
    pictures, notes = _pictures(folder, skip)
    paths, sides = _without_split(folder, _unwrapped([path.parts[:-1] for path in pictures]))
    if sides:
        notes.append(f"folders that are taken for a split: {_sides({*sides})}")
    paths = _unwrapped(paths)
    rows = []
    for at, (path, names) in enumerate(zip(pictures, paths, strict=True)):
        if not names or len(names) != len(paths[0]):
            got = f"{folder / path}, in none" if not names else f"{folder / pictures[0]} and {folder / path}"
            raise ValueError(f"every picture must be in a class folder, all equally deep, got {got} (move it)")
        whole = tuple("/".join(names[: level + 1]) for level in range(len(names)))
        rows.append(Row(str(folder / path), path.as_posix(), whole, _side(sides[at]) if sides else ""))
    return rows, (*(f"level {level}" for level in range(1, len(paths[0]))), "class"), notes


def _unwrapped(paths: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Leave out the folders around all classes, which are no classes."""
    while all(len(path) > 1 and path[0] == paths[0][0] for path in paths):
        paths = [path[1:] for path in paths]
    return paths


def _without_split(folder: Path, paths: list[tuple[str, ...]]) -> tuple[list[tuple[str, ...]], list[str]]:
    """Take off the first folders if they are named as the two sides of a split, and return them for each path."""
    words = sorted({path[0] if path else "" for path in paths})
    sides = {_side(word) for word in words}
    if not {"train", "test"} <= sides:
        return paths, []
    if "" in sides:
        named, other = ", ".join(filter(_side, words)), next(word for word in words if not _side(word))
        raise ValueError(
            f"{folder}: folders must all be sides of a split or all be classes, got {named} beside {other} "
            "(sides are called train, test, val, valid or validation: rename or move the others)"
        )
    return [path[1:] for path in paths], [path[0] for path in paths]


def _side(word: str) -> str:
    """Return "train" or "test" for a word of a split, and "" for other words."""
    found = SIDE.fullmatch(word.lower())
    return "" if not found else "train" if found[1] == "train" else "test"


def _sides(words: Iterable[str]) -> str:
    return ", ".join(f"{word} is {_side(word)}" for word in sorted(words))


def _pictures(folder: Path, skip: bool) -> tuple[list[Path], list[str]]:
    """List the pictures below a folder, and notes; a folder without any is an error, or left out if ``skip``."""
    notes = list[str]()
    files = [path.relative_to(folder) for path in _walk(folder, {folder.resolve()}, notes)]
    pictures = [path for path in files if is_picture(folder / path)]
    others = sorted({*files} - {*pictures})
    if not pictures:
        raise ValueError(f"{folder} must hold a folder of pictures for each class, got none (is the path right?)")
    for path in others:
        if not (folder / path).exists():
            raise ValueError(f"{folder / path} is a link that leads nowhere (repair or remove it)")
    full = {parent for path in pictures for parent in path.parents}
    lost = {path.parent: path.name for path in others if path.parent not in full}
    if lost and not skip:
        names = some([f"{place} (such as {name})" for place, name in lost.items()])
        raise ValueError(
            f"{folder}: no picture in {len(lost)} folders that this Pillow can read: {names} (convert the files, move "
            "the folders away, or go on without them: --skip-unreadable)"
        )
    return pictures, [*notes, *[f"{len(others)} other files are passed over: {some(others)}"] * bool(others)]


def _walk(folder: Path, above: set[Path], notes: list[str]) -> Iterator[Path]:
    """Yield every file below a folder that is not hidden; links are followed unless they lead back."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if not path.is_dir():
            yield path
        elif (real := path.resolve()) in above:
            notes.append(f"{path} is a link to a folder that it is in, and is not followed")
        else:
            yield from _walk(path, {*above, real}, notes)


def from_table(table: Path, folder: Path) -> Listed:
    """List the lines of a table; all columns but "path" and "split" are labels, from root to leaf."""
    head, *lines = read_cells(table)[0] or [[]]
    columns = [name.lower() if name.lower() in ("path", "split") else name for name in head]
    levels = tuple(name for name in columns if name not in ("path", "split"))
    if "path" not in columns or not levels or len({*columns}) != len(columns):
        got = ",".join(columns) or "an empty file"
        raise ValueError(f"{table}, line 1: the head must be path,label[,label …][,split], each once, got {got}")
    if not lines:
        raise ValueError(f"{table} must have a line for each picture below its head, got none")
    cells = dict(zip(columns, zip(*lines, strict=True), strict=True))
    for name in levels:
        if numbers_rows(cells[name], name):
            raise ValueError(f"{table}, line 1: labels must be classes, but {name!r} numbers the rows: leave it out")
        if {_side(word) for word in cells[name]} == {"train", "test"}:
            raise ValueError(f"{table}, line 1: labels must be classes, but {name!r} holds a split: call it split")
    seen = dict[str, int]()
    rows = [
        _row(table, folder, at, dict(zip(columns, row, strict=True)), levels, seen) for at, row in enumerate(lines, 2)
    ]
    words = {*cells.get("split", ())} - {"train", "test"}
    return rows, levels, [f"words of the split: {_sides(words)}"] * bool(words)


def _row(
    table: Path, folder: Path, line: int, cells: dict[str, str], levels: Sequence[str], seen: dict[str, int]
) -> Row:
    """Check a line of a table; ``seen`` has the line of each file before."""
    inside, path, wrong = Path(os.path.abspath(folder)), cells["path"], ""
    full = Path(os.path.normpath(inside / path))
    if not all(cells.values()):
        wrong = f"must have {len(cells)} cells, none empty, got {','.join(cells.values())!r} (fill it in)"
    elif not _side(cells.get("split", "train")):
        wrong = f"split must be train or test, got {cells['split']!r} (without the column one is drawn)"
    elif not full.is_relative_to(inside):
        wrong = f"path must be below {folder}, got {path!r} (name the folder of all pictures with --root)"
    elif (before := seen.setdefault(os.path.realpath(full), line)) != line:
        wrong = f"path must be given once, got {path!r} of line {before} again (leave one out)"
    if wrong:
        raise ValueError(f"{table}, line {line}: {wrong}")
    names, side = tuple(cells[name] for name in levels), _side(cells.get("split", ""))
    return Row(f"{table}, line {line}", full.relative_to(inside).as_posix(), names, side)
