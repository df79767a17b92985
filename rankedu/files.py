"""Files that are complete or absent, and the embeddings and labels that somebody has saved. An error names the file."""

import csv
import os
import re
import secrets
import unicodedata
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

__all__ = ["number_labels", "numbers_rows", "read_cells", "read_embeddings", "read_labels", "spellings", "written"]

Array = np.ndarray[Any, Any]
#: Python that makes of another file one that is read here.
CONVERSIONS = {
    ".npz": 'numpy.save("{new}.npy", numpy.load("{old}")["{role}"])',
    ".pt": 'numpy.save("{new}.npy", torch.load("{old}", "cpu").numpy())',
    ".faiss": 'numpy.save("{new}.npy", faiss.read_index("{old}").reconstruct_n())',
    ".tsv": 'csv.writer(open("{new}.csv", "w", newline="")).writerows(csv.reader(open("{old}"), delimiter="\\t"))',
}
CONVERSIONS |= {".pth": CONVERSIONS[".pt"], ".index": CONVERSIONS[".faiss"]}
#: The same for an array of Python objects.
OBJECTS = {
    "labels": 'numpy.save("{0}", numpy.load("{0}", allow_pickle=True).astype(str))',
    "embeddings": 'numpy.save("{0}", numpy.stack(numpy.load("{0}", allow_pickle=True).tolist()))',
}
#: Words below the end of a path; words that tables have in place of a label; names of the index of a pandas table.
ENDED, MISSING, INDEX = ("", "-1"), {"nan", "none", "null", "<na>"}, {"", "unnamed: 0", "index"}
#: Words that are the head of a column, and hardly ever a class.
HEADS = {"label", "labels", "class", "classes", "category", "target", "y"}
NUMBER = re.compile(r"([+-]?\d+(\.\d*)?)?")  # or an empty cell


