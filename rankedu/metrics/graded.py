"""Metrics that compare a ranking with graded gains, or with another ranking."""

import torch
from torch import Tensor

from rankedu.checks import as_graded, check_k, check_like, check_not_nan, check_values, check_where
from rankedu.metrics.binary import per_query
from rankedu.ranks import rank


def ndcg(scores: Tensor, gains: Tensor, *, where: Tensor | None = None, k: int | None = None) -> Tensor:
    r"""Discounted cumulative gain, relative to the best that an order can reach.

    .. math:: \mathrm{DCG}(\mathbf{y}) = \sum_i \frac{\mathrm{gain}_i}{\log_2(1 + \mathbf{rk}(\mathbf{y})_i)}, \qquad
              \mathrm{NDCG}(\mathbf{y}) = \frac{\mathrm{DCG}(\mathbf{y})}{\mathrm{DCG}(\mathbf{gain})}

    The gains, (..., n), are finite and ≥ 0, of any dtype; for levels of relevance usually ``2.0**levels - 1``. With
    ``k``, only ranks up to k count. Shapes, value, ties, cost and errors as :func:`average_precision`; nan, and one
    warning, for queries all of whose gains are 0. Explained in chapter 1.
    Source: HAPPIER Sec. 4.1.

    >>> levels = torch.tensor([0, 2, 1])
    >>> ndcg(torch.tensor([0.9, 0.8, 0.7]), 2.0**levels - 1)
    tensor(0.6590)
    """
    check_values(scores)
    gains = as_graded(gains, scores, where, name="gains", hint="a level l gains 2**l - 1; 0 is of no use")
    reached, best = _dcg(scores, gains, where, k), _dcg(gains, gains, where, k)
    ratio = (reached / best).clamp(max=1.0)  # rounding alone can pass the bound, as it can in spearman
    return per_query(ratio, best > 0, scores, why="have no gain above 0")


def _dcg(scores: Tensor, gains: Tensor, where: Tensor | None, k: int | None) -> Tensor:
    ranks = rank(scores, where=where)
    counts = ranks > 0 if k is None else (ranks > 0) & (ranks <= check_k(k))
    return (counts * gains / torch.log2(1.0 + ranks.clamp(min=1).double())).sum(-1)


def spearman(scores: Tensor, target: Tensor, *, where: Tensor | None = None) -> Tensor:
    """Correlate the ranks of the scores with the ranks of the target, of the same shape (Spearman's ρ).

    A value in [−1, 1] for each query, float64 for float64 scores and else float32; nan, and one warning, where all
    scores, or all targets, are equal. O(n log n). Tied items share the mean of their ranks, as in SciPy. Errors as of
    :func:`rankedu.rank`, for the scores and for the target. Explained in chapter 1.
    Source: RaMBO Sec. 1.

    >>> spearman(torch.tensor([0.1, 0.5, 0.9]), torch.tensor([1, 3, 2]))
    tensor(0.5000)
    """
    check_target(scores, target, where)
    x, y = _centred_ranks(scores, where), _centred_ranks(target, where)
    spread = ((x * x).sum(-1) * (y * y).sum(-1)).sqrt()
    correlation = ((x * y).sum(-1) / spread).clamp(-1.0, 1.0)
    return per_query(correlation, spread > 0, scores, why="have fewer than two distinct ranks")


def check_target(scores: Tensor, target: Tensor, where: Tensor | None) -> None:
    """Two lists that can be ranked, of one shape."""
    check_values(scores)
    check_values(target, name="target")
    check_like(target, scores, name="target")
    check_where(where, scores)
    check_not_nan(scores, where)
    check_not_nan(target, where, name="target")


def fractional_ranks(scores: Tensor, where: Tensor | None) -> Tensor:
    """Ranks in float64, tied items share the mean of theirs; 0 outside ``where``."""
    return (rank(scores, where=where, ties="min") + rank(scores, where=where, ties="max")).double() / 2


def _centred_ranks(scores: Tensor, where: Tensor | None) -> Tensor:
    """Fractional ranks less their mean; 0 outside ``where``."""
    ranks = fractional_ranks(scores, where)
    count = (ranks > 0).sum(-1, keepdim=True).double()
    return (ranks - (count + 1) / 2).masked_fill(ranks == 0, 0.0)
