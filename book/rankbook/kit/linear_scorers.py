"""Linear scorers, one a list, trained side by side with a loss of scores and relevance."""

from collections.abc import Callable

import torch
from torch import Tensor, nn


def descend(
    loss: nn.Module, x: Tensor, relevance: Tensor, weight: Tensor, steps: int, metric: Callable[..., Tensor]
) -> tuple[Tensor, Tensor]:
    """Train on features (lists, items, d) and relevance (lists, items); weights (lists, d), the metric (lists, steps).

    Every step has the same length, 0.05 in weights, so that a loss gains nothing from a larger gradient. The mean over
    lists divides the step of each by their number: blackbox ranks need so many times the λ of one list.
    """
    values = []
    for _ in range(steps):
        weight.requires_grad_()
        scores = (x @ weight[..., None])[..., 0]
        values.append(metric(scores.detach(), relevance))
        (slope,) = torch.autograd.grad(loss(scores, relevance), weight)
        weight = weight.detach() - 0.05 * slope / slope.norm(dim=1, keepdim=True).clamp(min=1e-12)
    return weight, torch.stack(values, 1).double()
