"""Chapter 20, computed: SOAP as released, gradients in two passes, and averages of counts."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

Pair = tuple[float, float]


def released_soap(
    y: Sequence[float], relevant: Sequence[bool], kept: Sequence[Pair], gamma: float, margin: float = 1.0
) -> tuple[list[Pair], list[list[float]]]:
    """Do one step of SOAP as its authors released it: one list, a squared hinge, means over the batch.

    ``kept`` has a pair (u, u⁺) for each relevant item. Returns the new pairs, and the weight of each ℓ_ij.

    >>> released_soap([0.0, 0.0], [True, False], [(0.0, 0.0)], gamma=1.0)
    ([(1.0, 0.5)], [[-0.5, 0.5]])
    """
    moved, weights = [], []
    for (u, u_relevant), score in zip(kept, [s for s, r in zip(y, relevant, strict=True) if r], strict=True):
        hinge = [max(0.0, margin - (score - other)) ** 2 for other in y]
        u = (1 - gamma) * u + gamma * sum(hinge) / len(y)
        above = sum(h for h, r in zip(hinge, relevant, strict=True) if r)
        u_relevant = (1 - gamma) * u_relevant + gamma * above / len(y)
        moved.append((u, u_relevant))
        weights.append([(u_relevant - u * bool(r)) / u**2 for r in relevant])
    return moved, weights


def in_two_passes(
    network: Callable[[Tensor], Tensor], parts: Sequence[Tensor], loss: Callable[[Tensor], Tensor]
) -> None:
    """Add the gradient of the loss of all parts together, with one graph in memory at a time (GradCache)."""
    with torch.no_grad():
        embeddings = torch.cat([network(part) for part in parts])  # first pass: values only
    embeddings.requires_grad_()
    (slopes,) = torch.autograd.grad(loss(embeddings), embeddings)  # the loss of the whole batch
    for part, gradient in zip(parts, slopes.split([len(part) for part in parts]), strict=True):
        network(part).backward(gradient)  # second pass: with a graph


def averaged_ranks(gamma: float, above: int = 30, others: int = 1000, size: int = 50, steps: int = 400) -> np.ndarray:
    """Return what a moving average knows of a rank, step by step, when the scores do not change.

    ``above`` of the ``others`` outrank the item. A batch holds ``size`` of the others, so that its count of the items
    above is scaled by others / size.
    """
    counts = np.random.default_rng(20).hypergeometric(above, others - above, size, steps)
    ranks, kept = 1 + counts * others / size, np.empty(steps)
    kept[0] = ranks[0]
    for step in range(1, steps):
        kept[step] = (1 - gamma) * kept[step - 1] + gamma * ranks[step]
    return kept
