"""What detections hit, and how proposals score for their classes."""

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from rankedu_lab.detections import match_detections
from rankedu_lab.experiments.detection_data import Proposals, first_ones

Detections = Mapping[str, Tensor]
Scored = tuple[Tensor, Tensor]


def found_of(detections: Detections, target: Detections) -> float:
    """The share of a scene's objects that are among its first detections, of which as many count; nan without objects.

    >>> boxes = torch.tensor([[0, 0, 4, 4], [6, 6, 9, 9]])
    >>> target = {"boxes": boxes, "labels": torch.tensor([1, 2])}
    >>> found_of({"boxes": boxes, "labels": torch.tensor([1, 1]), "scores": torch.tensor([0.9, 0.2])}, target)
    0.5
    """
    objects = len(target["labels"])
    if not objects:
        return math.nan
    return int((taken_by(first_ones(detections, objects), target) >= 0).sum()) / objects


def taken_by(detections: Detections, target: Detections) -> Tensor:
    """Which object of its class each detection, sorted by score, has found: int64 (n,), -1 for a false alarm."""
    truth = {name: target[name] for name in ("boxes", "labels")}
    n_classes = int(torch.cat([detections["labels"], truth["labels"]]).max())
    return match_detections([detections], [truth], n_classes=n_classes).taken


def scored(found: Proposals, members: Tensor) -> tuple[Scored, Scored]:
    """Scores with their weights: of the proposals that hold the class that they are scored for, and of the others."""
    chances = found.logits.double().log_softmax(dim=1)[:, members]
    odds = chances - torch.log(-torch.expm1(chances.clamp(max=-1e-12)))
    holds = found.labels[:, None] == members
    counts = found.weights[:, None].double().expand_as(odds)
    return (odds[holds], counts[holds]), (odds[~holds], counts[~holds])


def rivals(positive: Scored, negative: Scored) -> tuple[float, float]:
    """The median of the positives, and the share of negatives in what scores above it."""
    if not len(positive[0]):
        return math.nan, math.nan
    scores, order = positive[0].sort()
    weights = positive[1][order].cumsum(0)
    middle = scores[int(torch.searchsorted(weights, weights[-1] / 2))]
    right, wrong = (float(counts[values >= middle].sum()) for values, counts in (positive, negative))
    return float(middle), wrong / (right + wrong)
