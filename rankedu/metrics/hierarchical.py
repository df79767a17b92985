"""Metrics of a ranking whose items are more or less relevant: H-AP, set intersections, and AP by level."""

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from rankedu.checks import check_like, check_values, check_where
from rankedu.hierarchy import check_levels, check_n_levels
from rankedu.metrics._ranking import (
    Bools,
    Floats,
    Groups,
    Ints,
    Ranking,
    array,
    check_grades,
    check_query,
    numbers,
    per_query,
    rank_lists,
)
from rankedu.metrics.binary import ap, precisions

__all__ = [
    "average_precision_per_level",
    "average_set_intersection",
    "hierarchical_average_precision",
    "hierarchical_rank",
]

#: Relevances that differ by less, relative to the larger one, are equal but for rounding.
ROUNDING = 1e-12


def hierarchical_rank(
    scores: Tensor,
    relevance: Tensor,
    *,
    where: Tensor | None = None,
    ties: str = "expected",
    query: Tensor | None = None,
) -> Tensor:
    r"""Count the items ranked at or above each item, each by the relevance that the two have in common.

    .. math:: \mathcal{H}\text{-}\mathrm{rank}(k) = \mathrm{rel}(k)
              + \sum_{j : s_j > s_k} \min(\mathrm{rel}(k), \mathrm{rel}(j))

    Explained in chapter 13.

    Parameters
    ----------
    scores
        As for :func:`average_precision`.
    relevance : Tensor, shape (..., n)
        Finite and ≥ 0, any dtype, e.g. of :func:`rankedu.hierarchy.relevance`.
    where, ties, query
        As for :func:`average_precision`; among tied items "optimistic" and "pessimistic" are orders by relevance.

    Returns
    -------
    Tensor, shape (..., n)
        At most rank(k) · rel(k), which it is if no item above k is less relevant; 0 outside ``where``; float64 for
        float64 scores, else float32. With binary relevance it is the rank among the relevant items.

    Raises
    ------
    ValueError, TypeError
        As :func:`rankedu.rank`, and for a relevance of another shape, negative or not finite.

    References
    ----------
    HAPPIER Eq. 2; HAPPIER Fig. 3.

    Examples
    --------
    >>> import torch
    >>> scores = torch.tensor([0.9, 0.8])
    >>> hierarchical_rank(scores, torch.tensor([2 / 3, 1]))  # the second: 5/3
    tensor([0.6667, 1.6667])
    >>> hierarchical_rank(scores, torch.tensor([1 / 3, 1]))  # the second: 4/3
    tensor([0.3333, 1.3333])
    """
    ranking = _ranking(scores, relevance, where, ties, query)
    ranks = np.zeros(scores.numel())
    for step, member, groups in nested(ranking):
        among = np.repeat(groups.before + (groups.hits + 1) / 2, groups.hits)
        ranks[ranking.item[member]] += step[ranking.query[member]] * among
    dtype = torch.float64 if scores.dtype == torch.float64 else torch.float32
    return torch.from_numpy(ranks.astype(str(dtype)[6:])).reshape(scores.shape).to(scores.device)


def hierarchical_average_precision(
    scores: Tensor,
    relevance: Tensor,
    *,
    where: Tensor | None = None,
    ties: str = "expected",
    query: Tensor | None = None,
) -> Tensor:
    r"""Compute the average precision for graded relevance (H-AP).

    .. math:: \mathcal{H}\text{-}\mathrm{AP} = \frac{1}{\sum_k \mathrm{rel}(k)}
              \sum_{k : \mathrm{rel}(k) > 0} \frac{\mathcal{H}\text{-}\mathrm{rank}(k)}{\mathbf{rk}(\mathbf{y})_k}

    Explained in chapter 13.

    Parameters
    ----------
    scores, relevance, where, ties, query
        As for :func:`hierarchical_rank`; the scale of the relevance does not matter.

    Returns
    -------
    Tensor, shape (...)
        In [0, 1], 1 if and only if the ranking is sorted by relevance; float64 for float64 scores, else float32; nan
        for queries without a relevance above 0. With binary relevance it is :func:`average_precision`.

    Raises
    ------
    ValueError, TypeError
        As :func:`hierarchical_rank`.

    Warns
    -----
    UndefinedMetricWarning
        Once, if queries have no relevance above 0.

    Notes
    -----
    H-AP is computed as a sum over nested sets: each distinct relevance adds its step times the sum of the precisions
    within the set of items that have at least this relevance. The time is O(n log n + L n) for L distinct relevances;
    relevances that differ by rounding only (by less than 1e-12 of their size) are one.

    References
    ----------
    HAPPIER Eq. 1; HAPPIER Eq. 3.

    Examples
    --------
    >>> import torch
    >>> relevance = torch.tensor([1.0, 2 / 3, 0.0, 1 / 3])
    >>> hierarchical_average_precision(torch.tensor([0.9, 0.8, 0.1, 0.7]), relevance)
    tensor(1.)
    >>> hierarchical_average_precision(torch.tensor([0.8, 0.9, 0.7, 0.1]), relevance)
    tensor(0.8750)
    """
    ranking = _ranking(scores, relevance, where, ties, query)
    return per_query(h_ap(ranking), scores, query, why="have no relevance above 0")


