"""Ranks by comparing every two scores: the staircase of the comparison may be replaced by any other step."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from rankedu.rankers._ranker import Ranker

__all__ = ["PairwiseRanker"]


class PairwiseRanker(Ranker):
    r"""Count, for each item, by how much the others outrank it; a subclass says what the count of one pair is.

    .. math:: \mathbf{rk}(\mathbf{y})_k = 1 + \sum_{j \ne k} \mathrm{step}(y_j - y_k)

    With the Heaviside function this is the rank itself. A step that has a slope gives the scores a gradient.

    A subclass defines :meth:`step` and its derivative :meth:`slope`, both elementwise, with ``step(-inf) = 0`` and
    ``slope(-inf) = 0``: who is infinitely worse does not count. The losses need the ranks of the positives alone; they
    take them from :mod:`rankedu._fast.tiles`, which calls :meth:`step_` and :meth:`slope_`.
    """

    def step(self, differences: Tensor) -> Tensor:
        """Count pairs whose second score is larger by ``differences``; elementwise, with a gradient by autograd."""
        raise NotImplementedError

    def slope(self, differences: Tensor) -> Tensor:
        """Differentiate :meth:`step`; elementwise, without a gradient of its own."""
        raise NotImplementedError

    def step_(self, differences: Tensor) -> Tensor:
        """Do as :meth:`step`, without a graph; ``differences`` may be overwritten, to save time and memory."""
        return self.step(differences)

    def slope_(self, differences: Tensor) -> Tensor:
        """Do as :meth:`slope`, without a graph; ``differences`` may be overwritten, to save time and memory."""
        return self.slope(differences)

    def step_then_slope_(self, differences: Tensor) -> tuple[Tensor, Callable[[], Tensor]]:
        """Do as :meth:`step_`; the slope is made when it is called for, once, and may then overwrite the step."""
        slope = self.slope_(differences.clone())
        return self.step_(differences), lambda: slope

    def _ranks(self, scores: Tensor, members: Tensor | None, where: Tensor | None) -> Tensor:
        wide = scores.float() if scores.dtype in (torch.float16, torch.bfloat16) else scores
        if members is None:
            members = torch.ones_like(scores, dtype=torch.bool)
        finite = bounded(wide.masked_fill(~members, 0.0))
        counts = self.step(finite.unsqueeze(-2) - finite.unsqueeze(-1))  # (..., k, j)
        itself = torch.eye(scores.shape[-1], dtype=torch.bool, device=scores.device)
        others = members.unsqueeze(-2) & ~itself
        return (1 + counts.masked_fill(~others, 0.0).sum(-1)).masked_fill(~members, 0.0)


def bounded(scores: Tensor) -> Tensor:
    """Infinite scores as very large ones: equal ones then differ by 0, not by NaN. They have no gradient."""
    largest = torch.finfo(scores.dtype).max / 4
    return scores.clamp(-largest, largest)


def check_temperature(temperature: float) -> float:
    """The temperature τ: a finite number > 0."""
    try:
        temperature = float(temperature)
    except (TypeError, ValueError):
        raise TypeError(f"temperature must be a number > 0, got {temperature!r}") from None
    if not 0 < temperature < math.inf:
        raise ValueError(
            f"temperature must be finite and > 0, got {temperature} "
            "(in units of a score: try 0.01; the limit temperature -> 0 is the rank itself: use rank())"
        )
    return temperature
