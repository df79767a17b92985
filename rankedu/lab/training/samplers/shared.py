"""What all samplers share: where they start, what of a batch is this process's, and how items of a class are drawn."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from itertools import islice
from typing import TypeVar

import torch
from torch import Tensor

from rankedu._validation import check_choice

__all__ = ["BatchSampler", "ClassItems"]

Sampler = TypeVar("Sampler", bound="BatchSampler")


class BatchSampler:
    """A reproducible, endless stream of batches, of which an iteration yields some: a base class.

    Parameters
    ----------
    batch_size : int
        Of all processes together; a multiple of ``per_class``.
    per_class : int
        Items of each class in a batch, ≥ 1.
    batches : int
        Where the iteration ends.
    seed : int
        The stream starts from it: the same seed, the same batches.
    start : int
        Where the iteration begins, 0 ≤ start ≤ batches: it yields the batches start, start + 1, …, batches - 1.
    rank, world_size : int
        This is process ``rank`` of ``world_size``, and gets its share of every batch: whole classes, as many as the
        others. The shares of all processes, in order, are the batch that one process would get.

    Raises
    ------
    ValueError
        For numbers out of these ranges, and if the classes of a batch can't be shared out evenly.

    Notes
    -----
    A stream can't be entered in the middle: the batches before ``start`` are drawn and dropped. Subclasses define
    ``_draw(generator)``. Explained in chapter 5.
    """

    def __init__(
        self, batch_size: int, per_class: int, *, batches: int, seed: int, start: int, rank: int, world_size: int
    ) -> None:
        if per_class < 1 or batch_size < 1 or batch_size % per_class:
            raise ValueError(f"batch_size must be a multiple of per_class, got {batch_size} and {per_class}")
        if batches < 0:
            raise ValueError(f"batches must be >= 0, got {batches}")
        self.batch_size, self.per_class, self.batches, self.seed = batch_size, per_class, batches, seed
        self.classes_per_batch = batch_size // per_class
        self._set(start, rank, world_size)

    def _set(self, start: int, rank: int, world_size: int) -> None:
        if not 0 <= start <= self.batches:
            raise ValueError(f"start must be in 0..{self.batches} (batches), got {start}")
        if not 0 <= rank < world_size:
            raise ValueError(f"rank must be in 0..world_size - 1, got rank={rank} of world_size={world_size}")
        if self.classes_per_batch % world_size:
            raise ValueError(
                f"world_size must divide the {self.classes_per_batch} classes of a batch, got {world_size} "
                f"(take a batch_size that is a multiple of {self.per_class * world_size}: per_class * world_size)"
            )
        self.start, self.rank, self.world_size = start, rank, world_size

    def at(
        self: Sampler, start: int | None = None, *, rank: int | None = None, world_size: int | None = None
    ) -> Sampler:
        """Make a copy that begins elsewhere, or serves another process.

        Parameters
        ----------
        start, rank, world_size : int, optional
            As above. Default: as in this one.

        Returns
        -------
        BatchSampler
            Of the same kind, with the same stream.
        """
        other = copy.copy(self)
        other._set(
            self.start if start is None else start,
            self.rank if rank is None else rank,
            self.world_size if world_size is None else world_size,
        )
        return other

    def _draw(self, generator: torch.Generator) -> Iterator[Tensor]:
        """The endless stream of whole batches."""
        raise NotImplementedError

    def __len__(self) -> int:
        return self.batches - self.start

    def __iter__(self) -> Iterator[Tensor]:
        generator = torch.Generator().manual_seed(self.seed)
        share = self.batch_size // self.world_size
        for batch in islice(self._draw(generator), self.start, self.batches):
            yield batch[self.rank * share : (self.rank + 1) * share]


class ClassItems:
    """The items of each class, ready to be drawn.

    Parameters
    ----------
    labels : Tensor of int, shape (N,) or (N, L)
        The class of each item, or its path from the root: then the class is the whole path.
    per_class : int
        How many items are drawn of a class.
    small : {"raise", "drop", "repeat"}
        What to do with classes that have fewer.

    Attributes
    ----------
    classes : Tensor, shape (C,) or (C, L)
        The labels of the classes that are left, sorted.

    Raises
    ------
    ValueError
        For an unknown ``small``, and if it is "raise" and a class is too small.
    """

    def __init__(self, labels: Tensor, per_class: int, small: str) -> None:
        check_choice(small, ("raise", "drop", "repeat"), name="small")
        classes, inverse, sizes = torch.unique(labels.cpu(), dim=0, return_inverse=True, return_counts=True)
        starts = sizes.cumsum(0) - sizes
        keep = sizes >= per_class
        if small == "raise" and not keep.all():
            first = int((~keep).nonzero()[0, 0])
            raise ValueError(
                f"labels must have at least per_class={per_class} items of each class, got {int(sizes[first])} "
                f"of class {classes[first].tolist()} and {int((~keep).sum())} such classes "
                "(see small='drop' and small='repeat')"
            )
        if small == "repeat":
            keep = torch.ones_like(keep)
        self.per_class, self.classes = per_class, classes[keep]
        self._starts, self._sizes, self._by_class = starts[keep], sizes[keep], inverse.argsort(stable=True)

    def __len__(self) -> int:
        return len(self.classes)

    def draw(self, chosen: Tensor, generator: torch.Generator) -> Tensor:
        """Draw items of the chosen classes, (c,), without replacement where there are enough: (c · per_class,)."""
        starts, sizes = self._starts[chosen, None], self._sizes[chosen, None]
        widest = max(int(sizes.max()), self.per_class)
        keys = torch.rand(len(chosen), widest, generator=generator)
        keys = keys + (torch.arange(widest) >= sizes)  # places that a small class lacks come last
        items = keys.argsort(1)[:, : self.per_class] % sizes
        drawn: Tensor = self._by_class[starts + items].flatten()
        return drawn
