"""Soft ranks of chapter 19 in torch: fast forms of the definitions in `rankedu.reference`."""

import math
from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from rankedu.rankers import SigmoidRanker


def lap_sum(y: Tensor, temperature: float) -> Tensor:
    """Return the ranks of `reference.lap_sum_rank` by one sort, because exponentials add up along the list."""
    values, place = (y / temperature).sort(-1)
    below = (values.logcumsumexp(-1) - values).exp()
    above = ((-values).flip(-1).logcumsumexp(-1).flip(-1) + values).exp()
    ranks = torch.arange(y.shape[-1], 0, -1).to(y) + (below - above) / 2
    return torch.empty_like(ranks).scatter(-1, place, ranks)


def soft_sort(y: Tensor, temperature: float) -> Tensor:
    """Return `reference.place_of` of the matrix of SoftSort, in O(n²)."""
    ordered = y.sort(-1, descending=True).values
    rows = (-(ordered[..., None] - y[..., None, :]).abs() / temperature).softmax(-1)
    return torch.arange(1.0, y.shape[-1] + 1).to(y) @ rows


def neural_sort(y: Tensor, temperature: float) -> Tensor:
    """Return `reference.place_of` of the matrix of NeuralSort, in O(n²)."""
    n = y.shape[-1]
    away = (y[..., None] - y[..., None, :]).abs().sum(-1)
    slopes = torch.arange(n - 1, -n, -2).to(y)
    rows = ((slopes[:, None] * y[..., None, :] - away[..., None, :]) / temperature).softmax(-1)
    return torch.arange(1.0, n + 1).to(y) @ rows


def cauchy(x: Tensor) -> Tensor:
    """Return the distribution function of Cauchy's distribution, the default of the released DiffSort."""
    return 0.5 + x.atan() / math.pi


def diff_sort(
    y: Tensor, temperature: float, share: Callable[[Tensor], Tensor] = torch.sigmoid
) -> tuple[Tensor, Tensor]:
    """Return the sorted scores and the soft ranks of DiffSort with n layers of neighbours, in O(n²).

    The ranks go back through the layers, so that the matrix is never formed.
    """
    n, scores, stays = y.shape[-1], y, []

    def through(values: Tensor, layer: int, stay: Tensor | None = None) -> tuple[Tensor, Tensor]:
        before, pairs, after = values.split([layer % 2, (n - layer % 2) // 2 * 2, (n - layer % 2) % 2], -1)
        pairs = pairs.unflatten(-1, (-1, 2))
        stay = share(-pairs.diff(dim=-1) / temperature) if stay is None else stay
        return torch.cat([before, (stay * pairs + (1 - stay) * pairs.flip(-1)).flatten(-2), after], -1), stay

    for layer in range(n):
        scores, stay = through(scores, layer)
        stays.append(stay)
    ranks = torch.arange(1.0, n + 1).to(y).expand_as(y)
    for layer in reversed(range(n)):  # a layer is a symmetric matrix
        ranks, _ = through(ranks, layer, stays[layer])
    return scores, ranks


SOFT: Mapping[str, Callable[[Tensor, float], Tensor]] = {
    "sigmoid": lambda y, temperature: SigmoidRanker(temperature)(y),
    "LapSum": lap_sum,
    "NeuralSort": neural_sort,
    "SoftSort": soft_sort,
    "DiffSort, logistic": lambda y, temperature: diff_sort(y, temperature)[1],
    "DiffSort, Cauchy": lambda y, temperature: diff_sort(y, temperature, cauchy)[1],
}
