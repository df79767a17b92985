"""Which detection takes which true box: the rules of the Pascal VOC and of the COCO evaluation."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch

from rankedu.metrics._boxes import Boxes
from rankedu.metrics.overlaps import overlap

Ints = npt.NDArray[np.int64]


def taken(detections: Boxes, truths: Boxes, order: Ints, iou: float, matching: str) -> Ints:
    """Which truth each detection takes, -1 for none, (N,); the rules are told in `match_detections`."""
    detection, truth, shared = _close(detections, truths, iou)
    turn = np.empty_like(order)
    turn[order] = np.arange(len(order))
    difficult = truths.value.numpy()
    if matching == "voc":
        wish = np.lexsort((truth, -shared, turn[detection]))  # of equal overlaps the first, as in its program
        wish = wish[np.diff(detection[wish], prepend=-1) != 0]
        reusable = difficult
    else:
        wish = np.lexsort((-truth, -shared, difficult[truth], turn[detection]))  # here the last, as in its program
        reusable = np.zeros_like(difficult)
    return _serve(detection[wish], truth[wish], len(order), reusable)


def _serve(detection: Ints, truth: Ints, n: int, reusable: npt.NDArray[np.bool_]) -> Ints:
    """Go through the wishes in order, and fulfil each that finds both its detection and its truth free."""
    found = [-1] * n
    gone = [False] * len(reusable)
    stays = reusable.tolist()
    for d, t in zip(detection.tolist(), truth.tolist(), strict=True):
        if found[d] < 0 and not gone[t]:
            found[d] = t
            gone[t] = not stays[t]
    return np.array(found, dtype=np.int64)


def _close(detections: Boxes, truths: Boxes, iou: float) -> tuple[Ints, Ints, npt.NDArray[np.float64]]:
    """All pairs of a detection and a truth of its image and class that overlap by at least iou, and by how much."""
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
