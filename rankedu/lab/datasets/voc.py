"""Pascal VOC: photographs of 20 classes of things, with a box around each, as published."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from rankedu._validation import check_choice
from rankedu.lab.datasets._voc_files import FACTS, read_annotation
from rankedu.lab.datasets.files import CorruptImage, read_image
from rankedu.lab.datasets.lists import data_folder, missing, read_lines

__all__ = ["NAMES", "SPLITS", "VOC", "listed", "pixels"]

#: The owner's classes, in alphabetical order.
NAMES = (
    *("aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow"),
    *("diningtable", "dog", "horse", "motorbike", "person", "pottedplant", "sheep", "sofa", "train", "tvmonitor"),
)
SPLITS = ("train", "val", "trainval", "test")


class VOC:
    """Pascal VOC of one year or several.

    Parameters
    ----------
    split : {"trainval", "test", "train", "val"}
        The owner's lists.
    root : path, optional
        The folder that holds ``VOCdevkit``, as the owner's archives unpack. Default: ``$RANKEDU_DATA``.
    years : sequence of int
        (2007,), or (2007, 2012) for what is called 07+12. Only the test of 2007 has published annotations.
    images : int, optional
        Only the first so many. Default: all.
    names : sequence of str
        Classes of another data set in this layout.

    Attributes
    ----------
    names : tuple of str
        ``names[label - 1]``; label 0 is the background.
    flips : bool
        Whether a picture may be mirrored: True.

    Raises
    ------
    ValueError
        For another split or year, ``images`` < 1, or lists and annotations that are not as published.
    FileNotFoundError
        If a list is missing, with the address where its owner publishes it; for a missing annotation or picture, when
        it is asked for.

    Notes
    -----
    Opening reads the lists only. The owner counts pixels from 1, and xmax is the last column of a box: a box here is
    xmin − 1, ymin − 1, xmax, ymax, so that its width is x2 − x1. Explained on the data sets page of the book.
    """

    flips = True

    def __init__(
        self,
        split: str = "trainval",
        root: str | os.PathLike[str] | None = None,
        *,
        years: Sequence[int] = (2007,),
        images: int | None = None,
        names: Sequence[str] = NAMES,
    ) -> None:
        check_choice(split, SPLITS, name="split")
        if not years or (split == "test" and tuple(years) != (2007,)):
            hint = "the test of 2007 alone has published annotations" if years else "for instance (2007, 2012)"
            raise ValueError(f"years must be {(2007,)} for the split {split!r}, got {tuple(years)} ({hint})")
        if images is not None and images < 1:
            raise ValueError(f"images must be >= 1, got {images} (None takes all)")
        self.split, self.years, self.names = split, tuple(years), tuple(names)
        devkit = data_folder(FACTS, root)
        self._paths = [path for year in self.years for path in listed(devkit, year, split)][:images]
        self._labels = {name: label for label, name in enumerate(self.names, 1)}

    def __len__(self) -> int:
        return len(self._paths)

    def __getitem__(self, index: int) -> tuple[Tensor, dict[str, Tensor]]:
        """A picture and what is on it.

        Parameters
        ----------
        index : int

        Returns
        -------
        Tensor of uint8, shape (3, H, W)
        dict
            ``boxes``, float32 (M, 4): x1, y1, x2, y2 in pixels from the upper left corner. ``labels``, int64 (M,), from
            1 on. ``difficult``, bool (M,): hard to recognise, says the owner, and left out of the evaluation.

        Raises
        ------
        FileNotFoundError
            If the picture or its annotation is missing.
        ValueError
            If one of them cannot be read.
        ModuleNotFoundError
            Without Pillow.
        """
        file, target = self._read(index)
        try:
            return read_image(file, FACTS, pixels), target
        except CorruptImage as error:
            raise ValueError(f"{error} ({FACTS.where()})") from None

    def __repr__(self) -> str:
        return f"VOC({self.split!r} of {' and '.join(map(str, self.years))}: {len(self)} images)"

    def target(self, index: int) -> dict[str, Tensor]:
        """What is on a picture, as in ``voc[index]``, without decoding it."""
        return self._read(index)[1]

    def _read(self, index: int) -> tuple[Path, dict[str, Tensor]]:
        """The file of a picture, and what is on it."""
        if not -len(self) <= index < len(self):
            raise IndexError(f"index must lie within the {len(self)} images, got {index}")
        path = self._paths[index]
        found = read_annotation(path)
        unknown = [name for name in found.names if name not in self._labels]
        if unknown:
            raise ValueError(f"{path}: a name must be one of the {len(self.names)} classes, got {unknown[0]!r}")
        target = {
            "boxes": torch.tensor(found.boxes, dtype=torch.float32).view(-1, 4),
            "labels": torch.tensor([self._labels[name] for name in found.names], dtype=torch.int64),
            "difficult": torch.tensor(found.difficult, dtype=torch.bool),
        }
        return path.parent.parent / "JPEGImages" / found.file, target


def listed(devkit: Path, year: int, part: str) -> list[Path]:
    """The annotations of the pictures on one of the owner's lists."""
    folder = devkit / f"VOC{year}"
    if not folder.is_dir():
        raise missing(folder, FACTS)
    ids = read_lines(folder / "ImageSets" / "Main" / f"{part}.txt", FACTS)
    return [folder / "Annotations" / f"{name.strip()}.xml" for name in ids]


def pixels(image: Any) -> Tensor:
    """The picture as it is, in red, green and blue."""
    import numpy as np

    return torch.from_numpy(np.array(image.convert("RGB"))).permute(2, 0, 1).contiguous()
