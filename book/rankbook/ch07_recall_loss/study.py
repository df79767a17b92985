"""Chapter 7, computed: a linear map learns which directions tell classes apart, by recall losses of several weights."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rankbook.kit.compare import Array, Comparison, compare, descend
from rankbook.kit.linear_maps import (
    BATCH,
    EACH,
    OF_EACH,
    STARTS,
    baselines,
    batches,
    data,
    embed,
    mislabelled,
    recall_at_1,
    start_weights,
)
from rankedu.losses import RecallLoss
from rankedu.rankers import BlackboxRanker
from rankedu.ranks import outranking_negatives

STEPS, LAMS, RATES = 100, (2.0, 16.0, 128.0, 1024.0, 8192.0), (0.01, 0.04, 0.16)
Weights = Callable[[Tensor], Tensor]


def learned(
    weights: Weights,
    lam: float,
    rates: Sequence[float],
    starts: int,
    wrong: float,
    within_grad: bool = False,
    steps: int = STEPS,
) -> Tensor:
    """The linear maps after training by Adam, (rates, starts, 24, 6)."""
    label = torch.arange(BATCH).repeat_interleave(OF_EACH)
    relevance = (label[:, None] == label).expand(len(rates) * starts, -1, -1)
    others = ~torch.eye(len(label)).bool().expand_as(relevance)
    # The mean is over the queries of all starts and rates: for the λ of one alone, so many times as much.
    recall = RecallLoss(BlackboxRanker(lam * len(relevance)), margin=0.05, weights=weights, within_grad=within_grad)

    def loss(nets: Tensor, batch: Tensor) -> Tensor:
        z = embed(data(starts)[0], batch, nets).flatten(0, 1)
        return recall(z @ z.mT, relevance, where=others)

    *_, trained = descend(start_weights(starts), rates, batches(mislabelled(wrong, starts), steps), loss)
    return trained


def train(
    weights: Weights, lam: float, rates: Sequence[float], starts: int, *, wrong: float = 0.0, **how: Any
) -> tuple[Array, Array]:
    """R@1 on the classes to choose by, and on those to report; (rates, starts)."""
    nets = learned(weights, lam, rates, starts, wrong, **how)
    by, report = (np.stack([recall_at_1(items @ net) for net in nets]) for items in data(starts)[1:])
    return by, report


def who_is_ahead(wrong: float, steps: int = 20) -> dict[str, tuple[Tensor, Tensor]]:
    """How many are ahead of right and of wrong partners, r, in new batches, before and after training by log."""
    members, found = mislabelled(wrong), {}
    (trained,) = learned(torch.log1p, 128.0, (0.04,), STARTS, wrong)
    for name, net in (("at the start", start_weights()), ("after training", trained)):
        right, misled = [], []
        for batch in batches(members, steps, seed=77):
            z, label = embed(data()[0], batch, net), torch.arange(BATCH).repeat_interleave(OF_EACH)
            said, true = (label[:, None] == label).expand(STARTS, -1, -1), batch // EACH
            scores = (z @ z.mT).diagonal_scatter(torch.full(batch.shape, 2.0), dim1=1, dim2=2)
            r = outranking_negatives(scores, said)
            partner = said & ~torch.eye(len(label)).bool()
            kin = true[:, :, None] == true[:, None, :]
            right.append(r[partner & kin])
            misled.append(r[partner & ~kin])
        found[name] = torch.cat(right), torch.cat(misled)
    return found


def designs(
    arms: Mapping[str, Weights],
    lams: Mapping[str, Sequence[float]] | Sequence[float] = LAMS,
    rates: Sequence[float] = RATES,
    **how: Any,
) -> Comparison:
    """Weights held against each other, each at its own λ and rate; how they train as in :func:`train`."""
    trained = functools.partial(train, **how)
    return compare(trained, arms, baselines(), lams, rates=rates, starts=STARTS, ceilings=["the true directions"])
