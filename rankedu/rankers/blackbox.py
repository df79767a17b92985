"""The ranker of RaMBO: exact ranks, and the gradient of their interpolation."""

import torch
from torch import Tensor

from rankedu.blackbox import differentiate
from rankedu.checks import check_lam
from rankedu.rankers.base import Ranker, wide
from rankedu.ranks import rank


class BlackboxRanker(Ranker):
    r"""Rank exactly, differentiate by interpolation.

    Ranks minimise a linear cost over the permutations, so :func:`rankedu.blackbox.differentiate` can be applied.

    Parameters
    ----------
    lam : float
        Strength λ > 0 of the interpolation: the further apart the scores, the larger it must be.
    normalized : bool
        Divide the ranks by the number n of items that take part in the row; those among members too, so that the ratio
        of the two is a precision (Eq. 21). This is the scale of the released code, whose λ is n times smaller for the
        same gradient: λ_paper = n · λ_code.

    Notes
    -----
    O(n log n) in each direction. Ties go by position. In each row the gradient sums to 0. As of
    :func:`rankedu.blackbox.differentiate`, twice the incoming gradient is twice the λ; the losses of
    :mod:`rankedu.losses` differentiate themselves at weight 1, so that they can be scaled. float32 counts exactly up to
    2²⁴: give longer rows as float64. Explained in chapter 4.
    Raises ValueError for ``lam`` that is not a finite number > 0.
    Source: RaMBO Alg. 1; RaMBO Prop. 1; RaMBO Eq. 11.

    >>> ranker = BlackboxRanker(lam=4.0)
    >>> scores = torch.tensor([0.9, 0.1, 0.5], requires_grad=True)
    >>> ranks = ranker(scores)
    >>> ranks.detach()
    tensor([1., 3., 2.])
    >>> ranks[1].backward()  # make the rank of the second item smaller
    >>> scores.grad
    tensor([ 0.2500, -0.5000,  0.2500])
    """

    linear = False

    def __init__(self, lam: float, normalized: bool = False) -> None:
        super().__init__()
        self.lam = check_lam(lam)
        self.normalized = bool(normalized)

    def extra_repr(self) -> str:
        return f"lam={self.lam:g}, normalized={self.normalized}"

    def ranks_of_positives(
        self, scores: Tensor, positive: Tensor, where: Tensor | None, *, within_grad: bool
    ) -> tuple[Tensor, Tensor]:
        """As ``Ranker.ranks_of_positives``; of normalised ranks, n times as much: counts again."""
        found = super().ranks_of_positives(scores, positive, where, within_grad=within_grad)
        if not self.normalized:
            return found
        here = torch.ones_like(positive) if where is None else where
        n = here.sum(-1, keepdim=True).expand_as(positive)[positive]
        ranks, within = (rank * n + ((rank * n).round() - rank * n).detach() for rank in found)
        return ranks, within

    def _ranks(self, scores: Tensor, members: Tensor | None, where: Tensor | None) -> Tensor:
        def solver(values: Tensor) -> Tensor:
            ranks = rank(values, where=members)
            if not self.normalized:
                return ranks
            count = scores.shape[-1] if where is None else where.sum(-1, keepdim=True).clamp(min=1)
            return ranks.to(values) / count

        ranks = differentiate(solver, self.lam)
        if members is None:
            return ranks(wide(scores))
        # Cut off on both sides: neither a score nor a gradient outside, be it NaN, reaches those who take part.
        return ranks(wide(scores).masked_fill(~members, 0.0)).masked_fill(~members, 0.0)
