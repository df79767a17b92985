"""The interface of a data set for the loop, and batches that are loaded ahead of their step."""

import signal
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from rankedu_lab.datasets.augmentation import augment

__all__ = ["RetrievalData", "ahead", "batches", "generator_of", "in_memory", "leaves", "load", "load_pictures"]


class RetrievalData(Protocol):
    """What the loop needs of a data set: labels (N,) or (N, L) int, from root to leaf; and its pictures.

    In memory they are ``images``, uint8 (N, H, W). On disk, ``load(index, generator=None)`` gives one, (3, S, S): as it
    is tested with, or, with a generator, another view of it; and there is a length.
    """

    labels: Tensor


def in_memory(data: RetrievalData) -> bool:
    """Whether the pictures are a tensor."""
    return hasattr(data, "images")


def leaves(labels: Tensor) -> Tensor:
    """The class of each item: the labels, or their last column."""
    return labels if labels.ndim == 1 else labels[:, -1]


def generator_of(*key: int) -> torch.Generator:
    """Random numbers that a few numbers determine."""
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
    """What a function makes of a key."""

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
    """Ctrl-C reaches all processes: the workers leave it to the one that trains."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def ahead(items: Iterable[Any], depth: int = 2) -> Generator[Any, None, None]:
    """Let a thread fetch the next ``depth`` items while the last one is in use; what it raises is raised here."""
    iterator, end = iter(items), object()
    with ThreadPoolExecutor(1) as thread:
        waiting = deque(thread.submit(next, iterator, end) for _ in range(depth))
        try:
            while (item := waiting.popleft().result()) is not end:
                waiting.append(thread.submit(next, iterator, end))
                yield item
        finally:
            for future in waiting:
                future.cancel()


Made = Generator[tuple[Tensor, Tensor, Tensor | None], None, None]


class Batch(NamedTuple):
    """Pictures and their labels."""

    images: Tensor  #: (b, C, H, W), on the network's device
    labels: Tensor  #: (b,) or, as paths, (b, L)
    draws: Tensor | None  #: the state of the augmentation's generator after this batch
    items: Tensor  #: (b,) which of the data set they are


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
    labels, indices = data.labels if paths else leaves(data.labels), islice(sampler, first, None)
    if in_memory(data):
        made = _augmented(data, indices, device, seed, strength, draws)
    else:
        made = _loaded(data, enumerate(indices, start=first), device, seed, workers)
    with closing(made if workers else ahead(made)) as ready:  # the workers read ahead, too
        for chosen, images, state in ready:
            yield Batch(images, labels[chosen].to(device), state, torch.as_tensor(chosen).to(device))


def _augmented(
    data: Any, indices: Iterable[Tensor], device: torch.device, seed: int, strength: float, draws: Tensor | None
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
