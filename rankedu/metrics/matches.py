"""What becomes of a detector's boxes: hits, false positives, and those that do not count."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from rankedu.checks import check_choice, check_count, check_number
from rankedu.metrics._boxes import collect
from rankedu.metrics._matching import taken

__all__ = ["DetectionMatches", "match_detections"]


@dataclass(frozen=True, eq=False)
class DetectionMatches:
    """The detections of a test set, from the best to the worst, and what became of each.

    What a detector is judged by is then a ranking for each class, of hits and false positives, and the number of truths
    that could have been found. Explained in chapter 16.
    Source: RaMBO Sec. 5.2.

    >>> truths = [{"boxes": torch.tensor([[0, 0, 4, 4], [6, 6, 9, 9]]), "labels": torch.tensor([1, 1])}]
    >>> boxes = torch.tensor([[5, 0, 9, 4], [0, 0, 4, 5]])
    >>> found = [{"boxes": boxes, "labels": torch.tensor([1, 1]), "scores": torch.tensor([0.9, 0.7])}]
    >>> matches = match_detections(found, truths, n_classes=1)
    >>> matches.hits, matches.taken, matches.truths
    (tensor([False,  True]), tensor([-1,  0]), tensor([2]))
    >>> recall, precision = matches.curve(1)
    >>> recall, precision
    (tensor([0.0000, 0.5000], dtype=torch.float64), tensor([0.0000, 0.5000], dtype=torch.float64))
    """

    scores: Tensor  #: Shape (N,), float64, never rising.
    labels: Tensor  #: Shape (N,), int64: classes, from 1.
    hits: Tensor  #: Shape (N,), bool: whether it found a truth of its class.
    ignored: Tensor  #: Shape (N,), bool: whether it found a difficult one, neither a hit nor a false positive.
    images: Tensor  #: Shape (N,), int64: in which image it is.
    places: Tensor  #: Shape (N,), int64: which of its image's detections it is.
    taken: Tensor  #: Shape (N,), int64: which of its image's truths it took, −1 for none.
    truths: Tensor  #: Shape (C,), int64: truths of each class, without the difficult ones.

    def of(self, label: int) -> tuple[Tensor, Tensor]:
        """Scores and hits of a class, (N,) each, from the best to the worst, without those that are ignored."""
        if check_count(label, "label") > len(self.truths):
            raise ValueError(f"label must be from 1 to {len(self.truths)}, got {label}")
        of_class = (self.labels == label) & ~self.ignored
        return self.scores[of_class], self.hits[of_class]

    def curve(self, label: int) -> tuple[Tensor, Tensor]:
        """Recall and precision of a class, (N,) float64 each, after each detection; nan recall without truths."""
        hits = self.of(label)[1].cumsum(0).double()
        return hits / self.truths[label - 1], hits / torch.arange(1, len(hits) + 1)

    def average_precision(self, interpolation: str = "all-point") -> Tensor:
        """AP of each class, (C,) float64, nan where it has no truth; see :func:`evaluate_detections`."""
        check_choice(interpolation, ("all-point", "11-point", "none"), name="interpolation")
        counts = self.truths.tolist()
        values = [_average_precision(self.of(c)[1], counts[c - 1], interpolation) for c in range(1, len(counts) + 1)]
        return torch.tensor(values, dtype=torch.float64)


def match_detections(
    detections: Sequence[Mapping[str, Tensor]],
    truths: Sequence[Mapping[str, Tensor]],
    *,
    n_classes: int,
    iou: float = 0.5,
    matching: str = "voc",
) -> DetectionMatches:
    """Decide of every detection whether it is a hit, a false positive or ignored.

    Parameters
    ----------
    detections : sequence of dict, one an image
        "boxes" (n, 4), "labels" (n,) and "scores" (n,), as torchvision's detectors return them.
    truths : sequence of dict, one an image
        "boxes" (m, 4), "labels" (m,) and, optional, "difficult" (m,) bool: neither hits nor misses.
    n_classes : int
        Labels are 1 to n_classes; 0 is the background.
    iou : float
        Least overlap that counts, in (0, 1]; ½ is the 50 of AP⁵⁰.
    matching : {"voc", "coco"}
        See Notes.

    Notes
    -----
    In each image and class the detections choose in turn, the best score first.

    * "voc": a detection takes the truth that it overlaps most, if by ``iou`` or more. If that is taken already it is a
      false positive, even if another truth, nearly as close, is free. Any number of detections may take a difficult
      truth.
    * "coco": it takes the best of the truths that are still free, a difficult one only if there is no other; a
      difficult one too can be taken once (as by COCO's own program a truth outside of its range of areas).

    Of truths overlapped equally, "voc" takes the first and "coco" the last, as their programs do. Without those, and
    without difficult ones, the k best detections find by "coco" every truth that they find by "voc": the first to
    overlap a truth most either gets it or finds it taken. So AP by "coco" is as high or higher. For iou ≥ ½ the
    two differ only where truths of a class overlap: by the areas, a box that overlaps each of two disjoint ones by ½ or
    more is just the union of two equal halves.

    O(N log N + pairs), N detections, and pairs of a detection and a truth in the same image and class. Ties of scores
    go by position: first the image, then the place. Explained in chapter 16.
    Raises ValueError or TypeError for lists of different lengths, entries that miss or are of another type or shape,
    boxes that are not finite or whose corners stand in another order, NaN scores, labels outside of 1 to n_classes, or
    ``iou`` outside (0, 1]. The image is named.
    Source: RaMBO Sec. 5.2.

    Two truths side by side, and two detections that both overlap the left one most:

    >>> truths = [{"boxes": torch.tensor([[0, 0, 10, 10], [2, 0, 12, 10]]), "labels": torch.tensor([1, 1])}]
    >>> boxes = torch.tensor([[0, 0, 10, 10], [0.5, 0, 10.5, 10]])
    >>> found = [{"boxes": boxes, "labels": torch.tensor([1, 1]), "scores": torch.tensor([0.9, 0.8])}]
    >>> match_detections(found, truths, n_classes=1, matching="voc").hits
    tensor([ True, False])
    >>> match_detections(found, truths, n_classes=1, matching="coco").hits
    tensor([True, True])
    """
    check_count(n_classes, "n_classes", hint="without the background")
    check_number(iou, "iou", above=0, most=1, hint="0.5 for AP50")
    check_choice(matching, ("voc", "coco"), name="matching")
    found = collect(detections, n_classes, name="detections", scored=True)
    true = collect(truths, n_classes, name="truths", scored=False)
    if len(detections) != len(truths):
        raise ValueError(f"detections must be of the {len(truths)} images of truths, got {len(detections)}")
    order = np.argsort(-found.value.numpy(), kind="stable")  # equal scores by image, then by place in its list
    took = torch.from_numpy(taken(found, true, order, iou, matching)[order])
    some, truth = took >= 0, took.clamp(min=0)
    difficult = torch.zeros_like(some)
    difficult[some] = true.value[took[some]]
    where = torch.full_like(took, -1)
    where[some] = true.place[truth[some]]
    first = torch.from_numpy(order)
    return DetectionMatches(
        scores=found.value[first],
        labels=found.label[first],
        hits=some & ~difficult,
        ignored=difficult,
        images=found.image[first],
        places=found.place[first],
        taken=where,
        truths=true.label[~true.value].bincount(minlength=n_classes + 1)[1:],
    )


def _average_precision(hits: Tensor, n: int, interpolation: str) -> float:
    """AP of one class from its ranking of hits and false positives, and the number n of truths."""
    if n == 0:
        return math.nan
    ranks = np.flatnonzero(hits.numpy()) + 1
    precision = np.arange(1, len(ranks) + 1) / ranks
    if interpolation != "none":
        precision = np.maximum.accumulate(precision[::-1])[::-1]
    wanted = np.arange(1, n + 1)  # how many truths must be found
    if interpolation == "11-point":
        wanted = np.maximum(-(-np.arange(11) * n // 10), 1)  # ⌈rn⌉; the envelope at r = 0 is that at the first hit
    found = wanted[wanted <= len(ranks)]
    return math.fsum(precision[found - 1]) / len(wanted)
