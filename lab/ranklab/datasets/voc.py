"""Pascal VOC: photographs of 20 classes of things, with a box around each, as published."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from rankedu.checks import check_choice, check_count
from ranklab.datasets._voc_files import FACTS, read_annotation
from ranklab.datasets.files import CorruptImage, read_image
from ranklab.datasets.lists import data_folder, missing, read_lines

__all__ = ["NAMES", "SPLITS", "VOC", "listed", "pixels"]

#: The owner's classes, in alphabetical order.
NAMES = (
    *("aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow"),
    *("diningtable", "dog", "horse", "motorbike", "person", "pottedplant", "sheep", "sofa", "train", "tvmonitor"),
)
SPLITS = ("train", "val", "trainval", "test")


class VOC:
    """Pascal VOC of one year or several, in ``root/VOCdevkit``: ``years`` (2007,), or (2007, 2012), called 07+12.

    Only the test of 2007 has published annotations. The owner counts pixels from 1, and xmax is the last column of a
    box: a box here is xmin − 1, ymin − 1, xmax, ymax, so that its width is x2 − x1. Opening reads the lists only.
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
        if images is not None:
            check_count(images, "images", hint="None takes all")
        self.split, self.years, self.names = split, tuple(years), tuple(names)
        devkit = data_folder(FACTS, root)
        self._paths = [path for year in self.years for path in listed(devkit, year, split)][:images]
        self._labels = {name: label for label, name in enumerate(self.names, 1)}

    def __len__(self) -> int:
        return len(self._paths)

    def __getitem__(self, index: int) -> tuple[Tensor, dict[str, Tensor]]:
        """A picture, uint8 (3, H, W), and its ``boxes`` (M, 4), ``labels`` (M,) from 1 on and ``difficult`` (M,)."""
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
        annotation = read_annotation(path)
        unknown = [name for name in annotation.names if name not in self._labels]
        if unknown:
            raise ValueError(f"{path}: a name must be one of the {len(self.names)} classes, got {unknown[0]!r}")
        target = {
            "boxes": torch.tensor(annotation.boxes, dtype=torch.float32).view(-1, 4),
            "labels": torch.tensor([self._labels[name] for name in annotation.names], dtype=torch.int64),
            "difficult": torch.tensor(annotation.difficult, dtype=torch.bool),
        }
        return path.parent.parent / "JPEGImages" / annotation.file, target


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
