"""The ranker of identity with projection: exact ranks, and backward minus what comes in."""

from typing import Any

import torch
from torch import Tensor

from rankedu.checks import check_choice, refuse_second_derivative
from rankedu.rankers.blackbox import ExactRanker
from rankedu.ranks import Order

PROJECTIONS = ("none", "mean", "std")


class IdentityRanker(ExactRanker):
    r"""Rank exactly; backward, pass on minus the gradient that comes in, projected to what ranks can see.

    .. math:: \frac{\partial L}{\partial \mathbf{y}} := -P'(\mathbf{y})\, \mathbf{g}, \qquad
              \mathbf{g} = \frac{\partial L}{\partial\, \mathbf{rk}}, \qquad
              P_{\mathrm{mean}}(\mathbf{y}) = \mathbf{y} - \bar{y} \mathbf{1}, \qquad
              P_{\mathrm{std}}(\mathbf{y}) = \frac{\mathbf{y} - \bar{y} \mathbf{1}}{\|\mathbf{y} - \bar{y} \mathbf{1}\|}

    There is no λ, and no pair is out of reach, but pairs in the right order are pushed on as well. Ties are broken by
    position; in a loss, against the relevant item. O(n log n) forward, O(n) backward. Explained in chapter 17.

    Parameters
    ----------
    project : {"std", "mean", "none"}
        The part of the gradient that is removed. "mean" removes its mean, because adding one number to all scores
        changes no rank. "std" also removes the part that stretches the scores, and divides the rest by their length;
        scores that are all equal then have no gradient. "none" removes nothing, for comparison.

    Raises
    ------
    ValueError
        For an unknown projection.

    References
    ----------
    Identity Eq. 3; Identity Eq. 10; Identity Eq. 13; Identity Eq. 14

    Examples
    --------
    >>> scores = torch.tensor([0.9, 0.1, 0.5], requires_grad=True)
    >>> ranks = IdentityRanker(project="mean")(scores)
    >>> ranks[1].backward()  # make the rank of the second item smaller
    >>> ranks.detach(), scores.grad
    (tensor([1., 3., 2.]), tensor([ 0.3333, -0.6667,  0.3333]))
    """

    def __init__(self, project: str = "std") -> None:
        super().__init__()
        check_choice(project, PROJECTIONS, name="project")
        self.project = project

    def extra_repr(self) -> str:
        return f"project={self.project!r}"

    def backward_of(self, scores: Tensor, gradient: Tensor, members: Tensor | None = None) -> Tensor:
        """Return the gradient of the scores for a gradient of the ranks, (..., n) both; 0 outside the members."""
        out = torch.zeros_like(scores, dtype=torch.bool) if members is None else ~members
        gradient = gradient.masked_fill(out, 0.0)
        if self.project == "none":
            return -gradient
        count = (~out).sum(-1, keepdim=True).clamp(min=1)
        result = gradient.sum(-1, keepdim=True) / count - gradient
        if self.project == "std":
            largest = torch.finfo(scores.dtype).max / 4  # infinite scores are very large ones
            centred = scores.masked_fill(out, 0.0).clamp(-largest, largest)
            centred = (centred - centred.sum(-1, keepdim=True) / count).masked_fill_(out, 0.0)
            square = centred.square().sum(-1, keepdim=True)
            along = (gradient * centred).sum(-1, keepdim=True) / square
            result.addcmul_(centred, along).mul_(square.rsqrt()).masked_fill_(square == 0, 0.0)
        return result.masked_fill_(out, 0.0)

    def _exact(self, scores: Tensor, members: Tensor | None, n: Any, last: Tensor | None = None) -> Tensor:
        ranks: Tensor = _Identity.apply(scores, members, last, self)
        return ranks


class _Identity(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, scores: Tensor, members: Tensor | None, last: Tensor | None, ranker: IdentityRanker
    ) -> Tensor:
        ctx.save_for_backward(scores, members)
        ctx.ranker = ranker
        return Order(members, last).ranks(scores)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None, None]:
        scores, members = ctx.saved_tensors
        found = ctx.ranker.backward_of(scores, gradient, members).to(scores)
        return refuse_second_derivative(found) if torch.is_grad_enabled() else found, None, None, None
