"""Embeddings from a file, whatever has written it."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import torch
from torch import Tensor

from ranklab.dumps._arrays import ARRAYS, read_array
from ranklab.dumps._faiss import INDEXES, read_index

__all__ = ["read_embeddings"]


def read_embeddings(path: str | os.PathLike[str], *, key: str | None = None, similarity: str = "cosine") -> Tensor:
    """Read a matrix of embeddings, shape (n, dim), floating point, on the CPU; of ``.npy`` it is a map of the file.

    ``.npy``, ``.npz``, ``.pt``, ``.pth`` (of several arrays the one called ``key``, by default ``"embeddings"``), or an
    index of FAISS: row i is its i-th vector in the order of ``add``, as its compression has left it. Warns if the index
    does not rank by ``similarity``. Pickled objects are never loaded; an error names the file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     torch.save({"embeddings": torch.eye(3)}, f"{folder}/dump.pt")
    ...     read_embeddings(f"{folder}/dump.pt").shape
    torch.Size([3, 3])
    """
    path = Path(path)
    if path.suffix in INDEXES:
        array = read_index(path, similarity)
    elif path.suffix in ARRAYS:
        array = read_array(path, key, role="embeddings")
    else:
        known = ", ".join((*ARRAYS, *INDEXES))
        raise ValueError(f"{path}: embeddings must be a file ending in {known}, got {path.suffix or 'none'!r}")
    if array.dtype.kind != "f" or array.dtype.itemsize > 8:
        raise ValueError(
            f"{path}: embeddings must be float16, float32 or float64, got {array.dtype} "
            "(are these the labels? else convert with .astype('float32'))"
        )
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(
            f"{path}: embeddings must have shape (n, dim) with n, dim >= 1, got {array.shape} "
            "(a row for each item; flatten other axes)"
        )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        return torch.from_numpy(array)
