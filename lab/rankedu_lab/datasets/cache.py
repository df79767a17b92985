"""Arrays that are made once and then read from a file: drawings of characters, trained sorters."""

import os
import warnings
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rankedu.extras import needed
from rankedu.files import written

Arrays = dict[str, npt.NDArray[Any]]


def cache_folder(root: str | os.PathLike[str] | None = None) -> Path:
    """Find the folder for data: ``root``, else ``$RANKEDU_DATA``, else the user's cache folder."""
    chosen = root if root is not None else os.environ.get("RANKEDU_DATA")
    if chosen:
        return Path(chosen).expanduser()
    platformdirs = needed("platformdirs", "without root= or $RANKEDU_DATA the cache folder is found by platformdirs")
    return Path(platformdirs.user_cache_dir("rankedu", appauthor=False))


def cached_arrays(file: str, make: Callable[[], Arrays], root: str | os.PathLike[str] | None = None) -> Arrays:
    """Read named arrays from a cache file; make them and write it, if it is absent or damaged."""
    path = cache_folder(root) / file
    try:
        with np.load(path, allow_pickle=False) as kept:
            return {name: kept[name] for name in kept.files if name != "sha256"}  # older files have a checksum more
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error):
        arrays = make()
    try:
        with written(path) as part, part.open("wb") as opened:
            np.savez_compressed(opened, **arrays)  # type: ignore[arg-type]
    except OSError as error:
        warnings.warn(
            f"{path.name} could not be kept in {path.parent} ({error.strerror or error}), so it is made anew at every "
            "start: name a folder that can be written with root= or $RANKEDU_DATA",
            stacklevel=3,
        )
    return arrays
