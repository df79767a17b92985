"""Batches with a few items of each of some classes."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from rankedu.lab.training.samplers.shared import BatchSampler, ClassItems

__all__ = ["ClassBalancedSampler"]


class ClassBalancedSampler(BatchSampler):
    """Draw batches of ``batch_size / per_class`` classes with ``per_class`` items each.

    Parameters
    ----------
    labels : Tensor of int, shape (N,)
        The class of each item; any integers.
    batch_size : int
        A multiple of ``per_class``; of all processes together.
    per_class : int
        Items of each class in a batch, ≥ 1.
    batches : int
        How many batches there are; an iteration yields those from ``start`` on.
    seed : int
        Every iteration starts from it: the same seed, the same batches.
    small : {"raise", "drop", "repeat"}
        What to do with classes of fewer than ``per_class`` items: refuse them, leave them out, or let some of their
        items occur more than once in a batch.
    start : int
        The first batch to yield, as after an interruption: it is the one that it would have been.
    rank, world_size : int
        Yield this process's share of every batch, whole classes; the shares in order are the batch of one process.

    Yields
    ------
    Tensor of int64, shape (batch_size / world_size,)
        Indices into ``labels``; items of a class stand together. Within a batch the classes are different, and the
        items too (but for ``small="repeat"``); classes are drawn uniformly, whatever their size.

    Raises
    ------
    ValueError
        If a class is too small and ``small="raise"``, if there are fewer classes than a batch needs, for a batch
        size that is no multiple of ``per_class``, and if the processes can't share its classes out evenly.

    Notes
    -----
    O(C + batch) a batch of C classes, after one sort of the labels. It may serve as the ``batch_sampler`` of a
    :class:`torch.utils.data.DataLoader`. pytorch-metric-learning's ``MPerClassSampler`` makes the same kind of batch;
    it draws from a global generator, so it has no seed of its own, can't resume and knows no processes, and it repeats
    items of small classes without a word. Explained in chapter 5.

    Source
    ------
    RaMBO supp. Sec. A.

    Examples
    --------
    >>> labels = torch.tensor([7, 7, 7, 8, 8, 9, 9, 9])
    >>> for batch in ClassBalancedSampler(labels, batch_size=4, per_class=2, batches=2, seed=0):
    ...     assert len(labels[batch].unique()) == 2
    """

    def __init__(
        self,
        labels: Tensor,
        batch_size: int = 128,
        per_class: int = 4,
        *,
        batches: int = 1000,
        seed: int = 0,
        small: str = "raise",
        start: int = 0,
        rank: int = 0,
        world_size: int = 1,
    ) -> None:
        if labels.ndim != 1 or labels.is_floating_point() or len(labels) == 0:
            raise ValueError(
                f"labels must be integers of shape (N,), got {labels.dtype} of shape {tuple(labels.shape)}"
            )
        super().__init__(
            batch_size, per_class, batches=batches, seed=seed, start=start, rank=rank, world_size=world_size
        )
        self._items = ClassItems(labels, per_class, small)
        if len(self._items) < self.classes_per_batch:
            raise ValueError(
                f"batch_size must be at most {len(self._items) * per_class}, got {batch_size}: "
                f"there are {len(self._items)} classes to draw {per_class} items from"
            )

    def _draw(self, generator: torch.Generator) -> Iterator[Tensor]:
        while True:
            chosen = torch.randperm(len(self._items), generator=generator)[: self.classes_per_batch]
            yield self._items.draw(chosen, generator)
