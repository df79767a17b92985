"""Pictures with boxes in batches: every epoch in another order, mirrored at random where that may be done."""

from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from rankedu_lab.datasets.voc import DetectionData
from rankedu_lab.training.loading import ahead, generator_of, load

Target = dict[str, Tensor]


class DetectionBatch(NamedTuple):
    """Pictures of any sizes, and what is to be found in them."""

    images: list[Tensor]  #: (3, H, W), from 0 to 1, on the network's device
    targets: list[Target]  #: "boxes" (M, 4) and "labels" (M,); on a difficult object the label is −1
    truths: list[Target]  #: the data set's own targets, on the CPU
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
    return _load(data, seed, keys, device, workers)


def in_order(
    data: DetectionData, *, batch_size: int, device: torch.device, workers: int = 0
) -> Generator[DetectionBatch, None, None]:
    """Load all pictures once, as they are."""
    keys = ([(index,) for index in part.tolist()] for part in torch.arange(len(data)).split(batch_size))
    return _load(data, None, keys, device, workers)


def _load(
    data: DetectionData, seed: int | None, keys: Iterable[Any], device: torch.device, workers: int
) -> Generator[DetectionBatch, None, None]:
    """What a detector takes: pictures from 0 to 1, and labels that leave out what is difficult."""
    loaded = load(partial(_view, data, seed), keys, workers=workers, pin=device.type == "cuda", collate=list)
    with closing(loaded if workers else ahead(loaded)) as ready:
        for items in ready:
            images = [image.to(device, non_blocking=True).float() / 255 for image, _ in items]
            known = ((target["boxes"], target["labels"].masked_fill(target["difficult"], -1)) for _, target in items)
            targets = [{"boxes": boxes.to(device), "labels": labels.to(device)} for boxes, labels in known]
            yield DetectionBatch(images, targets, [target for _, target in items])


def _view(data: DetectionData, seed: int | None, key: tuple[int, ...]) -> tuple[Tensor, Target]:
    """A picture by (index, step, place), perhaps with left and right exchanged, or by (index,), as it is."""
    index, *place = key
    image, target = data[index]
    if seed is None or not data.flips or torch.rand((), generator=generator_of(seed, 1, *place)) >= 0.5:
        return image, target
    left, top, right, bottom = target["boxes"].unbind(1)
    width = image.shape[-1]
    return image.flip(-1), {**target, "boxes": torch.stack([width - right, top, width - left, bottom], dim=1)}


def _epochs(items: int, seed: int, first: int) -> Iterator[int]:
    """The numbers of the pictures, from the ``first`` one that is used: one permutation after the other."""
    epoch, used = divmod(first, items)
    while True:
        yield from torch.randperm(items, generator=generator_of(seed, 0, epoch))[used:].tolist()
        epoch, used = epoch + 1, 0
