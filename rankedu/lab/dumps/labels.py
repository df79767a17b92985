"""Labels from a file: a class for each item, or a path from root to leaf, as numbers or as words."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from rankedu.lab.dumps._arrays import ARRAYS, read_array
from rankedu.lab.dumps._tables import ENDED, TABLES, read_table

__all__ = ["Labels", "number_labels", "read_labels"]


class Labels(NamedTuple):
    """Labels as they stand in a file."""

    paths: np.ndarray[Any, Any]  #: (n, L), integer or text; -1 or nothing below the end of a path
    names: tuple[str, ...] | None  #: of the levels, if the file has a head


def read_labels(path: str | os.PathLike[str], n: int, *, columns: str | None = None, key: str | None = None) -> Labels:
    """Read the labels of n items, one row each.

    Parameters
    ----------
    path : path
        ``.csv`` or ``.tsv`` in UTF-8, ``.npy``, ``.npz``, ``.pt``. Several columns are a path from root to leaf; what
        is empty, or -1, is below its end.
    n : int
        How many items there are. A table of n + 1 rows has a head with names.
    columns : str, optional
        Those to use of a table, from root to leaf, by name or by number from 1, with commas between them. Default: all.
    key : str, optional
        Name of the array in ``.npz`` or ``.pt``. Default: the only one, or ``"labels"``.

    Returns
    -------
    Labels

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        For another ending, number of rows, kind of value or column; for a row that is shorter than the others, or goes
        on below the end of its path. Names the file and the line.

    Notes
    -----
    Explained in chapter 13, and on the page "Use it in your project".

    Examples
    --------
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
        return Labels(*read_table(path, n, columns))
    if path.suffix not in ARRAYS:
        known = ", ".join((*TABLES, *ARRAYS))
        raise ValueError(f"{path}: labels must be a file ending in {known}, got {path.suffix or 'none'!r}")
    array = read_array(path, key, role="labels")
    if array.dtype.kind not in "iuUS":
        raise ValueError(f"{path}: labels must be integer or text, got {array.dtype} (convert with .astype('int64'))")
    if array.ndim not in (1, 2) or array.shape[-1] == 0 or len(array) != n:
        raise ValueError(f"{path}: labels must have shape ({n},) or ({n}, L), a row for each item, got {array.shape}")
    paths = array.reshape(n, -1)
    return Labels(paths.astype(str) if paths.dtype.kind == "S" else paths, None)


def number_labels(*parts: Labels) -> tuple[Tensor, ...]:
    """Number the classes, the same ones alike in all parts.

    Parameters
    ----------
    *parts : Labels
        For instance those of the queries and of the gallery, with as many levels.

    Returns
    -------
    tuple of Tensor of int64, shape (n, L) each
        Integers stay as they are; a word gets a number for each path that leads to it. -1 below the end of a path.

    Examples
    --------
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
