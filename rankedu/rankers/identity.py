"""The ranker of identity with projection: exact ranks, and backward minus what comes in."""

from typing import Any

import torch
from torch import Tensor

from rankedu._fast.gradient import once
from rankedu.checks import check_choice
from rankedu.rankers._pairwise import bounded
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
    O(n log n) forward, one sort, and O(n) backward. Ties go by position. Nothing is to be tuned, and no pair is out of
    reach, but pairs in the right order are pushed on as well: :class:`~rankedu.rankers.BlackboxRanker` pushes those
    that would change places. With "std" scores that are all equal have no gradient. Explained in chapter 17.
    Raises ValueError for an unknown projection.
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
        here = torch.ones_like(gradient, dtype=torch.bool) if members is None else members
        slopes = gradient.masked_fill(~here, 0.0)
        if self.project != "none":
            slopes = _centred(slopes, here)
        if self.project == "std":
            centred = _centred(bounded(scores), here)
            length = torch.linalg.vector_norm(centred, dim=-1, keepdim=True)
            unit = torch.where(length > 0, centred / length, 0.0)
            slopes = torch.where(length > 0, (slopes - (slopes * unit).sum(-1, keepdim=True) * unit) / length, 0.0)
        return -slopes.masked_fill(~here, 0.0)

    def _ranks(self, scores: Tensor, members: Tensor | None, where: Tensor | None) -> Tensor:
        ranks: Tensor = _Identity.apply(wide(scores), members, self)
        return ranks


def _centred(values: Tensor, here: Tensor) -> Tensor:
    values = values.masked_fill(~here, 0.0)
    count = here.sum(-1, keepdim=True).clamp(min=1)
    return (values - values.sum(-1, keepdim=True) / count).masked_fill(~here, 0.0)


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
