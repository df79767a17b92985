"""The data of the lab `detection`, and what a run of it found, small enough to be kept and drawn from."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Subset

from rankedu.files import written
from rankedu_lab.datasets import open_detection
from rankedu_lab.runs.records import IGNORED_PARAMETERS

#: The largest number of proposals of the test pictures that are kept: with an object, and without one.
KEPT = 1024

Detections = dict[str, Tensor]
#: What detections consist of.
PARTS = ("boxes", "scores", "labels")


@dataclass(frozen=True)
class Data:
    """The splits of a detection data set; ``data[i]`` is a picture and its objects."""

    train: Any
    test: Any
    title: str
    frequency: Tensor  #: int64 (C,), objects of each class in the training split, without difficult ones

    @property
    def names(self) -> tuple[str, ...]:
        """``names[label - 1]``."""
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
    title = (
        "scenes of Unicode's characters" if name == "scenes" else f"Pascal VOC {name[3:5]}{'+12' * (name[5:] == '12')}"
    )
    return Data(train, test, title, count_objects(train))


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
    """How many objects of each class there are, int64 (C,), without difficult ones."""
    labels = []
    for index in range(len(data)):
        target = data.target(index)
        labels.append(target["labels"][~target["difficult"]])
    return torch.cat(labels).bincount(minlength=len(data.names) + 1)[1:]


def halves(frequency: Tensor) -> dict[str, Tensor]:
    """The labels of the frequent and of the rare half of the classes, most frequent first."""
    labels = 1 + frequency.argsort(descending=True, stable=True)
    middle = (len(labels) + 1) // 2
    return {"frequent classes": labels[:middle], "rare classes": labels[middle:]}


@dataclass(frozen=True)
class Proposals:
    """Some proposals of the test pictures."""

    logits: Tensor  #: (P, C + 1) of the classes; the background comes first
    labels: Tensor  #: int64 (P,), what they hold; 0 is the background
    weights: Tensor  #: (P,), how many proposals each of them represents


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
    """The k detections of a picture with the largest scores, of all classes together, the best one first."""
    order = detections["scores"].argsort(descending=True, stable=True)[:k]
    return {name: detections[name][order] for name in PARTS}


@dataclass(frozen=True)
class Findings:
    """What the figures of a run are drawn from."""

    parameters: dict[str, Any]  #: those that decide about the numbers
    names: tuple[str, ...]  #: of the classes
    frequency: Tensor  #: (C,), objects of each class in training
    ap: Tensor  #: (C,), AP50 of each class
    before: list[Detections]  #: in the first test pictures, of each as many as it has objects, the best first
    after: list[Detections]
    proposals_before: Proposals  #: of the same pictures
    proposals_after: Proposals

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write them to one file, of about a tenth of a megabyte, whole or not at all."""
        deciding = {name: value for name, value in self.parameters.items() if name not in IGNORED_PARAMETERS}
        about = json.dumps({"parameters": deciding, "names": self.names})
        arrays = {"about": np.array(about), "frequency": self.frequency.numpy(), "ap": self.ap.numpy()}
        for when in ("before", "after"):
            detections = getattr(self, when)
            arrays[f"{when}/counts"] = np.array([len(found["labels"]) for found in detections])
            for name in PARTS:
                arrays[f"{when}/{name}"] = torch.cat([found[name] for found in detections]).numpy()
            for name, value in vars(getattr(self, f"proposals_{when}")).items():
                arrays[f"{when}/proposals/{name}"] = value.numpy()
        with written(Path(path)) as part, part.open("wb") as file:
            np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
        return Path(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Findings:
        """Read what :meth:`save` wrote."""
        with np.load(path) as file:
            arrays = {name: file[name] for name in file.files}
        about = json.loads(str(arrays.pop("about")))
        tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
        parts_of_both: dict[str, Any] = {}
        for when in ("before", "after"):
            parts = [tensors[f"{when}/{name}"].split(tensors[f"{when}/counts"].tolist()) for name in PARTS]
            parts_of_both[when] = [dict(zip(PARTS, picture, strict=True)) for picture in zip(*parts, strict=True)]
            kept = {field.name: tensors[f"{when}/proposals/{field.name}"] for field in fields(Proposals)}
            parts_of_both[f"proposals_{when}"] = Proposals(**kept)
        names = tuple(about["names"])
        return cls(about["parameters"], names, tensors["frequency"], tensors["ap"], **parts_of_both)
