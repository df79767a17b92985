"""Chapter 10, computed: AP in soft bins, its bias, its slopes, and what is trained with it."""

import functools
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from rankbook.kit import linear_maps as linear
from rankbook.kit.compare import Array, Comparison, compare, descend
from rankbook.kit.relief import surface, view
from rankedu.losses import APLoss, FastAPLoss
from rankedu.metrics import average_precision
from rankedu.rankers import HistogramRanker

#: Of the landscapes. One score lies beyond it; it is the largest of its list either way.
SCORE_RANGE = (-3.0, 3.0)
#: Swept in training. The starts are more than elsewhere, for the differences are small.
BINS, RATES, STARTS = (1.0, 3.0, 10.0, 40.0, 160.0), (0.01, 0.04, 0.16), 24
#: The two readings of AP in bins. That of soft ranks is trained in a few bins and in many, as a control.
LOSSES: Mapping[str, Callable[[int], torch.nn.Module]] = {
    "FastAP": FastAPLoss,
    "AP of soft ranks": lambda bins: APLoss(HistogramRanker(bins)),
}
CONTROL = (10.0, 160.0)
#: Similarities as a network in training makes them: mean and spread of the positives, and of the negatives.
POSITIVES, NEGATIVES = (0.4, 0.2), (0.1, 0.12)


def fast_ap(scores: Tensor, relevance: Tensor, bins: int) -> Tensor:
    """FastAP of each row, from two histograms: what `FastAPLoss` is one minus the mean of."""
    ranker = HistogramRanker(bins)
    positives, everything = ranker.histogram(scores, where=relevance), ranker.histogram(scores)
    precision = positives.cumsum(-1) / everything.cumsum(-1).clamp(min=1e-12)
    return (positives * precision).sum(-1) / positives.sum(-1)


def soft_rank_ap(scores: Tensor, relevance: Tensor, bins: int) -> Tensor:
    """Average precision of each row with soft ranks in place of ranks: `APLoss(HistogramRanker(bins))` row by row."""
    ranker = HistogramRanker(bins)
    precision = ranker.among(scores, relevance) / ranker(scores)
    return (precision * relevance).sum(-1) / relevance.sum(-1)


def limit_of_the_loss(scores: Tensor, relevance: Tensor) -> Tensor:
    """What FastAP misses of each row's AP in very many bins, with every share f as likely as any other.

    The mean over f of f (1 − f) r / (N (N − f)), over the positives.
    """
    order = scores.argsort(-1, descending=True)
    found = relevance.gather(-1, order).double()
    rank = torch.arange(1.0, scores.shape[-1] + 1, dtype=torch.float64)
    mean = rank - 0.5 - rank * (rank - 1) * torch.log(rank / (rank - 1).clamp(min=1))
    lost = mean * (rank - found.cumsum(-1)) / rank
    return (lost * found).sum(-1) / found.sum(-1)


