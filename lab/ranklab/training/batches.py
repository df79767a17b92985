"""From data and a sampler to batches of pictures and labels, made ahead of the step that uses them."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import closing
from itertools import islice, tee
from typing import NamedTuple, cast

import torch
from torch import Tensor

from ranklab.datasets.augmentation import augment
from ranklab.training import distributed
from ranklab.training.loading import FileData, RetrievalData, ahead, in_memory, leaves, load_pictures

Made = Generator[tuple[Tensor, Tensor, Tensor | None], None, None]


class Batch(NamedTuple):
    """The share of this process in a batch."""

    images: Tensor  #: (b, C, H, W), on the network's device
    labels: Tensor  #: (b,) or, as paths, (b, L)
    draws: Tensor | None  #: the state of the augmentation's generator after this batch


def batches(
    data: RetrievalData | FileData,
    sampler: Iterable[Tensor],
    *,
    device: torch.device,
    first: int = 0,
    seed: int = 0,
    strength: float = 1.0,
    paths: bool = False,
    workers: int = 0,
    draws: Tensor | None = None,
) -> Generator[Batch, None, None]:
    """Turn the sampler's indices, from the ``first`` batch on, into pictures and labels, ahead of the step.

    In memory every process augments the whole batch, so that any number of them sees what one would; ``draws`` says
    where the batch before ended. Of pictures on disk seed, step and place in the batch determine each view.
    """
    labels, indices = data.labels if paths else leaves(data), islice(sampler, first, None)
    if in_memory(data):
        made = _augmented(cast(RetrievalData, data), indices, device, seed, strength, draws)
    else:
        made = _loaded(cast(FileData, data), enumerate(indices, start=first), device, seed, workers)
    with closing(made if workers else ahead(made)) as ready:  # the workers read ahead, too
        for chosen, images, state in ready:
            yield Batch(images, distributed.own_part(labels[chosen]).to(device), state)


def _augmented(
    data: RetrievalData,
    indices: Iterable[Tensor],
    device: torch.device,
    seed: int,
    strength: float,
    draws: Tensor | None,
) -> Made:
    """Pictures in memory: the whole batch is augmented, then shared out."""
    generator = torch.Generator().manual_seed(seed)
    if draws is not None:
        generator.set_state(draws)
    for chosen in indices:
        images = augment(data.images[chosen].to(device), generator=generator, strength=strength)
        yield chosen, distributed.own_part(images), generator.get_state()


def _loaded(
    data: FileData, indices: Iterable[tuple[int, Tensor]], device: torch.device, seed: int, workers: int
) -> Made:
    """Pictures on disk: only the share of this process is loaded."""
    asked, again = tee(indices)
    keys = (
        [(int(batch[place]), step, place) for place in distributed.own_part(torch.arange(len(batch))).tolist()]
        for step, batch in asked
    )
    pictures = load_pictures(data, keys, seed=seed, workers=workers, pin=device.type == "cuda")
    for images, (_, chosen) in zip(pictures, again, strict=False):
        yield chosen, images.to(device, non_blocking=True), None
