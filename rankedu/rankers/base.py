"""What every ranker has: ranks among all, and ranks among some."""

import torch
from torch import Tensor, nn

from rankedu.checks import check_floating, check_mask, check_not_nan, check_values, check_where


def wide(scores: Tensor) -> Tensor:
    """16-bit scores as float32: ranks are counted there, and a small shift is not rounded away."""
    return scores.float() if scores.dtype in (torch.float16, torch.bfloat16) else scores


def shift(scores: Tensor, positive: Tensor, margin: float) -> Tensor:
    """Lower checked positive scores by half the margin, raise all others by it."""
    if margin == 0:
        return scores
    return torch.where(positive, scores - margin / 2, scores + margin / 2)


class Ranker(nn.Module):
    """Map scores to ranks, and give the scores a gradient; a subclass says how, in ``_ranks``."""

    #: Whether the gradient is linear in the one that comes in. Where it is not, as of a ranker that is made by
    #: :func:`rankedu.blackbox.differentiate`, losses are differentiated with their value, so that they can be scaled.
    linear = True

    def forward(self, scores: Tensor, *, where: Tensor | None = None) -> Tensor:
        """Rank all items of each row; the largest score has the smallest rank.

        Raises ValueError or TypeError for NaN, n = 0, integer scores, or a ``where`` of another shape or dtype.

        Parameters
        ----------
        scores : Tensor, shape (..., n)
            Floating point; larger is better.
        where : Tensor of bool, shape (..., n), optional
            Items that take part. Default: all.

        Returns
        -------
        Tensor, shape (..., n)
            Ranks in the scores' dtype, in float32 for the 16-bit ones (float16 cannot count beyond 2048); 0, without
            a gradient, outside ``where``.
        """
        self._check(scores, where)
        check_not_nan(scores, where)
        return self._ranks(scores, where, where)

    def among(self, scores: Tensor, members: Tensor, *, where: Tensor | None = None) -> Tensor:
        """Rank each member among the members only; ranks, with a gradient for the members, 0 elsewhere.

        ``members`` is bool, shape (..., n). All else as :meth:`forward`.
        """
        self._check(scores, where)
        check_mask(members, scores, name="members")
        if where is not None:
            members = members & where
        check_not_nan(scores, members)
        return self._ranks(scores, members, where)

    def ranks_of_positives(
        self, scores: Tensor, positive: Tensor, where: Tensor | None, *, within_grad: bool
    ) -> tuple[Tensor, Tensor]:
        """Rank among all, and the positives, checked as the scores are, among these; (..., n) each.

        The second has a gradient if ``within_grad``. Both are counts, whatever the scale of the ranker.
        """
        ranks = self._ranks(scores, where, where)
        return ranks, self._ranks(scores if within_grad else scores.detach(), positive, where)

    def _check(self, scores: Tensor, where: Tensor | None) -> None:
        check_values(scores)
        check_floating(scores)
        check_where(where, scores)

    def _ranks(self, scores: Tensor, members: Tensor | None, where: Tensor | None) -> Tensor:
        """Rank the members, None for all, in a row that is ``where``, None for all; the input has been checked."""
        raise NotImplementedError
