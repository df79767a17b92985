"""Chapter 10, computed: AP in soft bins, its bias, its slopes, and what is trained with it."""

import functools

import torch
from torch import Tensor

from rankedu.losses import FastAPLoss
from rankedu.metrics import average_precision
from rankedu.rankers import HistogramRanker

#: Of the landscapes. One score lies beyond it; it is the largest of its list either way.
SCORE_RANGE = (-3.0, 3.0)
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


@functools.cache
def trained(bins: int, dim: int, seeds: int = 3, steps: int = 60) -> tuple[float, float]:
    """AP of linear embeddings trained with FastAP, on their training items; and the spread of their first negatives.

    One embedding a seed, all trained side by side: the loss is the mean over the queries of all.
    """
    labels = torch.arange(16).repeat_interleave(8)
    drawn = [_start(labels, dim, seed) for seed in range(seeds)]
    features, weight = (torch.stack(parts) for parts in zip(*drawn, strict=True))
    others = ~torch.eye(len(labels), dtype=torch.bool).expand(seeds, -1, -1)
    same = (labels[:, None] == labels).expand_as(others)
    loss, optimiser = FastAPLoss(bins), torch.optim.Adam([weight.requires_grad_()], lr=0.03)
    with torch.no_grad():
        spread = _cosines(features @ weight).masked_select(~same).view(seeds, -1).std(1).mean().item()
    for _ in range(steps):
        optimiser.zero_grad()
        loss(_cosines(features @ weight), same & others, where=others).backward()
        optimiser.step()
    with torch.no_grad():
        return average_precision(_cosines(features @ weight), same, where=others).mean().item(), spread


def _start(labels: Tensor, dim: int, seed: int) -> tuple[Tensor, Tensor]:
    """Features of the items, 32 each, and the weights (32, dim) with which they are embedded at first."""
    generator = torch.Generator().manual_seed(seed)
    centres = 0.5 * torch.randn(int(labels.max()) + 1, 32, generator=generator)
    features = centres[labels] + torch.randn(len(labels), 32, generator=generator)
    return features, torch.randn(32, dim, generator=generator) / 32**0.5


def _cosines(embeddings: Tensor) -> Tensor:
    unit = torch.nn.functional.normalize(embeddings, dim=-1)
    return unit @ unit.mT
