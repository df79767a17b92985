"""Metrics of a ranking in which an item is relevant or not (RaMBO §3.1)."""

import math
import warnings

import torch
from torch import Tensor

from rankedu.checks import check_choice, check_k, relevant_items
from rankedu.ranks import descending, rank, rank_among


class UndefinedMetricWarning(UserWarning):
    """Some queries have no value, and got nan."""


def per_query(values: Tensor, defined: Tensor, scores: Tensor, *, why: str) -> Tensor:
    """Put nan where the metric is undefined, say for how many queries, and settle the dtype."""
    missing = int((~defined).sum())
    if missing:
        warnings.warn(
            f"{missing} of {defined.numel()} queries {why}: their value is nan (leave them out of a mean with nanmean)",
            UndefinedMetricWarning,
            stacklevel=3,
        )
    dtype = torch.float64 if scores.dtype == torch.float64 else torch.float32
    return values.masked_fill(~defined, torch.nan).to(dtype)


NONE = "have no relevant item"


def _found(scores: Tensor, relevance: Tensor, where: Tensor | None) -> tuple[Tensor, Tensor]:
    """The ranks of the relevant items, infinite for all others, (..., n); and how many there are, (...)."""
    positive = relevant_items(scores, relevance, where)
    ranks = rank(scores, where=where).double().masked_fill(~positive, math.inf)
    return ranks, positive.sum(-1)


def average_precision(
    scores: Tensor, relevance: Tensor, *, where: Tensor | None = None, ties: str = "ordinal", k: int | None = None
) -> Tensor:
    r"""Average, over the relevant items, the precision at their ranks.

    .. math:: \mathrm{AP} = \frac{1}{|\mathrm{rel}|} \sum_{i \in \mathrm{rel}}
              \frac{\mathbf{rk}(\mathbf{y}^+)_i}{\mathbf{rk}(\mathbf{y})_i}

    Parameters
    ----------
    scores : Tensor, shape (..., n)
        Any float or integer dtype; larger is better.
    relevance : Tensor of bool, shape (..., n)
        Numbers that are exactly 0 or 1 will do.
    where : Tensor of bool, shape (..., n), optional
        Items that take part. Default: all.
    ties : {"ordinal", "pessimistic", "optimistic", "expected"}
        Order of tied items: by position; relevant ones last; relevant ones first; the mean over all orders.
    k : int, optional
        Only the ranks up to k count (AP@K); it is divided by the number of all relevant items still. Default: all.

    Notes
    -----
    Returns Tensor, shape (...): in [0, 1], float64 for float64 scores and else float32; nan, and one warning, for
    queries without a relevant item. O(n log n). Eq. 6's mAP is the mean over classes, of scores (classes, examples).
    "expected" is exact: a tied group of g items, p of them relevant, that follows s items, t of them relevant, adds

    .. math:: \sum_{k=1}^{g} \frac{p}{g} \cdot \frac{t + 1 + (k - 1)\frac{p - 1}{g - 1}}{s + k}.

    Explained in chapter 1. Raises ValueError or TypeError as :func:`rankedu.rank`; also for a relevance of another
    shape or neither 0 nor 1, or an unknown ``ties``.
    Source: RaMBO Eq. 3; RaMBO Eq. 4; RaMBO Eq. 5; RaMBO Eq. 6; RaMBO Eq. 21.

    >>> relevance = torch.tensor([False, True, True, False])
    >>> average_precision(torch.tensor([0.9, 0.8, 0.7, 0.1]), relevance)
    tensor(0.5833)
    >>> tied = torch.zeros(4)
    >>> [round(average_precision(tied, relevance, ties=t).item(), 4) for t in ("pessimistic", "expected", "optimistic")]
    [0.4167, 0.6806, 1.0]
    """
    check_choice(ties, ("ordinal", "pessimistic", "optimistic", "expected"), name="ties")
    positive = relevant_items(scores, relevance, where)
    order = descending(scores, where)
    positive_here = order.arrange(positive)
    here = torch.ones_like(positive) if where is None else order.arrange(where)
    ranks, hits = here.cumsum(-1), positive_here.cumsum(-1)
    weight = positive_here.double()
    if ties != "ordinal":
        above, positives_above = order.at_first(ranks - here.long()), order.at_first(hits - positive_here.long())
        size, positives = order.at_last(ranks) - above, order.at_last(hits) - positives_above
        if ties == "expected":
            weight = here * positives.double() / size.clamp(min=1)
            hits = positives_above + 1 + (ranks - above - 1) * (positives - 1).double() / (size - 1).clamp(min=1)
        elif ties == "optimistic":
            ranks = above + hits - positives_above
        else:
            ranks = above + hits - positives_above + size - positives
    if k is not None:
        weight = weight * (ranks <= check_k(k))
    count = positive.sum(-1)
    total = (weight * hits / ranks.clamp(min=1)).sum(-1)
    return per_query(total / count, count > 0, scores, why=NONE)


