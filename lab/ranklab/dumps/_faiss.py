"""The vectors of a FAISS index, in the order in which they were added."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["INDEXES", "read_index"]

#: The endings of files that hold an index.
INDEXES = (".faiss", ".index")


def read_index(path: Path, similarity: str = "cosine") -> np.ndarray[Any, Any]:
    """All vectors of an index, shape (n, dim), float32: as they were added, or as its compression has left them."""
    if not path.is_file():
        raise FileNotFoundError(f"{path}: embeddings must be a file, there is none (is the path right?)")
    try:
        import faiss
    except ImportError:
        raise ModuleNotFoundError(
            f"{path}: an index of FAISS needs faiss, which is not installed "
            "(run: pip install faiss-cpu; or save the vectors with numpy.save)"
        ) from None
    try:
        index = whole = faiss.read_index(str(path))  # the whole owns its parts, and must outlive them
        while isinstance(index, (faiss.IndexIDMap, faiss.IndexIDMap2)):
            index = faiss.downcast_index(index.index)  # the row counts here, not the id
        if not whole.ntotal:
            raise ValueError(f"{path}: embeddings must be an index with a vector at least, got an empty one")
        inverted = faiss.try_extract_index_ivf(index)
        vectors: np.ndarray[Any, Any] = np.empty(
            (whole.ntotal, whole.d), np.float32
        )  # else torch_utils would give tensors
        if inverted is None:  # this raises where the index keeps no vectors; reconstruct_n would end the process
            index.reconstruct(0, vectors[0])
        else:
            _check_rows(faiss, path, inverted)
        index.reconstruct_n(0, whole.ntotal, vectors)
        _warn_of_lengths(path, vectors, similarity, dot=whole.metric_type == faiss.METRIC_INNER_PRODUCT)
    except RuntimeError as error:
        said = str(error).split(": ")[-1].split("\n")[0]
        raise ValueError(
            f"{path}: embeddings must be an index that faiss.write_index has written and that can give its vectors "
            f"back, got another ({said}; save the vectors with numpy.save)"
        ) from None
    return vectors


def _check_rows(faiss: Any, path: Path, index: Any) -> None:
    """The lists of an inverted file keep ids alone: only 0 … n − 1 say which row a vector was."""
    lists = range(index.nlist)
    ids = [faiss.rev_swig_ptr(index.invlists.get_ids(i), index.invlists.list_size(i)) for i in lists]
    if not np.array_equal(np.sort(np.concatenate(ids)), np.arange(index.ntotal)):
        raise ValueError(
            f"{path}: the ids of embeddings in an inverted file must be 0 to {index.ntotal - 1}, got others "
            "(add() gives these; after add_with_ids() save the vectors with numpy.save)"
        )


def _warn_of_lengths(path: Path, vectors: np.ndarray[Any, Any], similarity: str, *, dot: bool) -> None:
    """Only where all vectors are of one length do inner product, distance and cosine rank alike."""
    own, called = ("dot", "inner product") if dot else ("euclidean", "distance")
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    if similarity != own and lengths.max() - lengths.min() > 1e-3 * lengths.max():
        warnings.warn(
            f"{path}: this index ranks by {called}, and its vectors differ in length; here they are ranked by "
            f"{similarity} similarity, which is another order (--similarity {own} is that of the index)",
            stacklevel=3,
        )
