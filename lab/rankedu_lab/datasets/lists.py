"""The owners' lists: where they lie, what their lines say, and the labels that come of them."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from rankedu_lab.datasets.published import Published


class ListedImage(NamedTuple):
    """One image of an owner's list: the part it belongs to, its file, the names of its labels from root to leaf."""

    part: str
    file: str
    names: tuple[str, ...]


def data_folder(facts: Published, root: str | os.PathLike[str] | None = None) -> Path:
    """Find the folder of one data set below ``root``, else below ``$RANKEDU_DATA``."""
    chosen = root if root is not None else os.environ.get("RANKEDU_DATA")
    if not chosen:
        raise FileNotFoundError(
            f"{facts.title}: name the folder of your data sets with root=, --data-root or $RANKEDU_DATA; it must hold "
            f"the folder {facts.folder!r} ({facts.where()})"
        )
    folder = Path(chosen).expanduser() / facts.folder
    if not folder.is_dir():
        raise missing(folder, facts)
    return folder


def read_lines(path: Path, facts: Published) -> list[str]:
    """Read the lines of a list that are not empty; a FileNotFoundError says where to get it."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise missing(path, facts) from None
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} must be a text file in UTF-8: {error} ({facts.where()})") from None
    return [line for line in text.splitlines() if line.strip()]


def number_paths(paths: Iterable[tuple[str, ...]]) -> tuple[Tensor, tuple[tuple[str, ...], ...]]:
    """Number label paths in the order in which they come: labels (N, L), and the names of each level.

    A label denotes a name and all names above it, so the same name under another parent is another label.
    """
    known: dict[tuple[str, ...], list[int]] = {}
    numbers: list[dict[tuple[str, ...], int]] = []
    labels = []
    for path in paths:
        if path not in known:
            numbers = numbers or [{} for _ in path]
            known[path] = [number.setdefault(path[: depth + 1], len(number)) for depth, number in enumerate(numbers)]
        labels.append(known[path])
    names = tuple(tuple(prefix[-1] for prefix in number) for number in numbers)
    return torch.tensor(labels, dtype=torch.int64).view(len(labels), len(numbers)), names


def missing(path: Path, facts: Published) -> FileNotFoundError:
    """An error that says which file is missing and who publishes it."""
    return FileNotFoundError(f"{path} is missing ({facts.where()})")


def malformed(path: Path, line: Any, expected: str) -> ValueError:
    """An error that shows the line of a list that is not as published."""
    return ValueError(f"{path}: each line must read {expected!r}, got {str(line)[:80]!r}")
