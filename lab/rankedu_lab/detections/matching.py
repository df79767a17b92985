"""Metrics of object detection: what becomes of each box, and AP in the style of Pascal VOC (RaMBO Table 5)."""

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from rankedu.checks import check_choice, check_count, check_number
from rankedu.metrics import UndefinedMetricWarning
from rankedu_lab.detections.boxes import Boxes, collect, overlap

Ints = npt.NDArray[np.int64]
INTERPOLATIONS = ("all-point", "101-point", "11-point", "none")


@dataclass(frozen=True, eq=False)
class DetectionMatches:
    """The detections of a test set, from the best to the worst, and what became of each.

    Explained in chapter 16.
    Source: RaMBO Sec. 5.2.

    Examples
    --------
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
        """Return scores and hits of a class, (N,) each, from the best to the worst, without those that are ignored."""
        if check_count(label, "label") > len(self.truths):
            raise ValueError(f"label must be from 1 to {len(self.truths)}, got {label}")
        of_class = (self.labels == label) & ~self.ignored
        return self.scores[of_class], self.hits[of_class]

    def curve(self, label: int) -> tuple[Tensor, Tensor]:
        """Return recall and precision after each detection of a class, (N,) float64 each; nan recall without truths."""
        hits = self.of(label)[1].cumsum(0).double()
        return hits / self.truths[label - 1], hits / torch.arange(1, len(hits) + 1, device=hits.device)

    def average_precision(self, interpolation: str = "all-point") -> Tensor:
        """Compute AP of each class, (C,) float64, nan where it has no truth; see :func:`evaluate_detections`."""
        check_choice(interpolation, INTERPOLATIONS, name="interpolation")
        classes = enumerate(self.truths.tolist(), 1)
        values = [_average_precision(self.of(label)[1], count, interpolation) for label, count in classes]
        return torch.tensor(values, dtype=torch.float64, device="cpu")


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
      false positive, even if another truth is free. Any number of detections may take a difficult truth.
    * "coco": it takes the best of the truths that are still free, a difficult one only if there is no other, and once.

    Of truths overlapped equally, "voc" takes the first and "coco" the last, as their programs do. Ties of scores go by
    position: first the image, then the place. O(N log N + pairs). Explained in chapter 16.
    Raises ValueError or TypeError for lists of different lengths, entries that miss or are of another type or shape,
    boxes that are not finite or whose corners are in another order, NaN scores, labels outside of 1 to n_classes, or
    ``iou`` outside (0, 1]. The image is named.
    Source: RaMBO Sec. 5.2.

    Examples
    --------
    Two truths side by side, and two detections that both overlap the left one most:

    >>> truths = [{"boxes": torch.tensor([[0, 0, 10, 10], [2, 0, 12, 10]]), "labels": torch.tensor([1, 1])}]
    >>> boxes = torch.tensor([[0, 0, 10, 10], [0.5, 0, 10.5, 10]])
    >>> found = [{"boxes": boxes, "labels": torch.tensor([1, 1]), "scores": torch.tensor([0.9, 0.8])}]
    >>> [match_detections(found, truths, n_classes=1, matching=how).hits.tolist() for how in ("voc", "coco")]
    [[True, False], [True, True]]
    """
    check_count(n_classes, "n_classes", hint="without the background")
    check_number(iou, "iou", above=0, most=1, hint="0.5 for AP50")
    check_choice(matching, ("voc", "coco"), name="matching")
    found = collect(detections, n_classes, name="detections", scored=True)
    true = collect(truths, n_classes, name="truths", scored=False)
    if len(detections) != len(truths):
        raise ValueError(f"detections must be of the {len(truths)} images of truths, got {len(detections)}")
    order = np.argsort(-found.value.numpy(), kind="stable")  # equal scores by image, then by place in its list
    first, took = torch.from_numpy(order), torch.from_numpy(_taken(found, true, order, iou, matching)[order])
    some = took >= 0
    difficult, place = torch.zeros_like(some), torch.full_like(took, -1)
    difficult[some], place[some] = true.value[took[some]], true.place[took[some]]
    return DetectionMatches(
        scores=found.value[first],
        labels=found.label[first],
        hits=some & ~difficult,
        ignored=difficult,
        images=found.image[first],
        places=found.place[first],
        taken=place,
        truths=true.label[~true.value].bincount(minlength=n_classes + 1)[1:],
    )


