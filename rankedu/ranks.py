r"""Ranks: the staircase that the book differentiates.

Everything here follows from one stable sort: ranks are counts of items seen so far, going down the sorted list.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from rankedu._fast import packed
from rankedu._fast.switch import READABLE
from rankedu.checks import (
    check_choice,
    check_count,
    check_integers,
    check_mask,
    check_not_nan,
    check_values,
    check_where,
    relevant_items,
)

__all__ = ["outranking_negatives", "rank", "rank_among", "where_of"]

MANY = 8192  # scores from which packed keys are worth their overhead


class Descending(NamedTuple):
    """The items of every row from the best to the worst, ties by position."""

    item: Tensor  # (..., n) int64: which item stands at each place
    first: Tensor  # (..., n) bool: does a group of tied items begin at this place?

    def arrange(self, values: Tensor) -> Tensor:
        """From the items' order to the sorted one."""
        return values.gather(-1, self.item)

    def restore(self, values: Tensor) -> Tensor:
        """From the sorted order back to the items'."""
        return torch.empty_like(values).scatter_(-1, self.item, values)

    def at_first(self, counts: Tensor) -> Tensor:
        """Give every place the (never decreasing) count found at the first place of its tied group."""
        return counts.masked_fill(~self.first, 0).cummax(-1).values

    def at_last(self, counts: Tensor) -> Tensor:
        """Give every place the (never decreasing) count found at the last place of its tied group."""
        last = torch.ones_like(self.first)
        last[..., :-1] = self.first[..., 1:]
        top = torch.iinfo(counts.dtype).max
        return counts.masked_fill(~last, top).flip(-1).cummin(-1).values.flip(-1)


def _check(scores: Tensor, where: Tensor | None, name: str) -> None:
    check_values(scores, name=name)
    check_where(where, scores, other=name)
    check_not_nan(scores, where, name=name)


def descending(scores: Tensor, where: Tensor | None = None, *, name: str = "scores") -> Descending:
    """Check the scores and sort them; items outside ``where`` stand anywhere (NaN: first), so do not count them."""
    _check(scores, where, name)
    values = scores.detach()
    if values.is_floating_point():
        values = values + 0.0  # -0.0 becomes 0.0, so that the two tie on every device
    values, item = values.sort(dim=-1, descending=True, stable=True)
    first = torch.ones_like(values, dtype=torch.bool)
    torch.ne(values[..., 1:], values[..., :-1], out=first[..., 1:])
    return Descending(item, first)


def rank(scores: Tensor, *, where: Tensor | None = None, ties: str = "ordinal") -> Tensor:
    r"""Rank every item of a row; the largest score has rank 1.

    .. math:: \mathbf{rk}(\mathbf{y})_i = 1 + |\{j : y_j > y_i\}|

    Parameters
    ----------
    scores : Tensor, shape (..., n)
        float16, bfloat16, float32, float64 or integer; larger is better. Infinities are allowed, -0.0 ties with 0.0.
    where : Tensor of bool, shape (..., n), optional
        Items that take part. What stands in the others, NaN included, does not matter. Default: all.
    ties : {"ordinal", "min", "max"}
        Equal scores are ranked by position, which gives a permutation (Eq. 1), or all get the best ("min": Eq. 2 to
        the letter) or the worst ("max") of the ranks that they occupy.

    Notes
    -----
    Returns Tensor of int64, shape (..., n): ranks from 1; 0 outside ``where``. O(n log n): one stable sort in the
    scores' own dtype, so no order is lost. Explained in chapter 1.
    Raises ValueError for NaN, n = 0, a ``where`` of another shape, or an unknown ``ties``; TypeError for scores that
    are neither floating point nor integer, or a ``where`` that is not bool.
    Source: RaMBO Eq. 1; RaMBO Eq. 2.

    >>> scores = torch.tensor([0.5, 0.9, 0.5, 0.1])
    >>> rank(scores)
    tensor([2, 1, 3, 4])
    >>> rank(scores, ties="min")
    tensor([2, 1, 2, 4])
    >>> rank(scores, where=torch.tensor([True, False, True, True]))
    tensor([1, 0, 2, 3])
    """
    check_choice(ties, ("ordinal", "min", "max"), name="ties")
    if ties == "ordinal":
        _check(scores, where, "scores")
        return ranked(scores, where)
    order = descending(scores, where)
    takes_part = torch.ones_like(order.first) if where is None else order.arrange(where)
    counts = takes_part.cumsum(-1)  # how many stand here or above
    counts = order.at_first(counts - takes_part.long()) + 1 if ties == "min" else order.at_last(counts)
    return order.restore(counts * takes_part)