@contextmanager
def written(path: Path) -> Iterator[Path]:
    """Give the name of a new file, to be written in the block, then moved to its place, or removed if that raises."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{secrets.token_hex(8)}.part")
    try:
        yield part
        with part.open("rb+") as file:
            os.fsync(file.fileno())  # a name must not be there before its contents
        os.replace(part, path)
    except BaseException as error:
        part.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno and error.filename in (None, str(part)):
            raise OSError(error.errno, error.strerror, str(path)) from None  # a full disk does not name the file
        raise


def read_embeddings(path: str | os.PathLike[str]) -> Tensor:
    """Map the matrix of a .npy, (n, dim), which is read where it is used."""
    path = Path(path)
    _check_file(path, "embeddings", ".npy")
    array = _array(path, "embeddings")
    kind = array.dtype
    if kind not in (np.float16, np.float32, np.float64):
        raise ValueError(f"{path}: embeddings must be float16, float32 or float64, got {kind} (are these the labels?)")
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(f"{path}: embeddings must have shape (n, dim), a row for each item, got {array.shape}")
    return torch.from_numpy(array)


def read_labels(
    path: str | os.PathLike[str], n: int | None = None, columns: str | None = None, header: bool = False
) -> tuple[Array, list[str] | None]:
    """Read labels as paths from root to leaf, and the names of the levels if there is a head.

    Parameters
    ----------
    path : str or path
        A .csv or a .npy.
    n : int, optional
        The number of items. A .csv with one row more has a head.
    columns : str, optional
        Columns of a .csv, in their order, such as "family,species" or "3,1".
    header : bool
        The .csv has a head, whatever its number of rows.

    Returns
    -------
    paths : array, shape (n, L)
        Integers or text; −1 below the end of a path, and for no label. Text below the end of a path may also be empty.
    names : list of str, or None
        The head.

    Raises
    ------
    FileNotFoundError, ValueError
        The message names the file and, where there is one, the row. What was assumed is a warning.
    """
    path = Path(path)
    _check_file(path, "labels", ".csv", ".npy")
    if path.suffix.lower() == ".csv":
        paths, names = _table(path, n, columns, header)
    else:
        paths, names = _array(path, "labels"), None
        n = len(paths) if n is None and paths.ndim else n
        if paths.ndim not in (1, 2) or paths.shape[-1] == 0 or len(paths) != n:
            raise ValueError(f"{path}: labels must have shape ({n},) or ({n}, L), one row per item, got {paths.shape}")
        paths = paths.reshape(n, -1)
        try:
            paths = np.char.decode(paths, "utf-8") if paths.dtype.kind == "S" else paths
        except UnicodeDecodeError as error:
            raise ValueError(f"{path}: labels must be text in UTF-8, got bytes: {error} (decode them)") from None
    _check_classes(path, paths, columns, int(names is not None))
    if names:
        warnings.warn(f"{path}: the first row, {', '.join(names)!r}, was taken for the head", stacklevel=2)
    elif paths.shape[1] > 1:
        warnings.warn(f"{path}: the {paths.shape[1]} columns were taken for levels from root to leaf", stacklevel=2)
    if paths.dtype.kind == "U":
        _warn_of_words(path, paths)
    return paths, names


def number_labels(
    parts: Sequence[Array], files: Sequence[Path] = (Path("labels"), Path("gallery"))
) -> tuple[Tensor, ...]:
    """Turn the labels of one file, or of two that are compared, into int64 (n, L); O(n log n).

    Integers that int64 can represent stay as they are. Else each word, or larger integer, gets a number, the same in
    both files, and −1 is below the end of a path. Raises ValueError for two files that have no class in common, or
    write one class in two ways; ``files`` names them.

    >>> number_labels([np.array([["bird", "owl"], ["bird", "kiwi"], ["fish", ""]])])[0]
    tensor([[ 1,  4],
            [ 1,  3],
            [ 2, -1]])
    """
    if len(parts) == 2:
        _check_alike(parts[0], parts[1], *files[:2])
    largest = np.iinfo(np.int64).max
    if all(part.dtype.kind == "i" or (part.dtype.kind == "u" and part.max(initial=0) <= largest) for part in parts):
        return tuple(torch.from_numpy(part.astype(np.int64)) for part in parts)
    words = np.concatenate([part.astype(str) for part in parts])
    numbers = np.unique(words, return_inverse=True)[1].reshape(words.shape)
    numbers[np.isin(words, ENDED)] = -1
    return tuple(torch.from_numpy(numbers).split([len(part) for part in parts]))


def spellings(words: Iterable[str]) -> list[tuple[str, str]]:
    """Find pairs of words that are one number, or differ only in case, in spaces or in how Unicode composes letters.

    >>> spellings(["1", "cat", "2", "01", "Cat"])
    [('1', '01'), ('cat', 'Cat')]
    """
    groups: dict[int | Fraction | str, list[str]] = {}
    for word in dict.fromkeys(words):
        groups.setdefault(_alike(word), []).append(word)
    return [(first, other) for first, *others in groups.values() for other in others]


def numbers_rows(column: Sequence[str], name: str | None = None) -> bool:
    """Tell whether a column counts the rows from 0 or 1, in any order, or is the unnamed index of a pandas table."""
    if len(column) < 3 or not all(word.isdecimal() for word in column):
        return False
    counted = sorted(map(int, column))
    distinct = len({*counted}) == len(counted)
    in_turn = counted[0] in (0, 1) and counted[-1] - counted[0] == len(counted) - 1
    return distinct and (in_turn or name in INDEX)


def read_cells(path: Path) -> tuple[list[list[str]], str]:
    """Read the lines of a table in UTF-8, one row each, and the character that separates its cells.

    It is a comma, or else, where the first line has none, a semicolon or a tab. A ValueError names a line that is lost:
    it is empty, has other cells than the first line, or a quotation mark that is not closed.
    """
    try:
        text = path.read_text(encoding="utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: a table must be text in UTF-8, got {error} (save it as CSV UTF-8)") from None
    lines = re.split("\r\n|\r|\n", text) if text else []
    first = lines[0] if lines else ""
    separator = "," if "," in first else next((mark for mark in ";\t" if mark in first), ",")
    reader, rows, wrong = csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=True), [], ""
    try:
        for row in reader:
            rows.append([cell.strip() for cell in row])
            if reader.line_num != len(rows):
                wrong = "a quotation mark is not closed in it"
            elif not row:
                wrong = "it is empty"
            elif len(row) != len(rows[0]):
                wrong = f"lines must have {len(rows[0])} cells as the first, got {len(row)}: {lines[len(rows) - 1]!r}"
            if wrong:
                break
    except csv.Error as error:
        rows, wrong = [*rows, []], f"{error}, so a quotation mark may not be closed"
    if wrong:
        raise ValueError(f"{path}, line {len(rows)}: {wrong} (remove the line, or fill in what is lost)")
    return rows, separator


def _check_classes(path: Path, paths: Array, columns: str | None, head: int) -> None:
    """Raise ValueError where the columns, or the cells, are no classes."""
    kind, width = paths.dtype.kind, paths.shape[1]
    if width > 2 and kind in "biufU" and np.isin(paths, ("0", "1") if kind == "U" else (0, 1)).all():
        one = (paths.astype(float).sum(1) == 1).all()
        what = "one-hot rows (save array.argmax(1))" if one else "rows with several classes (an item must have one)"
        raise ValueError(f"{path}: labels must be a class for each item, got {width} columns of 0 and 1, {what}")
    if kind not in "iuU":
        raise ValueError(f"{path}: labels must be integer or text, got {paths.dtype} (convert with .astype('int64'))")
    if width > 1 and columns is None and numbers_rows(paths[:, 0].astype(str).tolist()):
        rest = ",".join(map(str, range(2, width + 1)))
        how = f"--columns {rest}" if path.suffix.lower() == ".csv" else "save array[:, 1:]"
        raise ValueError(f"{path}: labels must be classes, but the first column numbers the rows: leave it out ({how})")
    if kind == "U" and len(empty := np.flatnonzero(paths[:, 0] == "")):
        where = f"{path}, row {empty[0] + head + 1}"
        raise ValueError(f"{where}: labels must not be empty (write -1 for an item without a label)")


def _warn_of_words(path: Path, paths: Array) -> None:
    """Warn of classes that may be one, and of words for a missing label."""
    for column in paths.T:
        words = np.unique(column).tolist()
        if pairs := spellings(words):
            message = (
                f"{len(pairs)} pairs of classes differ only in spelling, such as {' and '.join(map(repr, pairs[0]))}"
            )
            warnings.warn(f"{path}: {message} (write them alike if they are one class)", stacklevel=3)
        if strange := sorted(word for word in words if word.lower() in MISSING):
            said = f"{strange[0]!r} is the name of a class here"
            warnings.warn(f"{path}: {said} (write -1 for an item without a label)", stacklevel=3)


def _check_alike(labels: Array, others: Array, file: Path, other: Path) -> None:
    """Raise ValueError where two files have unlike levels, no class in common, or one class in two spellings."""
    if labels.shape[1] != others.shape[1]:
        have = f"labels must have as many columns as {file}, {labels.shape[1]}, got {others.shape[1]}"
        raise ValueError(f"{other}: {have} (choose with --columns, or fill up the ends of paths with empty cells)")
    for level in range(labels.shape[1]):
        ours, theirs = ({*np.unique(part[:, level]).astype(str).tolist()} - {*ENDED} for part in (labels, others))
        known = {_alike(word): word for word in ours - theirs}
        for word in sorted(theirs - ours):
            if _alike(word) in known:
                both = f"{word!r} here and {known[_alike(word)]!r} there, which are two classes"
                raise ValueError(f"{other}: labels must be written as in {file}, got {both}")
        if level == 0 and not ours & theirs:
            both = f"{min(theirs, default='')!r} here, {min(ours, default='')!r} there"
            raise ValueError(f"{other}: labels must have a class in common with {file}, got none: {both}")


def _alike(word: str) -> int | Fraction | str:
    """Return what all spellings of a word share: a number, or the word without case and invisible letters."""
    if not word.isascii():
        word = "".join(x for x in unicodedata.normalize("NFKC", word) if unicodedata.category(x) != "Cf")
        word = unicodedata.normalize("NFKC", word.casefold())
    plain = " ".join(word.casefold().split())
    if plain.isdecimal():
        return int(plain)
    return Fraction(plain) if plain and NUMBER.fullmatch(plain) else plain


def _check_file(path: Path, role: str, *endings: str) -> None:
    """Raise where there is no such file, or of another kind; then with a line of Python that converts it."""
    if path.suffix.lower() not in endings:
        code = CONVERSIONS.get(path.suffix.lower(), "").format(old=path, new=path.with_suffix(""), role=role)
        known = " or ".join(endings) + f", got {path.suffix or 'none'!r}" + (f" (convert it: {code})" if code else "")
        raise ValueError(f"{path}: {role} must be a file ending in {known}")
    if not path.is_file():
        raise FileNotFoundError(f"{path}: {role} must be a file, there is none (is the path right?)")


def _array(path: Path, role: str) -> Array:
    """Map the array of a .npy, in the processor's order of bytes."""
    try:
        array = np.lib.format.open_memmap(path, mode="r")
    except (ValueError, OSError) as error:
        code = f" (if you trust the file: {OBJECTS[role].format(path)})" if "Python objects" in str(error) else ""
        message = f"{path}: {role} must be an array saved by numpy.save, and no objects, got {error}{code}"
        raise ValueError(message) from None
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _table(path: Path, n: int | None, columns: str | None, header: bool) -> tuple[Array, list[str] | None]:
    """Read the chosen columns of a .csv, and their names if it has a head: then it has one row more than items."""
    rows, separator = read_cells(path)
    head = int(header or len(rows) - 1 == n)
    if len(rows) <= head:
        raise ValueError(f"{path}: labels must have a row for each item, got {len(rows)} rows{' with the head' * head}")
    if n is not None and len(rows) != n + head:
        rest = " below the head, one for each item" if header else ", one for each item, or one more with a head"
        raise ValueError(f"{path}: labels must have {n} rows{rest}, got {len(rows) - header}")
    if separator != ",":
        warnings.warn(f"{path}: cells were taken to be separated by {separator!r}", stacklevel=3)
    cells = np.array(rows)
    words = cells if columns is None else cells[:, _chosen(path, columns, rows[0], head)]
    counted = head and len(rows[0]) > 1 and rows[0][0].lower() in INDEX and numbers_rows(cells[1:, 0].tolist(), "")
    if columns is None and counted:
        warnings.warn(f"{path}: the first column numbers the rows, and was left out", stacklevel=3)
        words = cells[:, 1:]
    if not header:
        _check_head(path, words[0].tolist(), words[1:], head, n)
    ended = np.isin(words[head:], ENDED)
    resumed = np.flatnonzero((ended[:, :-1] & ~ended[:, 1:]).any(1)) + head
    if len(resumed):
        got = f"{', '.join(words[resumed[0]])!r} (leave out the level that is not known, or name it)"
        raise ValueError(f"{path}, row {resumed[0] + 1}: labels must run from root to leaf, then be empty, got {got}")
    return words[head:], words[0].tolist() if head else None


