"""Where the relevant items of each query stand in its ranking: all metrics are formulas of these counts.

Scores are compared where they are, in their own dtype. The counts are integers, and NumPy computes the formulas of them
in 64 bits, so the values are the same on every device, also on one without float64.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from rankedu.checks import check_choice, check_not_nan, check_query, check_values, in_transform, warn_caller
from rankedu.ranks import Order, rank

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Depth = Ints | int | None
Mask = Tensor | None

TIES = ("expected", "ordinal", "pessimistic", "optimistic")

# Measured on a CPU, in steps: to compare the n scores of a row with one item costs CALL + n, to sort the row SORT · n.
CALL, SORT = 11_000, 14


class UndefinedMetricWarning(UserWarning):
    """Some queries have no value, so their value is nan."""


class Groups(NamedTuple):
    """Relevant items of some queries in groups of equal score, from the best to the worst of each query.

    Without ties each group is one item. In a group that occupies several places every order is equally likely.
    """

    query: Ints  #: (G,) ascending.
    above: Ints  #: How many candidates have a higher score: the group occupies the places after these.
    tied: Ints  #: How many candidates have this score, that is, how many places the group occupies.
    hits: Ints  #: How many of them are relevant.
    before: Ints  #: How many relevant items have a higher score.
    first: Ints  #: The number of the group's first item.
    size: Ints  #: (Q,) how many relevant items each query has.

    def total(self, values: npt.NDArray[Any], group: Any = slice(None)) -> Floats:
        """Add up values of groups, or of places in these groups, for each query."""
        return np.bincount(self.query[group], values, len(self.size)).astype(np.float64)

    def within(self, depth: Depth) -> Ints:
        """Count the places of each group among the first ``depth`` of the ranking."""
        if depth is None:
            return self.tied
        depth = depth if isinstance(depth, int) else depth[self.query]
        return np.clip(depth - self.above, 0, self.tied)

    def places(self, depth: Depth) -> tuple[Ints, Ints, Ints]:
        """List the places of all groups down to ``depth``: the group, the place within it from 0, and the rank."""
        count = self.within(depth)
        group = np.repeat(np.arange(len(count)), count)
        step = numbers(group, count)
        return group, step, self.above[group] + 1 + step


class Ranking(NamedTuple):
    """The relevant items of some queries, from the best to the worst of each query; ``grade`` > 0 says how relevant."""

    queries: int
    query: Ints
    item: Ints  #: Numbers of the items in all lists together.
    above: Ints
    tied: Ints
    grade: npt.NDArray[Any]

    def groups(self, member: Bools | None = None) -> Groups:
        """Put items of equal score together: all of them, or the members only."""
        query, above, tied = (x if member is None else x[member] for x in (self.query, self.above, self.tied))
        new = np.ones(len(query), np.bool_)
        new[1:] = (query[1:] != query[:-1]) | (above[1:] != above[:-1])
        first = np.flatnonzero(new)
        hits = np.diff(first, append=len(query))
        size = np.bincount(query, minlength=self.queries)
        before = numbers(query, size)[first]
        return Groups(query[first], above[first], tied[first], hits, before, first, size)


def numbers(row: Ints, size: Ints) -> Ints:
    """Number the entries of each row from 0; ``row`` is ascending, and ``size`` says how many each row has."""
    return np.arange(len(row)) - (np.cumsum(size) - size)[row]


def rank_items(rows: Tensor, query: Ints, item: Ints, grade: npt.NDArray[Any], ties: str) -> Ranking:
    """Rank the relevant items, given by ascending query, in rows of scores, (q, n).

    Every policy for ties but "expected" is an order of the tied items, after which there are no ties.
    """
    above, tied = _count(rows, query, item)
    if ties == "ordinal" and (several := tied > 1).any():
        row, number = np.unique(query[several], return_inverse=True)
        ranks = rank(rows[torch.from_numpy(row).to(rows.device)])
        above[several] = ranks[_on(rows.device, number, item[several])].cpu().numpy() - 1
        tied[:] = 1
    return _arranged(Ranking(len(rows), query, query * rows.shape[1] + item, above, tied, grade), ties)


def _arranged(found: Ranking, ties: str) -> Ranking:
    """Sort the items of each query; relevant items last, or first, leave no ties."""
    if ties in ("expected", "ordinal"):
        order = np.argsort(found.query * (found.above.max(initial=0) + 1) + found.above)
    else:
        order = np.lexsort((found.grade if ties == "pessimistic" else -found.grade, found.above, found.query))
    found = Ranking(found.queries, *(values[order] for values in found[1:]))
    if ties in ("pessimistic", "optimistic"):
        groups = found.groups()
        irrelevant = groups.tied - groups.hits if ties == "pessimistic" else np.zeros_like(groups.hits)
        place = np.arange(len(order)) + np.repeat(irrelevant - groups.first, groups.hits)
        found = found._replace(above=found.above + place, tied=np.ones_like(found.tied))
    return found


def _count(rows: Tensor, query: Ints, item: Ints) -> tuple[Ints, Ints]:
    """Count for each item the scores of its row that are higher, and those that are equal, itself included."""
    if rows.device.type != "cpu":
        return _count_by_torch(rows, query, item)
    n, size, table = rows.shape[1], np.bincount(query, minlength=len(rows)), rows.numpy()
    above, reach, end = np.empty(len(query), np.int64), np.empty(len(query), np.int64), np.cumsum(size)
    room = np.empty(n, np.bool_)
    for row in np.flatnonzero(size).tolist():
        part, scores = slice(end[row] - size[row], end[row]), table[row]
        values = scores[item[part]]
        if len(values) * (CALL + n) <= SORT * n + 4 * CALL:
            for i, value in enumerate(values, part.start):
                above[i] = np.count_nonzero(np.greater(scores, value, out=room))
                reach[i] = np.count_nonzero(np.greater_equal(scores, value, out=room))
        else:
            ascending, order = np.sort(scores), values.argsort()  # of values only, which NumPy does fast
            values = values[order]
            above[part][order] = n - ascending.searchsorted(values, side="right")
            reach[part][order] = n - ascending.searchsorted(values)
    return above, reach - above


def _count_by_torch(rows: Tensor, query: Ints, item: Ints) -> tuple[Ints, Ints]:
    """Count on another device."""
    size = np.bincount(query, minlength=len(rows))
    place = _on(rows.device, query, numbers(query, size))
    wanted = rows.new_zeros(len(rows), max(int(size.max(initial=0)), 1))
    wanted[place] = rows[_on(rows.device, query, item)]
    ordered = rows.sort(dim=1).values
    not_above, below = (array(torch.searchsorted(ordered, wanted, side=side)[place]) for side in ("right", "left"))
    return rows.shape[1] - not_above, not_above - below


def _on(device: torch.device, *index: Ints) -> tuple[Tensor, ...]:
    return tuple(torch.from_numpy(x).to(device) for x in index)


def rank_lists(scores: Tensor, grades: npt.NDArray[Any], where: Mask, ties: str, query: Mask = None) -> Ranking:
    """Rank the relevant items of lists that are checked; ``grades`` have the shape of the scores, 0 is irrelevant."""
    check_choice(ties, TIES, name="ties")
    check_not_nan(scores, where)
    queries, number, item, above, tied = count_all(scores, where, query)
    if ties == "ordinal":
        above, tied = numbers(number, np.bincount(number)), np.ones_like(tied)
    grade = grades.reshape(-1)[item].astype(np.float64)
    some = grade > 0
    return _arranged(Ranking(queries, number[some], item[some], above[some], tied[some], grade[some]), ties)


def count_all(scores: Tensor, where: Mask, query: Mask) -> tuple[int, Ints, Ints, Ints, Ints]:
    """Sort all lists at once: how many there are, and of each item its query, number, how many are above, and tied.

    Without ``query`` each row is a list, else all items with one number are.
    """
    scores, n = scores.detach().resolve_neg(), scores.shape[-1]
    values, here = array(scores).reshape(-1), None if where is None else array(where).reshape(-1)
    if query is None:
        queries = values.size // n
        item = array(Order(None if where is None else where.reshape(-1, n))(scores.reshape(-1, n)))
        item = (item + n * np.arange(queries)[:, None]).reshape(-1)
        number = item // n
    else:
        names, number = np.unique(array(query), return_inverse=True)
        queries = len(names)
        descending = -values if scores.is_floating_point() else ~values.astype(np.int64)
        item = np.lexsort((descending, number))
        number = number[item]
    if here is not None:
        number, item = number[here[item]], item[here[item]]
    new = np.ones(len(item), np.bool_)
    new[1:] = (number[1:] != number[:-1]) | (values[item[1:]] != values[item[:-1]])
    first = np.flatnonzero(new)
    size = np.diff(first, append=len(item))
    above = numbers(number, np.bincount(number))[first]
    return queries, number, item, np.repeat(above, size), np.repeat(size, size)


def check_lists(scores: Tensor, query: Mask) -> None:
    """Check that scores have numbers, and those of their queries if they are one flat list."""
    if in_transform() is not None:
        raise TypeError(
            "metrics must be called outside of torch.func.grad, vmap and the like, got a call inside of one (they have "
            "no gradient, and take all rows at once)"
        )
    check_values(scores)
    if query is not None:
        check_query(query, scores)


def array(values: Tensor) -> npt.NDArray[Any]:
    """Take values to NumPy: bfloat16, which it does not know, as float32."""
    values = values.detach().resolve_neg()
    return (values.float() if values.dtype == torch.bfloat16 else values).cpu().numpy()


def per_query(values: Floats, scores: Tensor, query: Mask, *, why: str) -> Tensor:
    """Shape one value per query, (Q, ...), like the lists of the scores, and warn of queries without one."""
    shape = values.shape if query is not None else (*scores.shape[:-1], *values.shape[1:])
    if missing := int(np.isnan(values).sum()):
        warn_caller(
            f"{missing} of {values.size} queries {why}: their value is nan (leave them out of a mean with nanmean)",
            UndefinedMetricWarning,
        )
    dtype = np.float64 if scores.dtype == torch.float64 else np.float32
    return torch.from_numpy(values.astype(dtype)).reshape(shape).to(scores.device)
