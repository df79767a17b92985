"""Batches with several items of each class, without which a ranking loss learns nothing."""

import math
from collections.abc import Iterator
from itertools import islice

import torch
from torch import Tensor

from rankedu.checks import check_count, check_tensor

#: The largest number of sets of super-classes, all of which are kept.
MOST = 1_000_000


class ClassBalancedSampler:
    """Draw batches of ``batch_size / per_class`` classes with ``per_class`` items each, side by side.

    ``labels`` (N,) are any integers. Classes are drawn uniformly whatever their size; those of fewer than ``per_class``
    items are left out. Every iteration starts from the seed, and ends after ``batches``.

    Source: RaMBO supp. Sec. A.
    """

    def __init__(
        self, labels: Tensor, batch_size: int = 128, per_class: int = 4, *, batches: int = 1000, seed: int = 0
    ) -> None:
        check_tensor(labels, "labels")
        if labels.ndim != 1 or labels.is_floating_point() or len(labels) == 0:
            hint = "if all are whole: labels.long()" if labels.ndim == 1 else "one class for each item"
            if labels.ndim == 2:
                hint = "number the paths: labels.unique(dim=0, return_inverse=True)[1]"
            raise ValueError(f"labels must be integers (N,), got {tuple(labels.shape)} of {labels.dtype} ({hint})")
        if per_class < 1 or batch_size < 1 or batch_size % per_class:
            raise ValueError(f"batch_size must be a multiple of per_class, got {batch_size} and {per_class}")
        check_count(batches, "batches", least=0)
        self.per_class, self.batches, self.seed = per_class, batches, seed
        self.classes_per_batch = batch_size // per_class
        classes, number, sizes = torch.unique(labels.cpu(), return_inverse=True, return_counts=True)
        large = sizes >= per_class
        self.classes, self._sizes = classes[large], sizes[large]
        self._starts, self._by_class = (sizes.cumsum(0) - sizes)[large], number.argsort(stable=True)
        if len(self.classes) < self.classes_per_batch:
            most = len(self.classes) * per_class
            hint = f"use batch_size={most}, or a larger per_class" if most else "use a smaller per_class"
            raise ValueError(
                f"batch_size must be at most {most}, got {batch_size}: there are {len(self.classes)} classes to draw "
                f"{per_class} items from ({hint})"
            )

    def __len__(self) -> int:
        return self.batches

    def __iter__(self) -> Iterator[Tensor]:
        return islice(self._draw(torch.Generator().manual_seed(self.seed)), self.batches)

    def _draw(self, generator: torch.Generator) -> Iterator[Tensor]:
        while True:
            chosen = torch.randperm(len(self.classes), generator=generator)[: self.classes_per_batch]
            yield self._items(chosen, generator)

    def _items(self, chosen: Tensor, generator: torch.Generator) -> Tensor:
        """Draw items of the chosen classes, (c,), without replacement: (c · per_class,)."""
        starts, sizes = self._starts[chosen, None], self._sizes[chosen, None]
        keys = torch.rand(len(chosen), int(sizes.max()), generator=generator)
        keys = keys + (torch.arange(keys.shape[1]) >= sizes)  # places that a smaller class lacks come last
        return self._by_class[starts + keys.argsort(1)[:, : self.per_class]].flatten()


class SuperClassSampler(ClassBalancedSampler):
    """Draw batches from ``super_classes`` super-classes each: equally many classes of them, ``per_class`` items each.

    ``labels`` (N, L) are paths from root to leaf: the first column is the super-class, the whole path the class. All
    sets of super-classes are gone through in random order, again and again, with ``batches_per_pair`` batches each
    (RaMBO: 10 for Online Products, 4 for In-shop). Classes and super-classes that are too small are left out.

    Source: RaMBO supp. Sec. A; RaMBO Sec. 5.1.
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
    ) -> None:
        check_tensor(labels, "labels")
        if labels.ndim != 2 or labels.is_floating_point() or len(labels) == 0 or labels.shape[1] < 2:
            raise ValueError(
                f"labels must be integers of shape (N, L) with L >= 2, got {labels.dtype} of shape "
                f"{tuple(labels.shape)} (without super-classes, use ClassBalancedSampler)"
            )
        paths, number = labels.unique(dim=0, return_inverse=True)
        super().__init__(number, batch_size, per_class, batches=batches, seed=seed)
        check_count(super_classes, "super_classes")
        check_count(batches_per_pair, "batches_per_pair")
        if batch_size % (per_class * super_classes):
            raise ValueError(
                f"batch_size must be a multiple of per_class * super_classes = {per_class * super_classes}, "
                f"got {batch_size}"
            )
        self.batches_per_pair, self.classes_of_each = batches_per_pair, self.classes_per_batch // super_classes
        roots = paths[self.classes, 0].cpu()
        classes_of = [(roots == root).nonzero()[:, 0] for root in roots.unique()]
        self._classes_of = [classes for classes in classes_of if len(classes) >= self.classes_of_each]
        sets = math.comb(len(self._classes_of), super_classes)
        if not 1 <= sets <= MOST:
            raise ValueError(
                f"super_classes must be at most the {len(self._classes_of)} super-classes with {self.classes_of_each} "
                f"classes, and leave at most {MOST:,} ways to choose, got {super_classes}: {sets:,} ways"
            )
        self._sets = torch.combinations(torch.arange(len(self._classes_of)), super_classes)

    def _draw(self, generator: torch.Generator) -> Iterator[Tensor]:
        def drawn(classes: Tensor) -> Tensor:
            return classes[torch.randperm(len(classes), generator=generator)[: self.classes_of_each]]

        while True:
            for number in torch.randperm(len(self._sets), generator=generator):
                for _ in range(self.batches_per_pair):
                    parts = [drawn(self._classes_of[int(root)]) for root in self._sets[number]]
                    yield self._items(torch.stack(parts, dim=1).flatten(), generator)
