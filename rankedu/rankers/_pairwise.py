"""Ranks by comparing every two scores: the staircase of the comparison may be replaced by any other step."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from rankedu._fast import tiles
from rankedu._fast.tiles import Part, bounded
from rankedu.checks import check_number
from rankedu.rankers._ranker import Ranker, shift, wide


class PairwiseRanker(Ranker):
    r"""Count, for each item, by how much the others outrank it; a subclass says what the count of one pair is.

    .. math:: \mathbf{rk}(\mathbf{y})_k = 1 + \sum_{j \ne k} \mathrm{step}(y_j - y_k)

    With the Heaviside function this is the rank itself. A step that has a slope gives the scores a gradient.

    A subclass defines :meth:`step` and its derivative :meth:`slope`, both elementwise, with ``step(-inf) = 0`` and
    ``slope(-inf) = 0``: who is infinitely worse does not count. The losses need the ranks of the positives alone, and
    take :mod:`rankedu._fast.tiles`, which calls :meth:`step_` and :meth:`slope_`.
    """

    hard = False  # positives count each other by the Heaviside function, without a gradient

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

    @property
    def plain(self) -> bool:
        """Whether this is the sum over pairs and nothing else, with nothing in it to be learnt."""
        kind = type(self)
        own = kind.forward is PairwiseRanker.forward and (self.hard or kind.among is PairwiseRanker.among)
        return own and not any(parameter.requires_grad for parameter in self.parameters())

    def loss_of_positives(
        self, part: Part, scores: Tensor, positive: Tensor, where: Tensor | None, **options: Any
    ) -> Tensor:
        """As ``Ranker.loss_of_positives``, in tiles of pairs."""
        if not self.plain:
            return super().loss_of_positives(part, scores, positive, where, **options)
        shifted = shift(scores.detach(), positive, options.get("margin", 0.0))
        within = "hard" if self.hard else "soft" if options.get("within_grad") else "stopped"
        return tiles.loss_of_positives(self, part, scores, positive, where, shifted=shifted, within=within)

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


def sigmoid_(differences: Tensor, temperature: float) -> Tensor:
    """The sigmoid in place; 0 where it is nothing beside a rank: further down lie denormal numbers, which are slow."""
    return torch.threshold_(differences.mul_(1 / temperature), -40.0, -math.inf).sigmoid_()  # exp(-40) = 4e-18


def check_temperature(temperature: float, hint: str = "in units of a score: try 0.01; the limit is rank()") -> float:
    """The temperature τ: a finite number > 0."""
    return check_number(temperature, "temperature", above=0, hint=hint)
