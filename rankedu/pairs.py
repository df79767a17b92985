r"""Sums over pairs of items, :math:`\sum_j w_{kj}\,\mathrm{step}(y_j - y_k)` for some items k, in chunks.

Only the pairs of these items with all others are compared, some rows of pairs at a time, so that no more than a chunk
of them is in memory. The backward pass compares them again. Ranks by pairwise steps are such sums; this file knows
nothing else of rankers or losses.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor

#: Pairs in a chunk: on a CPU it stays in the cache, on a GPU it is worth a launch.
CHUNK = {"cpu": 1 << 17, "cuda": 1 << 24}

#: Elementwise, with a gradient by autograd; 0 without a slope for very large negative differences.
Step = Callable[[Tensor], Tensor]


def far(values: Tensor) -> float:
    """A score so low that an item is not counted; finite, so that 0 times a difference is 0."""
    return -torch.finfo(values.dtype).max / 2


class Pairs(NamedTuple):
    """The items k of the pairs, and which items j each is compared with, by how much."""

    row: Tensor  # (p,) int64, ascending: the row of each item k
    item: Tensor  # (p,) int64: its position there; it is not compared with itself
    grade: Tensor | None = None  # (q, n) int: 0 for the most relevant items
    only: str = "lower"  # or "higher": with grades, the items j that are less, or more, relevant than k
    weight: Tensor | None = None  # (q, n): the second sum weighs j by the smaller of its weight and that of k


def pair_sums(
    step: Step, own: Tensor, others: Tensor, pairs: Pairs, parameters: tuple[Tensor, ...] = ()
) -> tuple[Tensor, Tensor]:
    """Sum the steps from each item k to all other items of its row, plain and weighted.

    Parameters
    ----------
    step : callable
        Counts a pair by the difference of its scores.
    own : Tensor, shape (p,)
        The finite score of each item k.
    others : Tensor, shape (q, n)
        The scores of the items j; `far` for items that are not counted.
    pairs : Pairs
        Which pairs are counted.
    parameters : tuple of Tensor
        Of the step, if it has something to learn.

    Returns
    -------
    tuple of Tensor, shape (p,) each
        The sum, and the weighted sum, which is the same if there is no weight.
    """
    if not len(own):
        return own, own
    sums: Tensor = _PairSums.apply(step, pairs, own, others, *parameters)
    return sums[0], sums[-1]


class _PairSums(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, step: Step, pairs: Pairs, own: Tensor, others: Tensor, *parameters: Tensor) -> Tensor:
        ctx.step, ctx.pairs = step, pairs
        ctx.save_for_backward(own, others, *parameters)
        found = [_sums(step(_differences(own, others, pairs, some)), pairs, some) for some in _chunks(own, others)]
        return torch.cat(found, 1)

    @staticmethod
    def backward(ctx: Any, incoming: Tensor) -> tuple[Any, ...]:
        step, pairs = ctx.step, ctx.pairs
        own, others, *parameters = ctx.saved_tensors
        if torch.is_grad_enabled():  # a gradient of the gradient is wanted: all pairs at once, by autograd
            every, sources = slice(0, len(own)), [own, others, *parameters]
            sums = _sums(step(_differences(own, others, pairs, every)), pairs, every)
            return None, None, *torch.autograd.grad(sums, sources, incoming, create_graph=True)
        of_own, of_others = torch.empty_like(own), torch.zeros_like(others)
        totals = [torch.zeros_like(parameter) for parameter in parameters]
        for some in _chunks(own, others):
            differences, weight = _differences(own, others, pairs, some), incoming[0, some, None]
            if pairs.weight is not None:
                weight = torch.addcmul(weight, _weights(pairs, some), incoming[1, some, None])
            with torch.enable_grad():
                steps = step(differences.requires_grad_())
            if not steps.requires_grad:
                return (None,) * (4 + len(parameters))
            pulled, *learned = torch.autograd.grad(
                steps, [differences, *parameters], weight.expand_as(steps), allow_unused=True, materialize_grads=True
            )
            of_others.index_add_(0, pairs.row[some], pulled)
            torch.sum(pulled, 1, out=of_own[some])
            for total, part in zip(totals, learned, strict=True):
                total += part
        return (None, None, of_own.neg_(), of_others, *totals)


def _chunks(own: Tensor, others: Tensor) -> Iterator[slice]:
    height = max(1, CHUNK.get(others.device.type, CHUNK["cuda"]) // others.shape[1])
    for start in range(0, len(own), height):
        yield slice(start, start + height)


def _differences(own: Tensor, others: Tensor, pairs: Pairs, some: slice) -> Tensor:
    """y_j − y_k for all j; `far` for j that are not counted, k itself among them."""
    row, item = pairs.row[some], pairs.item[some, None]
    found = others.index_select(0, row) - own[some, None]
    if pairs.grade is not None:
        grade = pairs.grade.index_select(0, row)
        mine = grade.gather(1, item)
        return found.masked_fill_(grade <= mine if pairs.only == "lower" else grade >= mine, far(found))
    return found.scatter_(1, item, far(found))


def _weights(pairs: Pairs, some: slice) -> Tensor:
    assert pairs.weight is not None
    weight = pairs.weight.index_select(0, pairs.row[some])
    return torch.minimum(weight, weight.gather(1, pairs.item[some, None]))


def _sums(steps: Tensor, pairs: Pairs, some: slice) -> Tensor:
    """The sum, and the weighted one if there is a weight: (1 or 2, rows)."""
    if pairs.weight is None:
        return steps.sum(1).unsqueeze(0)
    return torch.stack([steps.sum(1), (steps * _weights(pairs, some)).sum(1)])
