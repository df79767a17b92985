"""What all losses have in common: one way from scores to a value.

`ScoreLoss.forward` checks scores and relevance at the door and brings them into rows, one query per row. A subclass
computes one value per query. The gradient of a ranker that is not linear is taken here, at unit weight.
"""

import functools
import sys
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
import torch
from torch import Tensor, nn

from rankedu.checks import (
    check_choice,
    check_flag,
    check_floating,
    check_like,
    check_not_nan,
    check_number,
    check_query,
    check_weight,
    check_where,
    in_transform,
    refuse_second_derivative,
    relevant_items,
    warn_caller,
)
from rankedu.rankers.base import Ranker, wide
from rankedu.ranks import HALF, Relevant, lists_of

Forward = TypeVar("Forward", bound=Callable[..., Any])


class NoPositivesWarning(UserWarning):
    """No query of the batch has a relevant item, so the loss is 0."""


def eager(method: Forward) -> Forward:
    """Run a method as it is, within ``torch.compile`` too: the graph ends before it and begins again after it.

    A loss looks at its data, so a graph of it would be compiled again at each call.
    """
    disabled: list[Any] = []  # made late, because it imports the compiler, which takes as long as importing torch

    @functools.wraps(method)
    def aside(*args: Any, **options: Any) -> Any:
        if not torch.compiler.is_compiling() and in_transform() is not None:
            raise RuntimeError(
                f"{type(args[0]).__name__} cannot run inside torch.func.grad, vmap or another transform of torch.func, "
                "because it looks at the values of its scores (use loss.backward() or torch.autograd.grad; in place of "
                "vmap give all queries as rows, with reduction='none')"
            )
        if "torch._dynamo" not in sys.modules:
            return method(*args, **options)
        if not disabled:
            disabled.append(torch.compiler.disable(method))
        return disabled[0](*args, **options)

    return cast(Forward, aside)


def check_lists(scores: Tensor, relevance: Tensor, where: Tensor | None) -> tuple[Tensor, Tensor, int]:
    """Check scores and binary relevance at the door of a loss.

    Returns the relevant items that take part, how many each query has, and the largest of these numbers.
    """
    fit = isinstance(scores, Tensor) and scores.is_floating_point() and scores.ndim > 0 and scores.numel() > 0
    for mask in (relevance,) if where is None else (relevance, where):
        fit = fit and isinstance(mask, Tensor) and mask.dtype == torch.bool
        fit = fit and mask.shape == scores.shape and mask.device == scores.device
    if fit:
        positive = relevance if where is None else relevance & where
    else:  # which may be converted, or else is an error
        check_floating(scores)
        positive = relevant_items(scores, relevance, where)
    count = positive.sum(-1)
    return positive, count, most_relevant(scores, count, where)


def most_relevant(scores: Tensor, count: Tensor, where: Tensor | None) -> int:
    """The largest count of relevant items; scores must not be NaN. The host waits for a GPU once, for both."""
    if not count.numel():
        return 0
    total, most = torch.stack([scores.detach().sum(dtype=torch.float32), count.max()]).tolist()
    if total != total:  # only NaN differs from itself
        check_not_nan(scores, where)
    return int(most)


