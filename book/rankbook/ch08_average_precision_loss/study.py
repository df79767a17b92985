"""Chapter 8, computed: linear scorers trained with the AP loss."""

import copy
import functools
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from rankbook.kit import short_runs
from rankbook.kit.ranks import Array
from rankedu.losses import APLoss
from rankedu.metrics import average_precision
from rankedu.rankers import BlackboxRanker


class Descent(NamedTuple):
    """Training AP at each step, and the AP on other items at the end; one row a seed."""

    ap: Array
    held_out: Array

    @property
    def perfect(self) -> npt.NDArray[np.bool_]:
        """At which steps each seed ranked perfectly."""
        return self.ap > 1 - 1e-6

    def reached(self) -> int:
        """How many seeds ranked perfectly at some step."""
        return int(self.perfect.any(1).sum())

    def median_step(self) -> float:
        """The step at which the median seed first ranked perfectly; infinite if it did not."""
        return float(np.median(np.where(self.perfect.any(1), self.perfect.argmax(1), np.inf)))

    def stayed(self) -> float:
        """Share of the steps after the first perfect ranking that were perfect as well."""
        after = np.cumsum(self.perfect, 1) > 0
        return float(self.perfect[after].mean()) if after.any() else 0.0


def train(loss: Any, *, seeds: int = 20, steps: int = 120) -> Descent:
    """Train linear scorers with a loss of blackbox ranks: 30 items of 20 features each, 8 of them relevant."""
    items, relevant, features, held_out = 30, 8, 20, 150
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(seeds, items + held_out, features, generator=generator)
    positive = (torch.arange(items + held_out) % items < relevant).expand(seeds, -1)
    x[..., 0] += 0.6 * positive
    start = 0.1 * torch.randn(seeds, features, generator=generator)
    loss = copy.deepcopy(loss)
    loss.ranker.lam *= seeds
    weight, ap = short_runs.descend(loss, x[:, :items], positive[:, :items], start, steps, average_precision)
    others = average_precision((x[:, items:] @ weight[..., None])[..., 0], positive[:, items:])
    return Descent(ap.numpy(), others.double().numpy())


@functools.cache
def descend(within_grad: bool, lam: float) -> Descent:
    """Train with the AP loss; see :func:`train`."""
    return train(APLoss(BlackboxRanker(lam), within_grad=within_grad))
