"""Where a gradient ends: it was made with the value, and has no graph of its own."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

__all__ = ["once"]


def once(gradient: Tensor) -> Tensor:
    """Let a gradient pass; if a graph of it is wanted, then one that refuses to be differentiated, and is not silent.

    Parameters
    ----------
    gradient : Tensor
        What a backward is about to return.

    Returns
    -------
    Tensor
        The same values.

    Notes
    -----
    torch's ``once_differentiable`` refuses only if the gradient that comes in has a graph, which that of a plain loss
    has not: then its second derivative would be 0, and nobody would know.
    """
    if not torch.is_grad_enabled():
        return gradient
    passed: Tensor = _Once.apply(gradient, torch.zeros((), requires_grad=True))
    return passed


class _Once(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, gradient: Tensor, anchor: Tensor) -> Tensor:
        return gradient.view_as(gradient)

    @staticmethod
    def backward(ctx: Any, *_: Any) -> Any:
        raise RuntimeError("trying to differentiate twice a loss whose gradient has none (use the ranker's own ranks)")
