"""A loss whose gradient was made with its value: backward, it is multiplied by what comes in, and nothing else.

And the λ that such a gradient wants of Algorithm 1, from the pairs of items that change places.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

#: Pairs that are looked at, at most: about a millisecond; a tenth of them is known to some thousandths.
MOST = 1 << 15
#: How much of the way, on a logarithmic scale, λ goes at each batch to that of the batch.
FOLLOW = 0.05


class Part(NamedTuple):
    """What some positives add to a loss: the mean of a formula over a query's positives, and over the queries."""

    formula: Callable[[Tensor, Tensor], Tensor]  # of ranks and ranks among the positives, elementwise
    queries: Tensor  # () how many have a positive
    dtype: torch.dtype  # of the sum: of long lists the ranks are counted wider
    weight: float = 1.0

    def __call__(self, ranks: Tensor, within: Tensor, size: Tensor) -> Tensor:
        """Add up, (), for some positives, (p,) each; ``size`` is how many of them their query has."""
        total = (self.formula(ranks, within) / (size * self.queries)).sum().to(self.dtype)
        return total if self.weight == 1 else self.weight * total

    def with_slopes(self, ranks: Tensor, within: Tensor, size: Tensor) -> tuple[Tensor, Sequence[Tensor] | None]:
        """The sum and its derivatives by both ranks; None if it does not depend on them.

        The value has a graph only if the formula has something to be learnt.
        """
        with torch.enable_grad():
            sources = ranks.detach().requires_grad_(), within.detach().requires_grad_()
            value = self(*sources, size)
            if not value.requires_grad:
                return value, None
            learnt = any(leaf is not sources[0] and leaf is not sources[1] for leaf in leaves(value))
            slopes = torch.autograd.grad(value, sources, retain_graph=learnt, allow_unused=True, materialize_grads=True)
        return value if learnt else value.detach(), slopes


def wanted(scores: Tensor) -> bool:
    """Whether a gradient for the scores will be asked for."""
    return scores.requires_grad and torch.is_grad_enabled()


def with_gradient(value: Tensor, scores: Tensor, gradient: Tensor | None, where: Tensor | None = None) -> Tensor:
    """Give a value, (), the gradient that is known for the scores, or None; its own graph, if it has one, stays.

    Outside ``where`` it is 0, also if what comes in is an overflow. It refuses to be differentiated.
    """
    if gradient is None:
        return value
    where = None if where is None else where.reshape(scores.shape)
    joined: Tensor = _Known.apply(value, where, scores, gradient.reshape(scores.shape))
    return joined


def at_unit_weight(loss: Callable[[Tensor], Tensor], scores: Tensor, where: Tensor | None = None) -> Tensor:
    """Differentiate a loss now, as if it were the last value of all, and keep the gradient; ``where`` as above.

    A blackbox gradient is not linear in the one that comes in: a loss that is scaled would have another λ. Here w times
    the loss has exactly w times the gradient, for the scores and for everything else that is to be learnt.
    """
    if not torch.is_grad_enabled():
        return loss(scores)
    leaf = scores.detach().requires_grad_(scores.requires_grad)
    value = loss(leaf)
    if not value.requires_grad:
        return value
    inner = [source for source in leaves(value) if source is not leaf]
    outer = inner
    if leaf.requires_grad:
        inner, outer = [leaf, *inner], [scores, *inner]
    gradients = torch.autograd.grad(value, inner, retain_graph=True, allow_unused=True, materialize_grads=True)
    joined: Tensor = _Known.apply(value.detach(), where if leaf.requires_grad else None, *outer, *gradients)
    return joined


def once(gradient: Tensor) -> Tensor:
    """Let a gradient pass that has no graph; if a graph is wanted, one that refuses to be differentiated.

    torch's ``once_differentiable`` refuses only if the gradient that comes in has a graph, which that of a plain loss
    has not: then its second derivative would be 0, and nobody would know.
    """
    if not torch.is_grad_enabled():
        return gradient
    passed: Tensor = _Once.apply(gradient, torch.zeros((), requires_grad=True))
    return passed


