"""Files: one that is complete or not there; embeddings and labels that somebody has saved. An error names the file."""

import os
import re
import secrets
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

__all__ = ["number_labels", "read_embeddings", "read_labels", "written"]

Array = np.ndarray[Any, Any]
#: Python that makes of another file one that is read here.
CONVERSIONS = {
    ".npz": 'numpy.save("{new}.npy", numpy.load("{old}")["{role}"])',
    ".pt": 'numpy.save("{new}.npy", torch.load("{old}", "cpu").numpy())',
    ".faiss": 'numpy.save("{new}.npy", faiss.read_index("{old}").reconstruct_n())',
    ".tsv": 'csv.writer(open("{new}.csv", "w", newline="")).writerows(csv.reader(open("{old}"), delimiter="\\t"))',
}
CONVERSIONS |= {".pth": CONVERSIONS[".pt"], ".index": CONVERSIONS[".faiss"]}
#: What stands below the end of a path.
ENDED = ("", "-1")
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
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def read_embeddings(path: str | os.PathLike[str]) -> Tensor:
    """The matrix of a .npy, (n, dim); the file is mapped, and read where it is used."""
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
    """Read labels as paths from root to leaf, (n, L), integers or text, and the names of the levels if there is a head.

    Of a .csv or .npy for n items: a .csv with a row more has a head; without n, if ``header`` says so. Of a .csv some
    ``columns`` may be chosen, in their order, as "family,species" or "3,1"; below the end of a path nothing stands, or
    -1. Warns of what was taken for granted. Raises FileNotFoundError; ValueError, with the row, for anything else.
    """
    path = Path(path)
    _check_file(path, "labels", ".csv", ".npy")
    if path.suffix == ".csv":
        paths, names = _table(path, n, columns, header)
    else:
        paths, names = _array(path, "labels"), None
        n = len(paths) if n is None else n
        if paths.ndim not in (1, 2) or paths.shape[-1] == 0 or len(paths) != n:
            raise ValueError(f"{path}: labels must have shape ({n},) or ({n}, L), a row an item, got {paths.shape}")
        paths = paths.reshape(n, -1)
    kind, width = paths.dtype.kind, paths.shape[1]
    if width > 2 and kind in "biufU" and np.isin(paths, ("0", "1") if kind == "U" else (0, 1)).all():
        one = (paths.astype(float).sum(1) == 1).all()
        what = "one-hot rows (save array.argmax(1))" if one else "rows with several classes (an item must have one)"
        raise ValueError(f"{path}: labels must be a class for each item, got {width} columns of 0 and 1, {what}")
    if kind not in "iuU":
        raise ValueError(f"{path}: labels must be integer or text, got {paths.dtype} (convert with .astype('int64'))")
    if names:
        warnings.warn(f"{path}: the first row, {', '.join(names)!r}, was taken for the head", stacklevel=2)
    elif width > 1:
        warnings.warn(f"{path}: the {width} columns were taken for levels from root to leaf", stacklevel=2)
    return paths, names


def number_labels(
    parts: Sequence[Array], files: Sequence[Path] = (Path("labels"), Path("gallery"))
) -> tuple[Tensor, ...]:
    """Turn the labels of one file, or of two that are compared, into int64 (n, L); O(n log n).

    Integers stay as they are; else each word gets a number, wherever it stands, and -1 what is below the end of a path.
    Raises ValueError for two files that have no class in common, or write one in two ways; ``files`` names them.

    >>> number_labels([np.array([["bird", "owl"], ["bird", "kiwi"], ["fish", ""]])])[0]
    tensor([[ 1,  4],
            [ 1,  3],
            [ 2, -1]])
    """
    if len(parts) == 2:
        _check_alike(parts[0], parts[1], *files[:2])
    if all(part.dtype.kind in "iu" for part in parts):
        return tuple(torch.from_numpy(part.astype(np.int64)) for part in parts)
    words = np.concatenate([part.astype(str) for part in parts])
    numbers = np.unique(words, return_inverse=True)[1].reshape(words.shape)
    numbers[np.isin(words, ENDED)] = -1
    return tuple(torch.from_numpy(numbers).split([len(part) for part in parts]))


def _check_alike(labels: Array, others: Array, file: Path, other: Path) -> None:
    """Raise ValueError where two files have unlike levels, no class in common, or one number in two ways."""
    if labels.shape[1] != others.shape[1]:
        have = f"labels must have as many columns as {file}, {labels.shape[1]}, got {others.shape[1]}"
        raise ValueError(f"{other}: {have} (choose with --columns, or fill up the ends of paths with empty cells)")
    for level in range(labels.shape[1]):
        ours, theirs = ({*np.unique(part[:, level]).astype(str).tolist()} - {*ENDED} for part in (labels, others))
        numbers = {_value(word): word for word in ours - theirs}
        for word in sorted(theirs - ours):
            if known := numbers.get(_value(word)):
                both = f"{word!r} here and {known!r} there, which are two classes"
                raise ValueError(f"{other}: labels must be written as in {file}, got {both}")
        if level == 0 and not ours & theirs:
            both = f"{min(theirs, default='')!r} here, {min(ours, default='')!r} there"
            raise ValueError(f"{other}: labels must have a class in common with {file}, got none: {both}")


