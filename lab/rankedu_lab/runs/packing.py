"""Arrays as short texts, so that a record in JSON can hold a number for every query."""

import base64
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt


def pack(values: Any, dtype: str) -> dict[str, Any]:
    """Compress an array (n,) of numbers that the type can hold; ValueError if it cannot hold them.

    >>> packed = pack([3, 1, 2], "uint8")
    >>> packed["dtype"], unpack(packed).tolist()
    ('uint8', [3, 1, 2])
    """
    given = np.asarray(values)
    array = given.astype(np.dtype(dtype).newbyteorder("<"))
    if array.ndim != 1 or not np.allclose(array, given, rtol=1e-6, atol=1e-9):
        raise ValueError(f"values must be finite, of shape (n,) and fit {dtype}, got {given.dtype} {given.shape}")
    return {"dtype": dtype, "data": base64.b85encode(zlib.compress(array.tobytes(), 9)).decode()}


def unpack(packed: dict[str, Any]) -> npt.NDArray[Any]:
    """The array that :func:`pack` was given, in its type."""
    data = zlib.decompress(base64.b85decode(packed["data"]))
    return np.frombuffer(data, np.dtype(packed["dtype"]).newbyteorder("<")).astype(packed["dtype"])