class ScoreLoss(nn.Module):
    """A loss of scores and relevance; a subclass says in :meth:`per_query` what is computed of them."""

    #: Checks scores, relevance and where; returns the relevance of the items that take part, how many of them are
    #: relevant in each query, and the largest of these numbers.
    check = staticmethod(check_lists)

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        check_choice(reduction, ("mean", "sum", "none"), name="reduction")
        self.reduction = reduction

    @eager
    def forward(
        self,
        scores: Tensor,
        relevance: Tensor,
        *,
        where: Tensor | None = None,
        weight: Tensor | None = None,
        query: Tensor | None = None,
    ) -> Tensor:
        """Compute the loss of a batch of queries.

        Parameters
        ----------
        scores : Tensor, shape (..., n)
            Floating point; larger is better. Each row is a query.
        relevance : Tensor of bool, or of 0 and 1, shape (..., n)
            Rows may have different numbers of relevant items. For graded losses, numbers ≥ 0.
        where : Tensor of bool, shape (..., n), optional
            Items that take part, by default all. Padding is left out by this alone, whatever its relevance.
        weight : Tensor, shape (...), optional
            The weight ≥ 0 of each query in the mean, by default 1.
        query : Tensor of int, shape (n,), optional
            For lists of very different lengths, as one flat list of scores, (n,): the query of each item. Memory is of
            the order of the input. The queries are then in ascending order of their numbers, for ``weight`` too.

        Returns
        -------
        Tensor, shape (), or (...) for ``reduction="none"``
            The (weighted) mean over the queries that have a relevant item, in the scores' dtype, float32 for 16-bit
            scores. If no query has one, 0 with a zero gradient, and one `NoPositivesWarning`.

        Raises
        ------
        ValueError
            For NaN, n = 0, other shapes, or a relevance that is out of range.
        TypeError
            For scores that are not floating point, or a ``where`` that is not bool.
        """
        if query is not None:
            return self._of_flat(scores, relevance, where, weight, query)
        relevance, count, most = self.check(scores, relevance, where)
        if weight is not None:
            check_weight(weight, scores)
        if not most:
            return no_positives(scores, self.reduction)
        return self.checked(scores, relevance, count, most, where, weight)

    def checked(
        self, scores: Tensor, relevance: Tensor, count: Tensor, most: int, where: Tensor | None, weight: Tensor | None
    ) -> Tensor:
        """Compute the loss of checked input with at least one relevant item."""
        shape, answered = (-1, scores.shape[-1]), count > 0
        queries = answered.sum()
        where = None if where is None else where.reshape(shape)
        rows = (scores.float() if scores.dtype in HALF else scores).reshape(shape)
        values = self.values(rows, relevance.reshape(shape), where, most, queries)
        return self.reduce(values.view_as(count), answered, queries, weight)

    def _of_flat(
        self, scores: Tensor, relevance: Tensor, where: Tensor | None, weight: Tensor | None, query: Tensor
    ) -> Tensor:
        """Compute the loss of flat lists, as tables of lists of similar length."""
        check_query(query, scores)
        check_like(relevance, scores, name="relevance")
        check_where(where, scores)
        check_not_nan(scores, where)
        tables, answered = [], torch.zeros_like(query.unique(), dtype=torch.bool)
        for number, item, here in lists_of(query):
            here = here if where is None else here & where[item]
            relevant, count, most = self.check(scores[item], relevance[item], here)
            answered[number] = count > 0
            tables.append((number, item, here, relevant, most))
        if weight is not None:
            check_weight(weight, answered.unsqueeze(-1))
        queries = answered.sum()
        if not any(most for *_, most in tables):
            return no_positives(scores.new_zeros(len(answered), 1) + zeros(scores).sum(), self.reduction)
        values = wide(scores).new_zeros(len(answered))
        for number, item, here, relevant, most in tables:
            if most:
                found = self.values(wide(scores[item]), relevant, here, most, queries)
                values = values.index_copy(0, number, found)
        return self.reduce(values, answered, queries, weight)

    def values(self, scores: Tensor, relevance: Tensor, where: Tensor | None, most: int, queries: Tensor) -> Tensor:
        """One value per query, (q,), of checked rows, (q, n); any number for queries without a relevant item.

        ``queries`` says how many queries of the batch have a relevant item, in these rows and in others.
        """
        raise NotImplementedError

    def reduce(self, values: Tensor, answered: Tensor, queries: Tensor, weight: Tensor | None) -> Tensor:
        """The mean over the answered queries, the sum, or the value of each; 0 for the others."""
        share = answered.to(values.dtype) if weight is None else answered * weight.to(values)
        if self.reduction == "none":
            return values * share
        total = (values * share).sum()
        if self.reduction == "sum":
            return total
        return total / (queries if weight is None else share.sum().clamp(min=torch.finfo(share.dtype).tiny))


