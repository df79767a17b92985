"""The items of a query sorted by relevance, and what can be counted about them from one sort of the scores."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from rankedu._fast import sorting
from rankedu._validation import check_floating, check_like, check_mask, check_not_nan, check_values

__all__ = ["Columns", "Counts", "by_relevance", "count", "grade", "shares"]


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
    check_like(relevance, scores, name="relevance")
    value = relevance.detach().to(torch.float64, copy=True)
    if where is not None:
        check_mask(where, scores, name="where")
        value.masked_fill_(~where, 0.0)
    check_not_nan(scores, where)
    bad = ~(value.isfinite() & (value >= 0))
    if bad.any():
        raise ValueError(
            f"relevance must be finite and >= 0, got {value[bad][0].item()} "
            "(0 is irrelevant; from labels use hierarchy.relevance(hierarchy.levels(labels, ref_labels)))"
        )
    largest = value.amax(-1, keepdim=True)
    value /= torch.where(largest > 0, largest, 1.0)
    value /= value.sum(-1, keepdim=True).clamp(min=1.0)
    return value


def grade(share: Tensor) -> tuple[Tensor, Tensor]:
    """Number the distinct relevances of each row of shares ≥ 0, (..., n), one of which is positive.

    The group of an item, (..., n) integers: 0 for the largest relevance of its row, 1 for the next, …; G, the largest
    number of grades in a row, for 0. And by how much the relevance falls from each group to the next, (..., G).
    """
    if share.numel() == share.shape[-1]:  # one list may be long: only what is relevant is sorted
        value = share[share > 0].unique()
        drop = value.diff(prepend=value.new_zeros(1)).flip(0)
        group = torch.searchsorted(value, share, right=True, out_int32=True).neg_().add_(len(value))
        small = group.short() if len(value) < torch.iinfo(torch.int16).max else group
        return small, drop.view(*share.shape[:-1], -1)
    ordered, item = share.sort(dim=-1, descending=True)
    place = torch.zeros_like(item)
    torch.cumsum(ordered[..., 1:] != ordered[..., :-1], dim=-1, out=place[..., 1:])
    groups = int(((place + 1) * (ordered > 0)).max())
    place.masked_fill_(ordered == 0, groups)
    value = share.new_zeros(*share.shape[:-1], groups + 1).scatter_(-1, place, ordered)
    return torch.empty_like(item).scatter_(-1, item, place), value[..., :-1] - value[..., 1:]


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
    tied = (values[:, 1:] == values[:, :-1]) & (group[:, 1:] == group[:, :-1])
    rank, h_rank, higher, lower = (torch.zeros_like(values) for _ in range(4))
    position, above = torch.arange(1, group.shape[1] + 1, device=group.device), torch.zeros_like(group)
    for g in range(groups):
        members, own = group <= g, group == g
        seen = members.cumsum(-1)
        lower += (position - seen) * own
        if tied.any():
            seen = _at_last(seen, tied)
        rank += seen * own
        higher += above * own
        h_rank += drop[:, g, None] * (seen * members)
        above = seen
    return Counts(*(torch.empty_like(x).scatter_(-1, place, x) for x in (rank, h_rank, higher, lower)))


def _at_last(counts: Tensor, tied: Tensor) -> Tensor:
    """Give all items of a tied run the (never decreasing) count at its end."""
    goes_on = torch.nn.functional.pad(tied, (0, 1))
    top = torch.iinfo(counts.dtype).max
    return counts.masked_fill(goes_on, top).flip(-1).cummin(-1).values.flip(-1)
