"""Ranks in NumPy, for long loops over short lists, where the overhead of tensors would count."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def ranks_of(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Ranks along the last axis, 1 for the largest; ties go by position."""
    order = np.argsort(-scores, axis=-1, kind="stable")
    ranks: npt.NDArray[np.int64] = 1 + np.argsort(order, axis=-1, kind="stable")
    return ranks
