"""Arrays, and ranks in NumPy, for long loops over short lists, where the overhead of tensors would count."""

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def ranks_of(scores: Array) -> npt.NDArray[np.int64]:
    """Ranks along the last axis, 1 for the largest; ties go by position."""
    order = np.argsort(-scores, axis=-1, kind="stable")
    return np.asarray(1 + np.argsort(order, axis=-1, kind="stable"))