def _value(word: str) -> Fraction | str:
    """The number for which a word stands, or the word."""
    return Fraction(word) if NUMBER.fullmatch(word) else word


def _check_file(path: Path, role: str, *endings: str) -> None:
    """Raise where there is no such file, or of another kind; then with a line of Python that converts it."""
    if path.suffix not in endings:
        code = CONVERSIONS.get(path.suffix, "").format(old=path, new=path.with_suffix(""), role=role)
        known = " or ".join(endings) + f", got {path.suffix or 'none'!r}" + (f" (convert it: {code})" if code else "")
        raise ValueError(f"{path}: {role} must be a file ending in {known}")
    if not path.is_file():
        raise FileNotFoundError(f"{path}: {role} must be a file, there is none (is the path right?)")


def _array(path: Path, role: str) -> Array:
    """The array of a .npy, mapped, in the processor's order of bytes."""
    try:
        array = np.lib.format.open_memmap(path, mode="r")
    except (ValueError, OSError) as error:
        raise ValueError(f"{path}: {role} must be an array saved by numpy.save, and no objects, got {error}") from None
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _table(path: Path, n: int | None, columns: str | None, header: bool) -> tuple[Array, list[str] | None]:
    """The chosen columns of a .csv, and their names if it has a head: then there is a row more than items."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a file without a row, which is refused below
            cells = np.loadtxt(
                path, dtype=str, comments=None, delimiter=",", quotechar='"', encoding="utf-8-sig", ndmin=2
            )
    except ValueError as error:
        said = str(error).partition(";")[0]
        raise ValueError(f"{path}: labels must be text in UTF-8, as many columns in each row: {said}") from None
    head = int(header or len(cells) - 1 == n)
    if len(cells) <= head:
        raise ValueError(
            f"{path}: labels must have a row for each item, got {len(cells)} rows{' with the head' * head}"
        )
    if n is not None and len(cells) != n + head:
        rest = " below the head, one for each item" if header else ", one for each item, or one more with a head"
        raise ValueError(f"{path}: labels must have {n} rows{rest}, got {len(cells) - header}")
    cells = np.char.strip(cells)
    if cells.shape[1] == 1 and re.search(r"[;\t]", cells[0, 0]):
        raise ValueError(f"{path}, row 1: columns of labels must be separated by commas, got {cells[0, 0].item()!r}")
    words = cells if columns is None else cells[:, _chosen(path, columns, cells[0].tolist(), head)]
    if not header:
        _check_head(path, words[0].tolist(), words[1:], head)
    ended = np.isin(words[head:], ENDED)
    resumed = np.flatnonzero((ended[:, :-1] & ~ended[:, 1:]).any(1)) + head
    if len(resumed):
        got = f"{', '.join(words[resumed[0]])!r} (leave out the level that is not known, or name it)"
        raise ValueError(f"{path}, row {resumed[0] + 1}: labels must run from root to leaf, then be empty, got {got}")
    return words[head:], words[0].tolist() if head else None


def _chosen(path: Path, columns: str, first: list[str], head: int) -> list[int]:
    """The places of the columns that were asked for."""
    places = {str(place + 1): place for place in range(len(first))}
    if head:
        places |= {first[place]: place for place in reversed(range(len(first)))}  # of two alike the first
    asked = [name.strip() for name in columns.split(",")]
    for name in asked:
        if name not in places:
            known = f"{', '.join(map(repr, first))}, or " if head else "(without a head) "
            raise ValueError(f"{path}: columns must be among {known}1 to {len(first)}, got {name!r}")
    return [places[name] for name in asked]


def _check_head(path: Path, first: list[str], below: Array, head: int) -> None:
    """Raise ValueError where the first row may be a label too many, or a head where there is a label too few."""
    n, told = len(below), ", ".join(first)
    numbers = [all(map(NUMBER.fullmatch, column)) for column in below.T]
    if not head and n and all(numbers) and not all(map(NUMBER.fullmatch, first)):
        got = f"{n} (the first row, {told}, is no number)"
        raise ValueError(f"{path}: labels must have {n + 1} rows below the head, one for each item, got {got}")
    for name, column, number in zip(first, below.T, numbers, strict=True):
        if head and name not in ENDED and (name in column or (number and NUMBER.fullmatch(name))):
            raise ValueError(
                f"{path}: labels must have {n} rows, one for each item, got {n + 1}, and the first, {told!r}, looks "
                "like a label and not like a head (if it is one, say --header; else leave a row out)"
            )