def map_at_r(scores: Tensor, relevance: Tensor, *, where: Tensor | None = None) -> Tensor:
    r"""Average precision cut off at R, the number of relevant items (mAP@R is its mean over queries).

    .. math:: \frac{1}{R} \sum_{i \in \mathrm{rel},\, \mathbf{rk}(\mathbf{y})_i \le R}
              \frac{\mathbf{rk}(\mathbf{y}^+)_i}{\mathbf{rk}(\mathbf{y})_i}

    Shapes, value, cost and errors as :func:`average_precision`. Ties go by position. Explained in chapter 1.

    >>> map_at_r(torch.tensor([0.9, 0.8, 0.7, 0.1]), torch.tensor([True, False, True, False]))
    tensor(0.5000)
    """
    ranks, count = _found(scores, relevance, where)
    total = (rank_among(scores, ranks <= count.unsqueeze(-1)) / ranks).sum(-1)
    return per_query(total / count, count > 0, scores, why=NONE)


def recall_at_k(scores: Tensor, relevance: Tensor, k: int, *, where: Tensor | None = None) -> Tensor:
    """Is a relevant item among the k best? 1 or 0 for each query; R@K (Eq. 8) is the mean, others call it hit rate.

    Shapes, cost and errors as :func:`average_precision`, and ValueError for k < 1; k may exceed n. Queries without a
    relevant item get nan, where Eq. 7 has 0. Ties go by position. Explained in chapter 1.
    Source: RaMBO Eq. 7.

    >>> scores, relevance = torch.tensor([0.9, 0.8, 0.7]), torch.tensor([False, True, False])
    >>> recall_at_k(scores, relevance, k=1), recall_at_k(scores, relevance, k=2)
    (tensor(0.), tensor(1.))
    """
    ranks, count = _found(scores, relevance, where)
    return per_query((ranks <= check_k(k)).any(-1).double(), count > 0, scores, why=NONE)


def recall_share_at_k(scores: Tensor, relevance: Tensor, k: int, *, where: Tensor | None = None) -> Tensor:
    """Which share of the relevant items is among the k best? The recall of information retrieval.

    All else as :func:`recall_at_k`, the hit rate. Explained in chapter 1.

    >>> scores, relevance = torch.tensor([0.9, 0.8, 0.7]), torch.tensor([True, False, True])
    >>> recall_share_at_k(scores, relevance, k=1), recall_at_k(scores, relevance, k=1)
    (tensor(0.5000), tensor(1.))
    """
    ranks, count = _found(scores, relevance, where)
    return per_query((ranks <= check_k(k)).sum(-1).double() / count, count > 0, scores, why=NONE)


def precision_at_k(scores: Tensor, relevance: Tensor, k: int, *, where: Tensor | None = None) -> Tensor:
    """Share of relevant items among the k best.

    All else as :func:`recall_at_k`; where k exceeds n, the share is of k all the same. Explained in chapter 1.
    Source: RaMBO Eq. 5.

    >>> precision_at_k(torch.tensor([0.9, 0.8, 0.7, 0.1]), torch.tensor([True, False, True, False]), k=2)
    tensor(0.5000)
    """
    ranks, count = _found(scores, relevance, where)
    return per_query((ranks <= check_k(k)).sum(-1).double() / k, count > 0, scores, why=NONE)


def r_precision(scores: Tensor, relevance: Tensor, *, where: Tensor | None = None) -> Tensor:
    """Share of relevant items among the R best, R being their number.

    All else as :func:`map_at_r`. At k = R precision and the share that recall counts are one. Explained in chapter 1.

    >>> r_precision(torch.tensor([0.9, 0.8, 0.7, 0.1]), torch.tensor([True, False, True, False]))
    tensor(0.5000)
    """
    ranks, count = _found(scores, relevance, where)
    return per_query((ranks <= count.unsqueeze(-1)).sum(-1).double() / count, count > 0, scores, why=NONE)


def reciprocal_rank(scores: Tensor, relevance: Tensor, *, where: Tensor | None = None) -> Tensor:
    """One over the rank of the best relevant item (MRR is its mean over queries).

    All else as :func:`map_at_r`. Explained in chapter 1.

    >>> reciprocal_rank(torch.tensor([0.9, 0.8, 0.7]), torch.tensor([False, True, True]))
    tensor(0.5000)
    """
    ranks, count = _found(scores, relevance, where)
    return per_query(1 / ranks.amin(-1), count > 0, scores, why=NONE)
