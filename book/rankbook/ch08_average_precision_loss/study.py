"""Chapter 8, computed: linear scorers trained with the AP loss, the gradient through the numerator stopped or not."""

import dataclasses
import functools

from rankbook.kit.compare import Comparison
from rankbook.kit.scorers import MANY, Arm, Task
from rankedu.losses import APLoss
from rankedu.metrics import average_precision
from rankedu.rankers import BlackboxRanker

#: Lists of thirty items, eight of them relevant, and λ for the ranks of one list.
TASK, LAMS = Task((True,) * 8 + (False,) * 22, average_precision), (1.0, 4.0, 16.0, 64.0, 256.0)
LONGER = dataclasses.replace(TASK, iterations=5 * TASK.iterations)
ARMS: dict[str, Arm] = {
    "rk⁺ stopped": lambda lam: APLoss(BlackboxRanker(lam * MANY)),
    "both ranks": lambda lam: APLoss(BlackboxRanker(lam * MANY), within_grad=True),
}


@functools.cache
def stopped_or_not() -> Comparison:
    """With and without the gradient through the ranks among the positives, each at its own λ and rate."""
    return TASK.compare(ARMS, LAMS)


@functools.cache
def later() -> Comparison:
    """The same after five times as many iterations, without the ends of the sweep."""
    return LONGER.compare(ARMS, LAMS[1:4])