def ranked(scores: Tensor, where: Tensor | None) -> Tensor:
    """Rank checked scores, ties by position."""
    if scores.numel() >= MANY and not READABLE.get() and packed.packable(scores):
        n = scores.shape[-1]
        mask = None if where is None else where.reshape(-1, n).numpy()
        return torch.from_numpy(packed.ranks(scores.detach().reshape(-1, n).numpy(), mask)).view(scores.shape)
    item = (scores.detach() + 0).argsort(dim=-1, descending=True, stable=True)  # -0.0 becomes 0.0, as above
    takes_part = torch.ones_like(item) if where is None else where.gather(-1, item)
    counts = takes_part.cumsum(-1) * takes_part
    return torch.empty_like(counts).scatter_(-1, item, counts)


def rank_among(scores: Tensor, members: Tensor, *, where: Tensor | None = None) -> Tensor:
    r"""Rank each member among the members only: :math:`\mathbf{rk}(\mathbf{y}^+)`; 0 for all others.

    For :math:`\mathbf{y}^+` the members, bool of shape (..., n), are the relevant items. All else as :func:`rank`, ties
    by position and errors included. Explained in chapter 7.
    Source: RaMBO Eq. 17; RaMBO Eq. 21.

    >>> rank_among(torch.tensor([0.9, 0.1, 0.5]), torch.tensor([True, False, True]))
    tensor([1, 0, 2])
    """
    check_values(scores)
    check_mask(members, scores, name="members")
    check_where(where, scores)
    return rank(scores, where=members if where is None else members & where)


def outranking_negatives(scores: Tensor, relevance: Tensor, *, where: Tensor | None = None) -> Tensor:
    r"""Count the irrelevant items that outrank each relevant one.

    .. math:: r_i = \mathbf{rk}(\mathbf{y})_i - \mathbf{rk}(\mathbf{y}^+)_i

    Of scores and relevance, bool or 0 and 1, (..., n) each: int64, (..., n), 0 for all irrelevant items. For a margin,
    shift the scores first (Eq. 14). All else as :func:`rank`, ties by position included. Explained in chapter 7.
    Source: RaMBO Eq. 17.

    >>> scores = torch.tensor([0.9, 0.8, 0.7, 0.6])
    >>> outranking_negatives(scores, torch.tensor([False, True, False, True]))
    tensor([0, 1, 0, 2])
    """
    positive = relevant_items(scores, relevance, where)
    return rank(scores, where=where) * positive - rank_among(scores, positive)


def where_of(lengths: Tensor | Sequence[int], n: int | None = None) -> Tensor:
    """Mark who takes part in lists of different lengths: of each padded row the first so many, (..., n) bool.

    ``lengths``, (...), are ints from 0 to ``n``, by default the largest of them. What is padded with does not matter.
    O(queries · n). Explained in chapter 1. Raises TypeError for lengths that are no ints; ValueError for
    negative ones, or longer ones than n.

    >>> where_of([2, 3])
    tensor([[ True,  True, False],
            [ True,  True,  True]])
    >>> lists = [torch.tensor([0.5, 0.9]), torch.tensor([0.1, 0.3, 0.2])]
    >>> rank(torch.nn.utils.rnn.pad_sequence(lists, batch_first=True), where=where_of([len(y) for y in lists]))
    tensor([[2, 1, 0],
            [3, 1, 2]])
    """
    sizes = torch.as_tensor(lengths)
    check_integers(sizes, "lengths", "how many items each list has")
    most = int(sizes.max()) if sizes.numel() else 0
    n = max(most, 1) if n is None else check_count(n, "n", least=max(most, 1), hint="as long as the longest list")
    if sizes.numel() and int(sizes.min()) < 0:
        raise ValueError(f"lengths must be >= 0, got {int(sizes.min())} (how many items each list has)")
    return torch.arange(n, device=sizes.device) < sizes.unsqueeze(-1)
