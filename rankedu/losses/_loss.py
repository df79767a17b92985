"""What all losses of this room share: a formula of the positives' ranks, averaged over queries."""

from __future__ import annotations

import warnings
from typing import Any

import torch
from torch import Tensor, nn

from rankedu._fast import tiles
from rankedu._fast.closed_form import mean_over_positives
from rankedu._fast.radix import packable, ranks_of_positives
from rankedu._validation import as_relevance, check_floating, check_mask, check_not_nan, check_values
from rankedu.losses.margin import check_margin, shift, wide
from rankedu.rankers import BlackboxRanker, SupremumRanker

__all__ = ["NoPositivesWarning", "RankLoss"]


class NoPositivesWarning(UserWarning):
    """No query of the batch has a relevant item, so the loss is 0."""


def check_ranker(ranker: Any) -> Any:
    """Something that ranks, also among some of the items."""
    if not callable(ranker) or not callable(getattr(ranker, "among", None)) or isinstance(ranker, type):
        raise TypeError(
            f"ranker must be callable and have a method among(), got {ranker!r} "
            "(pass a ranker of rankedu.rankers, e.g. BlackboxRanker(lam=4.0))"
        )
    return ranker


def positives(scores: Tensor, relevance: Tensor, where: Tensor | None) -> Tensor:
    """Check what every loss is given; return the relevant items that take part."""
    check_values(scores)
    check_floating(scores)
    positive = as_relevance(relevance, scores)
    if where is not None:
        check_mask(where, scores, name="where")
        positive = positive & where
    check_not_nan(scores, where)
    return positive


def answerable(positive: Tensor) -> Tensor:
    """Which queries have a positive; as bytes, for their maximum is found 100 times faster than any() of bools."""
    return positive.view(torch.uint8).amax(-1).bool()


def no_positives(scores: Tensor) -> Tensor:
    """Warn; return a zero whose gradient is zero, but which is part of the graph: backward() works."""
    warnings.warn(
        f"relevance must have a relevant item in some query, got none in scores of shape {tuple(scores.shape)}: "
        "the loss and its gradient are 0 (draw batches with several items of a class, or extend the list by a memory)",
        NoPositivesWarning,
        stacklevel=5,
    )
    return wide(scores).masked_fill(torch.ones_like(scores, dtype=torch.bool), 0.0).sum()


class RankLoss(nn.Module):
    r"""The mean over queries of the mean over a query's positives of ``formula(rk_i, rk⁺_i)``.

    A subclass says what the formula is. Everything else, the margin, the gradient through :math:`\mathbf{rk}(
    \mathbf{y}^+)`, ``where``, and queries without a positive, is the same for all.
    """

    fixed = False  # the formula is elementwise and has nothing in it to be learnt

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        if "formula" in vars(cls) and "fixed" not in vars(cls):
            cls.fixed = False  # what the parent says of its formula does not hold for another

    def __init__(self, ranker: Any, margin: float = 0.0, within_grad: bool = False) -> None:
        super().__init__()
        self.ranker = check_ranker(ranker)
        self.margin = check_margin(margin)
        self.within_grad = bool(within_grad)

    def extra_repr(self) -> str:
        return f"margin={self.margin:g}, within_grad={self.within_grad}"

    def formula(self, ranks: Tensor, within: Tensor) -> Tensor:
        """What one positive adds, from its rank among all and its rank within the positives; shape (p,) each."""
        raise NotImplementedError

    def forward(self, scores: Tensor, relevance: Tensor, *, where: Tensor | None = None) -> Tensor:
        """Compute the loss of a batch of queries.

        Parameters
        ----------
        scores : Tensor, shape (..., n)
            Floating point; larger is better. Each row is a query.
        relevance : Tensor of bool, shape (..., n)
            Numbers that are exactly 0 or 1 will do. Rows may have different numbers of relevant items.
        where : Tensor of bool, shape (..., n), optional
            Items that take part. Default: all.

        Returns
        -------
        Tensor, shape ()
            Mean over the queries that have a relevant item, in the scores' dtype, float32 for the 16-bit ones. If no
            query has one: 0 with a zero gradient, and one `NoPositivesWarning`.

        Raises
        ------
        ValueError
            For NaN, n = 0, another shape of ``relevance`` or ``where``, or a relevance that is neither 0 nor 1.
        TypeError
            For scores that are not floating point, or a ``where`` that is not bool.
        """
        positive = positives(scores, relevance, where)
        if not answerable(positive).any():
            return no_positives(scores)
        return self.mean(scores, positive, where)

    def mean(self, scores: Tensor, positive: Tensor, where: Tensor | None) -> Tensor:
        """Compute the loss of checked input with at least one positive."""
        values = wide(scores)
        within_by = self._pairwise()
        if within_by in ("soft", "stopped") and self.fixed:  # the hard ones share no work between step and slope
            setting: dict[str, Any] = {"ranker": self.ranker, "within": within_by, "formula": self.formula}
            return mean_over_positives(shift(values, positive, self.margin), positive, where, **setting)
        ranks, within, count = self._ranks(values, positive, where)
        queries = answerable(positive).sum()
        return (self.formula(ranks, within) / (count * queries)).sum().to(values.dtype)  # of long lists counted wider

    def _ranks(self, scores: Tensor, positive: Tensor, where: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
        """Take the fast path where it gives the same as the readable one."""
        ranker = self.ranker
        if type(ranker) is BlackboxRanker and not self.within_grad and packable(scores):
            setting: dict[str, Any] = {"lam": ranker.lam, "normalized": ranker.normalized}
            return ranks_of_positives(scores, positive, where, margin=self.margin, **setting)
        within = self._pairwise()
        if within is not None:
            shifted = shift(scores, positive, self.margin)
            return tiles.ranks_of_positives(shifted, positive, where, ranker=ranker, within=within)
        return self._readable(scores, positive, where)

    def _pairwise(self) -> str | None:
        """How the positives count each other, if the ranker is the plain sum over pairs."""
        if isinstance(self.ranker, SupremumRanker):  # its step is for those of lower relevance only
            return "hard"
        if tiles.tileable(self.ranker):
            return "soft" if self.within_grad else "stopped"
        return None

    def _readable(self, scores: Tensor, positive: Tensor, where: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
        """For every positive: rk_α(y)_i, rk_α(y⁺)_i, and how many positives its query has; shape (p,) each."""
        shifted = shift(scores, positive, self.margin)
        own = shifted if self.within_grad else shifted.detach()
        if isinstance(self.ranker, SupremumRanker):
            within = self.ranker.among(own, positive, where=where)
            ranks = within + self.ranker.against(shifted, positive, ~positive, where=where)
        else:
            ranks = self.ranker(shifted, where=where)
            within = self.ranker.among(own, positive, where=where)
        if getattr(self.ranker, "normalized", False):
            n = positive.new_full(positive.shape, True) if where is None else where
            ranks, within = (_count_again(r, n.sum(-1, keepdim=True)) for r in (ranks, within))
        count = positive.sum(-1, keepdim=True).expand_as(positive)
        return ranks[positive], within[positive], count[positive]


def _count_again(ranks: Tensor, n: Tensor) -> Tensor:
    """From rk/n to rk, a whole number again, with the gradient of the product."""
    product = ranks * n
    return product + (product.round() - product).detach()
