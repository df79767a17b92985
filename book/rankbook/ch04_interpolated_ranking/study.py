"""Chapter 4, computed: linear scorers trained on losses of ranks, by how far the step moves the relevant items."""

import dataclasses
import functools
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from rankbook.kit import scorers
from rankbook.kit.compare import Array, Comparison, descend
from rankbook.kit.scorers import MANY, RATES, STARTS, Arm, Task, start_weights
from rankedu.losses import RecallLoss
from rankedu.rankers import BlackboxRanker
from rankedu.ranks import outranking_negatives

#: (relevant, items) of a list, and the mean steps of relevant items, in spreads of the scores before training.
LISTS, STEPS = ((4, 20), (4, 200), (20, 60)), (0.006, 0.02, 0.06, 0.2, 0.6, 2.0, 20.0)
WITH_MARGIN = (0.2, 2.0, 20.0)
RATE = 0.03  #: One rate for all steps.


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
def task(p: int, n: int) -> tuple[Task, float, float]:
    """Lists of n items, p of them relevant; the spread of their scores before training, and the mean of 1/(1 + r)."""
    made = Task((True,) * p + (False,) * (n - p), in_order)
    relevant, x, _ = made.made
    scores = torch.einsum("slif,sf->sli", x, start_weights())
    ahead = outranking_negatives(scores, relevant.expand_as(scores))
    return made, float(scores.std(-1).mean()), float((1 / (1 + ahead[..., relevant])).mean())


@functools.cache
def by_step(p: int, n: int) -> Comparison:
    """The mean rank, over the mean step of a relevant item in spreads of the scores before training, at all rates."""
    return task(p, n)[0].compare({"mean rank": arm(p, n)}, STEPS)


@functools.cache
def beside(p: int, n: int) -> dict[str, tuple[tuple[float, ...], Array]]:
    """What is compared with it at the rate of 0.03 alone: the steps, and by step what each start reports."""
    lists, one, shared = task(p, n)[0], of_log(p, n), len(RATES)  # λ is for that many rates at once
    logs = [lists.train(one, step / shared, (RATE,), STARTS)[1][0] for step in STEPS]
    with_margin = [at_one_rate(p, n, step, 1.0, RATE) for step in WITH_MARGIN]
    return {"with a margin": (WITH_MARGIN, np.array(with_margin)), "log(1 + r)": (STEPS, np.array(logs))}


def arm(p: int, n: int) -> Arm:
    """The mean rank by the step, in spreads of the scores before training."""
    _, spread, _ = task(p, n)
    return lambda step: MeanRank(BlackboxRanker(step * spread * p * MANY))


def of_log(p: int, n: int) -> Arm:
    """The recall loss, the mean of log(1 + r), whose coefficients fall with the number r of irrelevant items ahead."""
    _, spread, mean = task(p, n)
    return lambda step: RecallLoss(BlackboxRanker(step * spread * p / mean * MANY))


@functools.cache
def at_one_rate(p: int, n: int, step: float | None, margin: float, rate: float, times: int = 1) -> Array:
    """The mean rank at one rate, margin in spreads too, by `lam="auto"` without a step, after more iterations."""
    made, spread, _ = task(p, n)
    lam = "auto" if step is None else step * spread * p * MANY / len(RATES)
    made = dataclasses.replace(made, iterations=times * made.iterations)
    return made.train(lambda _: MeanRank(BlackboxRanker(lam), margin * spread), 0.0, (rate,), STARTS)[1][0]


@functools.cache
def after(p: int, n: int, step: float) -> dict[str, Array]:
    """What training leaves, (rates, starts): the spread as a multiple of before, how much of their length the weights
    move in one of the last twenty iterations, and what the last weights report, and their mean over all iterations.
    """
    (made, spread, _), criterion = task(p, n), arm(p, n)(step)
    relevant, x, _ = made.made

    def loss(weights: Tensor, pick: Tensor) -> Tensor:
        scores = torch.einsum("slif,rsf->rsli", x[torch.arange(STARTS)[:, None], pick], weights).flatten(0, 2)
        return criterion(scores, relevant.expand_as(scores))

    size, generator = (scorers.ITERATIONS, STARTS, scorers.BATCH), torch.Generator().manual_seed(2)  # as Task.train
    picks = torch.randint(0, scorers.LISTS[0], size, generator=generator)
    path = torch.stack(list(descend(start_weights(), RATES, picks, loss)))
    moved = (path[-20:] - path[-21:-1]).norm(dim=-1) / path[-21:-1].norm(dim=-1)
    return {
        "spread": dataclasses.replace(made, metric=lambda scores, _: scores.std(-1)).measure(path[-1], 2) / spread,
        "moved by an iteration": moved.mean(0).numpy(),
        "in order, last weights": made.measure(path[-1], 2),
        "in order, mean weights": made.measure(path.mean(0), 2),
    }
