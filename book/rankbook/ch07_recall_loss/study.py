"""Chapter 7, computed: the recall loss that is not refined, and who gains places by a loss."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from rankedu.rankers import BlackboxRanker


def best_positive_loss(scores: Tensor, relevance: Tensor, lam: float) -> Tensor:
    """The same weighted sum over K, of 1 − r@K itself: log(1 + r) of the best relevant item alone."""
    ranks = BlackboxRanker(lam)(scores)
    return torch.log(ranks[relevance].min())  # its rank is 1 + r


def places_gained(loss: Callable[[Tensor], Tensor], scores: Tensor, lam: float) -> list[int]:
    """How many places each item gains between y and y_λ: −λ times its gradient, whole numbers."""
    leaf = scores.detach().clone().requires_grad_()
    (gradient,) = torch.autograd.grad(loss(leaf), leaf)
    places: list[int] = (-lam * gradient).round().int().tolist()
    return places