class RankLoss(ScoreLoss):
    r"""The mean over queries of a weighted mean of ``formula(rk_i, rk⁺_i)`` over the relevant items of a query.

    A subclass gives the formula. The margin and the gradient through the second rank are the same for all.
    """

    def __init__(self, ranker: Any, margin: float = 0.0, within_grad: bool = False, *, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.ranker = check_ranker(ranker)
        self.margin = check_margin(margin)
        self.within_grad: bool | None = check_flag(within_grad, "within_grad")

    def extra_repr(self) -> str:
        return f"margin={self.margin:g}, within_grad={self.within_grad}"

    def formula(self, ranks: Tensor, within: Tensor) -> Tensor:
        """The part of a relevant item, from its rank and its rank among the relevant items; elementwise."""
        raise NotImplementedError

    def of_query(self, ranks: Tensor, within: Tensor, relevant: Relevant) -> Tensor:
        """The value of each query, (q,), from the tables of both ranks, (q, m)."""
        return (self.formula(ranks, within) * relevant.share).sum(-1)

    def relevant(self, relevance: Tensor, most: int, dtype: torch.dtype) -> Relevant:
        """List the relevant items of each query, with equal shares."""
        item, real = find_relevant(relevance, most)
        share = real.to(dtype)
        share /= share.sum(-1, keepdim=True).clamp_(min=1)
        return Relevant(item, real, share, relevance)

    def values(self, scores: Tensor, relevance: Tensor, where: Tensor | None, most: int, queries: Tensor) -> Tensor:
        relevant = self.relevant(relevance, most, scores.dtype)
        compute = functools.partial(self.of_scores, relevant=relevant, where=where)
        if self.ranker.linear:
            return compute(scores)
        return at_unit_weight(compute, scores, relevant.real[:, 0].to(scores.dtype), queries, where)

    def of_scores(self, scores: Tensor, relevant: Relevant, where: Tensor | None) -> Tensor:
        """One value per query, with the gradient that the ranker gives it."""
        if self.margin:
            scores = scores + margin_shift(relevant, self.margin, scores.dtype)
        ranks, within = self.ranker.two_ranks(scores, relevant, where, within_grad=self.within_grad)
        padding = ~relevant.real  # is ranked first everywhere, which every formula can take
        return self.of_query(ranks.masked_fill(padding, 1.0), within.masked_fill(padding, 1.0), relevant)


def find_relevant(positive: Tensor, most: int) -> tuple[Tensor, Tensor]:
    """List the relevant items of each row by position, at most so many: ``item`` and ``real`` of `Relevant`."""
    rows, n = positive.shape
    if positive.device.type == "cpu":  # NumPy finds few items among many much faster
        row, column = np.divmod(np.flatnonzero(positive.numpy()), n)
        count = np.bincount(row, minlength=rows)
        table = np.zeros((rows, most), np.int64)
        table[row, np.arange(len(row)) - (np.cumsum(count) - count)[row]] = column
        item, number = torch.from_numpy(table), torch.from_numpy(count).unsqueeze(1)
        real = torch.arange(most, device=positive.device) < number
    else:  # without waiting for the device
        mark, item = positive.to(torch.uint8).sort(dim=-1, descending=True, stable=True)
        real, item = mark[:, :most].bool(), item[:, :most]
    return torch.where(real, item, item[:, :1]), real


def check_ranker(ranker: Any) -> Ranker:
    """One of rankedu.rankers, or a subclass of theirs."""
    if not isinstance(ranker, Ranker):
        raise TypeError(f"ranker must be one of rankedu.rankers, got {ranker!r} (e.g. BlackboxRanker(lam=4.0))")
    return ranker


def check_margin(margin: float) -> float:
    """The margin α: a finite number >= 0."""
    return check_number(margin, "margin", least=0, hint="in units of a score: try 0.02, or 0 for none")


def margin_shift(relevant: Relevant, margin: float, dtype: torch.dtype) -> Tensor:
    """The shift of each score, (q, n): half the margin up at irrelevance, and down by equal steps per grade."""
    members = relevant.members
    if relevant.grade is None or relevant.drop is None:
        shift = torch.full(members.shape, margin / 2, dtype=dtype, device=members.device)
        return shift.scatter_(-1, relevant.item, torch.full_like(relevant.share, -margin / 2, dtype=dtype))
    count = (relevant.drop > 0).sum(-1, keepdim=True)
    return margin * (0.5 - (count - relevant.grade).clamp(min=0) / count.clamp(min=1)).to(dtype)


def at_unit_weight(
    compute: Callable[[Tensor], Tensor],
    scores: Tensor,
    answered: Tensor,
    queries: Tensor | float,
    where: Tensor | None = None,
) -> Tensor:
    """Compute values, (q,), and differentiate their mean over the answered ones now, as if it were the loss itself.

    Algorithm 1 is not linear in the incoming gradient: a loss that is scaled would have another λ. So w times the loss
    has exactly w times the gradient, for the scores and for all parameters.
    """
    if not torch.is_grad_enabled():
        return compute(scores)
    leaf = scores.detach().requires_grad_(scores.requires_grad)
    values = compute(leaf)
    if not values.requires_grad:
        return values
    gradient: Tensor | None = None
    every: dict[str, Any] = {"retain_graph": True, "allow_unused": True, "materialize_grads": True}
    if leaf.requires_grad:
        (gradient,) = torch.autograd.grad(values, [leaf], answered / queries, **every)
        gradient *= queries  # of the sum, at the λ of the mean
    jacobians: list[Tensor] = []
    if parameters := leaves(values, but=leaf):  # the gradient of each value, at the weight that it has in the mean
        rows = [torch.autograd.grad(value, parameters, **every) for value in values / queries]
        jacobians = [queries * torch.stack(column) for column in zip(*rows, strict=True)]
    known: Tensor = _Known.apply(values.detach(), where, gradient, len(parameters), scores, *parameters, *jacobians)
    return known


def with_gradient(values: Tensor, scores: Tensor, gradient: Tensor, where: Tensor | None = None) -> Tensor:
    """Give values, (q,), a known gradient by the scores, (q, n); 0 outside ``where``, whatever comes in."""
    if not (scores.requires_grad and torch.is_grad_enabled()):
        return values
    known: Tensor = _Known.apply(values.detach(), where, gradient, 0, scores)
    return known


class _Known(torch.autograd.Function):
    """Values whose gradients are known: backward, these are multiplied by the incoming gradient."""

    @staticmethod
    def forward(
        ctx: Any, values: Tensor, where: Tensor | None, gradient: Tensor | None, parameters: int, *others: Tensor
    ) -> Tensor:
        ctx.save_for_backward(where, gradient, *others[1 + parameters :])
        return values.clone()

    @staticmethod
    def backward(ctx: Any, incoming: Tensor) -> tuple[Tensor | None, ...]:
        where, gradient, *jacobians = ctx.saved_tensors
        with torch.no_grad():
            scaled = None if gradient is None else gradient * incoming.view(-1, *[1] * (gradient.ndim - 1))
            if scaled is not None and where is not None:  # an overflow does not reach items that do not take part
                scaled = torch.where(where, scaled, 0.0)
            found = [scaled]
            for jacobian in jacobians:
                found.append(torch.tensordot(incoming, jacobian, dims=1))
        if torch.is_grad_enabled():
            found = [None if one is None else refuse_second_derivative(one) for one in found]
        return (*[None] * 4, *found, *[None] * len(jacobians))


def leaves(value: Tensor, but: Tensor) -> list[Tensor]:
    """Every other tensor with a gradient that a value was made of: the ends of its graph."""
    seen, todo, found = set(), [value.grad_fn], []
    while todo:
        node = todo.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable") and node.variable is not but:
            found.append(node.variable)
        for parent, _ in node.next_functions:
            todo.append(parent)
    return found


def no_positives(scores: Tensor, reduction: str = "mean", *, left: str = "the loss and its gradient are 0") -> Tensor:
    """Warn that there is nothing to rank, and return a zero with a zero gradient, or one for each query."""
    warn_caller(
        f"No query has a relevant item, in scores of shape {tuple(scores.shape)}: {left}. Draw batches with several "
        "items of a class, or extend the list by a memory.",
        NoPositivesWarning,
    )
    return zeros(scores).sum(-1) if reduction == "none" else zeros(scores).sum()


def zeros(scores: Tensor) -> Tensor:
    """Zeros with a zero gradient that are part of the graph, so that backward() works."""
    return wide(scores).masked_fill(torch.ones_like(scores, dtype=torch.bool), 0.0)
