"""A trained sorter on disk: made once, then read."""

from __future__ import annotations

import hashlib
import json
import os
from typing import Any

import torch

from ranklab.contestants.lstm import ARCHITECTURES, LSTMRanker
from ranklab.datasets.cache import cached_arrays
from ranklab.training.sorters import BATCH, CLIP, LEARNING_RATE, RISE, STEPS, train_sorter

__all__ = ["trained_sorter"]

#: Raise it when the same settings train another sorter: the old files are then no longer read.
VERSION = 1


def trained_sorter(
    n: int = 20,
    *,
    architecture: str = "lstm",
    steps: int | None = None,
    seed: int = 0,
    root: str | os.PathLike[str] | None = None,
    progress: bool = True,
) -> LSTMRanker:
    """Read a trained sorter from its cache file; train it, see :func:`train_sorter`, if there is none.

    ``root`` is the file's folder, by default ``$RANKEDU_DATA`` or the user's cache folder.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sorter = trained_sorter(4, architecture="mlp", steps=2, root=folder, progress=False)
    >>> sorter(torch.tensor([0.9, 0.1, 0.5, -0.3])).shape
    torch.Size([4])
    """
    ranker = LSTMRanker(n, architecture)  # says at once what is wrong with the arguments
    steps = STEPS[architecture] if steps is None else steps
    shaping = [VERSION, ARCHITECTURES[architecture], LEARNING_RATE[architecture], BATCH, RISE, CLIP, steps, seed]
    key = hashlib.sha256(json.dumps(shaping).encode()).hexdigest()[:10]

    def weights() -> dict[str, Any]:
        trained = train_sorter(n, architecture=architecture, steps=steps, seed=seed, progress=progress)
        return {name: value.numpy() for name, value in trained.state_dict().items()}

    kept = cached_arrays(f"sorter-{architecture}-{n}-{key}.npz", weights, root)
    ranker.load_state_dict({name: torch.from_numpy(value) for name, value in kept.items()})
    return ranker.requires_grad_(False)