def _ranking(scores: Tensor, relevance: Tensor, where: Tensor | None, ties: str, query: Tensor | None) -> Ranking:
    check_query(query, scores)
    return rank_lists(scores, check_grades(relevance, scores, where), where, ties, query)


def nested(ranking: Ranking) -> Iterator[tuple[Floats, Bools, Groups]]:
    """Go through the sets of items that have at least so large a grade: the grade's step per query, and the set."""
    query, grade = ranking.query, ranking.grade
    order = np.lexsort((grade, query))
    ascending = grade[order]
    new = np.ones(len(order), np.bool_)
    new[1:] = (query[1:] != query[:-1]) | (ascending[1:] > ascending[:-1] * (1 + ROUNDING))
    size = np.bincount(query, minlength=ranking.queries)
    start = np.cumsum(size) - size
    distinct = np.cumsum(new)
    number = np.empty(len(order), np.int64)
    number[order] = distinct - distinct[start[query]]  # of the grade among those of the query, from 0
    below = np.zeros(ranking.queries)
    for t in range(number.max(initial=-1) + 1):
        these = new & (number[order] == t)
        value = below.copy()
        value[query[these]] = ascending[these]
        member = number >= t
        yield value - below, member, ranking.groups(member)
        below = value


def h_ap(ranking: Ranking) -> Floats:
    """Compute H-AP with the grades as relevances; nan for a query without items."""
    total = np.zeros(ranking.queries)
    for step, _, groups in nested(ranking):
        total += step * precisions(groups)
    with np.errstate(invalid="ignore"):
        return np.minimum(total / np.bincount(ranking.query, ranking.grade, ranking.queries), 1.0)


def average_set_intersection(
    scores: Tensor, levels: Tensor, *, where: Tensor | None = None, ties: str = "expected", query: Tensor | None = None
) -> Tensor:
    r"""Compare the levels found in the top k with those of the ideal top k, averaged over k (ASI@R).

    .. math:: \mathrm{ASI} = \frac{1}{R} \sum_{k=1}^{R} \frac{1}{k} \sum_{v \ge 1}
              \min(|\mathrm{top}_k \cap \Omega^{(v)}|, |\mathrm{ideal}_k \cap \Omega^{(v)}|),
              \qquad R = |\Omega^{(\ge 1)}|

    Explained in chapter 13.

    Parameters
    ----------
    scores
        As for :func:`average_precision`.
    levels : Tensor of int, shape (..., n)
        0 is nothing in common with the query.
    where, ties, query
        As for :func:`average_precision`; among tied items "optimistic" and "pessimistic" are orders by level.

    Returns
    -------
    Tensor, shape (...)
        In [0, 1], 1 if and only if the ranking is sorted by level; float64 for float64 scores, else float32; nan for
        queries without an item of level 1 or more.

    Raises
    ------
    ValueError, TypeError
        As :func:`rankedu.rank`, and for levels of another shape, negative or not integer.

    Warns
    -----
    UndefinedMetricWarning
        Once, if queries have no item of level 1 or more.

    References
    ----------
    HAPPIER Sec. 4.1.

    Examples
    --------
    >>> import torch
    >>> levels = torch.tensor([2, 1, 0])
    >>> average_set_intersection(torch.tensor([0.9, 0.8, 0.7]), levels)
    tensor(1.)
    >>> average_set_intersection(torch.tensor([0.8, 0.9, 0.7]), levels)  # (0/1 + 2/2) / 2
    tensor(0.5000)
    """
    ranking = _of_levels(scores, levels, where, ties, query)
    return per_query(asi(ranking), scores, query, why="have no item of level 1 or more")


