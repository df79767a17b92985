"""The data of the lab `detection`, and the parts of its findings that figures are drawn from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.utils.data import Subset

from rankedu_lab.datasets import open_detection

#: The largest number of proposals of the test pictures that are kept: with an object, and without one.
KEPT = 1024

Detections = dict[str, Tensor]


class Data(NamedTuple):
    """The splits of a detection data set; ``data[i]`` is a picture and its objects."""

    train: Any
    test: Any
    title: str
    frequency: Tensor  #: int64 (C,), objects of each class in the training split, without difficult ones

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the classes, ``names[label - 1]``."""
        return tuple(self.test.names)


def open_data(parameters: Mapping[str, Any]) -> Data:
    """Open both splits, each with the given number of pictures; 0 means all."""
    name, root = parameters["dataset"], parameters["data_root"] or None
    size = {"size": parameters["image_size"]} if name == "scenes" else {}
    counts = {"train": parameters["train_images"], parameters["test_split"]: parameters["test_images"]}
    train, test = (
        open_detection(name, split, root, **size, **({"images": count} if count else {}))
        for split, count in counts.items()
    )
    titles = {"voc07": "Pascal VOC 07", "voc0712": "Pascal VOC 07+12"}
    return Data(train, test, titles.get(name, "scenes of Unicode's characters"), count_objects(train))


class _First(Subset[Any]):
    """The first pictures of a data set."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.dataset.names)  # type: ignore[attr-defined]

    def target(self, index: int) -> Any:
        return self.dataset.target(self.indices[index])  # type: ignore[attr-defined]


def first_of(data: Any, images: int) -> Any:
    """Return the first pictures of a data set; all where there are no more."""
    return _First(data, range(images)) if images < len(data) else data


def count_objects(data: Any) -> Tensor:
    """Count the objects of each class without difficult ones, int64 (C,)."""
    targets = [data.target(index) for index in range(len(data))]
    labels = torch.cat([target["labels"][~target["difficult"]] for target in targets])
    return labels.bincount(minlength=len(data.names) + 1)[1:]


def halves(frequency: Tensor) -> dict[str, Tensor]:
    """Return the labels of the frequent and of the rare half of the classes, most frequent first."""
    labels = 1 + frequency.argsort(descending=True, stable=True)
    middle = (len(labels) + 1) // 2
    return {"frequent classes": labels[:middle], "rare classes": labels[middle:]}


class Proposals(NamedTuple):
    """Some proposals of the test pictures."""

    logits: Tensor  #: (P, C + 1) of the classes; the background comes first
    labels: Tensor  #: int64 (P,), the class of the object; 0 is the background
    weights: Tensor  #: (P,), the number of proposals that each of them represents


def thin_out(logits: Tensor, labels: Tensor) -> Proposals:
    """Keep some of those that hold an object and some of those that do not, evenly spaced; none that are left out."""
    kept, weights = [], []
    for places in ((labels > 0).nonzero()[:, 0], (labels == 0).nonzero()[:, 0]):
        some = places[torch.linspace(0, len(places) - 1, min(KEPT, len(places)), dtype=torch.float64).long()]
        kept.append(some)
        weights.append(torch.full((len(some),), len(places) / max(1, len(some))))
    chosen = torch.cat(kept)
    return Proposals(logits[chosen].half(), labels[chosen], torch.cat(weights))


def first_ones(detections: Mapping[str, Tensor], k: int) -> Detections:
    """Return the k detections of a picture with the largest scores, of all classes together, the best one first."""
    order = detections["scores"].argsort(descending=True, stable=True)[:k]
    return {name: detections[name][order] for name in ("boxes", "scores", "labels")}


class Findings(NamedTuple):
    """Detections in the first test pictures, of each as many as it has objects, and proposals of the same pictures."""

    before: list[Detections]  #: the training, best score first
    proposals_before: Proposals
    after: list[Detections]
    proposals_after: Proposals