def evaluate_detections(
    detections: Sequence[Mapping[str, Tensor]],
    truths: Sequence[Mapping[str, Tensor]],
    *,
    n_classes: int,
    iou: float = 0.5,
    interpolation: str = "all-point",
    matching: str = "voc",
) -> dict[str, Any]:
    r"""Compute average precision of a detector, class by class, and its mean (AP⁵⁰ for ``iou=0.5``).

    With :math:`n` truths of a class and :math:`p_k` the precision where the :math:`k`-th of them is found, 0 if it
    never is,

    .. math:: \mathrm{AP} = \frac{1}{n} \sum_{k=1}^{n} \tilde p_k, \qquad \tilde p_k = \max_{j \ge k} p_j.

    Parameters
    ----------
    detections, truths, n_classes, iou, matching
        As :func:`match_detections`.
    interpolation : {"all-point", "101-point", "11-point", "none"}
        The formula above, the area under the precision envelope (VOC since 2010); the mean of that envelope at the
        recalls 0, 0.01, …, 1 (COCO, goes with ``matching="coco"``); at 0, 0.1, …, 1 (VOC 2007); p instead of p̃, which
        is Eq. 4–5. COCO's AP is the mean of the 101-point values at the overlaps 0.5, 0.55, …, 0.95.

    Returns
    -------
    dict
        "AP", a float, is the mean over the classes that have a truth, nan if none has; "per class", float64 of shape
        (C,), is nan for a class without truths; "truths", int64 of shape (C,), counts them without the difficult ones.

    Notes
    -----
    Warns by `UndefinedMetricWarning` once, if classes are left out of the mean. The recalls of 11-point are compared as
    fractions: of 10 truths, 3 reach the recall 0.3. Cost, ties and errors are those of :func:`match_detections`.
    Explained in chapter 16.
    Source: RaMBO Eq. 4; RaMBO Eq. 5; RaMBO Eq. 6; RaMBO Sec. 5.2; RaMBO Tab. 5.

    Examples
    --------
    >>> truths = [{"boxes": torch.tensor([[0, 0, 4, 4], [6, 6, 9, 9]]), "labels": torch.tensor([1, 1])}]
    >>> boxes = torch.tensor([[5, 0, 9, 4], [0, 0, 4, 5], [6, 6, 9, 8]])
    >>> found = [{"boxes": boxes, "labels": torch.ones(3).long(), "scores": torch.tensor([0.9, 0.7, 0.6])}]
    >>> for how in ("none", "all-point", "101-point", "11-point"):
    ...     print(how, round(evaluate_detections(found, truths, n_classes=1, interpolation=how)["AP"], 4))
    none 0.5833
    all-point 0.6667
    101-point 0.6667
    11-point 0.6667
    """
    matches = match_detections(detections, truths, n_classes=n_classes, iou=iou, matching=matching)
    values = matches.average_precision(interpolation)
    missing = (values.isnan().nonzero().flatten() + 1).tolist()
    if missing:
        warnings.warn(
            f"{len(missing)} of {n_classes} classes have no truth: their value is nan, and the mean is over the others "
            f"(labels {', '.join(map(str, missing[:10]))}{', …' if len(missing) > 10 else ''})",
            UndefinedMetricWarning,
            stacklevel=2,
        )
    return {"AP": values.nanmean().item(), "per class": values, "truths": matches.truths}


def _average_precision(hits: Tensor, n: int, interpolation: str) -> float:
    """Compute AP of one class from its ranking of hits and false positives, and the number n of truths."""
    if n == 0:
        return math.nan
    ranks = np.flatnonzero(hits.numpy()) + 1
    precision = np.arange(1, len(ranks) + 1) / ranks
    if interpolation != "none":
        precision = np.maximum.accumulate(precision[::-1])[::-1]
    wanted = np.arange(1, n + 1)  # how many truths must be found
    if interpolation == "11-point":
        wanted = np.maximum(-(-np.arange(11) * n // 10), 1)  # ⌈rn⌉; the envelope at r = 0 is that at the first hit
    elif interpolation == "101-point":  # in floating point, as COCO's program: 7 of 100 truths fall short of 0.07
        wanted = np.searchsorted(wanted / n, np.linspace(0, 1, 101)) + 1
    found = wanted[wanted <= len(ranks)]
    return math.fsum(precision[found - 1]) / len(wanted)


def _taken(detections: Boxes, truths: Boxes, order: Ints, iou: float, matching: str) -> Ints:
    """Return which truth each detection takes, -1 for none, (N,); ``order`` has the best detection first."""
    detection, truth, shared = _close(detections, truths, iou)
    turn = np.empty_like(order)
    turn[order] = np.arange(len(order))
    difficult = truths.value.numpy()
    if matching == "voc":
        wish = np.lexsort((truth, -shared, turn[detection]))  # of equal overlaps the first, as in its program
        wish = wish[np.diff(detection[wish], prepend=-1) != 0]
        stays = difficult.tolist()
    else:
        wish = np.lexsort((-truth, -shared, difficult[truth], turn[detection]))  # here the last, as in its program
        stays = [False] * len(difficult)
    found, gone = [-1] * len(order), [False] * len(stays)
    for d, t in zip(detection[wish].tolist(), truth[wish].tolist(), strict=True):
        if found[d] < 0 and not gone[t]:
            found[d] = t
            gone[t] = not stays[t]
    return np.array(found, dtype=np.int64)


def _close(detections: Boxes, truths: Boxes, iou: float) -> tuple[Ints, Ints, npt.NDArray[np.float64]]:
    """Find the pairs of a detection and a truth of its image and class that overlap by at least iou, and how much."""
    classes = 1 + max((int(x.label.max()) for x in (detections, truths) if len(x.label)), default=0)
    ours, theirs = ((x.image * classes + x.label).numpy() for x in (detections, truths))
    by_group = np.argsort(theirs, kind="stable")
    begin, end = (np.searchsorted(theirs[by_group], ours, side=side) for side in ("left", "right"))
    count = end - begin
    detection = np.repeat(np.arange(len(ours)), count)
    within = np.arange(len(detection)) - np.repeat(np.cumsum(count) - count, count)
    truth = by_group[np.repeat(begin, count) + within]
    shared = overlap(detections.box[torch.from_numpy(detection)], truths.box[torch.from_numpy(truth)]).numpy()
    close = shared >= iou
    return detection[close], truth[close], shared[close]
