r"""A loss of the positives' ranks by pairwise steps, without laying out all pairs at once.

A loss reads the ranks of the positives alone, so p · n of the n² pairs of a row will do. They are taken tile by tile,
a tile being some (query, positive) pairs times all candidates; queries may have any number of positives each, for the
pairs are one flat list. With the weights :math:`a_k = \partial L / \partial \mathbf{rk}_k` and :math:`b_k = \partial L
/ \partial \mathbf{rk}^+_k`, known as soon as the ranks of the tile are, the gradient is closed-form,

.. math:: \frac{\partial L}{\partial y_i} = \sum_{k \in \mathrm{rel}} (a_k + b_k [i \in \mathrm{rel}])\,
          \mathrm{slope}(y_i - y_k)
          - [i \in \mathrm{rel}] \sum_j (a_i + b_i [j \in \mathrm{rel}])\, \mathrm{slope}(y_j - y_i),

and made while the tile is still in the cache. Besides the scores and their gradient one tile is held.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from rankedu._fast.gradient import leaves, wanted, with_gradient

__all__ = ["TILE", "Part", "bounded", "loss_of_positives", "made_finite", "tile_size", "value_and_slopes"]

#: Pairs of scores in a tile: on a CPU it stays in the cache, on a GPU it is worth a launch.
TILE = {"cpu": 1 << 18, "cuda": 1 << 24}

#: A tile takes no more than half of what the scores take, unless they are very few.
SMALL = 3 << 16

#: Ranks, ranks among the positives, numbers of the query's positives, (p,) each, to what these add to the loss, ().
Part = Callable[[Tensor, Tensor, Tensor], Tensor]


def tile_size(device: torch.device) -> int:
    """How many pairs of scores are looked at together."""
    return TILE.get(device.type, TILE["cuda"])


def bounded(scores: Tensor) -> Tensor:
    """Infinite scores as very large ones: equal ones then differ by 0, not by NaN. They have no gradient."""
    largest = torch.finfo(scores.dtype).max / 4
    return scores.clamp(-largest, largest)


def loss_of_positives(
    ranker: Any, part: Part, scores: Tensor, positive: Tensor, where: Tensor | None, *, shifted: Tensor, within: str
) -> Tensor:
    """Sum up what the positives add to the loss, in O(p · n) time, all of it forward.

    Of the ranker only :meth:`step_` and :meth:`slope_` are called, with differences of shape (t, n), -inf for who is
    not to be counted. ``part`` is differentiable, and the same for some positives at a time as for all. ``scores`` get
    the gradient; ``shifted`` is what is ranked: the scores after the margin, without NaN among those who take part.

    ``within`` says how the positives count each other. "soft": by the step, with its gradient. "stopped": by the step,
    and the rank among the positives has no gradient. "hard": in both ranks by the Heaviside function with H(0) = 1,
    without a gradient, so that only the negatives are counted by the step.
    """
    n, value = scores.shape[-1], shifted.new_zeros(())
    with torch.autocast(scores.device.type, enabled=False):
        finite, here = made_finite(shifted, where), None if where is None else where.reshape(-1, n)
        rows, found = finite.reshape(-1, n), find(positive.reshape(-1, n))
        gradient = torch.zeros_like(rows) if wanted(scores) else None
        for tile in tiles(found, n):
            with torch.no_grad():
                differences = differences_of(rows, here, tile)
                ranks, among, slope = _count(ranker, differences, tile, within, gradient is not None)
            size = found.size[tile.query]
            if gradient is None:
                value = value + part(ranks, among, size)
                continue
            own, weights = value_and_slopes(part, ranks, among, size)
            value = value + own
            if weights is None:
                gradient = None
                continue
            with torch.no_grad():
                _spread(tile, slope(), *weights, within, gradient)
        if gradient is not None and finite is not shifted:  # an infinite score has no gradient
            gradient.masked_fill_((finite != shifted).reshape(-1, n), 0.0)
    return with_gradient(value, scores, gradient, where)


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
    siblings: Tensor  # (t, m) int64: the positives of the same query; item again instead of padding


def value_and_slopes(
    part: Part, ranks: Tensor, among: Tensor, size: Tensor
) -> tuple[Tensor, tuple[Tensor, Tensor] | None]:
    """What these positives add to the loss, and its derivatives by their ranks; None if it does not depend on them.

    The value has a graph only if the formula has something to be learnt.
    """
    with torch.enable_grad():
        sources = ranks.detach().requires_grad_(), among.detach().requires_grad_()
        value = part(*sources, size)
        if not value.requires_grad:
            return value, None
        learnt = any(leaf is not sources[0] and leaf is not sources[1] for leaf in leaves(value))
        found = torch.autograd.grad(value, sources, retain_graph=learnt, allow_unused=True, materialize_grads=True)
    return value if learnt else value.detach(), (found[0], found[1])


def _count(
    ranker: Any, differences: Tensor, tile: Tile, within: str, with_slope: bool
) -> tuple[Tensor, Tensor, Callable[[], Tensor]]:
    """The ranks of a tile, those among the positives, and what makes the slopes of its pairs."""
    hard: Tensor | None = None
    if within == "hard":
        hard = (differences.gather(1, tile.siblings) >= 0).sum(1)
        differences.scatter_(1, tile.siblings, -math.inf)
    step, slope = ranker.step_then_slope_(differences) if with_slope else (ranker.step_(differences), _no_slope)
    if hard is not None:
        return 1 + hard + step.sum(1), (1 + hard).to(step), slope
    return 1 + step.sum(1), 1 + step.gather(1, tile.siblings).sum(1), slope


def _no_slope() -> Tensor:
    raise RuntimeError("no slope was asked for")


def _spread(tile: Tile, slopes: Tensor, to_ranks: Tensor, to_among: Tensor, within: str, gradient: Tensor) -> None:
    """Add the tile's share of the gradient of the scores; ``slopes`` are overwritten."""
    of_siblings = slopes.gather(1, tile.siblings) if within == "soft" else None
    slopes *= to_ranks.unsqueeze(1)
    if of_siblings is not None:
        slopes.scatter_add_(1, tile.siblings, of_siblings * to_among.unsqueeze(1))
    slopes.scatter_add_(1, tile.item, -slopes.sum(1, keepdim=True))
    gradient.index_add_(0, tile.query, slopes)


def made_finite(scores: Tensor, where: Tensor | None) -> Tensor:
    """The very scores, if they are finite; else, who takes no part at 0 and infinities cut off."""
    if all(map(math.isfinite, torch.aminmax(scores))):
        return scores
    return bounded(scores if where is None else scores.masked_fill(~where, 0.0))


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
    rows = max(1, min(tile_size(device), max(SMALL, len(found.size) * n // 2)) // n)
    for start in range(0, p, rows):
        here = slice(start, min(start + rows, p))
        query, item = found.query[here], found.item[here, None]
        first, size = found.first[query, None], found.size[query, None]
        number = torch.arange(int(size.max()), device=device)
        siblings = torch.where(number < size, found.item[first + torch.minimum(number, size - 1)], item)
        yield Tile(here, query, item, siblings)


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
