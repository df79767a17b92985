"""A loss whose gradient was made with its value: backward, it is multiplied by what comes in, and nothing else."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor


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

    Outside ``where`` the gradient stays 0, also if what comes in is an overflow. It refuses to be differentiated.
    """
    if gradient is None:
        return value
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
            if where is not None and not incoming.isfinite():
                scaled[0].masked_fill_(~where, 0.0)  # an overflow does not reach those who do not take part
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
