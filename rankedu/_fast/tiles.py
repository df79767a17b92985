r"""A loss of the positives' ranks by pairwise steps, without laying out all pairs at once.

A loss reads the ranks of the positives alone, so p · n of the n² pairs of a row will do. They are taken tile by tile,
a tile being queries with about as many positives each, times these, times all candidates. The positives count each
other in a small table of their own,

.. math:: \mathbf{rk}_k = \mathbf{rk}^+_k + \sum_{j \notin \mathrm{rel}} \mathrm{step}(y_j - y_k) .

The weights :math:`a_k = \partial L / \partial \mathbf{rk}_k` and :math:`b_k = \partial L / \partial \mathbf{rk}^+_k`
are known as soon as the ranks of the tile are. So the gradient is closed-form: a pair pushes its two scores apart by
:math:`a_k \, \mathrm{slope}(y_j - y_k)`, a pair of positives by :math:`(a_k + b_k) \, \mathrm{slope}(y_j - y_k)`.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from rankedu._fast.gradient import Part, wanted, with_gradient
from rankedu._fast.steps import sum_and_slope_
from rankedu.rankers._pairwise import PairwiseRanker, made_finite

#: Pairs of scores in a tile: on a CPU it stays in the cache, on a GPU it is worth a launch.
TILE = {"cpu": 1 << 18, "cuda": 1 << 24}

SMALL = 3 << 16  # a tile takes no more than half of what the scores take, unless they are very few


def tile_size(device: torch.device) -> int:
    """How many pairs of scores are looked at together."""
    return TILE.get(device.type, TILE["cuda"])


def loss_of_positives(
    ranker: PairwiseRanker,
    part: Part,
    scores: Tensor,
    shifted: Tensor,
    positive: Tensor,
    where: Tensor | None,
    within: str,
    size: Tensor | None = None,
) -> Tensor:
    """Sum up what the positives add to the loss, in O(p · n) time, all of it forward.

    ``scores`` get the gradient; ``shifted`` is what is ranked: the scores after the margin. ``within`` says how the
    positives count each other. "soft": by the step, with its gradient. "stopped": by the step, and the rank among the
    positives has no gradient. "hard": in both ranks by the Heaviside function with H(0) = 1, without a gradient.
    """
    n, value = scores.shape[-1], shifted.new_zeros(())
    with torch.autocast(scores.device.type, enabled=False):
        finite, positive = made_finite(shifted, where), positive.reshape(-1, n)
        rows, found = finite.reshape(-1, n).contiguous(), find(positive)
        out = positive if where is None else positive | ~where.reshape(-1, n)
        gradient = torch.zeros_like(rows) if wanted(scores) else None
        for tile in tiles(found, n):
            with torch.no_grad():
                ranks, among, slopes, near = _count(ranker, rows, out, tile, within == "hard", gradient is not None)
            own = tile.place[:, tile.number.start : tile.number.stop]
            each = found.size[tile.query, None].expand_as(ranks) if size is None else size.reshape(-1)[own]
            counts = [_flat(x, tile) for x in (ranks, among, each)]
            if slopes is None:
                value = value + part(*counts)
                continue
            added, weights = part.with_slopes(*counts)
            value = value + added
            if gradient is None or weights is None:
                gradient = None
                continue
            with torch.no_grad():
                to_ranks, to_among = (_table(weight, tile, ranks) for weight in weights)
                gradient.index_add_(0, tile.query, _spread(gradient, tile, to_ranks, slopes))
                if near is not None:
                    weight = to_ranks + to_among if within == "soft" else to_ranks
                    pulled = _spread(gradient, tile, weight, near)
                    gradient.view(-1).index_add_(0, tile.place.flatten(), pulled.flatten())
            del slopes, near  # their memory is the next tile's
        if gradient is not None and finite is not shifted:  # an infinite score has no gradient
            gradient.masked_fill_((finite != shifted).reshape(-1, n), 0.0)
    return with_gradient(value, scores, gradient, where)


class Positives(NamedTuple):
    """All positives, query by query."""

    place: Tensor  # (p,) int64, ascending: row · n + column
    first: Tensor  # (q,) int64: the number in this list of the first positive of each query
    size: Tensor  # (q,) int64: how many positives each query has


class Tile(NamedTuple):
    """Some positives of some queries, padded to the largest number of them, each against all candidates."""

    query: Tensor  # (t,)
    place: Tensor  # (t, m): all positives of these queries; the last one again instead of padding
    number: range  # which of the m these are, k of them
    real: Tensor | None  # (t, m) bool; None if there is no padding


def _count(
    ranker: PairwiseRanker, rows: Tensor, out: Tensor, tile: Tile, hard: bool, learning: bool
) -> tuple[Tensor, Tensor, Tensor | None, Tensor | None]:
    """The ranks of a tile and those among the positives, (t, k), and the slopes of both kinds of pairs."""
    positives = rows.take(tile.place)
    own = positives[:, tile.number.start : tile.number.stop, None]
    near = positives.unsqueeze(1) - own
    if tile.real is not None:
        near.masked_fill_(~tile.real.unsqueeze(1), -math.inf)
    near.diagonal(tile.number.start, 1, 2).fill_(-math.inf)
    negatives = rows[tile.query].masked_fill_(out[tile.query], -math.inf)
    beyond, slopes = sum_and_slope_(ranker, negatives.unsqueeze(1) - own, learning)
    if hard:
        among, slopes_near = (near >= 0).sum(2).to(beyond), None
    else:
        among, slopes_near = sum_and_slope_(ranker, near, learning)
    return 1 + among + beyond, 1 + among, slopes, slopes_near


def _spread(gradient: Tensor, tile: Tile, weight: Tensor, slopes: Tensor) -> Tensor:
    """Each pair pushes its two scores apart by weight · slope: the positive here; return what the others get."""
    own = tile.place[:, tile.number.start : tile.number.stop]
    gradient.view(-1).index_add_(0, own.flatten(), (weight * slopes.sum(2)).flatten(), alpha=-1)
    return weight.unsqueeze(1).bmm(slopes).squeeze(1)


def _flat(table: Tensor, tile: Tile) -> Tensor:
    """Of a table (t, k) what is no padding, as a list."""
    return table.flatten() if tile.real is None else table[tile.real[:, tile.number.start : tile.number.stop]]


def _table(values: Tensor, tile: Tile, like: Tensor) -> Tensor:
    """The list as a table again, 0 for padding."""
    if tile.real is None:
        return values.view_as(like)
    return torch.zeros_like(like).masked_scatter_(tile.real[:, tile.number.start : tile.number.stop], values)


def find(positive: Tensor) -> Positives:
    """List the positives; on a CPU by NumPy, which finds few among many 20 times faster."""
    (queries, n), flat = positive.shape, positive.flatten()
    place = torch.from_numpy(np.flatnonzero(flat.numpy())) if flat.device.type == "cpu" else flat.nonzero().view(-1)
    edge = torch.searchsorted(place, torch.arange(0, queries * n + 1, n, device=place.device))
    return Positives(place, edge[:-1], edge.diff())


def tiles(found: Positives, n: int) -> Iterator[Tile]:
    """Cut the positives into tiles of at most twice ``TILE`` pairs, or of one positive."""
    size, order = found.size.sort()
    sizes, device = size.tolist(), size.device
    most = min(2 * tile_size(device), max(SMALL, len(sizes) * n // 2))
    for here, number in cut(sizes, n, most):
        query, own, least, largest = order[here], size[here, None], sizes[here.start], sizes[here.stop - 1]
        member, real = torch.arange(largest, device=device), None
        if least < largest:
            member, real = torch.minimum(member, own - 1), member < own
        yield Tile(query, found.place[found.first[query, None] + member], number, real)


def cut(sizes: list[int], n: int, most: int) -> Iterator[tuple[slice, range]]:
    """Cut queries, by rising numbers of their items, into tiles of ``most`` pairs with n others, or of one item.

    Which queries, and which of their items, as if all had as many as the last of them. Those without are left out.
    """
    begin = next((i for i, size in enumerate(sizes) if size), len(sizes))
    while begin < len(sizes):
        stop = begin + 1
        while stop < len(sizes) and (stop + 1 - begin) * sizes[stop] * n <= most:
            stop += 1
        size, height = sizes[stop - 1], max(1, most // n)
        for start in range(0, size, height):
            yield slice(begin, stop), range(start, min(start + height, size))
        begin = stop
