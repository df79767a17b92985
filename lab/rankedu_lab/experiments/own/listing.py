"""Find the pictures of a folder or of a table: each with the names of its classes, and its side of a given split."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from rankedu.files import INDEX, numbers_rows, read_cells
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
    depth, words = _split_folders(folder, pictures)
    sides = {_side(word) for word in words}
    if words:
        drawn = "; with one side only, a split is drawn" if len(sides) == 1 else ""
        notes.append(f"folders that are taken for a split: {_sides(words)}{drawn}")
    paths = [
        path.parts[:-1] if depth is None else (*path.parts[:depth], *path.parts[depth + 1 : -1]) for path in pictures
    ]
    while len(paths[0]) > 1 and all(path[:1] == paths[0][:1] and len(path) > 1 for path in paths):
        paths = [path[1:] for path in paths]  # a folder around all classes is no class
    rows = []
    for path, names in zip(pictures, paths, strict=True):
        if not names or len(names) != len(paths[0]):
            got = f"{folder / path}, in none" if not names else f"{folder / pictures[0]} and {folder / path}"
            raise ValueError(f"every picture must be in a class folder, all equally deep, got {got} (move it)")
        side = _side(path.parts[depth]) if depth is not None and len(sides) > 1 else ""
        whole = tuple("/".join(names[: level + 1]) for level in range(len(names)))
        rows.append(Row(str(folder / path), path.as_posix(), whole, side))
    return rows, (*(f"level {level}" for level in range(1, len(paths[0]))), "class"), notes


def _side(word: str) -> str:
    """Return "train" or "test" for a word of a split, and "" for other words."""
    found = SIDE.fullmatch(word.lower())
    return "" if not found else "train" if found[1] == "train" else "test"


def _sides(words: Iterable[str]) -> str:
    """Say what each word of a split is taken for."""
    return ", ".join(f"{word} is {_side(word)}" for word in sorted(words))


def _pictures(folder: Path, skip: bool) -> tuple[list[Path], list[str]]:
    """List the pictures below a folder, and notes; a folder without any is refused, or left out if ``skip``."""
    notes = list[str]()
    files = list(_walk(folder, {folder.resolve()}, notes))
    bare = [path.relative_to(folder) for path in files if path.is_dir()]
    for path in files:
        if not path.exists() and not is_picture(path):
            raise ValueError(f"{path} is a link that leads nowhere (repair or remove it)")
    pictures = [path.relative_to(folder) for path in files if not path.is_dir() and is_picture(path)]
    others = sorted({path.relative_to(folder) for path in files} - {*pictures, *bare})
    if not pictures:
        raise ValueError(f"{folder} must hold a folder of pictures for each class, got none (is the path right?)")
    full = {parent for path in pictures for parent in path.parents}
    lost = {path.parent: path.name for path in others if path.parent not in full}
    if lost and not skip:
        names = some([f"{place} (such as {name})" for place, name in lost.items()])
        raise ValueError(
            f"{folder}: no picture in {len(lost)} folders that this Pillow can read: {names} (convert the files, move "
            "the folders away, or go on without them: --skip-unreadable)"
        )
    notes += [f"folders without a file: {some(bare)}"] * bool(bare)
    return pictures, [*notes, *[f"{len(others)} other files are passed over: {some(others)}"] * bool(others)]


def _walk(folder: Path, above: set[Path], notes: list[str]) -> Iterator[Path]:
    """Give every file and every empty folder below, but hidden ones; links are followed unless they lead back."""
    inside = [path for path in sorted(folder.iterdir()) if not path.name.startswith(".")]
    if not inside:
        yield folder
    for path in inside:
        if not path.is_dir():
            yield path
        elif (real := path.resolve()) in above:
            notes.append(f"{path} is a link to a folder that it is in, and is not followed")
        else:
            yield from _walk(path, {*above, real}, notes)


def _split_folders(folder: Path, pictures: Sequence[Path]) -> tuple[int | None, list[str]]:
    """Find the depth at which folders are named as a split, and their names."""
    for depth in range(min(len(path.parts) for path in pictures) - 1):
        words = sorted({path.parts[depth] for path in pictures})
        sides = [word for word in words if _side(word)]
        both = len({*map(_side, sides)}) > 1
        plain = depth == 0 and any(word.isalpha() for word in sides)  # "train 1" and "train 2" may be classes
        if sides == words and (both or plain):
            return depth, words
        if both or (plain and any(len(path.parts) > 2 for path in pictures)):
            other = next(word for word in words if word not in sides)
            raise ValueError(
                f"{folder}: folders must all be sides of a split or all be classes, got {', '.join(sides)} beside "
                f"{other} (sides are called train, test, val, valid or validation: rename or move the others)"
            )
    return None, []


def from_table(table: Path, folder: Path) -> Listed:
    """List the lines of a table; all columns but "path" and "split" are labels, from root to leaf."""
    lines, separator = read_cells(table)
    notes = [f"cells are taken to be separated by {separator!r}"] * (separator != ",")
    columns = [name.lower() if name.lower() in ("path", "split") else name for name in (lines[0] if lines else ())]
    cells = list(zip(*lines[1:], strict=True))
    if columns and columns[0].lower() in INDEX and cells and numbers_rows(cells[0], ""):
        notes.append("the first column numbers the rows, and is left out")
        columns, lines, cells = columns[1:], [line[1:] for line in lines], cells[1:]
    levels = tuple(name for name in columns if name not in ("path", "split"))
    if "path" not in columns or not levels or len({*columns}) != len(columns):
        got = ",".join(columns) or "an empty file"
        raise ValueError(f"{table}, line 1: the head must be path,label[,label …][,split], each once, got {got}")
    if len(lines) == 1:
        raise ValueError(f"{table} must have a line for each picture below its head, got none")
    for name, column in zip(columns, cells, strict=True):
        if name in levels and numbers_rows(column):
            raise ValueError(f"{table}, line 1: labels must be classes, but {name!r} numbers the rows: leave it out")
        if name in levels and {_side(word) for word in column} == {"train", "test"}:
            raise ValueError(f"{table}, line 1: labels must be classes, but {name!r} holds a split: call it split")
    rows, seen = list[Row](), dict[str, int]()
    for line, row in enumerate(lines[1:], 2):
        rows.append(_row(table, folder, line, dict(zip(columns, row, strict=True)), levels, seen))
    if slashed := [row.file for row, line in zip(rows, lines[1:], strict=True) if "\\" in ",".join(line)]:
        notes.append(f"backslashes in paths are taken for slashes: {some(slashed)}")
    if "split" in columns and (words := {*cells[columns.index("split")]} - {"train", "test"}):
        notes.append(f"words of the split: {_sides(words)}")
    return rows, levels, notes


def _row(
    table: Path, folder: Path, line: int, cells: dict[str, str], levels: Sequence[str], seen: dict[str, int]
) -> Row:
    """Check a line of a table; ``seen`` has the line of each file before."""
    inside, path, wrong = Path(os.path.abspath(folder)), cells["path"], ""
    if "\\" in path and not (inside / path).exists():
        path = path.replace("\\", "/")
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
