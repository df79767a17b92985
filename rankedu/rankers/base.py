"""What every ranker offers: ranks among all items, ranks among some, and the two ranks that a loss needs."""

import math

import torch
from torch import Tensor, nn

from rankedu.checks import check_floating, check_mask, check_not_nan, check_values, check_where
from rankedu.ranks import HALF, Relevant


def wide(scores: Tensor) -> Tensor:
    """16-bit scores as float32: ranks are counted there, and a small shift is not rounded away."""
    return scores.float() if scores.dtype in HALF else scores


def clip(values: Tensor, low: float = -math.inf, high: float = math.inf) -> Tensor:
    """Clip to [low, high], with the gradient of the inside at the bounds, as in a definition's case "x ≤ δ".

    The gradient of ``clamp`` at a bound is 1 up to torch 2.13, and 0 since torch 2.14.
    """
    if not values.requires_grad:
        return values.clamp(low, high)
    inside = (values >= low) & (values <= high)
    return torch.where(inside, values, values.detach().clamp(low, high))


class Ranker(nn.Module):
    """Map scores to ranks, and give the scores a gradient; a subclass says how, in ``_ranks``."""

    #: Whether the gradient is linear in the incoming one. A ranker that uses Algorithm 1 sets it to False; losses then
    #: compute their gradient at weight 1 and scale the result.
    linear = True

    def forward(self, scores: Tensor, *, where: Tensor | None = None) -> Tensor:
        """Rank all items of each row; the largest score has the smallest rank.

        Parameters
        ----------
        scores : Tensor, shape (..., n)
            Floating point; larger is better.
        where : Tensor of bool, shape (..., n), optional
            Items that take part, by default all.

        Returns
        -------
        Tensor, shape (..., n)
            Ranks in the scores' dtype, in float32 for 16-bit scores (float16 cannot count beyond 2048); 0, without a
            gradient, outside ``where``.

        Raises
        ------
        ValueError, TypeError
            For NaN, n = 0, integer scores, or a ``where`` of another shape or dtype.
        """
        self._check(scores, where)
        check_not_nan(scores, where)
        return self._ranks(wide(scores), where, where)

    def among(self, scores: Tensor, members: Tensor, *, where: Tensor | None = None) -> Tensor:
        """Rank each member among the members only.

        Parameters
        ----------
        scores, where : as for :meth:`forward`
        members : Tensor of bool, shape (..., n)

        Returns
        -------
        Tensor, shape (..., n), with a gradient for the members; 0 elsewhere

        Raises
        ------
        ValueError, TypeError
            As :meth:`forward`, and for members of another shape or dtype.
        """
        self._check(scores, where)
        check_mask(members, scores, name="members")
        members = members if where is None else members & where
        check_not_nan(scores, members)
        return self._ranks(wide(scores), members, where)

    def two_ranks(
        self, scores: Tensor, relevant: Relevant, where: Tensor | None, *, within_grad: bool | None
    ) -> tuple[Tensor, Tensor]:
        """Rank each relevant item among all items, and among the relevant ones; for checked scores, (q, n).

        With graded relevance the second is H-rank divided by the relevance of the item. It has a gradient if
        ``within_grad``; None says that it is not needed, and then the first stands for both. Both count items, whatever
        the scale of the ranker, and have the shape of the table of relevant items, (q, m); padding may have any value.
        """
        ranks = relevant.pick(self._ranks(scores, where, where))
        if within_grad is None:
            return ranks, ranks
        inner = scores if within_grad else scores.detach()
        if relevant.grade is None or relevant.drop is None:
            return ranks, relevant.pick(self._ranks(inner, relevant.members, where))
        total = torch.zeros_like(ranks)
        for g, drop in enumerate(relevant.drop.unbind(-1)):
            members = relevant.members & (relevant.grade <= g)
            total = total + drop.unsqueeze(-1) * relevant.pick(self._ranks(inner, members, where))
        return ranks, total / relevant.share.masked_fill(~relevant.real, 1.0)

    def _check(self, scores: Tensor, where: Tensor | None) -> None:
        check_values(scores)
        check_floating(scores)
        check_where(where, scores)

    def _ranks(self, scores: Tensor, members: Tensor | None, where: Tensor | None) -> Tensor:
        """Rank the members, None for all, in a row that is ``where``, None for all; the input has been checked."""
        raise NotImplementedError
