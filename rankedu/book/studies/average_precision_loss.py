"""Chapter 8, computed: linear scorers trained with the AP loss."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from rankedu.losses import APLoss
from rankedu.metrics import average_precision
from rankedu.rankers import BlackboxRanker

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Descent:
    """Training AP at each step, and the AP on other items at the end; one row a seed."""

    ap: Array
    held_out: Array

    def reached(self) -> int:
        """How many seeds ranked perfectly at some step."""
        return int((self.ap > 1 - 1e-6).any(1).sum())

    def median_step(self) -> float:
        """The step at which the median seed first ranked perfectly; infinite if it did not."""
        perfect = self.ap > 1 - 1e-6
        return float(np.median(np.where(perfect.any(1), perfect.argmax(1), np.inf)))

    def stayed(self) -> float:
        """Share of the steps after the first perfect ranking that were perfect as well."""
        perfect = self.ap > 1 - 1e-6
        after = np.cumsum(perfect, 1) > 0
        return float(perfect[after].mean()) if after.any() else 0.0


def train(loss: nn.Module, *, seeds: int = 20, steps: int = 120) -> Descent:
    """Train linear scorers with a loss of scores and relevance: 30 items of 20 features each, 8 of them relevant.

    Every step has the same length, 0.05 in weights, so that a loss gains nothing from a larger gradient.
    """
    items, relevant, features, held_out = 30, 8, 20, 150
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(seeds, items + held_out, features, generator=generator)
    positive = (torch.arange(items + held_out) % items < relevant).expand(seeds, -1)
    x[..., 0] += 0.6 * positive
    weight = 0.1 * torch.randn(seeds, features, generator=generator)
    ap = []
    for _ in range(steps):
        weight.requires_grad_()
        scores = (x[:, :items] @ weight[..., None])[..., 0]
        ap.append(average_precision(scores.detach(), positive[:, :items]))
        # The mean over lists divides the step of each by their number.
        (gradient,) = torch.autograd.grad(seeds * loss(scores, positive[:, :items]), weight)
        weight = weight.detach() - 0.05 * gradient / gradient.norm(dim=1, keepdim=True).clamp(min=1e-12)
    others = average_precision((x[:, items:] @ weight[..., None])[..., 0], positive[:, items:])
    return Descent(torch.stack(ap, 1).double().numpy(), others.double().numpy())


@functools.lru_cache(maxsize=32)
def descend(within_grad: bool, lam: float, margin: float = 0.0) -> Descent:
    """Train with the AP loss; see :func:`train`."""
    return train(APLoss(BlackboxRanker(lam), margin, within_grad=within_grad))
