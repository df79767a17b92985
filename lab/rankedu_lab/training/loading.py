"""The interface of a data set for the loop, and batches of pictures with their labels."""

import signal
from collections.abc import Callable, Generator, Iterable
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from rankedu_lab.datasets.augmentation import augment

__all__ = ["RetrievalData", "batches", "generator_of", "in_memory", "leaves", "load", "load_pictures"]


class RetrievalData(Protocol):
    """The part of a data set that the loop needs: pictures and labels (N,) or (N, L) int, from root to leaf.

    Pictures in memory are ``images``, uint8 (N, H, W). On disk, ``load(index, generator=None)`` returns one,
    (3, S, S): the view of the test, or another one that the generator draws; and the data set has a length.
    """

    labels: Tensor


def in_memory(data: RetrievalData) -> bool:
    """Return whether the pictures are a tensor."""
    return hasattr(data, "images")


def leaves(labels: Tensor) -> Tensor:
    """Return the class of each item, which is the label, or the last column of the labels."""
    return labels if labels.ndim == 1 else labels[:, -1]


def generator_of(*key: int) -> torch.Generator:
    """Make a generator that a few numbers determine."""
    mixed = np.random.SeedSequence(key).generate_state(1, np.uint64)
    return torch.Generator().manual_seed(int(mixed[0] >> np.uint64(1)))


def load_pictures(
    data: Any, keys: Iterable[Any], *, seed: int | None = None, workers: int = 0, pin: bool = False
) -> Generator[tuple[Tensor, Tensor], None, None]:
    """Load by lists of (index, step, place): indices (b,) and pictures (b, 3, S, S); with a seed, each another view."""
    return load(partial(_picture, data, seed), keys, workers=workers, pin=pin)


def _picture(data: Any, seed: int | None, key: tuple[int, int, int]) -> tuple[int, Tensor]:
    index, *place = key
    return index, data.load(index) if seed is None else data.load(index, generator_of(seed, *place))


class _Items(Dataset[Any]):
    """A data set of the values of a function."""

    def __init__(self, make: Callable[[Any], Any]) -> None:
        self.make = make

    def __getitem__(self, key: Any) -> Any:
        return self.make(key)


def load(
    make: Callable[[Any], Any],
    keys: Iterable[Any],
    *,
    workers: int = 0,
    pin: bool = False,
    collate: Callable[[list[Any]], Any] | None = None,
) -> Generator[Any, None, None]:
    """Make an item of each key, for lists of keys, several processes ahead; ``pin`` makes copies to a GPU faster."""
    loader = DataLoader(
        _Items(make),
        batch_sampler=keys,
        num_workers=workers,
        prefetch_factor=4 if workers else None,
        pin_memory=pin,
        collate_fn=collate,
        worker_init_fn=_ignore_interrupts,
        generator=torch.Generator(),  # else the loader would draw from the global one
    )
    try:
        yield from loader
    except Exception as error:  # its traceback would hold on to the workers, and they to this process for 5 seconds
        raise error.with_traceback(None) from None


def _ignore_interrupts(_: int) -> None:
    """Leave Ctrl-C, which reaches all processes, to the one that trains."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


class Batch(NamedTuple):
    """Pictures and their labels."""

    images: Tensor  #: (b, C, H, W), on the network's device
    labels: Tensor  #: (b,) or, as paths, (b, L)
    draws: Tensor | None  #: the state of the augmentation's generator after this batch
    items: Tensor  #: (b,) their places in the data set


def batches(
    data: Any,
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
    """Turn the sampler's indices, from the ``first`` batch on, into pictures and labels.

    Pictures in memory are augmented by one generator, of which ``draws`` is the state after the batch before. Of
    pictures on disk, the seed, the step and the place in the batch determine each view.
    """
    labels, indices = data.labels if paths else leaves(data.labels), islice(sampler, first, None)
    if in_memory(data):
        generator = torch.Generator().manual_seed(seed)
        if draws is not None:
            generator.set_state(draws)
        for chosen in indices:
            images = augment(data.images[chosen].to(device), generator=generator, strength=strength)
            yield Batch(images, labels[chosen].to(device), generator.get_state(), torch.as_tensor(chosen).to(device))
        return
    steps = enumerate(indices, start=first)
    keys = ([(index, step, place) for place, index in enumerate(batch.tolist())] for step, batch in steps)
    for chosen, images in load_pictures(data, keys, seed=seed, workers=workers, pin=device.type == "cuda"):
        yield Batch(images.to(device, non_blocking=True), labels[chosen].to(device), None, chosen.to(device))
