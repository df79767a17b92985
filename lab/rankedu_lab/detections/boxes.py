"""Boxes: how much they overlap, and those of a whole test set, checked and put into flat arrays."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from rankedu.checks import RANKABLE, check_integers, check_tensor

FORM = "torchvision's form: one dict an image"


def box_iou(boxes: Tensor, others: Tensor) -> Tensor:
    r"""Intersection over union of every box (..., n, 4) with every other (..., m, 4): shape (..., n, m).

    .. math:: \mathrm{IoU}(A, B) = \frac{|A \cap B|}{|A| + |B| - |A \cap B|}

    A box has the corners x1, y1, x2, y2, with x1 ≤ x2 and y1 ≤ y2. The value is in [0, 1], computed in float64,
    returned as float64 for float64 boxes and else as float32; 0 for two boxes without area. Gradients flow. O(n m).
    Explained in chapter 16. Raises ValueError for another shape, or corners that are not finite or in another order;
    TypeError for anything but tensors of numbers.
    Source: RaMBO Sec. 5.2.

    >>> box_iou(torch.tensor([[0, 0, 2, 2]]), torch.tensor([[0, 0, 2, 1], [1, 1, 3, 3], [5, 5, 6, 6]]))
    tensor([[0.5000, 0.1429, 0.0000]])
    """
    for name, value in (("boxes", boxes), ("others", others)):
        _check_form(value, name)
        _check_corners(value.detach(), name)
    dtype = torch.float64 if torch.float64 in (boxes.dtype, others.dtype) else torch.float32
    return overlap(boxes.double()[..., :, None, :], others.double()[..., None, :, :]).to(dtype)


def overlap(boxes: Tensor, others: Tensor) -> Tensor:
    """Intersection over union of boxes and others, (..., 4), box by box; 0 where neither has an area."""
    corner, far = torch.maximum(boxes[..., :2], others[..., :2]), torch.minimum(boxes[..., 2:], others[..., 2:])
    shared = (far - corner).clamp(min=0).prod(-1)
    area, other = ((x[..., 2:] - x[..., :2]).prod(-1) for x in (boxes, others))
    union = area + other - shared
    return shared / union.masked_fill(union == 0, 1)


class Boxes(NamedTuple):
    """Boxes of all images, in the order they came, on the CPU."""

    image: Tensor  # (N,) int64
    place: Tensor  # (N,) int64, in the list of its image
    box: Tensor  # (N, 4) float64
    label: Tensor  # (N,) int64
    value: Tensor  # (N,) the score, float64, or whether it is difficult, bool


def collect(images: Sequence[Mapping[str, Tensor]], n_classes: int, *, name: str, scored: bool) -> Boxes:
    """Check the boxes of every image, and put them one after the other: detections if scored, and truths if not."""
    if isinstance(images, (Mapping, Tensor, str)) or not isinstance(images, Sequence):
        raise TypeError(f"{name} must be a list, got {type(images).__name__} ({FORM})")
    read = [_read(image, f"{name}[{number}]", n_classes, scored) for number, image in enumerate(images)]
    count = torch.tensor([len(labels) for _, labels, _ in read], dtype=torch.int64, device="cpu")
    image_of = torch.arange(len(count), device="cpu").repeat_interleave(count)
    place = torch.arange(len(image_of), device="cpu") - (count.cumsum(0) - count)[image_of]
    kinds = torch.float64, torch.int64, torch.float64 if scored else torch.bool
    nothing = [
        torch.empty(0, *size, dtype=kind, device="cpu") for size, kind in zip(((4,), (), ()), kinds, strict=True)
    ]
    columns = zip(nothing, *read, strict=True)
    return Boxes(image_of, place, *(torch.cat([part.detach().cpu() for part in column]) for column in columns))


def _read(image: Mapping[str, Tensor], name: str, n_classes: int, scored: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Boxes, labels, and scores or difficult ones of one image, checked."""
    needed = ("boxes", "labels", "scores") if scored else ("boxes", "labels")
    if not isinstance(image, Mapping):
        raise TypeError(f"{name} must be a dict, got {type(image).__name__} ({FORM})")
    for key in needed:
        if key not in image:
            raise ValueError(f"{name} must have {', '.join(needed)}, got no {key!r} among {sorted(image)} ({FORM})")
    boxes, labels, kind = image["boxes"], image["labels"], "scores" if scored else "difficult"
    _check_form(boxes, f"{name}['boxes']")
    if boxes.ndim != 2:
        raise ValueError(f"{name}['boxes'] must have shape (n, 4), got {tuple(boxes.shape)} ({FORM})")
    value: Any = image.get(kind)
    if value is None and not scored:
        value = torch.zeros(len(boxes), dtype=torch.bool, device=boxes.device)
    for key, column in (("labels", labels), (kind, value)):
        check_tensor(column, f"{name}['{key}']")
        if column.shape != (len(boxes),):
            raise ValueError(
                f"{name}['{key}'] must have shape ({len(boxes)},), one for each box, got {tuple(column.shape)}"
            )
    check_integers(labels, f"{name}['labels']", "convert it with .long()")
    if scored and value.dtype not in RANKABLE:
        raise TypeError(f"{name}['scores'] must be floating point or integer, got {value.dtype}")
    if not scored and value.dtype != torch.bool:
        raise TypeError(f"{name}['difficult'] must be bool, got {value.dtype} (convert it with .bool())")
    _check_corners(boxes.detach(), f"{name}['boxes']")
    if (odd := (labels < 1) | (labels > n_classes)).any():
        first = int(odd.nonzero()[0])
        raise ValueError(
            f"{name}['labels'][{first}] must be from 1 to n_classes = {n_classes}, got {labels[first]} "
            "(0 is the background, and no box)"
        )
    if scored and (odd := value.isnan()).any():
        raise ValueError(f"{name}['scores'][{int(odd.nonzero()[0])}] must not be NaN (find what made it)")
    return boxes, labels, value


def _check_form(boxes: Tensor, name: str) -> None:
    check_tensor(boxes, name)
    if boxes.dtype not in RANKABLE:
        raise TypeError(f"{name} must be floating point or integer, got {boxes.dtype} (the corners x1, y1, x2, y2)")
    if boxes.ndim < 2 or boxes.shape[-1] != 4:
        raise ValueError(
            f"{name} must have shape (..., n, 4), got {tuple(boxes.shape)} (one box is (1, 4), and none is (0, 4))"
        )


def _check_corners(boxes: Tensor, name: str) -> None:
    """Finite, and in the right order."""
    order = "must have x1 <= x2 and y1 <= y2", "from x, y, width, height: x2 = x + width, y2 = y + height"
    for odd, (wanted, advice) in (
        (~boxes.isfinite().all(-1), ("must be finite", "find what made it")),
        ((boxes[..., 2:] < boxes[..., :2]).any(-1), order),
    ):
        if odd.any():
            first = odd.nonzero()[0].tolist()
            raise ValueError(f"{name}{first} {wanted}, got {boxes[tuple(first)].tolist()} ({advice})")
