"""Metrics of a ranking whose items are more or less relevant, and of two rankings."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from rankedu.checks import as_graded, check_k, check_like, check_not_nan, check_values, check_where
from rankedu.hierarchy import check_levels, check_n_levels
from rankedu.metrics._ranking import (
    Bools,
    Floats,
    Groups,
    Mask,
    Ranking,
    array,
    check_lists,
    count_all,
    numbers,
    per_query,
    rank_lists,
)
from rankedu.metrics.binary import ap, least, precisions

__all__ = [
    "average_precision_per_level",
    "average_set_intersection",
    "hierarchical_average_precision",
    "hierarchical_rank",
    "ndcg",
    "spearman",
]

#: Relevances that differ by less, relative to the larger one, are equal but for rounding.
ROUNDING = 1e-12


def ndcg(
    scores: Tensor,
    gains: Tensor,
    k: int | None = None,
    *,
    where: Mask = None,
    ties: str = "expected",
    query: Mask = None,
) -> Tensor:
    r"""Compute the discounted cumulative gain, relative to the best that an order can reach. Explained in chapter 1.

    .. math:: \mathrm{DCG}(\mathbf{y}) = \sum_i \frac{\mathrm{gain}_i}{\log_2(1 + \mathbf{rk}(\mathbf{y})_i)}, \qquad
              \mathrm{NDCG}(\mathbf{y}) = \frac{\mathrm{DCG}(\mathbf{y})}{\mathrm{DCG}(\mathbf{gain})}

    Parameters
    ----------
    scores, gains, k, where, ties, query : as for :func:`average_precision`
        With gains in place of relevance: finite and ≥ 0, of any dtype, for levels of relevance usually ``2.0**levels -
        1``. "optimistic" and "pessimistic" order tied items by gain.

    Returns
    -------
    Tensor, shape (...), in [0, 1]; nan for queries whose gains are all 0

    Raises
    ------
    ValueError, TypeError
        As :func:`average_precision`, and for gains of another shape, negative or not finite.

    References
    ----------
    HAPPIER Sec. 4.1

    Examples
    --------
    >>> import torch
    >>> ndcg(torch.tensor([0.9, 0.8, 0.7]), 2.0 ** torch.tensor([0, 2, 1]) - 1)
    tensor(0.6590)
    """
    check_k(1 if k is None else k)
    check_lists(scores, query)
    grades = as_graded(gains, scores, where, name="gains", hint="a level l gains 2**l - 1; 0 is of no use")
    ranking = rank_lists(scores, array(grades), where, ties, query)
    return per_query(ratio_of_gains(ranking, k), scores, query, why="have no gain above 0")


def ratio_of_gains(ranking: Ranking, k: int | None = None) -> Floats:
    """Compute NDCG with the grades as gains: each of the tied items gets the mean gain of its group."""
    groups = ranking.groups()
    mean = np.add.reduceat(ranking.grade, groups.first) / groups.tied if len(groups.first) else groups.hits
    group, _, place = groups.places(k)
    reached = groups.total(mean[group] / np.log2(1.0 + place), group)
    order = np.lexsort((-ranking.grade, ranking.query))
    place = numbers(ranking.query, groups.size) + 1
    gained = ranking.grade[order] / np.log2(1.0 + place)
    best = np.bincount(ranking.query, gained if k is None else gained * (place <= k), ranking.queries)
    with np.errstate(invalid="ignore"):
        return np.minimum(reached / best, 1.0)  # rounding could pass the bound


def spearman(scores: Tensor, target: Tensor, *, where: Mask = None, query: Mask = None) -> Tensor:
    """Correlate the ranks of the scores with the ranks of the target (Spearman's ρ). Explained in chapter 1.

    Tied items share the mean of their ranks, as in SciPy, so the order of the items does not matter.

    Parameters
    ----------
    scores, target : Tensor, shape (..., n)
        Any float or integer dtype.
    where, query : as for :func:`average_precision`

    Returns
    -------
    Tensor, shape (...), in [−1, 1]; nan where all scores, or all targets, are equal

    Raises
    ------
    ValueError, TypeError
        As :func:`rankedu.rank`, for the scores and for the target.

    References
    ----------
    RaMBO Sec. 1

    Examples
    --------
    >>> import torch
    >>> spearman(torch.tensor([0.1, 0.5, 0.9]), torch.tensor([1, 3, 2]))
    tensor(0.5000)
    """
    check_lists(scores, query)
    check_target(scores, target, where)
    centred, of_query = np.zeros((2, scores.numel())), np.zeros(scores.numel(), np.int64)
    for row, values in zip(centred, (scores, target), strict=True):
        queries, number, item, above, tied = count_all(values, where, query)
        of_query[item] = number
        row[item] = 2 * above + tied - np.bincount(number, minlength=queries)[number]  # twice the rank less its mean
    x, y = centred
    of_scores, of_target, common = (np.bincount(of_query, product, queries) for product in (x * x, y * y, x * y))
    with np.errstate(invalid="ignore"):
        correlation = np.clip(common / np.sqrt(of_scores * of_target), -1.0, 1.0)
    return per_query(correlation, scores, query, why="have fewer than two distinct ranks")


def check_target(scores: Tensor, target: Tensor, where: Mask) -> None:
    """Check two lists of one shape that can be ranked."""
    check_values(target, name="target")
    check_like(target, scores, name="target")
    check_where(where, scores)
    check_not_nan(scores, where)
    check_not_nan(target, where, name="target")


def hierarchical_rank(
    scores: Tensor, relevance: Tensor, *, where: Mask = None, ties: str = "expected", query: Mask = None
) -> Tensor:
    r"""Count the items ranked at or above each item, each by the relevance that the two have in common.

    .. math:: \mathcal{H}\text{-}\mathrm{rank}(k) = \mathrm{rel}(k)
              + \sum_{j : s_j > s_k} \min(\mathrm{rel}(k), \mathrm{rel}(j))

    With binary relevance it is the rank among the relevant items. Explained in chapter 13.

    Parameters
    ----------
    scores, relevance, where, ties, query : as for :func:`average_precision`, errors included
        With a relevance that is finite and ≥ 0, such as that of :func:`rankedu.hierarchy.relevance`. "optimistic" and
        "pessimistic" order tied items by relevance.

    Returns
    -------
    Tensor, shape (..., n)
        At most rank(k) · rel(k), which it is if no item above k is less relevant; 0 outside ``where``.

    References
    ----------
    HAPPIER Eq. 2; HAPPIER Fig. 3

    Examples
    --------
    >>> import torch
    >>> hierarchical_rank(torch.tensor([0.9, 0.8]), torch.tensor([2 / 3, 1]))  # the second: 5/3
    tensor([0.6667, 1.6667])
    """
    ranking = _ranking(scores, relevance, where, ties, query)
    ranks = np.zeros(scores.numel())
    for step, member, groups in nested(ranking):
        among = np.repeat(groups.before + (groups.hits + 1) / 2, groups.hits)
        ranks[ranking.item[member]] += step[ranking.query[member]] * among
    dtype = np.float64 if scores.dtype == torch.float64 else np.float32
    return torch.from_numpy(ranks.astype(dtype)).reshape(scores.shape).to(scores.device)


def hierarchical_average_precision(
    scores: Tensor, relevance: Tensor, *, where: Mask = None, ties: str = "expected", query: Mask = None
) -> Tensor:
    r"""Compute the average precision for graded relevance (H-AP). Explained in chapter 13.

    .. math:: \mathcal{H}\text{-}\mathrm{AP} = \frac{1}{\sum_k \mathrm{rel}(k)}
              \sum_{k : \mathrm{rel}(k) > 0} \frac{\mathcal{H}\text{-}\mathrm{rank}(k)}{\mathbf{rk}(\mathbf{y})_k}

    H-AP is computed as a sum over nested sets: each distinct relevance adds its step times the sum of the precisions
    within the set of items that have at least this relevance. O(n log n + L n) for L distinct relevances; those that
    differ by less than 1e-12 of their size are one.

    Parameters
    ----------
    scores, relevance, where, ties, query : as for :func:`hierarchical_rank`, also what they raise
        The scale of the relevance does not matter.

    Returns
    -------
    Tensor, shape (...)
        In [0, 1], 1 if and only if the ranking is sorted by relevance; nan for queries without a relevance above 0.
        With binary relevance it is :func:`average_precision`.

    References
    ----------
    HAPPIER Eq. 1; HAPPIER Eq. 3

    Examples
    --------
    >>> import torch
    >>> hierarchical_average_precision(torch.tensor([0.8, 0.9, 0.7, 0.1]), torch.tensor([1.0, 2 / 3, 0.0, 1 / 3]))
    tensor(0.8750)
    """
    ranking = _ranking(scores, relevance, where, ties, query)
    return per_query(h_ap(ranking), scores, query, why="have no relevance above 0")


def _ranking(scores: Tensor, relevance: Tensor, where: Mask, ties: str, query: Mask) -> Ranking:
    check_lists(scores, query)
    return rank_lists(scores, array(as_graded(relevance, scores, where)), where, ties, query)


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
    scores: Tensor, levels: Tensor, *, where: Mask = None, ties: str = "expected", query: Mask = None
) -> Tensor:
    r"""Compare the levels found in the top k with those of the ideal top k, averaged over k (ASI@R).

    .. math:: \mathrm{ASI} = \frac{1}{R} \sum_{k=1}^{R} \frac{1}{k} \sum_{v \ge 1}
              \min(|\mathrm{top}_k \cap \Omega^{(v)}|, |\mathrm{ideal}_k \cap \Omega^{(v)}|),
              \qquad R = |\Omega^{(\ge 1)}|

    Explained in chapter 13.

    Parameters
    ----------
    scores, levels, where, ties, query : as for :func:`average_precision`, errors included
        With levels in place of relevance: int ≥ 0; 0 is nothing in common with the query. "optimistic" and
        "pessimistic" order tied items by level.

    Returns
    -------
    Tensor, shape (...)
        In [0, 1], 1 if and only if the ranking is sorted by level; nan for queries without an item of level 1 or more.

    References
    ----------
    HAPPIER Sec. 4.1

    Examples
    --------
    >>> import torch
    >>> average_set_intersection(torch.tensor([0.8, 0.9, 0.7]), torch.tensor([2, 1, 0]))  # (0/1 + 2/2) / 2
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
        common += reached * (before[at] + least(hits[at], tied, within, ideal - before[at]))
        finer += size
    with np.errstate(invalid="ignore"):
        return np.bincount(ranking.query, common / depth, ranking.queries) / groups.size


def average_precision_per_level(
    scores: Tensor,
    levels: Tensor,
    *,
    where: Mask = None,
    n_levels: int | None = None,
    ties: str = "expected",
    query: Mask = None,
) -> Tensor:
    """Compute the average precision at each level of a hierarchy, where items of that level or finer are relevant.

    Explained in chapter 13.

    Parameters
    ----------
    scores, levels, where, n_levels, ties, query : as for :func:`average_set_intersection`
        L is ``n_levels``, by default the largest level that occurs.

    Returns
    -------
    Tensor, shape (..., L)
        From level 1, the coarsest, to L, the leaves; nan where no item reaches the level.

    Raises
    ------
    ValueError, TypeError
        As :func:`average_set_intersection`, and for fewer levels than occur.

    References
    ----------
    HAPPIER Eq. 1; HAPPIER Sec. 4.1

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


def _of_levels(scores: Tensor, levels: Tensor, where: Mask, ties: str, query: Mask) -> Ranking:
    check_lists(scores, query)
    check_where(where, scores)
    check_levels(levels)
    check_like(levels, scores, name="levels")
    return rank_lists(scores, array(levels) if where is None else array(levels * where), where, ties, query)
