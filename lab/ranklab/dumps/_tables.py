"""Tables of labels as text: with or without a head, some or all of the columns."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["ENDED", "TABLES", "read_table"]

#: The endings of tables, and what separates their columns.
TABLES = {".csv": ",", ".tsv": "\t"}
#: What stands below the end of a path.
ENDED = ("", "-1")
_INTEGER, _NUMBER = re.compile(r"[+-]?\d+"), re.compile(r"[+-]?\d+(\.\d*)?")


def read_table(
    path: Path, n: int, columns: str | None, header: bool = False
) -> tuple[np.ndarray[Any, Any], tuple[str, ...] | None]:
    """Of a table of text the labels, and the names in its head; it has one if there is a row more than items."""
    rows, lines = _rows(path)
    head = header or len(rows) == n + 1
    if len(rows) != n + head:
        rest = " below the head, one for each item" if header else ", one for each item, or one more with a head"
        raise ValueError(f"{path}: labels must have {n} rows{rest}, got {len(rows) - header}")
    names = tuple(rows[0]) if head else None
    chosen = _choose(path, columns, rows[0], head)
    words = np.array([[row[column] for column in chosen] for row in rows[head:]])
    if head and not header:
        _check_head([rows[0][column] for column in chosen], words, path, n)
    if not head and n > 1 and not _integer(words[0]) and all(map(_integer, words[1:])):
        raise ValueError(
            f"{path}: labels must have {n} rows below the head, one for each item, got {n - 1} "
            f"(the first row, {', '.join(rows[0])}, is no number)"
        )
    ended = np.isin(words, ENDED)
    resumed = (ended[:, :-1] & ~ended[:, 1:]).any(1)
    if resumed.any():
        first = int(np.flatnonzero(resumed)[0])
        raise ValueError(
            f"{path}, line {lines[first + head]}: labels must run from root to leaf and end at the first empty cell, "
            f"got {', '.join(words[first])!r} (leave out the level that is not known, or give it a name of its own)"
        )
    return words, (names and tuple(names[column] for column in chosen))


def _check_head(first: list[str], words: Any, path: Path, n: int) -> None:
    """Raise ValueError where the first of n + 1 rows may as well be a label too many."""
    for name, column in zip(first, words.T, strict=True):
        number = _NUMBER.fullmatch(name) and all(word in ENDED or _NUMBER.fullmatch(word) for word in column)
        if number or (name not in ENDED and name in column):
            raise ValueError(
                f"{path}: labels must have {n} rows, one for each item, got {n + 1}, and the first, "
                f"{', '.join(first)!r}, looks like a label and not like a head (if it is one, say --header; else "
                "leave a row out)"
            )


def _rows(path: Path) -> tuple[list[list[str]], list[int]]:
    """The cells of each row, as many in each, and the lines on which the rows end."""
    if not path.is_file():
        raise FileNotFoundError(f"{path}: labels must be a file, there is none (is the path right?)")
    rows, lines = [], []
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, delimiter=TABLES[path.suffix])
            for cells in reader:
                rows.append([cell.strip() for cell in cells])
                lines.append(reader.line_num)
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: labels must be text in UTF-8, got other bytes ({error.reason})") from None
    except csv.Error as error:
        raise ValueError(f"{path}, line {reader.line_num}: labels must be a table, got {error}") from None
    while rows and rows[-1] in ([], [""]):
        rows.pop()
    if not rows:
        raise ValueError(f"{path}: labels must have a row for each item, got an empty file")
    for row, line in zip(rows, lines, strict=False):
        if len(row) != len(rows[0]):
            raise ValueError(
                f"{path}, line {line}: a row of labels must have {len(rows[0])} cells as the first one has, got "
                f"{len(row)} (a comma within a name needs double quotes around the name)"
            )
    if len(rows[0]) == 1 and re.search(r"[;\t]", rows[0][0]):
        raise ValueError(
            f"{path}, line {lines[0]}: columns of labels must be separated by commas in .csv and by tabs in .tsv, got "
            f"{rows[0][0]!r}"
        )
    return rows, lines


def _choose(path: Path, columns: str | None, first: list[str], head: bool) -> list[int]:
    """The places of the columns that were asked for."""
    if columns is None:
        return list(range(len(first)))
    chosen = []
    for asked in (name.strip() for name in columns.split(",")):
        if head and asked in first:
            chosen.append(first.index(asked))
        elif asked.isdigit() and 1 <= int(asked) <= len(first):
            chosen.append(int(asked) - 1)
        else:
            names = f"{', '.join(map(repr, first))}, or " if head else "(without a head) "
            raise ValueError(f"{path}: columns must be among {names}1 to {len(first)}, got {asked!r}")
    return chosen


def _integer(words: Any) -> bool:
    return all(word in ENDED or _INTEGER.fullmatch(word) for word in words)
