"""What a reader's layer or loss does inside autograd: its value, and the gradient that it hands back."""

from collections.abc import Callable
from typing import Any

from rankedu_book.kit.check.spec import Array, as_array


def layer(function: Callable[[Any], Any], scores: Array, weights: Array) -> list[list[float]]:
    """The value of a layer, and the gradient that it hands back for the loss weights · value."""
    return [part.tolist() for part in _both(function, scores, weights)]


def loss(function: Callable[[Any], Any], scores: Array) -> list[float]:
    """The value of a loss, followed by its gradient."""
    value, gradient = _both(function, scores, 1.0)
    return [float(value), *gradient.tolist()]


def with_backward(forward: Callable[[Any], Any], backward: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    """A layer as a reader would write it: its gradient is backward(y, incoming gradient)."""
    import torch

    class Layer(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, y: Any) -> Any:
            ctx.save_for_backward(y)
            return forward(y)

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            (y,) = ctx.saved_tensors
            return backward(y, gradient)

    return Layer.apply


def _both(function: Callable[[Any], Any], scores: Array, weights: Any) -> tuple[Array, Array]:
    """Value and gradient; the gradient of what is cut off from the scores is zero."""
    import torch

    leaf = torch.tensor(scores, requires_grad=True)
    value = function(leaf)
    if not torch.is_tensor(value):
        raise TypeError(f"a torch tensor was expected, got {type(value).__name__}")
    if value.requires_grad:
        (torch.as_tensor(weights) * value).sum().backward()
    return as_array(value), as_array(torch.zeros_like(leaf) if leaf.grad is None else leaf.grad)
