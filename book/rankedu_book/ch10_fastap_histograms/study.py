"""Chapter 10, computed: FastAP and the AP of soft ranks, how far they are from AP, and their gradients."""

import functools

import torch
from torch import Tensor

from rankedu.losses import APLoss, FastAPLoss
from rankedu.metrics import average_precision
from rankedu.rankers import HistogramRanker

#: Range of the bins in the landscapes. One score is above it; it is the largest of its list either way.
SCORE_RANGE = (-3.0, 3.0)
#: Mean and standard deviation of the random similarities of relevant and of irrelevant items.
POSITIVES, NEGATIVES = (0.4, 0.2), (0.1, 0.12)


def fast_ap(scores: Tensor, relevance: Tensor, bins: int) -> Tensor:
    """Return FastAP of each row."""
    return 1 - FastAPLoss(bins, reduction="none")(scores, relevance)


def soft_rank_ap(scores: Tensor, relevance: Tensor, bins: int) -> Tensor:
    """Return AP of each row, computed from soft ranks."""
    return 1 - APLoss(HistogramRanker(bins), reduction="none")(scores, relevance)


def limit_of_the_loss(scores: Tensor, relevance: Tensor) -> Tensor:
    """Return what FastAP misses of each row's AP in very many bins, if every share f is as likely as any other.

    It is the mean over f of f (1 − f) r / (R (R − f)), averaged over the relevant items.
    """
    order = scores.argsort(-1, descending=True)
    found = relevance.gather(-1, order).double()
    rank = torch.arange(1.0, scores.shape[-1] + 1, dtype=torch.float64)
    mean = rank - 0.5 - rank * (rank - 1) * torch.log(rank / (rank - 1).clamp(min=1))
    lost = mean * (rank - found.cumsum(-1)) / rank
    return (lost * found).sum(-1) / found.sum(-1)


def similarities(queries: int = 40, n: int = 300, positives: int = 12, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Return random cosines of queries and candidates, and which candidates are relevant: (queries, n) each."""
    generator = torch.Generator().manual_seed(seed)
    relevance = (torch.arange(n) < positives).expand(queries, n)
    noise = torch.randn(2, queries, n, generator=generator, dtype=torch.float64)
    near, far = POSITIVES[0] + POSITIVES[1] * noise[0], NEGATIVES[0] + NEGATIVES[1] * noise[1]
    return torch.where(relevance, near, far).clamp(-1, 1), relevance


@functools.cache
def distances(bins: int) -> tuple[float, float]:
    """Return the mean distance of FastAP, and of AP of soft ranks, from AP on the random similarities."""
    scores, relevance = similarities()
    exact = average_precision(scores, relevance)
    fast, soft = ((ap(scores, relevance, bins) - exact).abs().mean().item() for ap in (fast_ap, soft_rank_ap))
    return fast, soft


def alone(scores: Tensor, bins: int) -> Tensor:
    """Return FastAP of one relevant item between two distant irrelevant ones, at each of the scores."""
    rows = torch.stack([scores, torch.full_like(scores, 0.9), torch.full_like(scores, -0.9)], dim=-1)
    return fast_ap(rows, torch.tensor([True, False, False]).expand_as(rows), bins)


#: A list of 17 scores, of which the 4th, 5th, 9th and 15th are relevant.
LIST = (0.86, 0.81, 0.72, 0.66, 0.58, 0.51, 0.45, 0.37, 0.12, 0.07, 0.02, -0.04, -0.11, -0.17, -0.32, -0.61, -0.78)
LIST_RELEVANT = tuple(place in (3, 4, 8, 14) for place in range(len(LIST)))


def pushes(loss: torch.nn.Module) -> Tensor:
    """Return minus the gradient of a loss on the list, which is what a step of gradient descent does to each score."""
    leaf = torch.tensor(LIST, dtype=torch.float64).requires_grad_()
    (slope,) = torch.autograd.grad(loss(leaf, torch.tensor(LIST_RELEVANT)), leaf)
    return -slope
