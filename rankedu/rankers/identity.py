"""The ranker of identity with projection: exact ranks, and backward minus what comes in."""

from typing import Any

import torch
from torch import Tensor

from rankedu._fast.gradient import once
from rankedu.checks import check_choice
from rankedu.rankers._pairwise import made_finite
from rankedu.rankers.base import Ranker, wide
from rankedu.ranks import rank

PROJECTIONS = ("none", "mean", "std")


class IdentityRanker(Ranker):
    r"""Rank exactly; backward, pass on minus the gradient that comes in, projected to what ranks can see.

    .. math:: \frac{\partial L}{\partial \mathbf{y}} := -P'(\mathbf{y})\, \mathbf{g}, \qquad
              \mathbf{g} = \frac{\partial L}{\partial\, \mathbf{rk}}, \qquad
              P_{\mathrm{mean}}(\mathbf{y}) = \mathbf{y} - \bar{y} \mathbf{1}, \qquad
              P_{\mathrm{std}}(\mathbf{y}) = \frac{\mathbf{y} - \bar{y} \mathbf{1}}{\|\mathbf{y} - \bar{y} \mathbf{1}\|}

    Parameters
    ----------
    project : {"std", "mean", "none"}
        What is taken out of the gradient: its mean, for the same number added to all scores changes no rank; with "std"
        also what stretches the scores, and the rest is divided by their length. "none" is for comparison.

    Notes
    -----
    O(n log n) forward, one sort, and O(n) backward. Ties go by position. There is no λ, and no pair is out of reach,
    but pairs in the right order are pushed on as well: :class:`~rankedu.rankers.BlackboxRanker` pushes those that would
    change places. A margin of the loss is still to be tuned. With "std" scores that are all equal have no gradient.
    Explained in chapter 17. Raises ValueError for an unknown projection.
    Source: Identity Eq. 3; Identity Eq. 10; Identity Eq. 13; Identity Eq. 14.

    >>> scores = torch.tensor([0.9, 0.1, 0.5], requires_grad=True)
    >>> ranks = IdentityRanker(project="mean")(scores)
    >>> ranks.detach()
    tensor([1., 3., 2.])
    >>> ranks[1].backward()  # make the rank of the second item smaller
    >>> scores.grad
    tensor([ 0.3333, -0.6667,  0.3333])
    """

    def __init__(self, project: str = "std") -> None:
        super().__init__()
        check_choice(project, PROJECTIONS, name="project")
        self.project = project

    def extra_repr(self) -> str:
        return f"project={self.project!r}"

    def backward_of(self, scores: Tensor, gradient: Tensor, members: Tensor | None = None) -> Tensor:
        """What the scores get of a gradient by the ranks, (..., n) both; 0 outside the members."""
        out = None if members is None else ~members
        if out is not None:
            gradient = gradient.masked_fill(out, 0.0)
        if self.project == "none":
            return -gradient
        count = scores.shape[-1] if members is None else members.sum(-1, keepdim=True).clamp(min=1)
        result = gradient.sum(-1, keepdim=True) / count - gradient
        if self.project == "std":
            centred = made_finite(scores, members)
            centred = centred.clone() if out is None else centred.masked_fill(out, 0.0)
            centred -= centred.sum(-1, keepdim=True) / count
            if out is not None:
                centred.masked_fill_(out, 0.0)
            square = centred.square().sum(-1, keepdim=True)
            along = (gradient * centred).sum(-1, keepdim=True) / square
            result.addcmul_(centred, along).mul_(square.rsqrt())
            if not square.all():
                result.masked_fill_(square == 0, 0.0)
        return result if out is None else result.masked_fill_(out, 0.0)

    def _ranks(self, scores: Tensor, members: Tensor | None, where: Tensor | None) -> Tensor:
        ranks: Tensor = _Identity.apply(wide(scores), members, self)
        return ranks


class _Identity(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, members: Tensor | None, ranker: IdentityRanker) -> Tensor:
        ctx.save_for_backward(scores, members)
        ctx.ranker = ranker
        return rank(scores, where=members).to(scores)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        scores, members = ctx.saved_tensors
        return once(ctx.ranker.backward_of(scores, gradient, members)), None, None