def _chosen(path: Path, columns: str, first: list[str], head: int) -> list[int]:
    """Find the places of the chosen columns."""
    places = {str(place + 1): place for place in range(len(first))}
    if head:
        places |= {first[place]: place for place in reversed(range(len(first)))}  # of two alike the first
    asked = [name.strip() for name in columns.split(",")]
    for name in asked:
        if name not in places:
            known = f"{', '.join(map(repr, first))}, or " if head else "(without a head) "
            raise ValueError(f"{path}: columns must be among {known}1 to {len(first)}, got {name!r}")
    return [places[name] for name in asked]


def _check_head(path: Path, first: list[str], below: Array, head: int, n: int | None) -> None:
    """Raise ValueError where the first row may be a label too many, or a head above too few labels."""
    many, message = len(below), ", ".join(first)
    numbers = [all(map(NUMBER.fullmatch, column)) for column in below.T]
    short = f"{path}: labels must have {many + 1} rows below the head, one for each item, got {many}"
    if not head and many and all(numbers) and not all(map(NUMBER.fullmatch, first)):
        raise ValueError(f"{short} (the first row, {message}, is no number)")
    alone = many and not head and not any(name in column for name, column in zip(first, below.T, strict=True))
    if alone and not all(numbers) and not all(map(NUMBER.fullmatch, first)):
        single = (np.unique(below[:, -1], return_counts=True)[1] == 1).mean()
        if single <= 0.5 or {name.lower() for name in first} & HEADS:
            if n is not None:
                raise ValueError(
                    f"{short} (if the first row, {message}, is a class of one item, write a head above it)"
                )
            warnings.warn(f"{path}: the first row, {message!r}, was taken for a class of one item", stacklevel=4)
    for name, column, number in zip(first, below.T, numbers, strict=True):
        if head and name not in ENDED and (name in column or (number and NUMBER.fullmatch(name))):
            raise ValueError(
                f"{path}: labels must have {many} rows, one for each item, got {many + 1}, and the first, {message!r}, "
                "looks like a label and not like a head (if it is one, say --header; else leave a row out)"
            )
