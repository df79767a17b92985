"""From data and a sampler to batches of pictures and labels, made ahead of the step that uses them."""

from __future__ import annotations

import queue
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from itertools import islice
from typing import NamedTuple, cast

import torch
from torch import Tensor

from rankedu.lab.datasets.augmentation import augment
from rankedu.lab.training import distributed
from rankedu.lab.training.loading import FileData, RetrievalData, ahead, in_memory, leaves, load_pictures

__all__ = ["Batch", "batches"]


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
    """Turn the sampler's indices into pictures and labels, while the step before is still being computed.

    Parameters
    ----------
    data : RetrievalData or FileData
        Pictures in memory are augmented as a batch, by draws from one generator. Of pictures on disk each is loaded
        with draws of its own, determined by the seed, the step and its place in the batch.
    sampler : iterable of Tensor of int64, shape (B,)
        Whole batches; where several processes train, each takes its share.
    device : torch.device
        Of the network.
    first : int
        So many batches were used before, and are passed over.
    seed : int
        Of the augmentation.
    strength : float
        Of the augmentation in memory; 0 for none.
    paths : bool
        Labels are paths from root to leaf instead of leaves.
    workers : int
        Processes that load pictures from disk. 0: a thread of this process.
    draws : Tensor, optional
        :attr:`Batch.draws` of the last batch that was used before.

    Yields
    ------
    Batch

    Notes
    -----
    In memory every process augments the whole batch, so that any number of processes sees what one would.

    Examples
    --------
    >>> from rankedu.lab.datasets import UnicodeGlyphs
    >>> data = UnicodeGlyphs("all", characters="AB")
    >>> next(batches(data, [torch.tensor([0, 1, 2])], device=torch.device("cpu"))).images.shape
    torch.Size([3, 1, 32, 32])
    """
    labels, indices = data.labels if paths else leaves(data), islice(sampler, first, None)
    made = (
        _augmented(cast(RetrievalData, data), indices, device, seed, strength, draws)
        if in_memory(data)
        else _loaded(cast(FileData, data), enumerate(indices, start=first), device, seed, workers)
    )
    with closing(made if workers else ahead(made)) as ready:  # the workers read ahead, too
        for chosen, images, state in ready:
            yield Batch(images, distributed.share(labels[chosen]).to(device), state)


def _augmented(
    data: RetrievalData,
    indices: Iterable[Tensor],
    device: torch.device,
    seed: int,
    strength: float,
    draws: Tensor | None,
) -> Generator[tuple[Tensor, Tensor, Tensor | None], None, None]:
    """Pictures in memory: the whole batch is augmented, then shared out."""
    generator = torch.Generator().manual_seed(seed)
    if draws is not None:
        generator.set_state(draws)
    for chosen in indices:
        images = augment(data.images[chosen].to(device), generator=generator, strength=strength)
        yield chosen, distributed.share(images), generator.get_state()


def _loaded(
    data: FileData, indices: Iterable[tuple[int, Tensor]], device: torch.device, seed: int, workers: int
) -> Generator[tuple[Tensor, Tensor, Tensor | None], None, None]:
    """Pictures on disk: only the share of this process is loaded."""
    chosen: queue.SimpleQueue[Tensor] = queue.SimpleQueue()

    def keys() -> Iterator[list[tuple[int, int, int]]]:
        for step, batch in indices:
            chosen.put(batch)
            mine = distributed.share(torch.arange(len(batch)))
            yield [(int(batch[place]), step, place) for place in mine.tolist()]

    for images in load_pictures(data, keys(), seed=seed, workers=workers, pin=device.type == "cuda"):
        yield chosen.get(), images.to(device, non_blocking=True), None
