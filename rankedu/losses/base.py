"""What all losses have in common.

The way of the scores: :meth:`ScoreLoss.forward` checks them, :meth:`RankLoss.mean` says what a positive adds to the
loss, and `rankedu._fast.engine` ranks and sums up, by the ranker's definition or faster. The gradient is made on the
way, at weight 1; backward it is only multiplied.
"""

from typing import Any

import torch
from torch import Tensor, nn

from rankedu._fast.engine import by_definition, eager, loss_of_positives
from rankedu._fast.gradient import Part, wanted, with_gradient
from rankedu._fast.tiles import tile_size
from rankedu.checks import check_choice, check_flag, check_floating, check_not_nan, relevant_items, warn_caller
from rankedu.losses.margin import check_margin
from rankedu.rankers.base import Ranker, wide

# The functions are for losses of others that bring their gradient along: see `lab/ranklab/contestants`.
__all__ = [
    "NoPositivesWarning",
    "RankLoss",
    "ScoreLoss",
    "by_definition",
    "eager",
    "tile_size",
    "wanted",
    "with_gradient",
]


class NoPositivesWarning(UserWarning):
    """No query of the batch has a relevant item, so the loss is 0."""


def check_ranker(ranker: Any) -> Ranker:
    """One of rankedu.rankers, or what is derived from them."""
    if not isinstance(ranker, Ranker):
        raise TypeError(f"ranker must be one of rankedu.rankers, got {ranker!r} (e.g. BlackboxRanker(lam=4.0))")
    return ranker


def positives(scores: Tensor, relevance: Tensor, where: Tensor | None) -> tuple[Tensor, bool]:
    """Check what every loss is given; return the relevant items that take part, and whether there are any."""
    check_floating(scores)
    positive = relevant_items(scores, relevance, where)
    return positive, is_any(positive, scores, where)


def is_any(positive: Tensor, scores: Tensor, where: Tensor | None) -> bool:
    """Whether any item is positive; scores must not be NaN. A GPU is waited for once, for both."""
    total, some = torch.stack([scores.detach().sum(), answerable(positive).any()]).tolist()
    if total != total:  # NaN, which is not itself
        check_not_nan(scores, where)
    return bool(some)


def answerable(positive: Tensor) -> Tensor:
    """1 for queries that have a positive; in bytes, for their maximum is found 100 times faster than any() of bools."""
    return positive.view(torch.uint8).amax(-1)


def zeros(scores: Tensor) -> Tensor:
    """Zeros whose gradient is zero, but which are part of the graph: backward() works."""
    return wide(scores).masked_fill(torch.ones_like(scores, dtype=torch.bool), 0.0)


def no_positives(scores: Tensor, reduction: str = "mean", *, left: str = "the loss and its gradient are 0") -> Tensor:
    """Warn, and say what is left; return a zero, or one a query."""
    warn_caller(
        f"relevance must have a relevant item in some query, got none in scores of shape {tuple(scores.shape)}: "
        f"{left} (draw batches with several items of a class, or extend the list by a memory)",
        NoPositivesWarning,
    )
    return zeros(scores).sum(-1) if reduction == "none" else zeros(scores).sum()


class ScoreLoss(nn.Module):
    """A loss of scores and binary relevance: checks both, and is 0 where there is nothing to rank.

    A subclass says in :meth:`mean` what is computed of them.
    """

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        check_choice(reduction, ("mean", "sum", "none"), name="reduction")
        self.reduction = reduction

    @eager
    def forward(self, scores: Tensor, relevance: Tensor, *, where: Tensor | None = None) -> Tensor:
        """Compute the loss of a batch of queries.

        Raises ValueError for NaN, n = 0, other shapes, or a relevance that is neither 0 nor 1; TypeError for scores
        that are not floating point, or a ``where`` that is not bool.

        Parameters
        ----------
        scores : Tensor, shape (..., n)
            Floating point; larger is better. Each row is a query.
        relevance : Tensor of bool, shape (..., n)
            Numbers that are exactly 0 or 1 will do. Rows may have different numbers of relevant items.
        where : Tensor of bool, shape (..., n), optional
            Items that take part. Default: all; padding is left out by this alone, whatever its relevance.

        Returns
        -------
        Tensor, shape (), or (...,) for ``reduction="none"``
            Mean over the queries that have a relevant item, in the scores' dtype, float32 for the 16-bit ones. If no
            query has one: 0 with a zero gradient, and one `NoPositivesWarning`.
        """
        positive, some = positives(scores, relevance, where)
        self.check_scores(scores, where)
        if not some:
            return no_positives(scores, self.reduction)
        return self.reduced(scores, positive, where)

    def check_scores(self, scores: Tensor, where: Tensor | None) -> None:
        """Refuse scores that this loss cannot take, beyond those with NaN."""

    def mean(self, scores: Tensor, positive: Tensor, where: Tensor | None) -> Tensor:
        """Compute the loss of checked input with at least one positive: the mean over the queries that have one."""
        raise NotImplementedError

    def reduced(self, scores: Tensor, positive: Tensor, where: Tensor | None) -> Tensor:
        """The mean, so many times the mean as there are queries, or the loss of each: 0 where nothing is relevant."""
        if self.reduction == "mean":
            return self.mean(scores, positive, where)
        answered = answerable(positive > 0)
        queries = int(answered.sum())
        if self.reduction == "sum":
            return queries * self.mean(scores, positive, where)
        here = torch.ones_like(scores, dtype=torch.bool) if where is None else where
        rows = zip(*(x.reshape(-1, x.shape[-1]).unbind() for x in (scores, positive, here)), strict=True)
        nothing = wide(scores).new_zeros(())
        found = [self.one_of(queries, *row) if row[1].any() else nothing for row in rows]
        return torch.stack(found).view(answered.shape)

    def one_of(self, queries: int, scores: Tensor, positive: Tensor, where: Tensor | None) -> Tensor:
        """Compute the loss of one query, with so many times the gradient that it has in the mean over ``queries``."""
        return self.mean(scores, positive, where)


class RankLoss(ScoreLoss):
    r"""The mean over queries of the mean over a query's positives of ``formula(rk_i, rk⁺_i)``.

    A subclass says what the formula is; the margin and the gradient through the second rank are the same for all.
    """

    def __init__(self, ranker: Any, margin: float = 0.0, within_grad: bool = False, *, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.ranker = check_ranker(ranker)
        self.margin = check_margin(margin)
        self.within_grad = check_flag(within_grad, "within_grad")

    def extra_repr(self) -> str:
        return f"margin={self.margin:g}, within_grad={self.within_grad}"

    def formula(self, ranks: Tensor, within: Tensor) -> Tensor:
        """What each positive adds, from its rank and its rank within the positives: elementwise, shape (p,)."""
        raise NotImplementedError

    def mean(self, scores: Tensor, positive: Tensor, where: Tensor | None, *, weight: float = 1.0) -> Tensor:
        """Compute the loss, times a weight, of checked input with at least one positive."""
        part = Part(self.formula, answerable(positive).sum(), torch.promote_types(scores.dtype, torch.float32), weight)
        margin, within_grad = self.margin, self.within_grad
        return loss_of_positives(self.ranker, part, scores, positive, where, margin=margin, within_grad=within_grad)

    def one_of(self, queries: int, scores: Tensor, positive: Tensor, where: Tensor | None) -> Tensor:
        return queries * self.mean(scores, positive, where, weight=1 / queries)  # λ/queries each, as in the mean
