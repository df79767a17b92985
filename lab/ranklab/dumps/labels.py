"""Labels from a file: a class for each item, or a path from root to leaf, as numbers or as words."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from ranklab.dumps._arrays import ARRAYS, read_array
from ranklab.dumps._tables import ENDED, TABLES, read_table

__all__ = ["Labels", "check_shared", "number_labels", "read_labels"]


class Labels(NamedTuple):
    """Labels as they stand in a file."""

    paths: np.ndarray[Any, Any]  #: (n, L), integer or text; -1 or nothing below the end of a path
    names: tuple[str, ...] | None  #: of the levels, if the file has a head


def read_labels(
    path: str | os.PathLike[str], n: int, *, columns: str | None = None, key: str | None = None, header: bool = False
) -> Labels:
    """Read the labels of n items, one row each; an error names the file and the line.

    ``.csv`` or ``.tsv`` in UTF-8, ``.npy``, ``.npz``, ``.pt``. Several columns are a path from root to leaf; what is
    empty, or -1, is below its end. A table with a row more than items has a head with names, unless its first row looks
    like a label, which is refused: ``header`` says that it is a head all the same. ``columns`` are those to use of a
    table, from root to leaf, by name or by number from 1; ``key`` is the array to use of several.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(f"{folder}/labels.csv").write_text("make,model\\nLada,2\\nLada,\\nFiat,2\\n")
    ...     read_labels(f"{folder}/labels.csv", 3)
    Labels(paths=array([['Lada', '2'],
           ['Lada', ''],
           ['Fiat', '2']], dtype='<U4'), names=('make', 'model'))
    """
    path = Path(path)
    if path.suffix in TABLES:
        words, names = read_table(path, n, columns, header)
        _check_no_indicators(words, path)
        return Labels(words, names)
    if path.suffix not in ARRAYS:
        known = ", ".join((*TABLES, *ARRAYS))
        raise ValueError(f"{path}: labels must be a file ending in {known}, got {path.suffix or 'none'!r}")
    array = read_array(path, key, role="labels")
    _check_no_indicators(array, path)
    if array.dtype.kind not in "iuUS":
        raise ValueError(f"{path}: labels must be integer or text, got {array.dtype} (convert with .astype('int64'))")
    if array.ndim not in (1, 2) or array.shape[-1] == 0 or len(array) != n:
        raise ValueError(f"{path}: labels must have shape ({n},) or ({n}, L), a row for each item, got {array.shape}")
    paths = array.reshape(n, -1)
    return Labels(paths.astype(str) if paths.dtype.kind == "S" else paths, None)


def _check_no_indicators(array: np.ndarray[Any, Any], path: Path) -> None:
    """Raise ValueError for columns of 0 and 1, a column for each class: as a path each would be a level."""
    if array.ndim != 2 or array.shape[1] < 3 or array.dtype.kind not in "biufU":
        return
    zero_or_one = np.isin(array, ("0", "1") if array.dtype.kind == "U" else (0, 1))
    if zero_or_one.all():
        hot = (array.astype(np.float64).sum(1) == 1).all()
        what = "one-hot rows (save array.argmax(1))" if hot else "rows with several classes (an item must have one)"
        raise ValueError(
            f"{path}: labels must be a class for each item, or its path from root to leaf, got {array.shape[1]} "
            f"columns of 0 and 1, {what}"
        )


def check_shared(queries: Labels, gallery: Labels, files: tuple[Any, Any]) -> None:
    """Raise ValueError where classes of two files have none in common, or more once numbers are written alike."""
    for level, (asked, there) in enumerate(zip(queries.paths.T, gallery.paths.T, strict=True)):
        ours, theirs = ({*np.unique(column).astype(str).tolist()} - {*ENDED} for column in (asked, there))
        numbers = {_as_number(word): word for word in ours - theirs}
        for word in sorted(theirs - ours):
            if _as_number(word) in numbers:
                raise ValueError(
                    f"{files[1]}: labels must be written as in {files[0]}, got {word!r} here and "
                    f"{numbers[_as_number(word)]!r} there, which are two classes"
                )
        if level == 0 and not ours & theirs:
            raise ValueError(
                f"{files[1]}: labels must have a class in common with {files[0]}, got none: "
                f"{min(theirs, default='')!r} here, {min(ours, default='')!r} there"
            )


def _as_number(word: str) -> str:
    """Without zeros in front, and behind the point: ``00012`` and ``12.0`` are ``12``."""
    number = re.fullmatch(r"([+-]?)0*(\d+?)(?:\.0*)?", word)
    return number[1] + number[2] if number else word


def number_labels(*parts: Labels) -> tuple[Tensor, ...]:
    """Number the classes from words, the same ones alike in all parts; int64 (n, L) each.

    Integers stay as they are; a word gets a number for each path that leads to it. -1 below the end of a path.

    >>> words = Labels(np.array([["Lada", "2"], ["Lada", ""], ["Fiat", "2"]]), None)
    >>> number_labels(words)[0].tolist()
    [[1, 2], [1, -1], [0, 0]]
    """
    if all(part.paths.dtype.kind in "iu" for part in parts):
        return tuple(torch.from_numpy(np.array(part.paths, dtype=np.int64)) for part in parts)
    words = np.concatenate([part.paths.astype(str) for part in parts])
    numbers = np.full(words.shape, -1, dtype=np.int64)
    above = np.zeros(len(words), dtype=np.int64)
    for level, column in enumerate(words.T):
        found, word = np.unique(column, return_inverse=True)
        above = np.unique(above * len(found) + word, return_inverse=True)[1]  # of a path and not of a word
        numbers[:, level] = np.where(np.isin(column, ENDED), -1, above)
    cuts = np.cumsum([len(part.paths) for part in parts])[:-1]
    return tuple(torch.from_numpy(piece) for piece in np.split(numbers, cuts))
