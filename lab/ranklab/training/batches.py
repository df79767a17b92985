"""From data and a sampler to batches of pictures and labels, made ahead of the step that uses them."""

from collections.abc import Generator, Iterable
from contextlib import closing
from itertools import islice
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ranklab.datasets.augmentation import augment
from ranklab.training.loading import RetrievalData, ahead, in_memory, leaves, load_pictures

Made = Generator[tuple[Tensor, Tensor, Tensor | None], None, None]


class Batch(NamedTuple):
    """Pictures and their labels."""

    images: Tensor  #: (b, C, H, W), on the network's device
    labels: Tensor  #: (b,) or, as paths, (b, L)
    draws: Tensor | None  #: the state of the augmentation's generator after this batch


def batches(
    data: RetrievalData,
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

    ``draws`` says where the augmentation of the batch before ended. Of pictures on disk seed, step and place in the
    batch determine each view.
    """
    labels, indices = data.labels if paths else leaves(data), islice(sampler, first, None)
    if in_memory(data):
        made = _augmented(data, indices, device, seed, strength, draws)
    else:
        made = _loaded(data, enumerate(indices, start=first), device, seed, workers)
    with closing(made if workers else ahead(made)) as ready:  # the workers read ahead, too
        for chosen, images, state in ready:
            yield Batch(images, labels[chosen].to(device), state)


def _augmented(
    data: Any,
    indices: Iterable[Tensor],
    device: torch.device,
    seed: int,
    strength: float,
    draws: Tensor | None,
) -> Made:
    """Pictures in memory."""
    generator = torch.Generator().manual_seed(seed)
    if draws is not None:
        generator.set_state(draws)
    for chosen in indices:
        images = augment(data.images[chosen].to(device), generator=generator, strength=strength)
        yield chosen, images, generator.get_state()


def _loaded(data: Any, indices: Iterable[tuple[int, Tensor]], device: torch.device, seed: int, workers: int) -> Made:
    """Pictures on disk."""
    keys = ([(index, step, place) for place, index in enumerate(batch.tolist())] for step, batch in indices)
    for chosen, images in load_pictures(data, keys, seed=seed, workers=workers, pin=device.type == "cuda"):
        yield chosen, images.to(device, non_blocking=True), None
