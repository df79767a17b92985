"""A trained sorter on disk: made once, then read."""

from __future__ import annotations

import hashlib
import json
import os
import warnings
import zipfile
import zlib
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from rankedu._files import written
from rankedu.lab.datasets.rendering import cache_folder
from rankedu.lab.training.sorters import BATCH, CLIP, LEARNING_RATE, RISE, STEPS, train_sorter
from rankedu.rankers.lstm import ARCHITECTURES, LSTMRanker

__all__ = ["trained_sorter"]

#: Raise it when the same settings train another sorter: the old files are then no longer read.
VERSION = 1
Weights = dict[str, npt.NDArray[np.float32]]


def trained_sorter(
    n: int = 20,
    *,
    architecture: str = "lstm",
    steps: int | None = None,
    seed: int = 0,
    root: str | os.PathLike[str] | None = None,
    progress: bool = True,
) -> LSTMRanker:
    """Read a trained sorter from its cache file; train it and write the file if there is none.

    Parameters
    ----------
    n, architecture, steps, seed, progress
        As for :func:`train_sorter`.
    root : path, optional
        Folder of the cache file. Default: ``$RANKEDU_DATA``, else the user's cache folder.

    Returns
    -------
    LSTMRanker
        On the CPU, frozen.

    Raises
    ------
    ValueError, TypeError
        As :func:`train_sorter`.
    ModuleNotFoundError
        Without platformdirs, if no folder is named.

    Warns
    -----
    UserWarning
        If the file cannot be written.

    Notes
    -----
    About a minute for lists of 20 the first time, milliseconds from then on. The file is written whole or not at all,
    and carries a checksum: one that is damaged is made anew. Explained in chapter 11.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first, again = (trained_sorter(4, steps=2, root=folder, progress=False) for _ in range(2))
    >>> scores = torch.tensor([0.9, 0.1, 0.5, -0.3])
    >>> torch.equal(first(scores), again(scores))
    True
    """
    ranker = LSTMRanker(n, architecture)  # says at once what is wrong with the arguments
    steps = STEPS[architecture] if steps is None else steps
    path = cache_folder(root) / _name(n, architecture, steps, seed)
    weights = _read(path)
    if weights is None:
        ranker = train_sorter(n, architecture=architecture, steps=steps, seed=seed, progress=progress)
        _write(path, {name: value.numpy() for name, value in ranker.state_dict().items()})
        return ranker
    ranker.load_state_dict({name: torch.from_numpy(value) for name, value in weights.items()})
    return ranker.requires_grad_(False)


def _name(n: int, architecture: str, steps: int, seed: int) -> str:
    """A file name that changes with all that shapes the weights."""
    settings = [VERSION, ARCHITECTURES[architecture], LEARNING_RATE[architecture], BATCH, RISE, CLIP, steps, seed]
    key = hashlib.sha256(json.dumps(settings).encode()).hexdigest()[:10]
    return f"sorter-{architecture}-{n}-{key}.npz"


def _checksum(weights: Weights) -> str:
    """Hash names, shapes and values."""
    digest = hashlib.sha256()
    for name in sorted(weights):
        digest.update(f"{name} {weights[name].shape} ".encode())
        digest.update(np.ascontiguousarray(weights[name], dtype="<f4").data)
    return digest.hexdigest()


def _read(path: Path) -> Weights | None:
    """Read a cache file; None if it is absent, damaged, or not what its checksum says."""
    try:
        with np.load(path, allow_pickle=False) as file:
            weights = {name: file[name] for name in file.files if name != "sha256"}
            return weights if _checksum(weights) == str(file["sha256"]) else None
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error):
        return None


def _write(path: Path, weights: Weights) -> None:
    """Write a cache file whole or not at all."""
    try:
        with written(path) as part, part.open("wb") as file:
            np.savez(file, sha256=np.array(_checksum(weights)), **weights)  # type: ignore[arg-type]
    except OSError as error:
        warnings.warn(
            f"the trained sorter could not be kept in {path.parent} ({error.strerror or error}), so it is trained at "
            "every start: name a folder that can be written with root= or $RANKEDU_DATA",
            stacklevel=3,
        )
