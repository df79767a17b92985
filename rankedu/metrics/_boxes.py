"""The boxes of a whole test set, image after image: what came checked, and put into flat arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from rankedu.checks import RANKABLE, check_integers, check_tensor

FORM = "torchvision's form: one dict an image"


class Boxes(NamedTuple):
    """Boxes of all images, in the order they came, on the CPU."""

    image: Tensor  # (N,) int64
    place: Tensor  # (N,) int64, in the list of its image
    box: Tensor  # (N, 4) float64
    label: Tensor  # (N,) int64
    value: Tensor  # (N,) the score, float64, or whether it is difficult, bool


def check_boxes(boxes: Tensor, *, name: str) -> None:
    """Corners x1, y1, x2, y2 along the last of two or more dimensions."""
    _check_form(boxes, name)
    _check_corners(boxes.detach(), lambda *index: f"{name}{list(index)}")


def collect(images: Sequence[Mapping[str, Tensor]], n_classes: int, *, name: str, scored: bool) -> Boxes:
    """Check the boxes of every image, and put them one after the other: detections if scored, and truths if not."""
    if isinstance(images, (Mapping, Tensor, str)) or not isinstance(images, Sequence):
        raise TypeError(f"{name} must be a list, got {type(images).__name__} ({FORM})")
    box, label = [torch.empty(0, 4, dtype=torch.float64)], [torch.empty(0, dtype=torch.int64)]  # what others become
    value = [torch.empty(0, dtype=torch.float64 if scored else torch.bool)]
    counts = []
    for number, image in enumerate(images):
        parts = _read(image, f"{name}[{number}]", scored)
        for column, part in zip((box, label, value), parts, strict=True):
            column.append(part.cpu())
        counts.append(len(parts[0]))
    count = torch.tensor(counts, dtype=torch.int64)
    image_of = torch.arange(len(counts)).repeat_interleave(count)
    place = torch.arange(len(image_of)) - (count.cumsum(0) - count)[image_of]
    boxes = Boxes(image_of, place, *(torch.cat(column).detach() for column in (box, label, value)))
    _check_values(boxes, n_classes, name, scored)
    return boxes


def _read(image: Mapping[str, Tensor], name: str, scored: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Boxes, labels, and scores or difficult ones of one image; their types and shapes are right."""
    needed = ("boxes", "labels", "scores") if scored else ("boxes", "labels")
    if not isinstance(image, Mapping):
        raise TypeError(f"{name} must be a dict, got {type(image).__name__} ({FORM})")
    for key in needed:
        if key not in image:
            raise ValueError(f"{name} must have {', '.join(needed)}, got no {key!r} among {sorted(image)} ({FORM})")
    boxes, labels = image["boxes"], image["labels"]
    _check_form(boxes, f"{name}['boxes']")
    if boxes.ndim != 2:
        raise ValueError(f"{name}['boxes'] must have shape (n, 4), got {tuple(boxes.shape)} ({FORM})")
    _check_column(labels, len(boxes), f"{name}['labels']")
    check_integers(labels, f"{name}['labels']", "convert it with .long()")
    if scored:
        scores = image["scores"]
        _check_column(scores, len(boxes), f"{name}['scores']")
        if scores.dtype not in RANKABLE:
            raise TypeError(f"{name}['scores'] must be floating point or integer, got {scores.dtype}")
        return boxes, labels, scores
    difficult = image.get("difficult")
    if difficult is None:
        return boxes, labels, torch.zeros(len(boxes), dtype=torch.bool)
    _check_column(difficult, len(boxes), f"{name}['difficult']")
    if difficult.dtype != torch.bool:
        raise TypeError(f"{name}['difficult'] must be bool, got {difficult.dtype} (convert it with .bool())")
    return boxes, labels, difficult


def _check_form(boxes: Tensor, name: str) -> None:
    check_tensor(boxes, name)
    if boxes.dtype not in RANKABLE:
        raise TypeError(f"{name} must be floating point or integer, got {boxes.dtype} (the corners x1, y1, x2, y2)")
    if boxes.ndim < 2 or boxes.shape[-1] != 4:
        raise ValueError(
            f"{name} must have shape (..., n, 4), got {tuple(boxes.shape)} (one box is (1, 4), and none is (0, 4))"
        )


def _check_column(column: Tensor, n: int, name: str) -> None:
    check_tensor(column, name)
    if column.shape != (n,):
        raise ValueError(f"{name} must have shape ({n},), one for each box, got {tuple(column.shape)}")


def _check_corners(boxes: Tensor, name: Callable[..., str]) -> None:
    """Finite, and in the right order; name(*index) is what to call a box that is not."""
    if (odd := ~boxes.isfinite().all(-1)).any():
        first = odd.nonzero()[0].tolist()
        raise ValueError(f"{name(*first)} must be finite, got {boxes[tuple(first)].tolist()} (find what made it)")
    if (odd := (boxes[..., 2:] < boxes[..., :2]).any(-1)).any():
        first = odd.nonzero()[0].tolist()
        raise ValueError(
            f"{name(*first)} must have x1 <= x2 and y1 <= y2, got {boxes[tuple(first)].tolist()} "
            "(from x, y, width, height: x2 = x + width, y2 = y + height)"
        )


def _check_values(boxes: Boxes, n_classes: int, name: str, scored: bool) -> None:
    def place_of(key: str) -> Callable[[int], str]:
        return lambda i: f"{name}[{boxes.image[i]}]['{key}'][{boxes.place[i]}]"

    _check_corners(boxes.box, place_of("boxes"))
    if (odd := (boxes.label < 1) | (boxes.label > n_classes)).any():
        first = int(odd.nonzero()[0])
        raise ValueError(
            f"{place_of('labels')(first)} must be from 1 to n_classes = {n_classes}, got {boxes.label[first]} "
            "(0 is the background, and no box)"
        )
    if scored and (odd := boxes.value.isnan()).any():
        raise ValueError(f"{place_of('scores')(int(odd.nonzero()[0]))} must not be NaN (find what made it)")
