"""Metrics of a ranking in which an item is relevant or not (RaMBO §3.1)."""

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
    UndefinedMetricWarning,
    array,
    check_query,
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
    where: Tensor | None = None,
    ties: str = "expected",
    normalize: str = "relevant",
    query: Tensor | None = None,
) -> Tensor:
    r"""Average, over the relevant items, the precision at their ranks.

    .. math:: \mathrm{AP} = \frac{1}{|\mathrm{rel}|} \sum_{i \in \mathrm{rel}}
              \frac{\mathbf{rk}(\mathbf{y}^+)_i}{\mathbf{rk}(\mathbf{y})_i}

    The mAP of Eq. 6 is the mean over classes, for scores of shape (classes, examples). Explained in chapter 1.

    Parameters
    ----------
    scores : Tensor, shape (..., n)
        Any float or integer dtype; larger is better.
    relevance : Tensor of bool, shape (..., n)
        Which items are relevant. Numbers that are exactly 0 or 1 are accepted, too.
    k : int, optional
        Only the ranks up to k count (AP@K). Default: all.
    where : Tensor of bool, shape (..., n), optional
        Items that take part. Default: all.
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

    Notes
    -----
    The time is O(n log n). In expectation, a group of g tied items, p of them relevant, that follows s items, t of them
    relevant, adds

    .. math:: \sum_{j=1}^{g} \frac{p}{g} \cdot \frac{t + 1 + (j - 1)\frac{p - 1}{g - 1}}{s + j}.

    scikit-learn's ``average_precision_score`` is none of the four: it takes the precision at the end of each group,
    (t + p)/(s + g), for all p items of the group. Without ties all agree.

    References
    ----------
    RaMBO Eq. 3; RaMBO Eq. 4; RaMBO Eq. 5; RaMBO Eq. 6; RaMBO Eq. 21.

    Examples
    --------
    >>> import torch
    >>> relevance = torch.tensor([False, True, True, False])
    >>> average_precision(torch.tensor([0.9, 0.8, 0.7, 0.1]), relevance)
    tensor(0.5833)
    >>> tied = torch.zeros(4)
    >>> [round(average_precision(tied, relevance, ties=t).item(), 4) for t in ("pessimistic", "expected", "optimistic")]
    [0.4167, 0.6806, 1.0]
    """
    check_choice(normalize, ("relevant", "min"), name="normalize")
    return _value(scores, relevance, where, ties, query, lambda groups: ap(groups, _checked(k), normalize == "min"))


def map_at_r(
    scores: Tensor,
    relevance: Tensor,
    *,
    where: Tensor | None = None,
    ties: str = "expected",
    query: Tensor | None = None,
) -> Tensor:
    r"""Average the precision like AP, down to rank R, the number of relevant items (mAP@R is its mean over queries).

    .. math:: \frac{1}{R} \sum_{i \in \mathrm{rel},\, \mathbf{rk}(\mathbf{y})_i \le R}
              \frac{\mathbf{rk}(\mathbf{y}^+)_i}{\mathbf{rk}(\mathbf{y})_i}

    Explained in chapter 1.

    Parameters
    ----------
    scores, relevance, where, ties, query
        As for :func:`average_precision`.

    Returns
    -------
    Tensor, shape (...)
        In [0, 1]; nan for queries without a relevant item.

    Raises
    ------
    ValueError, TypeError
        As for :func:`average_precision`.

    Examples
    --------
    >>> import torch
    >>> map_at_r(torch.tensor([0.9, 0.8, 0.7, 0.1]), torch.tensor([True, False, True, False]))
    tensor(0.5000)
    """
    return _value(scores, relevance, where, ties, query, lambda groups: ap(groups, groups.size))


def recall_at_k(
    scores: Tensor,
    relevance: Tensor,
    k: int,
    *,
    where: Tensor | None = None,
    ties: str = "expected",
    query: Tensor | None = None,
) -> Tensor:
    """Return 1 if a relevant item is among the k best, else 0 (R@K is the mean over queries, also called hit rate).

    With ties it is a probability. Queries without a relevant item get nan, where Eq. 7 has 0. Explained in chapter 1.

    Parameters
    ----------
    scores, relevance, k, where, ties, query
        As for :func:`average_precision`.

    Returns
    -------
    Tensor, shape (...)
        In [0, 1]; nan for queries without a relevant item.

    Raises
    ------
    ValueError, TypeError
        As for :func:`average_precision`.

    References
    ----------
    RaMBO Eq. 7.

    Examples
    --------
    >>> import torch
    >>> scores, relevance = torch.tensor([0.9, 0.8, 0.7]), torch.tensor([False, False, True])
    >>> [round(recall_at_k(y, relevance, k=2).item(), 4) for y in (scores, scores.flip(0), 0 * scores)]
    [0.0, 1.0, 0.6667]
    """
    check_k(k)
    return _value(scores, relevance, where, ties, query, lambda groups: hit(groups, k))


def recall_share_at_k(
    scores: Tensor,
    relevance: Tensor,
    k: int,
    *,
    where: Tensor | None = None,
    ties: str = "expected",
    query: Tensor | None = None,
) -> Tensor:
    """Compute the share of the relevant items that is among the k best: the recall of information retrieval.

    Explained in chapter 1.

    Parameters
    ----------
    scores, relevance, k, where, ties, query
        As for :func:`average_precision`.

    Returns
    -------
    Tensor, shape (...)
        In [0, 1]; nan for queries without a relevant item.

    Raises
    ------
    ValueError, TypeError
        As for :func:`average_precision`.

    Examples
    --------
    >>> import torch
    >>> scores, relevance = torch.tensor([0.9, 0.8, 0.7]), torch.tensor([True, False, True])
    >>> recall_share_at_k(scores, relevance, k=1), recall_at_k(scores, relevance, k=1)
    (tensor(0.5000), tensor(1.))
    """
    check_k(k)
    return _value(scores, relevance, where, ties, query, lambda groups: found(groups, k) / groups.size)