def similarities(queries: int = 40, n: int = 300, positives: int = 12, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Random cosines of queries and candidates, and which candidates are relevant; shape (queries, n) each."""
    generator = torch.Generator().manual_seed(seed)
    relevance = (torch.arange(n) < positives).expand(queries, n)
    noise = torch.randn(2, queries, n, generator=generator, dtype=torch.float64)
    near, far = POSITIVES[0] + POSITIVES[1] * noise[0], NEGATIVES[0] + NEGATIVES[1] * noise[1]
    return torch.where(relevance, near, far).clamp(-1, 1), relevance


@functools.cache
def measure_bias(bins: int) -> tuple[float, float]:
    """How far FastAP, and AP of soft ranks, lie from AP on random similarities."""
    scores, relevance = similarities()
    exact = average_precision(scores, relevance)
    fast, soft = (ap(scores, relevance, bins) - exact for ap in (fast_ap, soft_rank_ap))
    return fast.mean().item(), soft.mean().item()


def off_the_landscape(bins: int | None, size: int = 120) -> float:
    """How far the landscape of soft-binned ranks is from the true one, or a flat sheet is if there are no bins.

    The root mean square over the section, with both around their mean heights.
    """
    seen = view(size)
    height = surface(seen, HistogramRanker(bins, SCORE_RANGE)) if bins else np.zeros_like(seen.staircase)
    return float((height - seen.staircase)[seen.inside].std())


def alone(scores: Tensor, bins: int) -> Tensor:
    """FastAP of a single positive with one negative far above it and one far below, at each of the scores."""
    rows = torch.stack([scores, torch.full_like(scores, 0.9), torch.full_like(scores, -0.9)], dim=-1)
    return fast_ap(rows, torch.tensor([True, False, False]).expand_as(rows), bins)


#: A list of 17: the positives 4th, 5th, 9th and 15th, and a gap in the middle.
LIST = (0.86, 0.81, 0.72, 0.66, 0.58, 0.51, 0.45, 0.37, 0.12, 0.07, 0.02, -0.04, -0.11, -0.17, -0.32, -0.61, -0.78)
LIST_RELEVANT = tuple(place in (3, 4, 8, 14) for place in range(len(LIST)))


def pushes(bins: int) -> Tensor:
    """What a descent step on the FastAP loss does to the list: minus its gradient."""
    leaf = torch.tensor(LIST, dtype=torch.float64).requires_grad_()
    (slope,) = torch.autograd.grad(FastAPLoss(bins)(leaf, torch.tensor(LIST_RELEVANT)), leaf)
    return -slope


def train(
    arm: tuple[int, str], bins: float, rates: Sequence[float], starts: int, steps: int = 100
) -> tuple[Array, Array]:
    """R@1 of chapter 7's linear map on validation and on new classes; (rates, starts) each.

    An arm is the dimensions of the embedding, and the name of a loss.
    """
    dim, name = arm
    relevance, others = _pairs(len(rates) * starts)
    binned = LOSSES[name](int(bins))

    def loss(nets: Tensor, batch: Tensor) -> Tensor:
        z = linear.embed(linear.data(starts)[0], batch, nets).flatten(0, 1)
        value: Tensor = binned(z @ z.mT, relevance, where=others)
        return value

    chosen = linear.batches(linear.mislabelled(0.0, starts), steps)
    *_, nets = descend(start_weights(dim, starts), rates, chosen, loss)
    by, report = (np.stack([linear.recall_at_1(x @ net) for net in nets]) for x in linear.data(starts)[1:])
    return by, report


def _pairs(batches: int) -> tuple[Tensor, Tensor]:
    """Which items of each batch are relevant to which, and that an item is no candidate of its own query."""
    label = torch.arange(linear.BATCH).repeat_interleave(linear.OF_EACH)
    relevance = (label[:, None] == label).expand(batches, -1, -1)
    return relevance, ~torch.eye(len(label)).bool().expand_as(relevance)


def without_gradient(dim: int, bins: int, name: str = "FastAP") -> float:
    """The share of the negatives in each start's first batch that a loss gives a gradient of exactly zero."""
    relevance, others = _pairs(STARTS)
    (batch,) = linear.batches(linear.mislabelled(0.0, STARTS), 1)
    z = linear.embed(linear.data(STARTS)[0], batch, start_weights(dim, STARTS))
    leaf = (z @ z.mT).requires_grad_()
    (slope,) = torch.autograd.grad(LOSSES[name](bins)(leaf, relevance, where=others), leaf)
    return (slope[~relevance] == 0).double().mean().item()


def start_weights(dim: int, starts: int = linear.STARTS) -> Tensor:
    return torch.randn(starts, linear.DIM, dim, generator=torch.Generator().manual_seed(2)) / linear.DIM**0.5


def spread(dim: int) -> float:
    """Of the similarities of new items, before training: their standard deviation."""
    report = linear.data(STARTS)[2][:, :: linear.EACH]
    z = torch.nn.functional.normalize(report @ start_weights(dim, STARTS), dim=-1)
    return (z @ z.mT)[:, ~torch.eye(z.shape[1], dtype=torch.bool)].std().item()


@functools.cache
def by_bins(dim: int) -> Comparison:
    """The number of bins swept, each at its own rate, beside the map as it starts and the items as they are."""
    report = linear.data(STARTS)[2]
    before = report @ start_weights(dim, STARTS)
    known = {"untrained": linear.recall_at_1(before), "raw items": linear.recall_at_1(report)}
    arms = {name: (dim, name) for name in LOSSES}
    return compare(train, arms, known, dict(zip(LOSSES, (BINS, CONTROL), strict=True)), rates=RATES, starts=STARTS)


def curves(dim: int) -> list[dict[float, Array]]:
    """Of each reading, R@1 of all starts by the number of bins."""
    found = by_bins(dim)
    return [dict(zip(found.strengths[name], found.curve(name), strict=True)) for name in LOSSES]


def less_than_ten_bins(dim: int, steps: int) -> Array:
    """R@1 with 160 bins less that with 10, of each of twelve starts at its own rate after so many steps."""
    ends = []
    for bins in (10, 160):
        by, report = train((dim, "FastAP"), bins, RATES, linear.STARTS, steps)
        ends.append(report[by.argmax(0), np.arange(linear.STARTS)])
    return np.asarray(ends[1] - ends[0])
