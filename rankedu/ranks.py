"""Ranks: the staircase that the book differentiates.

Everything follows from one sort of each row, `Order`, the one place that was written for speed: on a CPU a score, its
place among ties and its position are one integer, and NumPy sorts integers several times faster than torch sorts
floats.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

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

BLOCK = 1 << 16  # scores that are packed and sorted together: their temporaries stay in the cache
HALF = (torch.float16, torch.bfloat16)


def rank(scores: Tensor, *, where: Tensor | None = None, ties: str = "ordinal") -> Tensor:
    r"""Rank the items of each row; the largest score has rank 1. Explained in chapter 1.

    .. math:: \mathbf{rk}(\mathbf{y})_i = 1 + |\{j : y_j > y_i\}|

    Parameters
    ----------
    scores : Tensor, shape (..., n)
        float16, bfloat16, float32, float64 or integer; larger is better. Infinities are allowed, −0.0 ties with 0.0.
    where : Tensor of bool, shape (..., n), optional
        Items that take part, by default all. The scores of the others do not matter, NaN included.
    ties : {"ordinal", "min", "max"}
        "ordinal" ranks equal scores by position, a permutation (Eq. 1). "min" gives them the best of the ranks that
        they occupy (Eq. 2 to the letter), "max" the worst.

    Returns
    -------
    Tensor of int64, shape (..., n), from 1; 0 outside ``where``

    Raises
    ------
    ValueError
        For NaN, n = 0, a ``where`` of another shape, or an unknown ``ties``.
    TypeError
        For scores that are neither floating point nor integer, or a ``where`` that is not bool.

    References
    ----------
    RaMBO Eq. 1; RaMBO Eq. 2

    Examples
    --------
    >>> scores = torch.tensor([0.5, 0.9, 0.5, 0.1])
    >>> rank(scores), rank(scores, ties="min")
    (tensor([2, 1, 3, 4]), tensor([2, 1, 2, 4]))
    >>> rank(scores, where=torch.tensor([True, False, True, True]))
    tensor([1, 0, 2, 3])
    """
    check_choice(ties, ("ordinal", "min", "max"), name="ties")
    check_values(scores)
    check_where(where, scores)
    check_not_nan(scores, where)
    if ties == "ordinal":
        ranks = Order(where).ranks(scores).long()
        return ranks if where is None else ranks.masked_fill_(~where, 0)
    item = Order(where)(scores)
    ordered = scores.detach().gather(-1, item)
    new = torch.ones_like(item, dtype=torch.bool)  # does a group of tied items begin at this place?
    torch.ne(ordered[..., 1:], ordered[..., :-1], out=new[..., 1:])
    if where is not None:
        new |= ~where.gather(-1, item)
    place = torch.arange(1, item.shape[-1] + 1, device=item.device).expand_as(item)
    if ties == "min":
        place = place.masked_fill(~new, 0).cummax(-1).values
    else:
        last = torch.ones_like(new)
        last[..., :-1] = new[..., 1:]
        place = place.masked_fill(~last, item.shape[-1]).flip(-1).cummin(-1).values.flip(-1)
    ranks = torch.empty_like(item).scatter_(-1, item, place)
    return ranks if where is None else ranks.masked_fill_(~where, 0)


def rank_among(scores: Tensor, members: Tensor, *, where: Tensor | None = None) -> Tensor:
    r"""Rank each member among the members only: :math:`\mathbf{rk}(\mathbf{y}^+)`. Explained in chapter 7.

    Parameters
    ----------
    scores, where : as for :func:`rank`
    members : Tensor of bool, shape (..., n)
        For :math:`\mathbf{y}^+`, the relevant items.

    Returns
    -------
    Tensor of int64, shape (..., n), 1 for the best member; 0 outside the members

    Raises
    ------
    ValueError, TypeError
        As :func:`rank`, and for members of another shape or dtype.

    References
    ----------
    RaMBO Eq. 17; RaMBO Eq. 21

    Examples
    --------
    >>> rank_among(torch.tensor([0.9, 0.1, 0.5]), torch.tensor([True, False, True]))
    tensor([1, 0, 2])
    """
    check_values(scores)
    check_mask(members, scores, name="members")
    check_where(where, scores)
    return rank(scores, where=members if where is None else members & where)


def outranking_negatives(scores: Tensor, relevance: Tensor, *, where: Tensor | None = None) -> Tensor:
    r"""Count the irrelevant items that outrank each relevant one; ties go by position. Explained in chapter 7.

    .. math:: r_i = \mathbf{rk}(\mathbf{y})_i - \mathbf{rk}(\mathbf{y}^+)_i

    Parameters
    ----------
    scores, where : as for :func:`rank`
    relevance : Tensor of bool, or of 0 and 1, shape (..., n)

    Returns
    -------
    Tensor of int64, shape (..., n), 0 for the irrelevant items

    Raises
    ------
    ValueError, TypeError
        As :func:`rank`, and for a relevance of another shape, or neither 0 nor 1.

    References
    ----------
    RaMBO Eq. 17

    Examples
    --------
    >>> outranking_negatives(torch.tensor([0.9, 0.8, 0.7, 0.6]), torch.tensor([False, True, False, True]))
    tensor([0, 1, 0, 2])
    """
    positive = relevant_items(scores, relevance, where)
    return rank(scores, where=where) * positive - rank_among(scores, positive)


def where_of(lengths: Tensor | Sequence[int], n: int | None = None) -> Tensor:
    """Mark the items that take part in padded lists of different lengths: the first of each row.

    Explained in chapter 1.

    Parameters
    ----------
    lengths : Tensor of int, shape (...), or sequence of int
        How many items each list has, ≥ 0.
    n : int, optional
        The length of the padded lists, by default the largest of ``lengths``.

    Returns
    -------
    Tensor of bool, shape (..., n), False for the padding, whose values do not matter

    Raises
    ------
    ValueError, TypeError
        For lengths that are not integers, negative, or above ``n``.

    Examples
    --------
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


