"""Average precision of object detection: AP⁵⁰ in the style of Pascal VOC (RaMBO Table 5)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from rankedu.metrics.binary import UndefinedMetricWarning
from rankedu.metrics.matches import match_detections

__all__ = ["evaluate_detections"]


def evaluate_detections(
    detections: Sequence[Mapping[str, Tensor]],
    truths: Sequence[Mapping[str, Tensor]],
    *,
    n_classes: int,
    iou: float = 0.5,
    interpolation: str = "all-point",
    matching: str = "voc",
) -> dict[str, Any]:
    r"""Average precision of a detector, class by class, and its mean (AP⁵⁰ for ``iou=0.5``).

    With :math:`n` truths of a class and :math:`p_k` the precision where the :math:`k`-th of them is found, 0 if it
    never is,

    .. math:: \mathrm{AP} = \frac{1}{n} \sum_{k=1}^{n} \tilde p_k, \qquad \tilde p_k = \max_{j \ge k} p_j.

    Parameters
    ----------
    detections, truths, n_classes, iou, matching
        As :func:`match_detections`.
    interpolation : {"all-point", "11-point", "none"}
        The formula above, which is the area under the precision envelope (VOC since 2010); the mean of that envelope at
        the recalls 0, 0.1, …, 1 (VOC 2007); p instead of p̃, which is Eq. 4–5.

    Returns
    -------
    dict
        ================ ==============================================================================
        ``"AP"``         float, the mean over the classes that have a truth; nan if none has
        ``"per class"``  Tensor of float64, shape (C,); nan for a class without truths
        ``"truths"``     Tensor of int64, shape (C,), truths of each class without the difficult ones
        ================ ==============================================================================

    Notes
    -----
    Warns by `UndefinedMetricWarning` once, if classes are left out of the mean.
    A truth that no detection finds has no score, hence no rank: Eq. 4–5 give it precision 0, the limit of a rank that
    grows without bound. How the three differ:

    * none ≤ all-point, as p ≤ p̃; equal if and only if p never rises.
    * All-point is the integral of the envelope p̃(r) over the recall r, and p̃ never rises. Its sums from the right and
      from the left, with steps of 0.1, enclose the integral:
      :math:`11\,\mathrm{AP}_{11} - \tilde p(0) \le 10\,\mathrm{AP} \le 11\,\mathrm{AP}_{11} - \tilde p(1)`. Hence

      .. math:: -\frac{\mathrm{AP} - \tilde p(1)}{11} \;\le\; \mathrm{AP}_{11} - \mathrm{AP} \;\le\;
                \frac{\tilde p(0) - \mathrm{AP}}{11},

      so the two differ by at most 1/11, either may be the larger, and neither 11-point nor none bounds the other.

    Recalls are compared as fractions: of 10 truths, 3 reach the recall 0.3 (with thresholds from
    ``numpy.arange(0, 1.1, 0.1)`` they would not: the fourth is above 0.3).

    VOC's published boxes count pixels, 1-based and both ends included. (xmin − 1, ymin − 1, xmax, ymax) are the same
    boxes with x2 − x1 as width, and have the same overlaps. An overlap of ``iou`` to the letter counts. O(N log N +
    pairs), as :func:`match_detections`. Ties go by position. Explained in chapter 16.
    Raises ValueError or TypeError as :func:`match_detections`.
    Source: RaMBO Eq. 4; RaMBO Eq. 5; RaMBO Eq. 6; RaMBO Sec. 5.2; RaMBO Tab. 5.

    >>> import torch
    >>> truths = [{"boxes": torch.tensor([[0, 0, 4, 4], [6, 6, 9, 9]]), "labels": torch.tensor([1, 1])}]
    >>> boxes = torch.tensor([[5, 0, 9, 4], [0, 0, 4, 5], [6, 6, 9, 8]])
    >>> found = [{"boxes": boxes, "labels": torch.ones(3).long(), "scores": torch.tensor([0.9, 0.7, 0.6])}]
    >>> for how in ("none", "all-point", "11-point"):
    ...     print(how, round(evaluate_detections(found, truths, n_classes=1, interpolation=how)["AP"], 4))
    none 0.5833
    all-point 0.6667
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
