"""Which items make a batch: a ranking loss learns nothing from a batch in which no two items share a class."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from rankedu._validation import check_choice

__all__ = ["ClassBalancedSampler"]


class ClassBalancedSampler:
    """Draw batches of ``batch_size / per_class`` classes with ``per_class`` items each.

    Parameters
    ----------
    labels : Tensor of int, shape (N,)
        The class of each item; any integers.
    batch_size : int
        A multiple of ``per_class``.
    per_class : int
        Items of each class in a batch, ≥ 1.
    batches : int
        How many batches an iteration yields.
    seed : int
        Every iteration starts from it: the same seed, the same batches.
    small : {"raise", "drop", "repeat"}
        What to do with classes of fewer than ``per_class`` items: refuse them, leave them out, or let some of their
        items occur more than once in a batch.

    Yields
    ------
    Tensor of int64, shape (batch_size,)
        Indices into ``labels``; items of a class stand together. Within a batch the classes are different, and the
        items too (but for ``small="repeat"``); classes are drawn uniformly, whatever their size.

    Raises
    ------
    ValueError
        If a class is too small and ``small="raise"``, if there are fewer classes than a batch needs, or for a batch
        size that is no multiple of ``per_class``.

    Notes
    -----
    O(batch) a batch, after one sort of the labels. It may serve as the ``batch_sampler`` of a
    :class:`torch.utils.data.DataLoader`. Explained in chapter 5.

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
    ) -> None:
        check_choice(small, ("raise", "drop", "repeat"), name="small")
        if labels.ndim != 1 or labels.is_floating_point() or len(labels) == 0:
            raise ValueError(
                f"labels must be integers of shape (N,), got {labels.dtype} of shape {tuple(labels.shape)}"
            )
        if per_class < 1 or batch_size < 1 or batch_size % per_class:
            raise ValueError(f"batch_size must be a multiple of per_class, got {batch_size} and {per_class}")
        classes, sizes = torch.unique(labels.cpu(), return_counts=True)
        starts = sizes.cumsum(0) - sizes
        keep = sizes >= per_class
        if small == "raise" and not keep.all():
            first = int((~keep).nonzero()[0, 0])
            raise ValueError(
                f"labels must have at least per_class={per_class} items of each class, got {int(sizes[first])} "
                f"of class {int(classes[first])} and {int((~keep).sum())} such classes "
                "(see small='drop' and small='repeat')"
            )
        if small != "repeat":
            starts, sizes = starts[keep], sizes[keep]
        self.classes_per_batch = batch_size // per_class
        if len(sizes) < self.classes_per_batch:
            raise ValueError(
                f"batch_size must be at most {len(sizes) * per_class}, got {batch_size}: "
                f"there are {len(sizes)} classes to draw {per_class} items from"
            )
        self.per_class, self.batches, self.seed = per_class, batches, seed
        self._by_class, self._starts, self._sizes = labels.cpu().argsort(stable=True), starts, sizes

    def __len__(self) -> int:
        return self.batches

    def __iter__(self) -> Iterator[Tensor]:
        generator = torch.Generator().manual_seed(self.seed)
        for _ in range(self.batches):
            chosen = torch.randperm(len(self._sizes), generator=generator)[: self.classes_per_batch]
            starts, sizes = self._starts[chosen, None], self._sizes[chosen, None]
            widest = max(int(sizes.max()), self.per_class)
            keys = torch.rand(len(chosen), widest, generator=generator)
            keys = keys + (torch.arange(widest) >= sizes)  # places that a small class lacks come last
            items = keys.argsort(1)[:, : self.per_class] % sizes
            yield self._by_class[starts + items].flatten()
