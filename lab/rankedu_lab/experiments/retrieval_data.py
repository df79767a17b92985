"""The splits of a data set as the retrieval labs need them, and the embeddings of its test images."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from rankedu_lab.datasets import DATASETS, open_dataset
from rankedu_lab.training.loading import leaves
from rankedu_lab.training.retrieval import embed

#: The approximate number of test images that are shown, and evaluated at intervals.
PROBE = 4096
#: Of the augmentation of the test images.
TEST_SEED = 1


@dataclass(frozen=True)
class Data:
    """The splits of a data set."""

    train: Any
    test: Any  #: holds the queries
    gallery: Any  #: None unless it is apart: every test image ranks all others
    title: str
    levels: tuple[str, ...]  #: names, from root to leaf

    @property
    def labels(self) -> Tensor:
        """Paths (N, L) of the test images, then of the gallery."""
        return torch.cat(
            [part.labels.reshape(len(part.labels), -1) for part in (self.test, self.gallery) if part is not None]
        )

    @property
    def candidates(self) -> Tensor | None:
        """Where the gallery is apart, the items that may be retrieved, bool (N,)."""
        return None if self.gallery is None else torch.arange(len(self.labels)) >= len(self.test)

    @property
    def names(self) -> tuple[tuple[str, ...], ...]:
        """``names[level][label]``."""
        return tuple(self.test.names)

    @property
    def pictures(self) -> Any:
        """The test images, then the gallery, as figures want them."""
        if hasattr(self.test, "images"):
            return self.test.images
        return self.test if self.gallery is None else _Joined((self.test, self.gallery))

    def part(self, size: int) -> Data:
        """Return the same with about so many test images, all of some classes, which never change; all for 0."""
        classes, counts = leaves(self.test.labels).unique(return_counts=True)
        if not 0 < size < len(self.test.labels):
            return self
        order = torch.randperm(len(classes), generator=torch.Generator().manual_seed(0))
        chosen = classes[order[: max(2, int((counts[order].cumsum(0) <= size).sum()))]]
        gallery = None if self.gallery is None else _only(self.gallery, chosen)
        return replace(self, test=_only(self.test, chosen), gallery=gallery)


def _only(data: Any, classes: Tensor) -> Any:
    """Copy a data set with the images of some classes only, and of every list the entries of these images."""
    keep = torch.isin(leaves(data.labels), classes)
    part, count = copy.copy(data), len(keep)
    for name, values in vars(data).items():
        if isinstance(values, Tensor) and values.ndim and len(values) == count:
            setattr(part, name, values[keep])
        elif isinstance(values, list) and len(values) == count:
            setattr(part, name, [value for value, kept in zip(values, keep.tolist(), strict=True) if kept])
    return part


class _Joined:
    """Image files of two splits, one after the other."""

    def __init__(self, parts: tuple[Any, Any]) -> None:
        self.parts = parts

    def __len__(self) -> int:
        return sum(map(len, self.parts))

    def load(self, index: int) -> Any:
        first, second = self.parts
        return first.load(index) if index < len(first) else second.load(index - len(first))


def open_data(parameters: Mapping[str, Any], **settings: Any) -> Data:
    """Open the training and the test split, and the gallery where it is apart; the settings are of the test alone."""
    name, root = parameters["dataset"], parameters["data_root"] or None
    facts = DATASETS[name]
    own = ("image_size", "crop") if facts.folder else ("salt", "letters")
    common = {key: parameters[key] for key in own if key in parameters}
    train = open_dataset(name, parameters.get("train_split", "train"), root, **common)
    test, gallery = ("query", "gallery") if "gallery" in facts.splits else (parameters.get("test_split", "test"), None)
    queries = open_dataset(name, test, root, **common, **settings)
    apart = None if gallery is None else open_dataset(name, gallery, root, **common, **settings)
    return Data(train, queries, apart, facts.title, facts.levels)


def embed_all(net: Any, data: Data, parameters: Mapping[str, Any]) -> Tensor:
    """Embed the test images, then the gallery; pictures that are augmented are so once, always in the same way."""
    generator = torch.Generator().manual_seed(TEST_SEED)
    options = {"strength": parameters["strength"], "generator": generator, "workers": parameters["workers"]}
    return torch.cat([embed(net, part, **options) for part in (data.test, data.gallery) if part is not None])


def small_classes(data: Any, per_class: int) -> list[str]:
    """Write a note on the classes that are too small for a batch."""
    counts = leaves(data.labels).unique(return_counts=True)[1]
    few = int((counts < per_class).sum())
    return [f"{few} of {len(counts)} classes have fewer than {per_class} images and train nothing"] if few else []