# ------------------------------------------------------------------------------------- what rankers and losses build on


def lists_of(query: Tensor) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Collect the items of each query, (n,), in tables of lists of similar length, so that little is padding.

    Yields the numbers of the queries of a table in ascending order, (q,), their items, (q, m), and which of these are
    no padding, which repeats the first item.
    """
    _, of_item, count = query.unique(return_inverse=True, return_counts=True)
    item, first = of_item.argsort(stable=True), count.cumsum(0) - count
    bits = (count - 1).float().frexp().exponent  # lists of a table are at most twice as long as each other
    for size in bits.unique():
        number = (bits == size).nonzero().squeeze(1)
        place = torch.arange(int(count[number].max()), device=query.device)
        here = place < count[number, None]
        yield number, item[first[number, None] + (place * here)], here


@dataclass
class Order:
    """How the items of each row are sorted, the best first: by score, tied ones by ``last``, and then by position.

    Items outside ``where``, shape (..., n), are at the end. ``last``, of the same shape, is bool or a number from 0; of
    two tied items the one with the smaller value is first.
    """

    where: Tensor | None = None
    last: Tensor | None = None
    _out: Tensor | None = None  # ~where
    _of_equal: Tensor | None = None  # the order by `last`

    def ranks(self, scores: Tensor) -> Tensor:
        """Rank checked scores, in floating point that counts exactly; items outside ``where`` are behind all others."""
        item = self(scores)
        n = item.shape[-1]
        dtype = torch.float64 if n > 1 << 24 or scores.dtype == torch.float64 else torch.float32
        place = torch.arange(1, n + 1, dtype=dtype, device=item.device).expand_as(item)
        return torch.empty(item.shape, dtype=dtype, device=item.device).scatter_(-1, item, place)

    def __call__(self, scores: Tensor) -> Tensor:
        """List the items of each row of checked scores, shape (..., n) int64."""
        scores, where, last = scores.detach().resolve_neg(), self.where, self.last
        scores = scores.float() if scores.dtype in HALF else scores
        n = scores.shape[-1]
        few = last is None or last.dtype == torch.bool or (last.dtype == torch.int16 and n < 1 << 16)
        if not (few and n < 1 << 31 and scores.dtype == torch.float32 and scores.device.type == "cpu"):
            if not scores.is_floating_point():  # the places of the values, which tie as these do
                exact = torch.float32 if scores.numel() <= 1 << 24 else torch.float64
                scores = scores.unique(return_inverse=True)[1].to(exact)
            down = 0 - scores  # of -0.0, too, it makes 0.0
            if where is not None:
                self._out = ~where if self._out is None else self._out
                down.masked_fill_(self._out, torch.nan)  # behind all others
            if last is None:
                return down.argsort(dim=-1, stable=True)
            if self._of_equal is None:
                self._of_equal = last.argsort(dim=-1, stable=True)
            return self._of_equal.gather(-1, down.gather(-1, self._of_equal).argsort(dim=-1, stable=True))
        # The bits of the score, then `last`, then the position, in one int64 that sorts as they do.
        rows = scores.reshape(-1, n).numpy()
        flags = None if last is None else last.reshape(-1, n).numpy()
        mask = None if where is None else where.reshape(-1, n).numpy()
        bits_of_place = 16 if flags is not None and flags.dtype == np.int16 else 31
        keys, height = np.empty(rows.shape, np.int64), max(1, BLOCK // n)
        for top in range(0, len(rows), height):
            for left in range(0, n, BLOCK):
                block = slice(top, top + height), slice(left, left + BLOCK)
                bits = (rows[block] + np.float32(0)).view(np.int32)  # -0.0 becomes 0.0
                high = ~(bits ^ ((bits >> 31) & 0x7FFFFFFF))  # integers in the opposite order of the floats
                if mask is not None:
                    np.copyto(high, 0x7FFFFFFF, where=~mask[block])  # behind all others
                key = np.left_shift(high, 32, out=keys[block], dtype=np.int64)
                place = np.arange(left, left + key.shape[1])
                if flags is None:
                    key |= place
                elif flags.dtype == np.bool_:
                    key |= np.where(flags[block], place | 1 << bits_of_place, place)
                else:
                    key |= (flags[block].astype(np.int64) << bits_of_place) | place
            key = keys[top : top + height]
            key.sort(axis=-1)  # vectorised, unlike torch's sort and any argsort
            key &= (1 << bits_of_place) - 1
        return torch.from_numpy(keys).view(scores.shape)


class Relevant(NamedTuple):
    """The relevant items of each query: a table with a column for each of them, padded to the longest list."""

    item: Tensor  # (q, m) int64: the position of each relevant item in its row; padding repeats the first one
    real: Tensor  # (q, m) bool: False for padding
    share: Tensor  # (q, m) float: the share of an item in the relevance of its query; 0 for padding
    members: Tensor  # (q, n) bool: all relevant items
    grade: Tensor | None = None  # (q, n) int: 0 for the largest relevance of a query, then 1, …; G for irrelevance
    drop: Tensor | None = None  # (q, G) float: by how much the share falls from each grade to the next

    def pick(self, values: Tensor) -> Tensor:
        """Of values of all items, (q, n), those of the relevant ones, (q, m)."""
        return values.gather(-1, self.item)


def h_rank(scores: Tensor, relevant: Relevant, *, ties: str) -> tuple[Tensor, Tensor]:
    r"""Rank each relevant item, (q, m), among the items of its grade or better, and compute its H-rank; no gradient.

    H-rank is the weighted sum of ranks within nested sets, :math:`\sum_{t: r_t \le rel(k)} (r_t - r_{t-1}) rk_t(k)`.
    One sort does for all of these sets: a rank within a set is how many of its members have been seen so far.
    ``ties="against"`` puts the less relevant of two tied items first, as a vanishing margin would; ``"for"`` puts the
    more relevant one first, and then tied items of one grade count each other, H(0) = 1.
    """
    assert relevant.grade is not None and relevant.drop is not None
    grade, drop, groups = relevant.pick(relevant.grade), relevant.drop, relevant.drop.shape[-1]
    item = Order(relevant.real, grade if ties == "for" else groups - 1 - grade)(scores)
    sorted_grade = grade.gather(-1, item).masked_fill(~relevant.real.gather(-1, item), groups)
    last = None
    if ties == "for":  # the last place of those that tie in score and grade
        values = scores.detach().gather(-1, item)
        same = (values[:, 1:] == values[:, :-1]) & (sorted_grade[:, 1:] == sorted_grade[:, :-1])
        places = torch.arange(item.shape[-1], device=item.device).expand_as(item).clone()
        places[:, :-1].masked_fill_(same, item.shape[-1])
        last = places.flip(-1).cummin(-1).values.flip(-1)
    own, total = torch.zeros_like(scores), torch.zeros_like(scores)
    for g in range(groups):
        seen = (sorted_grade <= g).cumsum(-1)
        seen = (seen if last is None else seen.gather(-1, last)).to(scores.dtype)
        own += seen * (sorted_grade == g)
        total += drop[:, g, None] * seen * (sorted_grade <= g)
    return tuple(torch.zeros_like(scores).scatter_(-1, item, found) for found in (own, total))  # type: ignore[return-value]
