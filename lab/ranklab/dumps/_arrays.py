"""Arrays in files: one in .npy, several under names in .npz and .pt. Large ones are mapped, not read."""

from __future__ import annotations

import pickle
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from rankedu.checks import did_you_mean

__all__ = ["ARRAYS", "read_array"]

#: The endings of files that hold arrays.
ARRAYS = (".npy", ".npz", ".pt", ".pth")
_UNREADABLE = (
    ValueError,
    TypeError,
    OSError,
    EOFError,
    RuntimeError,
    KeyError,
    pickle.UnpicklingError,
    zipfile.BadZipFile,
)


def read_array(path: Path, key: str | None, *, role: str) -> np.ndarray[Any, Any]:
    """The array of a file; of several the one that is named ``key``, or as its role is."""
    if not path.is_file():
        raise FileNotFoundError(f"{path}: {role} must be a file, there is none (is the path right?)")
    try:
        content = _load(path)
        if not isinstance(content, Mapping):
            return _native(content)
        return _native(content[_choose(path, content, key, role)])
    except _Choice as error:
        raise ValueError(str(error)) from None
    except _UNREADABLE as error:
        said = str(error).split("\n")[0].split(". ")[0]
        raise ValueError(
            f"{path}: {role} must be numbers that NumPy or torch has saved, not objects, got a file that cannot be "
            f"read ({said}; save it again with numpy.save or torch.save of a Tensor)"
        ) from None


class _Choice(Exception):
    """It is not clear which array is meant."""


def _load(path: Path) -> Any:
    if path.suffix in (".npy", ".npz"):
        with path.open("rb") as file:
            if file.read(2) not in (b"\x93N", b"PK"):
                raise ValueError(f"it does not begin as NumPy's {path.suffix} does")
        return np.load(path, mmap_mode="r" if path.suffix == ".npy" else None)
    try:
        return torch.load(path, map_location="cpu", weights_only=True, mmap=True)
    except RuntimeError:  # torch's old format cannot be mapped
        return torch.load(path, map_location="cpu", weights_only=True)


def _choose(path: Path, arrays: Mapping[str, Any], key: str | None, role: str) -> str:
    """A name in the file: what was asked for, the only one there is, or the role's."""
    names, option = list(arrays), "--key" if role == "embeddings" else "--labels-key"
    if key is not None and key in names:
        return key
    if key is None and (len(names) == 1 or role in names):
        return role if role in names else names[0]
    hint = did_you_mean(key or "", names) or f" (choose with {option} NAME)"
    asked = f"{key!r}" if key is not None else "no name"
    raise _Choice(f"{path}: {role} must be one of {', '.join(map(repr, names))}, got {asked}{hint}")


def _native(array: Any) -> np.ndarray[Any, Any]:
    """As NumPy, in the processor's order of bytes."""
    if isinstance(array, torch.Tensor):
        array = array.detach()
        array = (array.float() if array.dtype == torch.bfloat16 else array).numpy()
    if not isinstance(array, np.ndarray):
        raise ValueError(f"a {type(array).__name__} and no array")
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
