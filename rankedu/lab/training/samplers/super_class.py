"""Batches from a few super-classes, where the negatives are hard: RaMBO's pairs of super-labels."""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from rankedu.lab.training.samplers.shared import BatchSampler, ClassItems

__all__ = ["SuperClassSampler"]

#: Of the sets of super-classes; all are kept, to be gone through in turn.
MOST = 1_000_000


class SuperClassSampler(BatchSampler):
    """Draw batches from ``super_classes`` super-classes each: equally many classes of them, ``per_class`` items each.

    Parameters
    ----------
    labels : Tensor of int, shape (N, L)
        The path of each item from root to leaf, L ≥ 2. The first column is the super-class, the whole path the class.
    batch_size : int
        A multiple of ``per_class * super_classes``; of all processes together.
    per_class : int
        Items of each class in a batch, ≥ 1.
    super_classes : int
        Super-classes in a batch, ≥ 1.
    batches_per_pair : int
        Consecutive batches from one pair (or other number) of super-classes; then comes the next. RaMBO takes 10 for
        Online Products and 4 for In-shop.
    batches : int
        How many batches there are; an iteration yields those from ``start`` on.
    seed : int
        Every iteration starts from it: the same seed, the same batches.
    small : {"raise", "drop", "repeat"}
        What to do with classes of fewer than ``per_class`` items: refuse them, leave them out, or let some of their
        items occur more than once in a batch. Super-classes with too few classes for their part of a batch are left
        out for "drop", and refused else.
    start : int
        The first batch to yield, as after an interruption: it is the one that it would have been.
    rank, world_size : int
        Yield this process's share of every batch, whole classes; the shares in order are the batch of one process.

    Yields
    ------
    Tensor of int64, shape (batch_size / world_size,)
        Indices into ``labels``; items of a class stand together, and the super-classes take turns from class to class,
        so that every process sees all of them. Within a batch the classes are different, and the items too (but for
        ``small="repeat"``).

    Raises
    ------
    ValueError
        If a class or a super-class is too small, see ``small``; if there are fewer super-classes than a batch needs,
        or more than a million sets of them; for a batch size that is no multiple, and if the processes can't share
        its classes out evenly.

    Notes
    -----
    All pairs are gone through in random order, then anew in another order, as in FastAP's released code, from which
    RaMBO has this. pytorch-metric-learning's ``HierarchicalSampler``, which HAPPIER's released code uses for Online
    Products with five batches a pair, draws the same kind of batches but shuffles them all, so that those of a pair are
    not consecutive; its batches are shorter where a super-class has too few classes, it has no seed of its own, can't
    resume and knows no processes.
    O(classes of the super-classes + batch) a batch. Explained in chapter 5.

    Source
    ------
    RaMBO supp. Sec. A; RaMBO Sec. 5.1.

    Examples
    --------
    >>> labels = torch.tensor([[s, 3 * s + c] for s in range(4) for c in range(3) for item in range(2)])
    >>> for batch in SuperClassSampler(labels, batch_size=8, per_class=2, batches=3):
    ...     assert labels[batch, 0].unique(return_counts=True)[1].tolist() == [4, 4]
    """

    def __init__(
        self,
        labels: Tensor,
        batch_size: int = 128,
        per_class: int = 4,
        *,
        super_classes: int = 2,
        batches_per_pair: int = 1,
        batches: int = 1000,
        seed: int = 0,
        small: str = "raise",
        start: int = 0,
        rank: int = 0,
        world_size: int = 1,
    ) -> None:
        if labels.ndim != 2 or labels.is_floating_point() or len(labels) == 0 or labels.shape[1] < 2:
            raise ValueError(
                f"labels must be integers of shape (N, L) with L >= 2, got {labels.dtype} of shape "
                f"{tuple(labels.shape)} (without super-classes, use ClassBalancedSampler)"
            )
        super().__init__(
            batch_size, per_class, batches=batches, seed=seed, start=start, rank=rank, world_size=world_size
        )
        if super_classes < 1 or batches_per_pair < 1:
            raise ValueError(
                f"super_classes and batches_per_pair must be >= 1, got {super_classes} and {batches_per_pair}"
            )
        if batch_size % (per_class * super_classes):
            raise ValueError(
                f"batch_size must be a multiple of per_class * super_classes = {per_class * super_classes}, "
                f"got {batch_size}"
            )
        self.super_classes, self.batches_per_pair = super_classes, batches_per_pair
        self.classes_of_each = self.classes_per_batch // super_classes
        self._items = ClassItems(labels, per_class, small)
        self._members = self._large_enough(small)
        sets = math.comb(len(self._members), super_classes)
        if not 1 <= sets <= MOST:
            raise ValueError(
                f"super_classes must be at most the {len(self._members)} super-classes with {self.classes_of_each} "
                f"classes, and leave at most {MOST:,} ways to choose, got {super_classes}: {sets:,} ways"
            )
        self._sets = torch.combinations(torch.arange(len(self._members)), super_classes)

    def _large_enough(self, small: str) -> list[Tensor]:
        """The classes of each super-class that can fill its part of a batch."""
        names, parent = torch.unique(self._items.classes[:, 0], return_inverse=True)
        members = [(parent == number).nonzero()[:, 0] for number in range(len(names))]
        short = [number for number, mine in enumerate(members) if len(mine) < self.classes_of_each]
        if short and small != "drop":
            raise ValueError(
                f"labels must have at least {self.classes_of_each} classes of each super-class, got "
                f"{len(members[short[0]])} of super-class {int(names[short[0]])} and {len(short)} such super-classes "
                "(see small='drop', or take a smaller batch_size)"
            )
        return [mine for mine in members if len(mine) >= self.classes_of_each]

    def _draw(self, generator: torch.Generator) -> Iterator[Tensor]:
        while True:
            for number in torch.randperm(len(self._sets), generator=generator):
                for _ in range(self.batches_per_pair):
                    parts = [self._some(int(parent), generator) for parent in self._sets[number]]
                    yield self._items.draw(torch.stack(parts, dim=1).flatten(), generator)

    def _some(self, parent: int, generator: torch.Generator) -> Tensor:
        """As many classes of a super-class as a batch has."""
        mine = self._members[parent]
        return mine[torch.randperm(len(mine), generator=generator)[: self.classes_of_each]]
