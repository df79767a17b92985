"""Chapter 7, computed: a linear map learns which directions tell classes apart, by recall losses of several weights."""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from rankbook.kit.compare import Array, Comparison, compare, descend
from rankedu.losses import RecallLoss
from rankedu.rankers import BlackboxRanker
from rankedu.ranks import outranking_negatives

#: Numbers of an item, its embedding, items of a class, classes to train with, to choose by and to report.
DIM, EMBEDDING, EACH, CLASSES, NEW = 24, 6, 8, 400, 100
#: Of a batch: classes, and items of each.
BATCH, OF_EACH = 12, 4
STARTS, STEPS = 12, 100
LAMS, RATES = (2.0, 16.0, 128.0, 1024.0, 8192.0), (0.01, 0.04, 0.16)
Weights = Callable[[Tensor], Tensor]
_CLASSES_VARY, _ITEMS_VARY = torch.linspace(1.5, 0, DIM), torch.linspace(0.5, 2, DIM)


def items(classes: int, seed: int, starts: int = STARTS) -> Tensor:
    """Eight items of each class: classes differ in some directions, items in others; (starts, classes · 8, 24)."""
    generator = torch.Generator().manual_seed(seed)
    mixing = torch.linalg.qr(torch.randn(starts, DIM, DIM, generator=generator))[0]  # a rotation: hides the directions
    centres = torch.randn(starts, classes, 1, DIM, generator=generator) * _CLASSES_VARY
    spread = torch.randn(starts, classes, EACH, DIM, generator=generator) * _ITEMS_VARY
    made: Tensor = (centres + spread).flatten(1, 2) @ mixing
    return made


@functools.cache
def data(starts: int = STARTS) -> tuple[Tensor, Tensor, Tensor]:
    """Items to train with, to choose by, and to report, of classes that do not meet."""
    every = items(CLASSES + 2 * NEW, 0, starts)
    train_on, choose_by, report = every.split([EACH * CLASSES, EACH * NEW, EACH * NEW], 1)
    return train_on, choose_by, report


def mislabelled(share: float, starts: int = STARTS) -> Tensor:
    """Which items a class is said to have, (starts, classes, 8), if this share of items have exchanged their labels."""
    generator = torch.Generator().manual_seed(1)
    members = torch.arange(EACH * CLASSES).repeat(starts, 1)
    for row in members:
        chosen = (torch.rand(len(row), generator=generator) < share).nonzero().flatten()
        row[chosen] = row[chosen[torch.randperm(len(chosen), generator=generator)]]
    return members.view(starts, CLASSES, EACH)


def recall_at_1(embeddings: Tensor) -> Array:
    """Of each start, by cosines, every item a query; (starts,)."""
    z = normalize(embeddings, dim=-1)
    nearest = (z @ z.mT).diagonal_scatter(torch.full(z.shape[:2], -2.0), dim1=1, dim2=2).argmax(-1)
    right: Array = (nearest // EACH == torch.arange(z.shape[1]) // EACH).double().mean(-1).numpy()
    return right


def start_weights(starts: int = STARTS) -> Tensor:
    uniform = torch.rand(starts, DIM, EMBEDDING, generator=torch.Generator().manual_seed(2))
    return torch.div(2 * uniform - 1, DIM**0.5)


def batches(members: Tensor, steps: int, seed: int = 3) -> Iterator[Tensor]:
    """Items of each batch: twelve of the classes of a start, four items of each; (starts, 48)."""
    generator, starts = torch.Generator().manual_seed(seed), len(members)
    for _ in range(steps):
        classes = torch.rand(starts, CLASSES, generator=generator).topk(BATCH).indices
        pick = torch.rand(starts, BATCH, EACH, generator=generator).topk(OF_EACH).indices
        yield members[torch.arange(starts)[:, None], classes].gather(-1, pick).flatten(1)


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


def embed(items: Tensor, batch: Tensor, net: Tensor) -> Tensor:
    """Of length 1, (..., starts, 48, 6)."""
    return normalize(items[torch.arange(len(batch))[:, None], batch] @ net, dim=-1)


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


def baselines(starts: int = STARTS) -> dict[str, Array]:
    """Without training: the map as it starts, the items as they are, and the directions that tell classes apart."""
    report = data(starts)[2]
    generator = torch.Generator().manual_seed(0)
    mixing = torch.linalg.qr(torch.randn(starts, DIM, DIM, generator=generator))[0]
    return {
        "untrained map": recall_at_1(report @ start_weights(starts)),
        "raw items": recall_at_1(report),
        "the true directions": recall_at_1(report @ mixing.mT[..., :EMBEDDING]),
    }


def designs(
    arms: Mapping[str, Weights],
    lams: Mapping[str, Sequence[float]] | Sequence[float] = LAMS,
    rates: Sequence[float] = RATES,
    **how: Any,
) -> Comparison:
    """Weights held against each other, each at its own λ and rate; how they train as in :func:`train`."""
    trained = functools.partial(train, **how)
    return compare(trained, arms, baselines(), lams, rates=rates, starts=STARTS, ceilings=["the true directions"])
