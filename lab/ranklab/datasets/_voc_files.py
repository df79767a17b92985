"""The files of Pascal VOC: an XML file for each picture, and lists of pictures.

The owner counts pixels from 1, and a box holds its last row and column: a box around the first pixel alone reads
1, 1, 1, 1. Here it is 0, 0, 1, 1: the edges, measured from the upper left corner.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple, Protocol
from xml.etree import ElementTree

from torch import Tensor

from ranklab.datasets.lists import missing
from ranklab.datasets.published import DETECTION

__all__ = ["Annotation", "DetectionData", "read_annotation", "write_voc"]

FACTS = DETECTION["voc"]


class DetectionData(Protocol):
    """What every data set for detection has: pictures with boxes, the classes' names, and whether mirroring is safe."""

    split: str
    names: tuple[str, ...]
    flips: bool

    def __len__(self) -> int: ...

    def __getitem__(self, index: int) -> tuple[Tensor, dict[str, Tensor]]: ...

    def target(self, index: int) -> dict[str, Tensor]: ...


class Annotation(NamedTuple):
    """What an annotation says: the picture's file, and each object's class, box and whether it is difficult."""

    file: str
    names: list[str]
    boxes: list[tuple[float, float, float, float]]  # x1, y1, x2, y2: edges, from 0 on
    difficult: list[bool]


def read_annotation(path: Path) -> Annotation:
    """Read an annotation; a FileNotFoundError tells where to get it, a ValueError what is wrong."""
    try:
        root = ElementTree.parse(path).getroot()
        objects = root.findall("object")
        file = _text(root, "filename")
        names = [_text(item, "name") for item in objects]
        boxes = [_box(item) for item in objects]
        difficult = [bool(int(item.findtext("difficult", "0"))) for item in objects]
    except FileNotFoundError:
        raise missing(path, FACTS) from None
    except (ElementTree.ParseError, ValueError) as error:
        raise ValueError(f"{path} must be an annotation of Pascal VOC: {error} ({FACTS.where()})") from None
    return Annotation(file, names, boxes, difficult)


def _text(element: ElementTree.Element, tag: str) -> str:
    text = (element.findtext(tag) or "").strip()
    if not text:
        raise ValueError(f"<{element.tag}> has no <{tag}>")
    return text


def _box(item: ElementTree.Element) -> tuple[float, float, float, float]:
    """The edges of a box. The parts of a person have boxes of their own, further down; they are not read."""
    box = item.find("bndbox")
    if box is None:
        raise ValueError("<object> has no <bndbox>")
    left, top, right, bottom = (float(_text(box, tag)) for tag in ("xmin", "ymin", "xmax", "ymax"))
    if right < left or bottom < top:
        raise ValueError(f"<bndbox> ends before it begins: {left:g}, {top:g}, {right:g}, {bottom:g}")
    return left - 1, top - 1, right, bottom


def write_voc(data: DetectionData, folder: str | os.PathLike[str], *, part: str, year: int = 2007) -> Path:
    """Write a data set in the published layout, with pictures in PNG, which loses nothing."""
    from PIL import Image

    home = Path(folder) / "VOCdevkit" / f"VOC{year}"
    for room in ("JPEGImages", "Annotations", "ImageSets/Main"):
        (home / room).mkdir(parents=True, exist_ok=True)
    ids = [f"{part}_{index:06}" for index in range(len(data))]
    for index, name in enumerate(ids):
        image, target = data[index]
        Image.fromarray(image.permute(1, 2, 0).numpy()).save(home / "JPEGImages" / f"{name}.png")
        tree = _annotation(f"VOC{year}", f"{name}.png", image, target, data.names)
        tree.write(home / "Annotations" / f"{name}.xml", encoding="utf-8")
    (home / "ImageSets" / "Main" / f"{part}.txt").write_text("".join(f"{name}\n" for name in ids), encoding="utf-8")
    return Path(folder)


def _annotation(
    folder: str, file: str, image: Tensor, target: dict[str, Tensor], names: tuple[str, ...]
) -> ElementTree.ElementTree[ElementTree.Element]:
    root = ElementTree.Element("annotation")
    _add(root, folder=folder, filename=file)
    channels, height, width = image.shape
    _add(ElementTree.SubElement(root, "size"), width=width, height=height, depth=channels)
    objects = zip(target["labels"].tolist(), target["boxes"].tolist(), target["difficult"].tolist(), strict=True)
    for label, (left, top, right, bottom), difficult in objects:
        item = ElementTree.SubElement(root, "object")
        _add(item, name=names[label - 1], pose="Unspecified", truncated=0, difficult=int(difficult))
        box = ElementTree.SubElement(item, "bndbox")
        edges = {"xmin": left + 1, "ymin": top + 1, "xmax": right, "ymax": bottom}
        _add(box, **{tag: int(edge) if edge == int(edge) else edge for tag, edge in edges.items()})
    ElementTree.indent(root, "\t")
    return ElementTree.ElementTree(root)


def _add(element: ElementTree.Element, **texts: object) -> None:
    for tag, text in texts.items():
        ElementTree.SubElement(element, tag).text = str(text)
