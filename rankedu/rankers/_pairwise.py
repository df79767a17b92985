"""Ranks by comparing every two scores: the staircase of the comparison may be replaced by any other step."""

import math

import torch
from torch import Tensor

from rankedu.checks import check_number, extremes
from rankedu.rankers.base import Ranker, wide


class PairwiseRanker(Ranker):
    r"""Count, for each item, by how much the others outrank it; a subclass says what the count of one pair is.

    .. math:: \mathbf{rk}(\mathbf{y})_k = 1 + \sum_{j \ne k} \mathrm{step}(y_j - y_k)

    With the Heaviside function this is the rank itself. A subclass defines ``step``, elementwise, with
    ``step(-inf) = 0`` and no slope there. The losses look at p · n of the n² pairs alone, for p positives.
    """

    def step(self, differences: Tensor) -> Tensor:
        """Count pairs whose second score is larger by ``differences``; elementwise, with a gradient by autograd."""
        raise NotImplementedError

    def slope(self, differences: Tensor) -> Tensor:
        """Differentiate ``step``; elementwise, without a gradient of its own. Override it where that is faster."""
        with torch.enable_grad():
            leaf = differences.detach().requires_grad_()
            steps = self.step(leaf)
            if not steps.requires_grad:
                return torch.zeros_like(leaf)
            (slope,) = torch.autograd.grad(steps.sum(), leaf)
        return slope

    def _ranks(self, scores: Tensor, members: Tensor | None, where: Tensor | None) -> Tensor:
        if members is None:
            members = torch.ones_like(scores, dtype=torch.bool)
        return members + self._outranked(scores, members, members)

    def _outranked(self, scores: Tensor, members: Tensor, others: Tensor) -> Tensor:
        """By how much the others, but for itself, outrank each member: the sum of the step; 0 elsewhere."""
        finite = bounded(wide(scores).masked_fill(~(members | others), 0.0))
        counts = self.step(finite.unsqueeze(-2) - finite.unsqueeze(-1))  # (..., k, j)
        itself = torch.eye(scores.shape[-1], dtype=torch.bool, device=scores.device)
        return counts.masked_fill(~others.unsqueeze(-2) | itself, 0.0).sum(-1).masked_fill(~members, 0.0)


def bounded(scores: Tensor) -> Tensor:
    """Infinite scores as very large ones: equal ones then differ by 0, not by NaN. They have no gradient."""
    largest = torch.finfo(scores.dtype).max / 4
    return scores.clamp(-largest, largest)


def made_finite(scores: Tensor, where: Tensor | None) -> Tensor:
    """The very scores, if they are finite; else, who takes no part at 0 and infinities cut off."""
    if all(map(math.isfinite, extremes(scores))):
        return scores
    return bounded(scores if where is None else scores.masked_fill(~where, 0.0))


def check_temperature(temperature: float, hint: str = "in units of a score: try 0.01; the limit is rank()") -> float:
    """The temperature τ: a finite number > 0."""
    return check_number(temperature, "temperature", above=0, hint=hint)
