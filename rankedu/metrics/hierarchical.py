"""Metrics of a ranking whose items are more or less relevant: H-AP, set intersections, and AP by level."""

import torch
from torch import Tensor

from rankedu.checks import as_graded, check_like
from rankedu.hierarchy import check_levels, check_n_levels
from rankedu.metrics.binary import per_query
from rankedu.ranks import Descending, descending


def hierarchical_rank(scores: Tensor, relevance: Tensor, *, where: Tensor | None = None) -> Tensor:
    r"""Count the items ranked at or above each item, each by the relevance that the two have in common.

    .. math:: \mathcal{H}\text{-}\mathrm{rank}(k) = \mathrm{rel}(k)
              + \sum_{j : s_j > s_k} \min(\mathrm{rel}(k), \mathrm{rel}(j))

    Parameters
    ----------
    scores, where
        As :func:`average_precision`.
    relevance : Tensor, shape (..., n)
        Finite and ≥ 0, any dtype, e.g. of :func:`rankedu.hierarchy.relevance`.

    Notes
    -----
    Returns Tensor of float64, shape (..., n): at most rank(k) · rel(k), which it is if no item above k is less
    relevant; 0 outside ``where``. With binary relevance it is the rank among the relevant items. O(n log n + L n) for L
    distinct relevances in a row. Ties go by position. Explained in chapter 13.
    Raises ValueError or TypeError as :func:`rankedu.rank`, and for a relevance of another shape, < 0 or not finite.
    Source: HAPPIER Eq. 2; HAPPIER Fig. 3.

    >>> scores = torch.tensor([0.9, 0.8])
    >>> hierarchical_rank(scores, torch.tensor([2 / 3, 1]))  # the second: 5/3
    tensor([0.6667, 1.6667], dtype=torch.float64)
    >>> hierarchical_rank(scores, torch.tensor([1 / 3, 1]))  # the second: 4/3
    tensor([0.3333, 1.3333], dtype=torch.float64)
    """
    order, _, sorted_relevance, scale = _arrange(scores, relevance, where)
    return order.restore(_common_sums(sorted_relevance)) * scale


def hierarchical_average_precision(scores: Tensor, relevance: Tensor, *, where: Tensor | None = None) -> Tensor:
    r"""Average precision for graded relevance (H-AP).

    .. math:: \mathcal{H}\text{-}\mathrm{AP} = \frac{1}{\sum_k \mathrm{rel}(k)}
              \sum_{k : \mathrm{rel}(k) > 0} \frac{\mathcal{H}\text{-}\mathrm{rank}(k)}{\mathbf{rk}(\mathbf{y})_k}

    Parameters
    ----------
    scores, relevance, where
        As :func:`hierarchical_rank`; the scale of the relevance does not matter.

    Notes
    -----
    Returns Tensor, shape (...): in [0, 1], 1 if and only if the ranking is sorted by relevance; float64 for float64
    scores and else float32; nan, and one warning, for queries without a relevance above 0. With binary relevance it is
    :func:`~rankedu.metrics.average_precision`. Else as :func:`hierarchical_rank`. Explained in chapter 13.
    Source: HAPPIER Eq. 1; HAPPIER Eq. 3.

    >>> relevance = torch.tensor([1.0, 2 / 3, 0.0, 1 / 3])
    >>> hierarchical_average_precision(torch.tensor([0.9, 0.8, 0.1, 0.7]), relevance)
    tensor(1.)
    >>> hierarchical_average_precision(torch.tensor([0.8, 0.9, 0.7, 0.1]), relevance)
    tensor(0.8750)
    """
    _, here, sorted_relevance, _ = _arrange(scores, relevance, where)
    ranks = here.cumsum(-1).clamp(min=1)
    total = sorted_relevance.sum(-1)
    value = (_common_sums(sorted_relevance) / ranks).sum(-1) / total
    return per_query(value.clamp(max=1.0), total > 0, scores, why="have no relevance above 0")  # 1 but for rounding


def _arrange(scores: Tensor, relevance: Tensor, where: Tensor | None) -> tuple[Descending, Tensor, Tensor, Tensor]:
    """Check; sort by score: who takes part, and the relevance as a share of the row's largest; and that largest."""
    order = descending(scores, where)
    graded = as_graded(relevance, scores, where)
    largest = graded.amax(-1, keepdim=True)
    graded = graded / torch.where(largest > 0, largest, 1.0)
    here = torch.ones_like(order.first) if where is None else order.arrange(where)
    return order, here, order.arrange(graded), largest


