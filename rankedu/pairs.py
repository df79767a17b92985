r"""Sums over pairs of items, :math:`\sum_j w_{kj}\,\mathrm{step}(y_j - y_k)` for some items k, in chunks of their rows.

Ranks by pairwise steps are such sums. The backward pass compares the pairs again; it keeps the steps if these are few.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor

#: Pairs in a chunk: on a CPU it stays in the cache, on a GPU it is worth a launch.
CHUNK = {"cpu": 1 << 17, "cuda": 1 << 24}
#: Steps are kept for the backward pass if they take no more memory than so many times the scores.
KEPT = 4


def far(values: Tensor) -> float:
    """A score so low that an item is not counted; finite, so that 0 times a difference is 0."""
    return -torch.finfo(values.dtype).max / 2


class Pairs(NamedTuple):
    """The items k of the pairs, and the weights of the items j with which each is compared."""

    row: Tensor  # (p,) int64, ascending: the row of each item k
    item: Tensor  # (p,) int64: its position there; it is not compared with itself
    weight: Tensor | None = None  # (q, n): the second sum weighs j by the smaller of the weights of j and k


def pair_sums(
    counter: Any, own: Tensor, others: Tensor, pairs: Pairs, parameters: tuple[Tensor, ...] = ()
) -> tuple[Tensor, Tensor]:
    """Sum the steps from each item k, with scores ``own`` (p,), to the others of its row, (q, n): plain and weighted.

    The counter has the methods ``step`` and ``slope`` of a pairwise ranker; ``parameters`` are those of its step that
    learn. Scores are finite, and `far` for others that are not counted. Without a weight both sums are the same.
    """
    if not len(own):
        return own, own
    sums: Tensor = _PairSums.apply(counter, pairs, own, others, *parameters)
    return sums[0], sums[-1]


class _PairSums(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, counter: Any, pairs: Pairs, own: Tensor, others: Tensor, *parameters: Tensor) -> Tensor:
        ctx.counter, ctx.pairs, ctx.kept = counter, pairs, []
        ctx.save_for_backward(own, others, *parameters)
        keep, found = len(own) <= KEPT * len(others) and not parameters, []
        for some in _chunks(own, others):
            steps = counter.step(_differences(own, others, pairs, some))
            found.append(_sums(steps, pairs, some))
            if keep:
                ctx.kept.append(steps)
        return torch.cat(found, 1)

    @staticmethod
    def backward(ctx: Any, incoming: Tensor) -> tuple[Any, ...]:
        counter, pairs = ctx.counter, ctx.pairs
        own, others, *parameters = ctx.saved_tensors
        if torch.is_grad_enabled() or parameters:  # all pairs at once, by autograd
            every, wanted = slice(0, len(own)), ctx.needs_input_grad[2:]
            if not torch.is_grad_enabled():  # then nothing upstream is part of the graph that is made here
                own, others = (x.detach().requires_grad_() for x in (own, others))
            sources = [x for x, needed in zip((own, others, *parameters), wanted, strict=True) if needed]
            with torch.enable_grad():
                sums = _sums(counter.step(_differences(own, others, pairs, every)), pairs, every)
            found = iter(torch.autograd.grad(sums, sources, incoming, create_graph=torch.is_grad_enabled()))
            return None, None, *(next(found) if needed else None for needed in wanted)
        of_own, of_others = torch.empty_like(own), torch.zeros_like(others)
        for number, some in enumerate(_chunks(own, others)):
            differences, weight = _differences(own, others, pairs, some), incoming[0, some, None]
            if pairs.weight is not None:
                weight = torch.addcmul(weight, _weights(pairs, some), incoming[1, some, None])
            steps = ctx.kept[number] if ctx.kept else counter.step(differences)
            pulled = counter.slope(differences, steps).mul_(weight)
            of_others.index_add_(0, pairs.row[some], pulled)
            torch.sum(pulled, 1, out=of_own[some])
        return None, None, of_own.neg_(), of_others


def _chunks(own: Tensor, others: Tensor) -> Iterator[slice]:
    height = max(1, CHUNK.get(others.device.type, CHUNK["cuda"]) // others.shape[1])
    for start in range(0, len(own), height):
        yield slice(start, start + height)


def _differences(own: Tensor, others: Tensor, pairs: Pairs, some: slice) -> Tensor:
    """y_j − y_k for all j; `far` or less for j that are not counted, k itself among them."""
    row, item = pairs.row[some], pairs.item[some, None]
    found = others.index_select(0, row).sub_(own[some, None])
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
