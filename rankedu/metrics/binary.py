"""Metrics of a ranking in which an item is relevant or not (RaMBO §3.1), and their closed forms for tied items."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from torch import Tensor

from rankedu.checks import check_choice, check_k, relevant_items
from rankedu.metrics._ranking import (
    Depth,
    Floats,
    Groups,
    Ints,
    Mask,
    UndefinedMetricWarning,
    array,
    check_lists,
    per_query,
    rank_lists,
)

__all__ = [
    "UndefinedMetricWarning",
    "average_precision",
    "map_at_r",
    "precision_at_k",
    "r_precision",
    "recall_at_k",
    "recall_share_at_k",
    "reciprocal_rank",
]


def average_precision(
    scores: Tensor,
    relevance: Tensor,
    k: int | None = None,
    *,
    where: Mask = None,
    ties: str = "expected",
    normalize: str = "relevant",
    query: Mask = None,
) -> Tensor:
    r"""Average, over the relevant items, the precision at their ranks. Explained in chapter 1.

    .. math:: \mathrm{AP} = \frac{1}{|\mathrm{rel}|} \sum_{i \in \mathrm{rel}}
              \frac{\mathbf{rk}(\mathbf{y}^+)_i}{\mathbf{rk}(\mathbf{y})_i}

    The mAP of Eq. 6 is the mean over classes, for scores of shape (classes, examples). In expectation, a group of g
    tied items, p of them relevant, that follows s items, t of them relevant, adds

    .. math:: \sum_{j=1}^{g} \frac{p}{g} \cdot \frac{t + 1 + (j - 1)\frac{p - 1}{g - 1}}{s + j}.

    scikit-learn's ``average_precision_score`` is none of the policies for ties: it takes the precision at the end of
    each group, (t + p)/(s + g), for all p items of the group. Without ties all agree.

    Parameters
    ----------
    scores : Tensor, shape (..., n)
        Any float or integer dtype; larger is better.
    relevance : Tensor of bool, or of 0 and 1, shape (..., n)
    k : int, optional
        Only the ranks up to k count (AP@K), by default all.
    where : Tensor of bool, shape (..., n), optional
        Items that take part, by default all.
    ties : {"expected", "ordinal", "pessimistic", "optimistic"}
        What items of equal score are worth: the mean over all their orders; their order by position; relevant items
        last; relevant items first. The first does not depend on the order of the items.
    normalize : {"relevant", "min"}
        What the sum is divided by: R, the number of relevant items, or min(R, k), with which AP@K can always reach 1.
    query : Tensor of int, shape (n,), optional
        For one flat list of scores, (n,): to which query each belongs. The memory is of the order of the input also for
        lists of very different lengths. The values are in the order of the queries' numbers.

    Returns
    -------
    Tensor, shape (...)
        In [0, 1]; float64 for float64 scores, else float32; nan for queries without a relevant item.

    Raises
    ------
    ValueError, TypeError
        For scores that :func:`rankedu.rank` refuses, a relevance of another shape or other than 0 and 1, k < 1, or an
        unknown word.

    Warns
    -----
    UndefinedMetricWarning
        Once, if queries have no relevant item.

    References
    ----------
    RaMBO Eq. 3; RaMBO Eq. 4; RaMBO Eq. 5; RaMBO Eq. 6; RaMBO Eq. 21

    Examples
    --------
    >>> import torch
    >>> relevance = torch.tensor([False, True, True, False])
    >>> average_precision(torch.tensor([0.9, 0.8, 0.7, 0.1]), relevance)
    tensor(0.5833)
    >>> [round(average_precision(torch.zeros(4), relevance, ties=t).item(), 4) for t in ("pessimistic", "expected")]
    [0.4167, 0.6806]
    """
    check_choice(normalize, ("relevant", "min"), name="normalize")
    at_most_k = normalize == "min"
    return _value(scores, relevance, where, ties, query, lambda groups: ap(groups, k, at_most_k), 1 if k is None else k)


def map_at_r(
    scores: Tensor, relevance: Tensor, *, where: Mask = None, ties: str = "expected", query: Mask = None
) -> Tensor:
    r"""Average the precision like AP, down to rank R, the number of relevant items. Explained in chapter 1.

    .. math:: \frac{1}{R} \sum_{i \in \mathrm{rel},\, \mathbf{rk}(\mathbf{y})_i \le R}
              \frac{\mathbf{rk}(\mathbf{y}^+)_i}{\mathbf{rk}(\mathbf{y})_i}

    Parameters
    ----------
    scores, relevance, where, ties, query : as for :func:`average_precision`, also what they raise

    Returns
    -------
    Tensor, shape (...), in [0, 1]; nan for queries without a relevant item

    Examples
    --------
    >>> import torch
    >>> map_at_r(torch.tensor([0.9, 0.8, 0.7, 0.1]), torch.tensor([True, False, True, False]))
    tensor(0.5000)
    """
    return _value(scores, relevance, where, ties, query, lambda groups: ap(groups, groups.size))


def recall_at_k(
    scores: Tensor, relevance: Tensor, k: int, *, where: Mask = None, ties: str = "expected", query: Mask = None
) -> Tensor:
    """Return 1 if a relevant item is among the k best, else 0 (R@K is the mean over queries, also called hit rate).

    With ties it is a probability. Queries without a relevant item get nan, where Eq. 7 has 0. Explained in chapter 1.

    Parameters
    ----------
    scores, relevance, k, where, ties, query : as for :func:`average_precision`, also what they raise

    Returns
    -------
    Tensor, shape (...), in [0, 1]; nan for queries without a relevant item

    References
    ----------
    RaMBO Eq. 7

    Examples
    --------
    >>> import torch
    >>> scores, relevance = torch.tensor([0.9, 0.8, 0.7]), torch.tensor([False, False, True])
    >>> recall_at_k(scores, relevance, k=2), recall_at_k(0 * scores, relevance, k=2)
    (tensor(0.), tensor(0.6667))
    """
    return _value(scores, relevance, where, ties, query, lambda groups: hit(groups, k), k)


def recall_share_at_k(
    scores: Tensor, relevance: Tensor, k: int, *, where: Mask = None, ties: str = "expected", query: Mask = None
) -> Tensor:
    """Compute the share of the relevant items that is among the k best: the recall of information retrieval.

    Explained in chapter 1.

    Parameters
    ----------
    scores, relevance, k, where, ties, query : as for :func:`average_precision`, also what they raise

    Returns
    -------
    Tensor, shape (...), in [0, 1]; nan for queries without a relevant item

    Examples
    --------
    >>> import torch
    >>> scores, relevance = torch.tensor([0.9, 0.8, 0.7]), torch.tensor([True, False, True])
    >>> recall_share_at_k(scores, relevance, k=1), recall_at_k(scores, relevance, k=1)
    (tensor(0.5000), tensor(1.))
    """
    return _value(scores, relevance, where, ties, query, lambda groups: found(groups, k) / groups.size, k)


def precision_at_k(
    scores: Tensor, relevance: Tensor, k: int, *, where: Mask = None, ties: str = "expected", query: Mask = None
) -> Tensor:
    """Compute the share of relevant items among the k best, also where k exceeds n. Explained in chapter 1.

    Parameters
    ----------
    scores, relevance, k, where, ties, query : as for :func:`average_precision`, also what they raise

    Returns
    -------
    Tensor, shape (...), in [0, 1]; nan for queries without a relevant item

    References
    ----------
    RaMBO Eq. 5

    Examples
    --------
    >>> import torch
    >>> precision_at_k(torch.tensor([0.9, 0.8, 0.7, 0.1]), torch.tensor([True, False, True, False]), k=2)
    tensor(0.5000)
    """
    return _value(scores, relevance, where, ties, query, lambda groups: precision(groups, k), k)


def r_precision(
    scores: Tensor, relevance: Tensor, *, where: Mask = None, ties: str = "expected", query: Mask = None
) -> Tensor:
    """Compute the share of relevant items among the R best, where R is their number. Explained in chapter 1.

    Parameters
    ----------
    scores, relevance, where, ties, query : as for :func:`average_precision`, also what they raise

    Returns
    -------
    Tensor, shape (...), in [0, 1]; nan for queries without a relevant item

    Examples
    --------
    >>> import torch
    >>> r_precision(torch.tensor([0.9, 0.8, 0.7, 0.1]), torch.tensor([True, False, True, False]))
    tensor(0.5000)
    """
    return _value(scores, relevance, where, ties, query, lambda groups: found(groups, groups.size) / groups.size)


def reciprocal_rank(
    scores: Tensor, relevance: Tensor, *, where: Mask = None, ties: str = "expected", query: Mask = None
) -> Tensor:
    """Compute one over the rank of the best relevant item (MRR is its mean over queries). Explained in chapter 1.

    Parameters
    ----------
    scores, relevance, where, ties, query : as for :func:`average_precision`, also what they raise

    Returns
    -------
    Tensor, shape (...), in [0, 1]; nan for queries without a relevant item

    Examples
    --------
    >>> import torch
    >>> reciprocal_rank(torch.tensor([0.9, 0.8, 0.7]), torch.tensor([False, True, True]))
    tensor(0.5000)
    """
    return _value(scores, relevance, where, ties, query, mrr)


def _value(
    scores: Tensor,
    relevance: Tensor,
    where: Mask,
    ties: str,
    query: Mask,
    formula: Callable[[Groups], Floats],
    k: int = 1,
) -> Tensor:
    """Check the input, rank the relevant items, and compute the formula."""
    check_k(k)
    check_lists(scores, query)
    positive = relevant_items(scores, relevance, where)
    groups = rank_lists(scores, array(positive), where, ties, query).groups()
    with np.errstate(invalid="ignore"):
        return per_query(formula(groups), scores, query, why="have no relevant item")


# The formulas: groups of equal scores → the expected value of each query, nan for a query without a relevant item.


def precisions(groups: Groups, depth: Depth = None) -> Floats:
    """Add up, over the relevant items down to ``depth``, the expected precision at their ranks."""
    group, step, place = groups.places(depth)
    share = groups.hits / groups.tied
    growth = (groups.hits - 1) / np.maximum(groups.tied - 1, 1)  # of the other relevant items, per place
    return groups.total(share[group] * (groups.before[group] + 1 + step * growth[group]) / place, group)


def ap(groups: Groups, depth: Depth = None, at_most_k: bool = False) -> Floats:
    """Compute the average precision; with ``at_most_k`` the divisor is no larger than the depth."""
    return precisions(groups, depth) / (np.minimum(groups.size, depth) if at_most_k and depth else groups.size)


def found(groups: Groups, depth: Depth) -> Floats:
    """Count the relevant items down to ``depth``."""
    return groups.total(groups.hits * (groups.within(depth) / groups.tied))


def precision(groups: Groups, k: int) -> Floats:
    """Compute the precision at k."""
    return np.where(groups.size > 0, found(groups, k) / k, np.nan)


def hit(groups: Groups, k: int) -> Floats:
    """Compute the probability that one of the first k is relevant: one of the best group, which may reach over k."""
    best = np.flatnonzero(groups.before == 0)
    values = least(groups.hits[best], groups.tied[best], groups.within(k)[best], np.ones_like(best))
    return _of_best(groups, best, values)


def mrr(groups: Groups) -> Floats:
    """Compute the expected reciprocal of the best relevant item's rank."""
    best = np.flatnonzero(groups.before == 0)
    above, tied, hits = groups.above[best], groups.tied[best], groups.hits[best]
    values = 1 / (above + 1.0)
    for i in np.flatnonzero(tied > hits):
        values[i] = _reciprocal(int(above[i]), int(tied[i]), int(hits[i]))
    return _of_best(groups, best, values)