def _common_sums(relevance: Tensor) -> Tensor:
    r"""For every place k of each row: :math:`\sum_{j \le k} \min(\mathrm{rel}_k, \mathrm{rel}_j)`.

    The sets {rel ≥ r_1} ⊃ {rel ≥ r_2} ⊃ … one by one; in a set, places are ranked by a cumulative sum.
    """
    sums, below = torch.zeros_like(relevance), torch.zeros_like(relevance[..., :1])
    while (members := relevance > below).any():
        step = relevance.masked_fill(~members, torch.inf).amin(-1, keepdim=True)
        step = torch.where(step.isinf(), below, step)
        sums += (step - below) * members * members.cumsum(-1)
        below = step
    return sums


def average_set_intersection(scores: Tensor, levels: Tensor, *, where: Tensor | None = None) -> Tensor:
    r"""Compare the levels found in the top k with those of the ideal top k, averaged over k (ASI@R).

    .. math:: \mathrm{ASI} = \frac{1}{R} \sum_{k=1}^{R} \frac{1}{k} \sum_{v \ge 1}
              \min(|\mathrm{top}_k \cap \Omega^{(v)}|, |\mathrm{ideal}_k \cap \Omega^{(v)}|),
              \qquad R = |\Omega^{(\ge 1)}|

    The levels are int, of shape (..., n); 0 is nothing in common with the query. The rest is as for
    :func:`average_precision`. Returns Tensor, shape (...): in [0, 1], 1 if and only if the ranking is sorted by level;
    float64 for float64 scores and else float32; nan, and one warning, for queries without an item of level 1 or more.
    O(n log n + L n). Ties go by position. Explained in chapter 13.
    Raises ValueError or TypeError as :func:`rankedu.rank`; also for levels of another shape, negative or not integer.
    Source: HAPPIER Sec. 4.1.

    >>> levels = torch.tensor([2, 1, 0])
    >>> average_set_intersection(torch.tensor([0.9, 0.8, 0.7]), levels)
    tensor(1.)
    >>> average_set_intersection(torch.tensor([0.8, 0.9, 0.7]), levels)  # (0/1 + 2/2) / 2
    tensor(0.5000)
    """
    here, sorted_levels = _arrange_levels(scores, levels, where)
    depth = here.cumsum(-1)
    common, above = torch.zeros_like(depth), torch.zeros_like(depth[..., :1])  # above: items of a finer level
    for level in filter(None, sorted_levels.unique().flip(0).tolist()):
        found = (sorted_levels == level).cumsum(-1)
        count = found[..., -1:]
        ideal = torch.minimum((depth - above).clamp(min=0), count)
        common += torch.minimum(found, ideal)
        above = above + count
    counts = here & (depth <= above)
    total = (counts * common / depth.clamp(min=1).double()).sum(-1)
    reach = above.squeeze(-1)
    return per_query(total / reach, reach > 0, scores, why="have no item of level 1 or more")


def average_precision_per_level(
    scores: Tensor, levels: Tensor, *, where: Tensor | None = None, n_levels: int | None = None
) -> Tensor:
    """Average precision at each level of a hierarchy: items of level l or finer are relevant; shape (..., L).

    From level 1, the coarsest, to L, the leaves; nan, and one warning, where no item reaches the level. L is
    ``n_levels``, by default the largest level there is; ValueError for less. All else as
    :func:`average_set_intersection`. Explained in chapter 13.
    Source: HAPPIER Eq. 1; HAPPIER Sec. 4.1.

    >>> average_precision_per_level(torch.tensor([0.9, 0.8, 0.7]), torch.tensor([1, 0, 2]))
    tensor([0.8333, 0.3333])
    """
    here, sorted_levels = _arrange_levels(scores, levels, where)
    ranks = here.cumsum(-1).clamp(min=1)
    values = []
    for level in range(1, check_n_levels(check_levels(levels), n_levels) + 1):
        positive = sorted_levels >= level
        within = positive.cumsum(-1)
        values.append((positive * within / ranks.double()).sum(-1) / within[..., -1])
    value = torch.stack(values, -1)
    return per_query(value, ~value.isnan(), scores, why="and levels have no item of that level or finer")


def _arrange_levels(scores: Tensor, levels: Tensor, where: Tensor | None) -> tuple[Tensor, Tensor]:
    """Check; sort by score: who takes part, and the levels, 0 for those who do not."""
    order = descending(scores, where)
    check_levels(levels)
    check_like(levels, scores, name="levels")
    here = torch.ones_like(order.first) if where is None else order.arrange(where)
    return here, order.arrange(levels.long()).masked_fill(~here, 0)
