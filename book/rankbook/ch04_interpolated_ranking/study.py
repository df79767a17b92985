"""Chapter 4, computed: linear scorers trained on the mean rank, by how far the step moves a relevant item."""

import dataclasses
import functools
from collections.abc import Callable

import torch
from torch import Tensor, nn

from rankbook.kit.compare import Array, Comparison
from rankbook.kit.scorers import MANY, RATES, STARTS, Arm, Task, start_weights
from rankedu.rankers import BlackboxRanker

#: (relevant, items) of a list, and the steps of a relevant item, in spreads of the scores before training.
LISTS, STEPS = ((4, 20), (4, 200), (20, 60)), (0.006, 0.02, 0.06, 0.2, 0.6, 2.0, 20.0)


class MeanRank(nn.Module):
    """The mean rank of the relevant items, which are ranked as if a margin lower than they are."""

    def __init__(self, ranker: Callable[[Tensor], Tensor], margin: float = 0.0) -> None:
        super().__init__()
        self.ranker, self.margin = ranker, margin

    def forward(self, scores: Tensor, relevant: Tensor) -> Tensor:
        return self.ranker(scores - self.margin * relevant)[relevant.bool()].mean()


def in_order(scores: Tensor, relevant: Tensor) -> Tensor:
    """The share of pairs of a relevant and an irrelevant item that are ranked right: the mean rank, from 0 to 1."""
    p, n = int(relevant.sum(-1).flatten()[0]), scores.shape[-1]
    place = scores.argsort(-1, descending=True).argsort(-1).add(1).double()
    mean = (place * relevant).sum(-1) / p
    return 1 - (mean - (p + 1) / 2) / (n - p)


@functools.cache
def task(p: int, n: int) -> tuple[Task, float]:
    """Lists of n items, p of them relevant; and the λ by which a relevant item moves by the spread of the scores."""
    made = Task((True,) * p + (False,) * (n - p), in_order)
    spread = torch.einsum("slif,sf->sli", made.made[1], start_weights()).std(-1).mean()
    return made, p * float(spread)


@functools.cache
def by_step(p: int, n: int) -> Comparison:
    """The mean rank with Algorithm 1, over the step of a relevant item, without a margin and with one."""
    return task(p, n)[0].compare({"no margin": arm(p, n), "with a margin": arm(p, n, margin=1.0)}, STEPS)


def arm(p: int, n: int, margin: float = 0.0) -> Arm:
    """The mean rank by its step; step and margin in spreads of the scores before training."""
    _, lam = task(p, n)
    return lambda step: MeanRank(BlackboxRanker(step * lam * MANY), margin * lam / p)


def spreads(p: int, n: int, step: float) -> Array:
    """How far the scores spread after training, as a multiple of before, at each rate; the mean of twelve starts."""
    made, lam = task(p, n)
    made = dataclasses.replace(made, metric=lambda scores, _: scores.std(-1))
    after: Array = made.train(arm(p, n), step, RATES, STARTS)[1].mean(1) * p / lam
    return after