def precision_at_k(
    scores: Tensor,
    relevance: Tensor,
    k: int,
    *,
    where: Tensor | None = None,
    ties: str = "expected",
    query: Tensor | None = None,
) -> Tensor:
    """Compute the share of relevant items among the k best.

    It is a share of k also where k exceeds n. Explained in chapter 1.

    Parameters
    ----------
    scores, relevance, k, where, ties, query
        As for :func:`average_precision`.

    Returns
    -------
    Tensor, shape (...)
        In [0, 1]; nan for queries without a relevant item.

    Raises
    ------
    ValueError, TypeError
        As for :func:`average_precision`.

    References
    ----------
    RaMBO Eq. 5.

    Examples
    --------
    >>> import torch
    >>> precision_at_k(torch.tensor([0.9, 0.8, 0.7, 0.1]), torch.tensor([True, False, True, False]), k=2)
    tensor(0.5000)
    """
    check_k(k)
    return _value(scores, relevance, where, ties, query, lambda groups: precision(groups, k))


def r_precision(
    scores: Tensor,
    relevance: Tensor,
    *,
    where: Tensor | None = None,
    ties: str = "expected",
    query: Tensor | None = None,
) -> Tensor:
    """Compute the share of relevant items among the R best, where R is their number; it equals the recall share at R.

    Explained in chapter 1.

    Parameters
    ----------
    scores, relevance, where, ties, query
        As for :func:`average_precision`.

    Returns
    -------
    Tensor, shape (...)
        In [0, 1]; nan for queries without a relevant item.

    Raises
    ------
    ValueError, TypeError
        As for :func:`average_precision`.

    Examples
    --------
    >>> import torch
    >>> r_precision(torch.tensor([0.9, 0.8, 0.7, 0.1]), torch.tensor([True, False, True, False]))
    tensor(0.5000)
    """
    return _value(scores, relevance, where, ties, query, lambda groups: found(groups, groups.size) / groups.size)


def reciprocal_rank(
    scores: Tensor,
    relevance: Tensor,
    *,
    where: Tensor | None = None,
    ties: str = "expected",
    query: Tensor | None = None,
) -> Tensor:
    """Compute one over the rank of the best relevant item (MRR is its mean over queries).

    Explained in chapter 1.

    Parameters
    ----------
    scores, relevance, where, ties, query
        As for :func:`average_precision`.

    Returns
    -------
    Tensor, shape (...)
        In [0, 1]; nan for queries without a relevant item.

    Raises
    ------
    ValueError, TypeError
        As for :func:`average_precision`.

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
    where: Tensor | None,
    ties: str,
    query: Tensor | None,
    formula: Callable[[Groups], Floats],
) -> Tensor:
    check_query(query, scores)
    positive = relevant_items(scores, relevance, where)
    groups = rank_lists(scores, array(positive), where, ties, query).groups()
    with np.errstate(invalid="ignore"):
        return per_query(formula(groups), scores, query, why="have no relevant item")


def _checked(k: int | None) -> int | None:
    return None if k is None else check_k(k)


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
    """Compute the probability that one of the first k is relevant: hypergeometric where the best group reaches over k.

    With c of the group's g places among the first k, all of them are irrelevant with probability C(g − p, c) / C(g, c).
    """
    best = np.flatnonzero(groups.before == 0)
    count, tied, hits = groups.within(k)[best], groups.tied[best], groups.hits[best]
    values = np.where(count + hits > tied, 1.0, 0.0)
    for i in np.flatnonzero((count > 0) & (values == 0)):
        values[i] = _hit(int(count[i]), int(tied[i]), int(hits[i]))
    return _of_best(groups, best, values)


@lru_cache(1 << 16)
def _hit(count: int, tied: int, hits: int) -> float:
    few, many = sorted((count, hits))  # C(g − p, c) / C(g, c) = C(g − c, p) / C(g, p)
    step = np.arange(few)
    return 1 - float(np.prod((tied - many - step) / (tied - step)))


def mrr(groups: Groups) -> Floats:
    """Compute the expected reciprocal of the best relevant item's rank."""
    best = np.flatnonzero(groups.before == 0)
    above, tied, hits = groups.above[best], groups.tied[best], groups.hits[best]
    values = 1 / (above + 1.0)
    for i in np.flatnonzero(tied > hits):
        values[i] = _reciprocal(int(above[i]), int(tied[i]), int(hits[i]))
    return _of_best(groups, best, values)


@lru_cache(1 << 16)
def _reciprocal(above: int, tied: int, hits: int) -> float:
    step = np.arange(tied - hits + 1)
    share = hits / (tied - step)  # probability of a relevant item at this step if none came before
    none_before = np.cumprod(np.concatenate([[1.0], 1 - share[:-1]]))
    return float((none_before * share / (above + 1 + step)).sum())


def _of_best(groups: Groups, best: Ints, values: Floats) -> Floats:
    """Give each query the value of its best group."""
    found = np.full(len(groups.size), np.nan)
    found[groups.query[best]] = values
    return found