def asi(ranking: Ranking) -> Floats:
    """Compute ASI with the grades as levels; nan for a query without items."""
    groups = ranking.groups()
    depth = numbers(ranking.query, groups.size) + 1  # 1 … R of each query
    room = max(int(x.max(initial=0)) for x in (depth, groups.above)) + 1
    at = np.searchsorted(groups.query * room + groups.above, ranking.query * room + depth - 1, side="right") - 1
    reached = (at >= 0) & (groups.query[at] == ranking.query)  # otherwise all the depth is above the best group
    tied = groups.tied[at]
    within = np.minimum(depth - groups.above[at], tied)  # places of the group that are in the top k
    finer = np.zeros(ranking.queries, np.int64)
    common = np.zeros(len(depth))
    for level in np.unique(ranking.grade)[::-1]:
        of_level = ranking.grade == level
        hits = np.add.reduceat(of_level, groups.first, dtype=np.int64)
        size = np.bincount(ranking.query, of_level, ranking.queries).astype(np.int64)
        so_far = np.cumsum(hits) - hits
        before = so_far - so_far[np.searchsorted(groups.query, groups.query)]
        ideal = np.clip(depth - finer[ranking.query], 0, size[ranking.query])
        common += reached * _least(before[at], hits[at], tied, within, ideal)
        finer += size
    with np.errstate(invalid="ignore"):
        return np.bincount(ranking.query, common / depth, ranking.queries) / groups.size


def _least(before: Ints, hits: Ints, tied: Ints, within: Ints, ideal: Ints) -> Floats:
    """Compute the mean of min(before + X, ideal), where X of the hits are among the first ``within`` of the tied."""
    room = ideal - before
    values: Floats = before + np.minimum(hits * (within / tied), room)
    for i in np.flatnonzero((within < tied) & (room > 0) & (room < np.minimum(hits, within))):
        values[i] = before[i] + _mean_of_least(int(hits[i]), int(tied[i]), int(within[i]), int(room[i]))
    return values


@lru_cache(1 << 16)
def _mean_of_least(hits: int, tied: int, within: int, room: int) -> float:
    """Compute the mean of min(X, room) for a hypergeometric X, from the ratios of its probabilities."""
    x = np.arange(max(0, within - tied + hits), min(hits, within) + 1)
    ratio = (hits - x) * (within - x) / ((x + 1.0) * (tied - hits - within + x + 1))
    logarithm = np.concatenate([[0.0], np.cumsum(np.log(ratio[:-1]))])
    probability = np.exp(logarithm - logarithm.max())
    return float((probability * np.minimum(x, room)).sum() / probability.sum())


def average_precision_per_level(
    scores: Tensor,
    levels: Tensor,
    *,
    where: Tensor | None = None,
    n_levels: int | None = None,
    ties: str = "expected",
    query: Tensor | None = None,
) -> Tensor:
    """Compute the average precision at each level of a hierarchy, where items of that level or finer are relevant.

    Explained in chapter 13.

    Parameters
    ----------
    scores, levels, where
        As for :func:`average_set_intersection`.
    n_levels : int, optional
        L. Default: the largest level that occurs.
    ties, query
        As for :func:`average_set_intersection`.

    Returns
    -------
    Tensor, shape (..., L)
        From level 1, the coarsest, to L, the leaves; nan where no item reaches the level.

    Raises
    ------
    ValueError, TypeError
        As :func:`average_set_intersection`, and for less levels than occur.

    Warns
    -----
    UndefinedMetricWarning
        Once, if queries have no item of a level.

    References
    ----------
    HAPPIER Eq. 1; HAPPIER Sec. 4.1.

    Examples
    --------
    >>> import torch
    >>> average_precision_per_level(torch.tensor([0.9, 0.8, 0.7]), torch.tensor([1, 0, 2]))
    tensor([0.8333, 0.3333])
    """
    ranking = _of_levels(scores, levels, where, ties, query)
    n_levels = check_n_levels(check_levels(levels), n_levels)
    with np.errstate(invalid="ignore"):
        values = [ap(ranking.groups(ranking.grade >= level)) for level in range(1, n_levels + 1)]
    return per_query(np.stack(values, 1), scores, query, why="and levels have no item of that level or finer")


def _of_levels(scores: Tensor, levels: Tensor, where: Tensor | None, ties: str, query: Tensor | None) -> Ranking:
    check_query(query, scores)
    check_values(scores)
    check_where(where, scores)
    check_levels(levels)
    check_like(levels, scores, name="levels")
    return rank_lists(scores, array(levels) if where is None else array(levels * where), where, ties, query)