def crossings(scores: Tensor, gradient: Tensor, members: Tensor | None = None) -> tuple[Tensor, Tensor]:
    r"""The λ at which pairs of items change places, and how far these are apart.

    Algorithm 1 ranks :math:`\mathbf{y} + \lambda \mathbf{g}` again. An item i that the gradient raises passes an item j
    above it that the gradient does not raise at :math:`\lambda_{ij} = (y_j - y_i) / (g_i - g_j)`. Where there is no
    such pair, as in a list all of whose items have a gain, those count in which it raises the upper item less.

    Parameters
    ----------
    scores, gradient : Tensor, shape (..., n)
        What is ranked, with any margin, and the gradient by the ranks.
    members : Tensor of bool, shape (..., n), optional
        Items that are ranked. Default: all.

    Returns
    -------
    tuple of Tensor, shape (k,) each
        λ > 0 and y_j − y_i > 0, of all such pairs, or, of more than 2¹⁵ pairs of items, of every so manieth.

    Notes
    -----
    O(p n) for p items with a gradient, and at most a few milliseconds. Explained in chapter 4.
    Source: RaMBO Alg. 1.

    >>> crossings(torch.tensor([0.9, 0.5, 0.1]), torch.tensor([0.0, 0.0, 2.0]))[0]
    tensor([0.4000, 0.2000])
    """
    y, g = (x.detach().reshape(-1, x.shape[-1]) for x in (scores, gradient))
    here = None if members is None else members.reshape(y.shape)
    row, item = (g if here is None else g.masked_fill(~here, 0.0)).nonzero(as_tuple=True)
    columns = slice(None, None, -(-y.shape[-1] // MOST))
    width = len(range(y.shape[-1])[columns])
    some = slice(None, None, max(1, -(-len(row) * width // MOST)))
    row, item = row[some], item[some]
    own, other = g[row, item, None], g[row, columns]
    ahead, slower = y[row, columns] - y[row, item, None], own - other
    pairs = (ahead * slower > 0) & ahead.isfinite()
    if here is not None:
        pairs &= here[row, columns]
    against = pairs & (other * own <= 0)
    found = (against if against.any() else pairs).nonzero(as_tuple=True)
    return ahead[found] / slower[found], ahead[found].abs()


def as_ranked(
    rows: Tensor, positive: Tensor, margin: float, own: tuple[Tensor, Tensor, Tensor]
) -> tuple[Tensor, Tensor]:
    """What Algorithm 1 is given where positives alone have a gradient: shifted scores, (q, n), and that gradient.

    ``own`` is the row of each positive, its place there, and its slope.
    """
    query, item, slope = own
    gradient = torch.zeros_like(rows)
    gradient[query, item] = slope
    return rows + torch.where(positive, -margin / 2, margin / 2) if margin else rows, gradient


def strength(ranker: Any, scores: Tensor, gradient: Tensor, members: Tensor | None) -> float:
    """λ of a blackbox ranker for a step along this gradient: as given, or, of "auto", slowly what the pairs ask for.

    And never so short that the step reaches nobody, whatever it was before.
    """
    least = 0.0
    if ranker.auto and (ranker.training or math.isnan(ranker.lam)):
        lam, _ = crossings(scores, gradient, members)
        if len(lam):
            share = lam.kthvalue(math.ceil(ranker.share * len(lam))).values
            least, asked = (1.001 * torch.stack([lam.min(), share])).tolist()  # just beyond where two items meet
            ranker.lam = asked if math.isnan(ranker.lam) else ranker.lam ** (1 - FOLLOW) * asked**FOLLOW
    return 1.0 if math.isnan(ranker.lam) else max(float(ranker.lam), least)


class _Known(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, value: Tensor, where: Tensor | None, *sources_and_gradients: Tensor) -> Tensor:
        ctx.save_for_backward(where, *sources_and_gradients[len(sources_and_gradients) // 2 :])
        return value.clone()

    @staticmethod
    def backward(ctx: Any, incoming: Tensor) -> tuple[Tensor | None, ...]:
        where, *gradients = ctx.saved_tensors
        with torch.no_grad():
            scaled = [gradient * incoming for gradient in gradients]
            if where is not None:  # an overflow does not reach those who do not take part
                scaled[0] = torch.where(where, scaled[0], 0.0)
        own = incoming if ctx.needs_input_grad[0] else None
        return own, None, *map(once, scaled), *[None] * len(gradients)


class _Once(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, gradient: Tensor, anchor: Tensor) -> Tensor:
        return gradient.view_as(gradient)

    @staticmethod
    def backward(ctx: Any, *_: Any) -> Any:
        raise RuntimeError("trying to differentiate twice a loss whose gradient has none (use the ranker's own ranks)")


def leaves(value: Tensor) -> list[Tensor]:
    """Every tensor to be learnt that a value was made of: where its graph ends."""
    seen, todo, found = set(), [value.grad_fn], []
    while todo:
        node = todo.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            found.append(node.variable)
        todo += [parent for parent, _ in node.next_functions]
    return found
