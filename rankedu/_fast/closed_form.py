r"""The mean of a formula of the ranks over the positives, by pairwise steps; its gradient is made with the value.

As in :mod:`rankedu.losses.tiles`, tile by tile. Where the loss is the mean of a formula that is known, its derivative
by :math:`\mathbf{rk}_k` is too as soon as :math:`\mathbf{rk}_k` is. So the gradient is made while the tile is still in
the cache, and backward there is nothing left but to scale it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from rankedu._fast import tiles
from rankedu._fast.once import once
from rankedu.rankers._pairwise import PairwiseRanker

__all__ = ["mean_over_positives"]

Formula = Callable[[Tensor, Tensor], Tensor]


def mean_over_positives(
    scores: Tensor,
    positive: Tensor,
    where: Tensor | None,
    *,
    ranker: PairwiseRanker,
    within: str,
    formula: Formula,
) -> Tensor:
    """Compute the mean over queries of the mean over a query's positives of ``formula(rank, rank among positives)``.

    Parameters
    ----------
    scores, positive, where, ranker, within
        As :func:`rankedu.losses.tiles.ranks_of_positives`; ``positive`` has a True.
    formula : callable, Tensor (p,), Tensor (p,) -> Tensor (p,)
        Elementwise and differentiable, without parameters of its own.

    Returns
    -------
    Tensor, shape ()

    Raises
    ------
    RuntimeError
        When a gradient of the gradient is asked for.

    Notes
    -----
    O(p · n) time, all of it forward. Besides the scores their gradient and one tile are held.
    """
    scores, positive, where = tiles.rows_of(scores, positive, where)
    found = tiles.find(positive)
    with torch.autocast(scores.device.type, enabled=False):
        value: Tensor = _Mean.apply(scores, where, found, ranker, within, formula)
    return value


class _Mean(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        scores: Tensor,
        where: Tensor | None,
        found: tiles.Positives,
        ranker: PairwiseRanker,
        within: str,
        formula: Formula,
    ) -> Tensor:
        mean, slope = scores.new_zeros(()), lambda: scores
        gradient = torch.zeros_like(scores) if ctx.needs_input_grad[0] else None
        weight = 1 / (found.size * (found.size > 0).sum()).to(scores)[found.query]

        def step(differences: Tensor) -> Tensor:
            nonlocal slope
            if gradient is None:
                return ranker.step_(differences)
            values, slope = ranker.step_then_slope_(differences)
            return values

        for tile in tiles.tiles(found, scores.shape[1]):
            total, counted = tiles.count(step, tiles.differences_of(scores, where, tile), tile, within)
            value, to_ranks, to_among = _weigh(formula, 1 + total, (1 + counted).to(total), weight[tile.here])
            mean += value
            if gradient is not None:
                tiles.pull(slope(), tile, to_ranks, to_among, within, gradient)
        ctx.save_for_backward(gradient, where)
        return mean

    @staticmethod
    def backward(ctx: Any, to_mean: Tensor) -> tuple[Tensor | None, ...]:
        gradient, where = ctx.saved_tensors
        with torch.no_grad():
            gradient = gradient * to_mean
            if where is not None and not to_mean.isfinite():
                gradient.masked_fill_(~where, 0.0)  # an overflow does not reach those who do not take part
        return once(gradient), None, None, None, None, None


def _weigh(formula: Formula, ranks: Tensor, among: Tensor, weight: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """What these positives add to the mean, and its derivatives by their ranks."""
    with torch.enable_grad():
        ranks, among = ranks.requires_grad_(), among.requires_grad_()
        value = (formula(ranks, among) * weight).sum()
        to_ranks, to_among = torch.autograd.grad(value, (ranks, among))
    return value.detach(), to_ranks, to_among
