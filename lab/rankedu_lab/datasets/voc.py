"""Pascal VOC: photographs of 20 classes of things, with a box around each, an XML file for each picture, and lists."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol
from xml.etree import ElementTree

import numpy as np
import torch
from torch import Tensor

from rankedu.checks import check_choice, check_count
from rankedu_lab.datasets.files import read_image
from rankedu_lab.datasets.lists import data_folder, missing, read_lines
from rankedu_lab.datasets.published import DETECTION

FACTS = DETECTION["voc"]
#: The owner's classes, in alphabetical order.
NAMES = (
    *("aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow"),
    *("diningtable", "dog", "horse", "motorbike", "person", "pottedplant", "sheep", "sofa", "train", "tvmonitor"),
)
SPLITS = ("train", "val", "trainval", "test")


class DetectionData(Protocol):
    """A data set for detection: pictures with boxes, the classes' names, and whether mirroring is safe."""

    split: str
    names: tuple[str, ...]
    flips: bool

    def __len__(self) -> int: ...

    def __getitem__(self, index: int) -> tuple[Tensor, dict[str, Tensor]]: ...

    def target(self, index: int) -> dict[str, Tensor]: ...


class VOC:
    """Pascal VOC of one year or several, in ``root/VOCdevkit``: ``years`` (2007,), or (2007, 2012), called 07+12.

    Only the test of 2007 has published annotations. The owner counts pixels from 1, and xmax is the last column of a
    box: a box here is xmin − 1, ymin − 1, xmax, ymax, so that its width is x2 − x1, and the first pixel alone is
    0, 0, 1, 1. Opening reads the lists only.
    """

    flips = True
    names: tuple[str, ...] = NAMES

    def __init__(
        self,
        split: str = "trainval",
        root: str | os.PathLike[str] | None = None,
        *,
        years: Sequence[int] = (2007,),
        images: int | None = None,
    ) -> None:
        check_choice(split, SPLITS, name="split")
        if not years or (split == "test" and tuple(years) != (2007,)):
            raise ValueError(f"years must be given, and be (2007,) for the split 'test', got {tuple(years)}")
        if images is not None:
            check_count(images, "images", hint="None takes all")
        self.split, self.years = split, tuple(years)
        devkit = data_folder(FACTS, root)
        self._paths = [path for year in self.years for path in listed(devkit, year, split)][:images]

    def __len__(self) -> int:
        return len(self._paths)

    def __getitem__(self, index: int) -> tuple[Tensor, dict[str, Tensor]]:
        """Load a picture, uint8 (3, H, W), and its ``boxes`` (M, 4), ``labels`` (M,) from 1 on, ``difficult`` (M,)."""
        picture, target = read_annotation(self._paths[index])
        return read_image(picture, FACTS, _pixels), target

    def __repr__(self) -> str:
        return f"VOC({self.split!r} of {' and '.join(map(str, self.years))}: {len(self)} images)"

    def target(self, index: int) -> dict[str, Tensor]:
        """Read the target of a picture, as in ``voc[index]``, without decoding the picture."""
        return read_annotation(self._paths[index])[1]


def read_annotation(path: Path) -> tuple[Path, dict[str, Tensor]]:
    """Read the picture's file and the target; a FileNotFoundError names the publisher, a ValueError the fault."""
    try:
        root = ElementTree.parse(path).getroot()
        picture = path.parent.parent / "JPEGImages" / _text(root, "filename")
        objects = root.findall("object")
        return picture, {
            "boxes": torch.tensor([_box(item) for item in objects], dtype=torch.float32).view(-1, 4),
            "labels": torch.tensor([_label(item) for item in objects], dtype=torch.int64),
            "difficult": torch.tensor(
                [bool(int(item.findtext("difficult", "0"))) for item in objects], dtype=torch.bool
            ),
        }
    except FileNotFoundError:
        raise missing(path, FACTS) from None
    except (ElementTree.ParseError, ValueError) as error:
        raise ValueError(f"{path} must be an annotation of Pascal VOC: {error} ({FACTS.where()})") from None


def _text(element: ElementTree.Element, tag: str) -> str:
    text = (element.findtext(tag) or "").strip()
    if not text:
        raise ValueError(f"<{element.tag}> has no <{tag}>")
    return text


def _label(item: ElementTree.Element) -> int:
    name = _text(item, "name")
    if name not in NAMES:
        raise ValueError(f"a name must be one of the {len(NAMES)} classes, got {name!r}")
    return 1 + NAMES.index(name)


def _box(item: ElementTree.Element) -> tuple[float, float, float, float]:
    """Read the edges of a box, but not those of the parts of a person, which are further down."""
    left, top, right, bottom = (float(_text(item, f"bndbox/{tag}")) for tag in ("xmin", "ymin", "xmax", "ymax"))
    if right < left or bottom < top:
        raise ValueError(f"<bndbox> ends before it begins: {left:g}, {top:g}, {right:g}, {bottom:g}")
    return left - 1, top - 1, right, bottom


def listed(devkit: Path, year: int, part: str) -> list[Path]:
    """List the annotations of the pictures on one of the owner's lists."""
    folder = devkit / f"VOC{year}"
    ids = read_lines(folder / "ImageSets" / "Main" / f"{part}.txt", FACTS)
    return [folder / "Annotations" / f"{name.strip()}.xml" for name in ids]


def _pixels(image: Any) -> Tensor:
    return torch.from_numpy(np.array(image.convert("RGB"))).permute(2, 0, 1).contiguous()