def _of_best(groups: Groups, best: Ints, values: Floats) -> Floats:
    """Give each query the value of its best group."""
    found = np.full(len(groups.size), np.nan)
    found[groups.query[best]] = values
    return found


@lru_cache(1 << 16)
def _reciprocal(above: int, tied: int, hits: int) -> float:
    step = np.arange(tied - hits + 1)
    share = hits / (tied - step)  # probability of a relevant item at this step if none came before
    none_before = np.cumprod(np.concatenate([[1.0], 1 - share[:-1]]))
    return float((none_before * share / (above + 1 + step)).sum())


def least(hits: Ints, tied: Ints, within: Ints, room: Ints) -> Floats:
    """Compute the mean of min(X, room), where X of the hits are among the first ``within`` of the tied."""
    values: Floats = np.minimum(hits * (within / tied), room)
    for i in np.flatnonzero((within < tied) & (room > 0) & (room < np.minimum(hits, within))):
        values[i] = _mean_of_least(int(hits[i]), int(tied[i]), int(within[i]), int(room[i]))
    return values


@lru_cache(1 << 16)
def _mean_of_least(hits: int, tied: int, within: int, room: int) -> float:
    """Compute the mean of min(X, room) for a hypergeometric X, from the ratios of its probabilities."""
    x = np.arange(max(0, within - tied + hits), min(hits, within) + 1)
    ratio = (hits - x) * (within - x) / ((x + 1.0) * (tied - hits - within + x + 1))
    logarithm = np.concatenate([[0.0], np.cumsum(np.log(ratio[:-1]))])
    probability = np.exp(logarithm - logarithm.max())
    return float((probability * np.minimum(x, room)).sum() / probability.sum())
