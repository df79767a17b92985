"""The items of a query sorted by relevance, and what can be counted about them from one sort of the scores."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from rankedu._fast import sorting
from rankedu.checks import as_graded, check_floating, check_not_nan, check_values
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


def shares(scores: Tensor, relevance: Tensor, where: Tensor | None) -> Tensor:
    """Check what the loss is given; return the relevance as float64 with a sum of 1 in each row that has any."""
    check_values(scores)
    check_floating(scores)
    value = as_graded(relevance, scores, where)
    check_not_nan(scores, where)
    largest = value.amax(-1, keepdim=True)
    value /= torch.where(largest > 0, largest, 1.0)
    value /= value.sum(-1, keepdim=True).clamp(min=1.0)
    return value


def grade(share: Tensor) -> tuple[Tensor, Tensor]:
    """Number the distinct relevances of each row of shares ≥ 0, (..., n), one of which is positive.

    The group of an item, (..., n) integers: 0 for the largest relevance of its row, 1 for the next, …; G, the largest
    number of grades in a row, for 0. And by how much the relevance falls from each group to the next, (..., G).
    """
    rows = share if share.numel() > share.shape[-1] else share[share > 0]  # one list may be long: no zeros are sorted
    ordered = rows.sort(dim=-1, descending=True).values
    place = torch.zeros_like(ordered, dtype=torch.int64)
    torch.cumsum(ordered[..., 1:] != ordered[..., :-1], dim=-1, out=place[..., 1:])
    groups = 1 + int(place.masked_fill(ordered == 0, -1).max())
    value = share.new_zeros(*rows.shape[:-1], groups + 1).scatter_(-1, place, ordered)
    group = torch.searchsorted(value.flip(-1), share, out_int32=True).neg_().add_(groups)
    small = group.short() if groups < torch.iinfo(torch.int16).max else group
    return small, (value[..., :-1] - value[..., 1:]).view(*share.shape[:-1], groups)


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
    values, place = sorting.descending(values)
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
