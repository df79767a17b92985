"""Numbers, lists, arrays and tensors as one kind of array."""

from typing import Any

import numpy as np

from rankedu_book.kit.check.compare import numbers

Array = np.ndarray[Any, Any]


def as_array(value: Any) -> Array:
    """Turn a number, list, array or tensor into an array; anything else raises TypeError or ValueError."""
    return np.asarray(numbers(value), dtype=np.float64)
