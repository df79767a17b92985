"""Chapter 4, computed: linear scorers trained on the mean rank, by how far the step moves a relevant item."""

import functools
from collections.abc import Callable

import torch
from torch import Tensor, nn

from rankbook.kit.compare import Comparison
from rankbook.kit.scorers import MANY, Task, start_weights
from rankedu.rankers import BlackboxRanker

#: (relevant, items) of a list, and the steps of a relevant item, in spreads of the scores before training.
LISTS, STEPS = ((4, 20), (4, 200), (20, 60)), (0.006, 0.02, 0.06, 0.2, 0.6, 2.0, 20.0)


class MeanRank(nn.Module):
    """The mean rank of the relevant items, or any other mean over what a function makes of their ranks."""

    def __init__(self, ranker: Callable[[Tensor], Tensor], of: Callable[[Tensor], Tensor] | None = None) -> None:
        super().__init__()
        self.ranker, self.of = ranker, of

    def forward(self, scores: Tensor, relevant: Tensor) -> Tensor:
        ranks = self.ranker(scores)[relevant.bool()]
        return (self.of(ranks) if self.of else ranks).mean()


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
    """The mean rank with Algorithm 1, over the step of a relevant item; each step at the rate that does best."""
    made, lam = task(p, n)
    return made.compare({"mean rank": lambda step: MeanRank(BlackboxRanker(step * lam * MANY))}, STEPS)
