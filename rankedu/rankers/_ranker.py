"""What every ranker has: ranks among all, and ranks among some."""

from __future__ import annotations

from torch import Tensor, nn

from rankedu._validation import check_floating, check_mask, check_not_nan, check_values

__all__ = ["Ranker"]


class Ranker(nn.Module):
    """Map scores to ranks, and give the scores a gradient; a subclass says how, in :meth:`_ranks`."""

    def forward(self, scores: Tensor, *, where: Tensor | None = None) -> Tensor:
        """Rank all items of each row; the largest score has the smallest rank.

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

        Raises
        ------
        ValueError, TypeError
            For NaN, n = 0, integer scores, or a ``where`` of another shape or dtype.
        """
        self._check(scores, where)
        check_not_nan(scores, where)
        return self._ranks(scores, where, where)

    def among(self, scores: Tensor, members: Tensor, *, where: Tensor | None = None) -> Tensor:
        """Rank each member among the members only.

        Parameters
        ----------
        scores : Tensor, shape (..., n)
            Floating point; larger is better.
        members : Tensor of bool, shape (..., n)
        where : Tensor of bool, shape (..., n), optional
            Items that take part. Default: all.

        Returns
        -------
        Tensor, shape (..., n)
            Ranks, with a gradient for the members; 0 elsewhere.

        Raises
        ------
        ValueError, TypeError
            As :meth:`forward`; also for ``members`` of another shape or dtype.
        """
        self._check(scores, where)
        check_mask(members, scores, name="members")
        if where is not None:
            members = members & where
        check_not_nan(scores, members)
        return self._ranks(scores, members, where)

    def _check(self, scores: Tensor, where: Tensor | None) -> None:
        check_values(scores)
        check_floating(scores)
        if where is not None:
            check_mask(where, scores, name="where")

    def _ranks(self, scores: Tensor, members: Tensor | None, where: Tensor | None) -> Tensor:
        """Rank the members, None for all, in a row that is ``where``, None for all; the input has been checked."""
        raise NotImplementedError
