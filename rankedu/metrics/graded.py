"""Metrics that compare a ranking with graded gains, or with another ranking."""

import numpy as np
from torch import Tensor

from rankedu.checks import check_k, check_like, check_not_nan, check_values, check_where
from rankedu.metrics._ranking import (
    Floats,
    Ranking,
    check_grades,
    check_query,
    count_all,
    numbers,
    per_query,
    rank_lists,
)
from rankedu.ranks import rank

__all__ = ["ndcg", "spearman"]


def ndcg(
    scores: Tensor,
    gains: Tensor,
    k: int | None = None,
    *,
    where: Tensor | None = None,
    ties: str = "expected",
    query: Tensor | None = None,
) -> Tensor:
    r"""Compute the discounted cumulative gain, relative to the best that an order can reach.

    .. math:: \mathrm{DCG}(\mathbf{y}) = \sum_i \frac{\mathrm{gain}_i}{\log_2(1 + \mathbf{rk}(\mathbf{y})_i)}, \qquad
              \mathrm{NDCG}(\mathbf{y}) = \frac{\mathrm{DCG}(\mathbf{y})}{\mathrm{DCG}(\mathbf{gain})}

    Explained in chapter 1.

    Parameters
    ----------
    scores
        As for :func:`average_precision`.
    gains : Tensor, shape (..., n)
        Finite and ≥ 0, of any dtype; for levels of relevance usually ``2.0**levels - 1``.
    k, where, ties, query
        As for :func:`average_precision`; among tied items "optimistic" and "pessimistic" are orders by gain.

    Returns
    -------
    Tensor, shape (...)
        In [0, 1]; float64 for float64 scores, else float32; nan for queries whose gains are all 0.

    Raises
    ------
    ValueError, TypeError
        As :func:`average_precision`, and for gains of another shape, negative ones, or such that are not finite.

    Warns
    -----
    UndefinedMetricWarning
        Once, if queries have no gain above 0.

    References
    ----------
    HAPPIER Sec. 4.1.

    Examples
    --------
    >>> import torch
    >>> levels = torch.tensor([0, 2, 1])
    >>> ndcg(torch.tensor([0.9, 0.8, 0.7]), 2.0**levels - 1)
    tensor(0.6590)
    """
    k = None if k is None else check_k(k)
    check_query(query, scores)
    grades = check_grades(gains, scores, where, name="gains", hint="a level l gains 2**l - 1; 0 is of no use")
    ranking = rank_lists(scores, grades, where, ties, query)
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


def spearman(scores: Tensor, target: Tensor, *, where: Tensor | None = None, query: Tensor | None = None) -> Tensor:
    """Correlate the ranks of the scores with the ranks of the target (Spearman's ρ).

    Tied items share the mean of their ranks, as in SciPy, so the order of the items does not matter. The time is
    O(n log n). Explained in chapter 1.

    Parameters
    ----------
    scores, target : Tensor, shape (..., n)
        Any float or integer dtype.
    where, query
        As for :func:`average_precision`.

    Returns
    -------
    Tensor, shape (...)
        In [−1, 1]; float64 for float64 scores, else float32; nan where all scores, or all targets, are equal.

    Raises
    ------
    ValueError, TypeError
        As :func:`rankedu.rank`, for the scores and for the target.

    Warns
    -----
    UndefinedMetricWarning
        Once, if queries have fewer than two distinct ranks.

    References
    ----------
    RaMBO Sec. 1.

    Examples
    --------
    >>> import torch
    >>> spearman(torch.tensor([0.1, 0.5, 0.9]), torch.tensor([1, 3, 2]))
    tensor(0.5000)
    """
    check_query(query, scores)
    check_target(scores, target, where)
    x, y = (_centred_ranks(values, where, query) for values in (scores, target))
    queries, number, item, _, _ = count_all(scores, where, query)
    products = (np.bincount(number, (one * other)[item], queries) for one, other in ((x, x), (y, y), (x, y)))
    of_scores, of_target, common = products
    with np.errstate(invalid="ignore"):
        correlation = np.clip(common / np.sqrt(of_scores * of_target), -1.0, 1.0)
    return per_query(correlation, scores, query, why="have fewer than two distinct ranks")


def check_target(scores: Tensor, target: Tensor, where: Tensor | None) -> None:
    """Check two lists of one shape that can be ranked."""
    check_values(scores)
    check_values(target, name="target")
    check_like(target, scores, name="target")
    check_where(where, scores)
    check_not_nan(scores, where)
    check_not_nan(target, where, name="target")


def fractional_ranks(scores: Tensor, where: Tensor | None) -> Tensor:
    """Rank in float64, where tied items share the mean of their ranks; 0 outside ``where``."""
    return (rank(scores, where=where, ties="min") + rank(scores, where=where, ties="max")).double() / 2


def _centred_ranks(scores: Tensor, where: Tensor | None, query: Tensor | None) -> Floats:
    """Compute twice the fractional ranks less their mean, for all lists together; 0 outside ``where``."""
    queries, number, item, above, tied = count_all(scores, where, query)
    ranks = np.zeros(scores.numel())
    ranks[item] = 2 * above + tied - np.bincount(number, minlength=queries)[number]
    return ranks
