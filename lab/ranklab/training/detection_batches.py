"""Pictures with boxes in batches: every epoch in another order, mirrored at random where that may be done."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.utils.data import Dataset

from ranklab.datasets.detection import DetectionData
from ranklab.training.loading import ahead, generator_of, load

__all__ = ["DetectionBatch", "DetectionData", "Target", "batches", "in_order", "mirrored"]

Target = dict[str, Tensor]


class DetectionBatch(NamedTuple):
    """Pictures of any sizes, and what is to be found in them."""

    images: list[Tensor]  #: (3, H, W), from 0 to 1, on the network's device
    targets: list[Target]  #: "boxes" (M, 4) and "labels" (M,); on a difficult object the label is −1
    draws: None = None  #: nothing is drawn from one batch to the next


def batches(
    data: DetectionData,
    *,
    steps: int,
    batch_size: int,
    device: torch.device,
    first: int = 0,
    seed: int = 0,
    workers: int = 0,
) -> Generator[DetectionBatch, None, None]:
    """Load the batches of a training run, from the ``first`` on, while the step before is still being computed.

    Epochs follow each other without a gap. Seed and epoch determine the order; seed, step and place, what is mirrored.
    """
    order = _epochs(len(data), seed, first * batch_size)
    keys = ([(next(order), step, place) for place in range(batch_size)] for step in range(first, steps))
    with closing(_load(_Views(data, seed), keys, device, workers)) as ready:
        for items in ready:
            yield DetectionBatch(*_on(device, items))


def in_order(
    data: DetectionData, *, batch_size: int, device: torch.device, workers: int = 0
) -> Generator[tuple[DetectionBatch, list[Target]], None, None]:
    """Load all pictures once, as they are, each batch with the data set's own targets on the CPU."""
    keys = ([(index,) for index in part.tolist()] for part in torch.arange(len(data)).split(batch_size))
    with closing(_load(_Views(data, None), keys, device, workers)) as ready:
        for items in ready:
            yield DetectionBatch(*_on(device, items)), [target for _, target in items]


def _load(views: _Views, keys: Iterable[Any], device: torch.device, workers: int) -> Generator[Any, None, None]:
    """Lists of pictures and targets, ahead of the reader."""
    pictures = load(views, keys, workers=workers, pin=device.type == "cuda", collate=list)
    return pictures if workers else ahead(pictures)


def mirrored(image: Tensor, target: Target) -> tuple[Tensor, Target]:
    """Exchange left and right, also of the boxes (M, 4): x becomes W − x."""
    left, top, right, bottom = target["boxes"].unbind(1)
    width = image.shape[-1]
    return image.flip(-1), {**target, "boxes": torch.stack([width - right, top, width - left, bottom], dim=1)}


def _epochs(items: int, seed: int, first: int) -> Iterator[int]:
    """The numbers of the pictures, from the ``first`` one that is used: one permutation after the other."""
    epoch, used = divmod(first, items)
    while True:
        generator = generator_of(seed, 0, epoch)
        yield from torch.randperm(items, generator=generator)[used:].tolist()
        epoch, used = epoch + 1, 0


class _Views(Dataset[tuple[Tensor, Target]]):
    """Pictures by (index, step, place), perhaps mirrored, or by (index,), as they are."""

    def __init__(self, data: DetectionData, seed: int | None) -> None:
        self.data, self.seed = data, seed

    def __getitem__(self, key: tuple[int, ...]) -> tuple[Tensor, Target]:
        index, *place = key
        image, target = self.data[index]
        if self.seed is None or not self.data.flips:
            return image, target
        drawn = torch.rand((), generator=generator_of(self.seed, 1, *place))
        return mirrored(image, target) if drawn < 0.5 else (image, target)


def _on(device: torch.device, items: list[tuple[Tensor, Target]]) -> tuple[list[Tensor], list[Target]]:
    """What a detector takes: pictures from 0 to 1, and labels that leave out what is difficult."""
    images = [image.to(device, non_blocking=True).float() / 255 for image, _ in items]
    known = ((target["boxes"], target["labels"].masked_fill(target["difficult"], -1)) for _, target in items)
    return images, [{"boxes": boxes.to(device), "labels": labels.to(device)} for boxes, labels in known]
