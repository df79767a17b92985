"""Linear scorers that learn to rank lists: a small task on which losses of lists are held against each other.

A start has lists of its own, to train with, to choose a setting by, and to report. The features are normal noise, and a
direction in which the grades stand out; so least squares, which rank nothing, are hard to beat.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from rankbook.kit.compare import Array, Comparison, compare, descend

STARTS, LISTS, BATCH, FEATURES, ITERATIONS = 12, (32, 32, 64), 8, 20, 60
RATES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
#: The mean of a loss is over the lists of all starts and rates: for the λ of one list, so many times as much.
MANY = len(RATES) * STARTS * BATCH
Arm = Callable[[float], nn.Module]  # a loss by its strength


@dataclass(frozen=True)
class Task:
    """Lists of items with these grades (or relevant or not), how a ranking is measured, how far a grade stands out."""

    grades: tuple[float, ...] | tuple[bool, ...]
    metric: Callable[[Tensor, Tensor], Tensor]
    signal: float = 1.0
    seed: int = 0
    iterations: int = ITERATIONS

    @functools.cached_property
    def made(self) -> tuple[Tensor, Tensor, Tensor]:
        """Grades (items,), features (starts, lists, items, features), and the direction that holds them."""
        generator, grades = torch.Generator().manual_seed(self.seed), torch.tensor(self.grades)
        noise = torch.randn(STARTS, sum(LISTS), len(grades), FEATURES, generator=generator, dtype=torch.float64)
        direction = normalize(torch.randn(STARTS, FEATURES, generator=generator, dtype=torch.float64), dim=1)
        return grades, noise + self.signal * grades[:, None] * direction[:, None, None], direction

    def measure(self, weights: Tensor, part: int) -> Array:
        """Mean metric of each start on lists to train with (0), to choose by (1), or to report (2); (..., starts)."""
        grades, x, _ = self.made
        scores = torch.einsum("slif,...sf->...sli", x.split(LISTS, 1)[part], weights)
        found: Array = self.metric(scores, grades.expand_as(scores)).mean(-1).numpy()
        return found

    def train(self, arm: Arm, strength: float, rates: Sequence[float], starts: int) -> tuple[Array, Array]:
        """The metric on the lists to choose by, and on those to report, after training by Adam, eight lists a batch."""
        (grades, x, _), criterion, generator = self.made, arm(strength), torch.Generator().manual_seed(2)

        def loss(scorers: Tensor, pick: Tensor) -> Tensor:
            lists = x[torch.arange(starts)[:, None], pick]
            scores = torch.einsum("slif,rsf->rsli", lists, scorers).flatten(0, 2)
            value: Tensor = criterion(scores, grades.expand_as(scores))
            return value

        picks = torch.randint(0, LISTS[0], (self.iterations, starts, BATCH), generator=generator)
        *_, trained = descend(start_weights(), rates, picks, loss)
        return self.measure(trained, 1), self.measure(trained, 2)

    def regression(self) -> Tensor:
        """Least squares of the grades on the features of all lists to train with; (starts, features)."""
        grades, x, _ = self.made
        x = x[:, : LISTS[0]].flatten(1, 2)
        wanted = (grades.double() - grades.double().mean()).repeat(LISTS[0])[None, :, None].expand(STARTS, -1, -1)
        solution: Tensor = torch.linalg.lstsq(x - x.mean(1, keepdim=True), wanted).solution[..., 0]
        return solution

    def compare(self, arms: Mapping[str, Arm], sweep: Mapping[str, Sequence[float]] | Sequence[float]) -> Comparison:
        """Losses held against each other, each at its own strength and rate, and against what trains without them."""
        known = {"untrained": start_weights(), "regression": self.regression(), "the true direction": self.made[2]}
        baselines = {name: self.measure(weights, 2) for name, weights in known.items()}
        above = ["regression", "the true direction"]
        return compare(self.train, arms, baselines, sweep, rates=RATES, starts=STARTS, ceilings=above)


def start_weights() -> Tensor:
    return 0.1 * torch.randn(STARTS, FEATURES, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
