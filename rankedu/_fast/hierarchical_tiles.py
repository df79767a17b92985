r"""The loss of H-AP by pairs of scores, without laying out all pairs at once.

The items of each query are sorted by relevance. Then for the items of one grade all items of lower relevance are the
columns behind them, and all of higher relevance the columns before: rectangles, no masks. What is counted without a
gradient comes from one sort of the scores. How much a pair weighs in the gradient is known as soon as the rank is,

.. math:: \frac{\partial L}{\partial\,\mathrm{rank}(k)}
          = \frac{\mathcal{H}\text{-}\mathrm{rank}(k)}{\mathrm{rank}(k)^2}, \qquad
          \frac{\partial L}{\partial\,\mathcal{H}\text{-}\mathrm{rank}(k)} = -\frac{1}{\mathrm{rank}(k)},

so the gradient is made while the tile is still in the cache, and backward there is nothing left but to scale it.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from rankedu._fast import packed
from rankedu._fast.gradient import wanted, with_gradient
from rankedu._fast.packed import Ints
from rankedu._fast.steps import step_then_slope_, sum_and_slope_
from rankedu._fast.tiles import cut, tile_size
from rankedu.rankers._pairwise import PairwiseRanker, made_finite
from rankedu.rankers.supremum import SupremumRanker
from rankedu.ranks import Descending


class Columns(NamedTuple):
    """The items of each query from the most to the least relevant, ties by position; then those who take no part."""

    item: Tensor  # (q, n) int64: which item stands in each column
    scores: Tensor  # (q, n)
    group: Tensor  # (q, n) int64: never falls
    first: Tensor  # (q, G + 2) int64: the column at which each group begins; the last entry: how many take part


class Counts(NamedTuple):
    """Hard counts for the relevant columns, without a gradient; shape (q, n), 0 elsewhere."""

    rank: Tensor  # items of equal or higher relevance whose score is at least this one's, itself included
    h_rank: Tensor  # these, and those of lower relevance whose score is larger, each by the smaller relevance
    higher: Tensor  # items of strictly higher relevance whose score is at least this one's
    lower: Tensor  # items of strictly lower relevance whose score is larger


def loss_of_grades(
    ranker: PairwiseRanker,
    scores: Tensor,
    shifted: Tensor,
    group: Tensor,
    drop: Tensor,
    where: Tensor | None,
    within_grad: bool = False,
    lower: Any = None,
) -> Tensor:
    """Compute 1 − H-AP with the ranker's step: the mean over the queries that have a relevant item.

    ``scores`` get the gradient; ``shifted`` is what is ranked: the scores after the margin. ``group`` and ``drop`` are
    made by `grade` of each row's shares of its total relevance. ``within_grad`` lets the gradient flow through H-rank;
    of a `SupremumRanker`, ``lower`` is the step for items of higher relevance in H-rank, None counts them. O(positives
    · n) time for each query, O(queries · n) memory.
    """
    n, groups, learning = scores.shape[-1], drop.shape[-1], wanted(scores)
    with torch.no_grad(), torch.autocast(scores.device.type, enabled=False):  # its products would come in 16 bits
        values, group, drop = shifted.reshape(-1, n), group.reshape(-1, n), drop.reshape(-1, groups).to(shifted)
        if where is not None:  # those who do not take part are a group of their own, behind all others
            hidden = ~where.reshape(-1, n)
            values, group = values.masked_fill(hidden, 0.0), group.masked_fill(hidden, groups + 1)
        finite = made_finite(values, None)
        columns = by_relevance(finite, group, groups)
        sums = _Sums(ranker, columns, drop, learning)
        counts = count(columns, drop) if isinstance(ranker, SupremumRanker) else None
        for tile in tiles(columns, groups):
            if counts is None:
                sums.add_soft(tile, within_grad)
            else:
                sums.add_hard(tile, counts, lower)
        answered = columns.first[:, groups] > 0
        queries, gradient = answered.sum(), None
        if learning:
            gradient = torch.empty_like(finite).scatter_(-1, columns.item, sums.gradient.div_(queries))
            if finite is not values:  # an infinite score has no gradient
                gradient.masked_fill_(finite != values, 0.0)
        value = ((1 - sums.value) * answered).sum() / queries
    return with_gradient(value, scores, gradient, where)


class _Tile(NamedTuple):
    """The items of one group of some queries, padded to the largest such group."""

    rows: Tensor  # (t,)
    place: Tensor  # (t, k) int64: row · n + column
    real: Tensor  # (t, k): 0 for padding, else 1
    start: Ints  # (t, 1): the column where the group begins
    end: Ints  # (t, 1): the column where the next one does
    length: Ints  # (t, 1): how many take part


def tiles(columns: Columns, groups: int) -> Iterator[_Tile]:
    """Group by group; queries of about the same group sizes together, so that there is little padding."""
    n, device = columns.scores.shape[1], columns.scores.device
    first = columns.first.cpu().numpy()  # a GPU is waited for once
    for g in range(groups):
        start, end = first[:, g], first[:, g + 1]
        rows = np.flatnonzero(end > start)
        rows = rows[np.lexsort((end[rows], (end - start)[rows]))]
        for some, items in cut((end - start)[rows].tolist(), n, 2 * tile_size(device)):
            here = rows[some, None]
            edges = np.stack([here, start[here], end[here], first[here, -1]])
            query, begin, stop, _ = torch.from_numpy(edges).to(device)
            column = begin + torch.arange(items.start, items.stop, device=device)
            real = (column < stop).to(columns.scores)
            yield _Tile(query[:, 0], query * n + column.clamp_(max=n - 1), real, *edges[1:])


class _Sums:
    """H-AP of each query and the gradient of the loss by column, tile after tile."""

    def __init__(self, ranker: PairwiseRanker, columns: Columns, drop: Tensor, learning: bool) -> None:
        self.ranker, self.scores, self.learning = ranker, columns.scores, learning
        relevance = torch.nn.functional.pad(drop.flip(-1).cumsum(-1).flip(-1), (0, 2))
        self.relevance = relevance.gather(-1, columns.group)
        self.column = torch.arange(self.scores.shape[1], device=self.scores.device)
        self.value = self.scores.new_zeros(len(self.scores))
        self.gradient = torch.zeros_like(self.scores)

    def _slice(self, rows: Tensor, start: Ints, end: Ints, fill: float) -> tuple[Tensor, slice]:
        """The scores from one column to another, which may be elsewhere in each row; shape (t, 1, m)."""
        (low, latest), (earliest, high) = ((int(x.min()), int(x.max())) for x in (start, end))
        here = slice(low, max(low, high))
        scores, column = self.scores[rows, here], self.column[here]
        if low != latest or earliest != high:
            begin, stop = torch.from_numpy(np.stack([start, end])).to(column.device)
            scores.masked_fill_((column < begin) | (column >= stop), fill)
        return scores.unsqueeze(1), here

    def _spread(self, tile: _Tile, here: slice, weight: Tensor, slope: Tensor) -> None:
        """Each pair pushes its two scores apart, or together, by weight · slope."""
        self.gradient[:, here].index_add_(0, tile.rows, weight.unsqueeze(1).bmm(slope).squeeze(1))
        self.gradient.view(-1).index_add_(0, tile.place.flatten(), (weight * slope.sum(-1)).flatten(), alpha=-1)

    def add_hard(self, tile: _Tile, counts: Counts, lower: Any) -> None:
        """A `SupremumRanker` counts items of lower relevance by its step, and all others by the Heaviside function."""
        counts = Counts(*(part.take(tile.place) for part in counts))
        own = self.scores.take(tile.place).unsqueeze(-1)
        below, here = self._slice(tile.rows, tile.end, tile.length, -math.inf)
        counted, slope = sum_and_slope_(self.ranker, below - own, self.learning, counts.lower)
        rank = counts.rank.clamp_(min=1) + counted
        h_rank = counts.h_rank * tile.real
        if lower is not None and int(tile.start.max()):
            h_rank += self._correct(tile, lower, own, counts.higher, rank)
        share = h_rank / rank
        self.value.index_add_(0, tile.rows, share.sum(-1))
        if slope is not None:
            self._spread(tile, here, share / rank, slope)

    def _correct(self, tile: _Tile, step: Any, own: Tensor, higher: Tensor, rank: Tensor) -> Tensor:
        """Count the items of higher relevance by the lower step instead; what that changes in H-rank."""
        relevance = self.relevance.take(tile.place) * tile.real
        before, there = self._slice(tile.rows, np.zeros_like(tile.start), tile.start, math.nan)
        differences = before - own
        padding = differences.isnan()
        if self.learning:
            self._spread(tile, there, -relevance / rank, step.slope(differences).masked_fill(padding, 0.0))
        change: Tensor = relevance * (step(differences).masked_fill(padding, 0.0).sum(-1) - higher)
        return change

    def add_soft(self, tile: _Tile, within_grad: bool) -> None:
        """Any other ranker counts all pairs by its step, in H-rank each by the smaller relevance.

        For the items of one grade that is the same row of numbers, so that H-rank is a matrix product.
        """
        everyone, here = self._slice(tile.rows, np.zeros_like(tile.end), tile.length, -math.inf)
        itself = (tile.place % len(self.column)).clamp_(max=everyone.shape[-1] - 1).unsqueeze(-1)
        differences = everyone - self.scores.take(tile.place).unsqueeze(-1)
        differences.scatter_(-1, itself, -math.inf)
        grade = self.relevance.take(tile.place[:, :1])
        smaller = torch.minimum(self.relevance[tile.rows, here], grade).unsqueeze(1)
        step, make_slope = step_then_slope_(self.ranker, differences)
        rank = 1 + step.sum(-1)
        share = tile.real * (grade + (step @ smaller.transpose(1, 2)).squeeze(-1)) / rank
        self.value.index_add_(0, tile.rows, share.sum(-1))
        if self.learning:
            slope = make_slope()
            self._spread(tile, here, share / rank, slope)
            if within_grad:
                self._spread(tile, here, -tile.real / rank, slope.mul_(smaller))


def by_relevance(scores: Tensor, group: Tensor, groups: int) -> Columns:
    """Sort the items of each query; group G is irrelevance, and G + 1 takes no part."""
    ordered, item = group.long().sort(dim=-1, stable=True)
    edges = torch.arange(groups + 2, device=group.device).expand(len(group), -1).contiguous()
    return Columns(item, scores.gather(-1, item), ordered, torch.searchsorted(ordered, edges))


def count(columns: Columns, drop: Tensor) -> Counts:
    """Go down the list of scores, the more relevant first where they tie; members of a grade that tie count each other.

    H-rank is the weighted sum of ranks within nested sets: those of groups 0 to g, for every g.
    """
    groups = drop.shape[-1]
    values = columns.scores.masked_fill(columns.group > groups, -math.inf)
    values, place = packed.descending(values)
    group = columns.group.gather(-1, place)
    first = torch.ones_like(group, dtype=torch.bool)  # of those that tie in score and in grade
    first[:, 1:] = (values[:, 1:] != values[:, :-1]) | (group[:, 1:] != group[:, :-1])
    order, tied = Descending(place, first), not first.all()
    rank, h_rank, higher, lower = (torch.zeros_like(values) for _ in range(4))
    position, above = torch.arange(1, group.shape[1] + 1, device=group.device), torch.zeros_like(group)
    for g in range(groups):
        members, own = group <= g, group == g
        seen = members.cumsum(-1)
        lower += (position - seen) * own
        if tied:
            seen = order.at_last(seen)
        rank += seen * own
        higher += above * own
        h_rank += drop[:, g, None] * (seen * members)
        above = seen
    return Counts(*map(order.restore, (rank, h_rank, higher, lower)))
