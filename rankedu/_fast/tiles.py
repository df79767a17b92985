r"""Ranks of the positives by pairwise steps, without laying out all pairs at once.

A loss reads the ranks of the positives alone, so p · n of the n² pairs of a row will do. They are taken tile by tile,
a tile being some (query, positive) pairs times all candidates; queries may have any number of positives each, for the
pairs are one flat list. With weights :math:`a_k = \partial L / \partial \mathbf{rk}_k` and :math:`b_k = \partial L /
\partial \mathbf{rk}^+_k` the gradient is closed-form, and the backward pass computes the same tiles anew:

.. math:: \frac{\partial L}{\partial y_i} = \sum_{k \in \mathrm{rel}} (a_k + b_k [i \in \mathrm{rel}])\,
          \mathrm{slope}(y_i - y_k)
          - [i \in \mathrm{rel}] \sum_j (a_i + b_i [j \in \mathrm{rel}])\, \mathrm{slope}(y_j - y_i)

Besides the scores and their gradient one tile is held, and 16 bytes for each positive.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from rankedu._validation import check_choice
from rankedu.rankers._pairwise import PairwiseRanker, bounded

__all__ = ["ranks_of_positives", "tileable"]

#: Pairs of scores in a tile: on a CPU it stays in the cache, on a GPU it is worth a launch.
TILE = {"cpu": 1 << 18, "cuda": 1 << 24}

#: A tile takes no more than half of what the scores take, unless they are very few.
SMALL = 3 << 16


class Positives(NamedTuple):
    """All positives, query by query, and where those of their own query stand in this list."""

    query: Tensor  # (p,) int64, never falls
    item: Tensor  # (p,) int64
    first: Tensor  # (q,) int64: the place in this list of the first positive of each query
    size: Tensor  # (q,) int64: how many positives each query has


class Tile(NamedTuple):
    """Some positives, each against all candidates."""

    here: slice  # of the list of positives
    query: Tensor  # (t,)
    item: Tensor  # (t, 1)
    fellows: Tensor  # (t, m) int64: the positives of the same query; item again instead of padding


def tileable(ranker: Any) -> bool:
    """Is this ranker the plain sum over pairs, with nothing in it to be learnt?"""
    kind = type(ranker)
    return (
        isinstance(ranker, PairwiseRanker)
        and kind.forward is PairwiseRanker.forward
        and kind.among is PairwiseRanker.among
        and not any(parameter.requires_grad for parameter in ranker.parameters())
    )


def ranks_of_positives(
    scores: Tensor, positive: Tensor, where: Tensor | None, *, ranker: PairwiseRanker, within: str = "soft"
) -> tuple[Tensor, Tensor, Tensor]:
    r"""For every positive: its rank, its rank among the positives, and how many positives its query has.

    Parameters
    ----------
    scores : Tensor, shape (..., n)
        float32 or float64, shifted by the margin if there is one, without NaN among the items that take part.
    positive : Tensor of bool, shape (..., n)
        The relevant items that take part.
    where : Tensor of bool, shape (..., n), or None
        Items that take part.
    ranker : PairwiseRanker
        Only its :meth:`step_` and :meth:`slope_` are called, with differences of shape (t, n), -inf for who is not to
        be counted; its own :meth:`forward` and :meth:`among` are not.
    within : {"soft", "stopped", "hard"}
        How the positives count each other. "soft": by the step, with its gradient. "stopped": by the step, and the
        rank among the positives has no gradient. "hard": in both ranks by the Heaviside function with H(0) = 1, without
        a gradient, so that only the negatives are counted by the step.

    Returns
    -------
    ranks, within : Tensor, shape (p,)
        In the scores' dtype and the order of ``scores[positive]``, with a gradient.
    count : Tensor of int64, shape (p,)

    Raises
    ------
    ValueError
        For an unknown word.
    RuntimeError
        When a gradient of the gradient is asked for: differentiate the ranker's own ranks twice instead.

    Notes
    -----
    O(p · n) time, forward and again backward.
    """
    check_choice(within, ("soft", "stopped", "hard"), name="within")
    scores, positive, where = rows_of(scores, positive, where)
    found = find(positive)
    ranks, among = _Ranks.apply(scores, where, found, ranker, within)
    return ranks, among, found.size[found.query]


def rows_of(scores: Tensor, positive: Tensor, where: Tensor | None) -> tuple[Tensor, Tensor, Tensor | None]:
    """One row a query, without infinities."""
    if not all(map(math.isfinite, torch.aminmax(scores.detach()))):
        scores = bounded(scores if where is None else scores.masked_fill(~where, 0.0))
    n = scores.shape[-1]
    return scores.reshape(-1, n), positive.reshape(-1, n), None if where is None else where.reshape(-1, n)


def find(positive: Tensor) -> Positives:
    """List the positives; on a CPU by NumPy, which finds few among many 20 times faster."""
    queries, n = positive.shape
    flat = positive.contiguous().view(-1)
    place = torch.from_numpy(np.flatnonzero(flat.numpy())) if flat.device.type == "cpu" else flat.nonzero().view(-1)
    query = place // n
    size = query.bincount(minlength=queries)
    return Positives(query, place - n * query, size.cumsum(0) - size, size)


def tiles(found: Positives, n: int) -> Iterator[Tile]:
    """Cut the list of positives into tiles of at most ``TILE`` pairs, or of one positive."""
    p, device = len(found.query), found.query.device
    most = min(TILE.get(device.type, TILE["cuda"]), max(SMALL, len(found.size) * n // 2))
    rows = max(1, most // n)
    for start in range(0, p, rows):
        here = slice(start, min(start + rows, p))
        query, item = found.query[here], found.item[here, None]
        first, size = found.first[query, None], found.size[query, None]
        number = torch.arange(int(size.max()), device=device)
        fellows = torch.where(number < size, found.item[first + torch.minimum(number, size - 1)], item)
        yield Tile(here, query, item, fellows)


def differences_of(scores: Tensor, where: Tensor | None, tile: Tile) -> Tensor:
    """How much better each candidate is than each positive of the tile; -inf for the positive itself; (t, n)."""
    if where is None:
        rows = scores.index_select(0, tile.query)
    else:
        queries, place = tile.query.unique_consecutive(return_inverse=True)
        seen = torch.where(where.index_select(0, queries), scores.index_select(0, queries), -math.inf)
        rows = seen.index_select(0, place)
    rows -= rows.gather(1, tile.item)
    return rows.scatter_(1, tile.item, -math.inf)


def count(step: Callable[[Tensor], Tensor], differences: Tensor, tile: Tile, within: str) -> tuple[Tensor, Tensor]:
    """Sum up the steps against all others, and against the other positives."""
    if within == "hard":
        counted = (differences.gather(1, tile.fellows) >= 0).sum(1)
        return counted + step(differences.scatter_(1, tile.fellows, -math.inf)).sum(1), counted
    values = step(differences)
    return values.sum(1), values.gather(1, tile.fellows).sum(1)


def pull(slopes: Tensor, tile: Tile, to_ranks: Tensor, to_among: Tensor, within: str, gradient: Tensor) -> None:
    """Add to the gradient of the scores what this tile makes of that of the ranks; ``slopes`` are overwritten."""
    of_fellows = slopes.gather(1, tile.fellows) if within == "soft" else None
    slopes *= to_ranks.unsqueeze(1)
    if of_fellows is not None:
        slopes.scatter_add_(1, tile.fellows, of_fellows * to_among.unsqueeze(1))
    slopes.scatter_add_(1, tile.item, -slopes.sum(1, keepdim=True))
    gradient.index_add_(0, tile.query, slopes)


class _Ranks(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, scores: Tensor, where: Tensor | None, found: Positives, ranker: PairwiseRanker, within: str
    ) -> tuple[Tensor, Tensor]:
        ranks, among = (scores.new_empty(len(found.query)) for _ in range(2))
        for tile in tiles(found, scores.shape[1]):
            differences = differences_of(scores, where, tile)
            total, counted = count(ranker.step_, differences, tile, within)
            ranks[tile.here], among[tile.here] = 1 + total, 1 + counted
        ctx.save_for_backward(scores, where)
        ctx.found, ctx.ranker, ctx.within = found, ranker, within
        if within != "soft":
            ctx.mark_non_differentiable(among)
        return ranks, among

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, to_ranks: Tensor, to_among: Tensor) -> tuple[Tensor | None, ...]:
        scores, where = ctx.saved_tensors
        gradient = torch.zeros_like(scores)
        for tile in tiles(ctx.found, scores.shape[1]):
            differences = differences_of(scores, where, tile)
            if ctx.within == "hard":
                differences.scatter_(1, tile.fellows, -math.inf)
            pull(ctx.ranker.slope_(differences), tile, to_ranks[tile.here], to_among[tile.here], ctx.within, gradient)
        if where is not None and not (to_ranks + to_among).isfinite().all():
            gradient.masked_fill_(~where, 0.0)  # an overflow does not reach those who do not take part
        return gradient, None, None, None, None
