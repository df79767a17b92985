"""Chapter 14, computed: the smoothed H-AP, its bound, and another ranker."""

import functools
from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn

from rankbook.ch14_happier.bounds import upper_bound
from rankbook.kit import short_runs
from rankbook.kit.ranks import Array
from rankbook.kit.timing import in_turns
from rankedu.losses import HAPLoss
from rankedu.metrics import hierarchical_average_precision
from rankedu.rankers import PRESETS, BlackboxRanker, SupremumRanker

#: The five items of the chapter, from rank 1 to 5: score and relevance.
FIVE = {"A": (0.9, 1.0), "B": (0.8, 2.0), "C": (0.7, 0.0), "D": (0.6, 1.0), "E": (0.5, 0.0)}


def five() -> tuple[Tensor, Tensor]:
    """Scores and relevances of the five items, shape (5,)."""
    scores, relevance = torch.tensor(list(FIVE.values()), dtype=torch.float64).T
    return scores, relevance


def losses(scores: Tensor, relevance: Tensor, step: Callable[[Tensor], Tensor] | None = None) -> Tensor:
    """Eq. 5 for each query, by all pairs: with a step for items of lower relevance, or hard; shape (...)."""
    difference = scores.unsqueeze(-2) - scores.unsqueeze(-1)  # (..., k, j): j outranks k where it is > 0
    own, other = relevance.unsqueeze(-1), relevance.unsqueeze(-2)
    above = torch.where(other < own, difference > 0, difference >= 0).to(scores)
    h_rank = (torch.minimum(own, other) * above).sum(-1)
    counted = above if step is None else torch.where(other < own, step(difference), above)
    return 1 - (h_rank / counted.sum(-1)).sum(-1) / relevance.sum(-1)


SPREADS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)


def draws(spread: float, rankings: int = 4000, n: int = 8, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Random scores of this standard deviation, and random relevances 0, 1 or 2 with one 2 at least; (rankings, n)."""
    generator = torch.Generator().manual_seed(seed)
    scores = spread * torch.randn(rankings, n, generator=generator, dtype=torch.float64)
    relevance = torch.randint(0, 3, (rankings, n), generator=generator).double()
    relevance[:, 0] = 2
    return scores, relevance


@functools.cache
def broken_share(preset: str, spread: float) -> float:
    """Share of random rankings of eight items whose loss is below the true one."""
    scores, relevance = draws(spread)
    ranker = SupremumRanker.preset(preset)
    return (losses(scores, relevance, ranker.step) < losses(scores, relevance) - 1e-12).double().mean().item()


def example() -> tuple[Tensor, Tensor]:
    """Eight items in which far and near mistakes meet; scores and relevance, shape (8,)."""
    scores = torch.tensor([0.90, 0.86, 0.74, 0.70, 0.67, 0.50, 0.46, 0.20], dtype=torch.float64)
    return scores, torch.tensor([1, 2, 0, 1, 2, 0, 0, 2], dtype=torch.float64)


@functools.cache
def descend(name: str, seeds: int = 20, steps: int = 100) -> Array:
    """H-AP while linear scorers of 20 features learn lists of 40 items, 4 of relevance 2, 8 of 1; a row for each seed.

    By name: "supremum" for HAPPIER's loss, "stopped 64" for blackbox ranks with λ = 64, "both 64" for the same with a
    gradient through H-rank.
    """
    kind, _, lam = name.partition(" ")
    loss = HAPLoss() if kind == "supremum" else HAPLoss(BlackboxRanker(seeds * float(lam)), within_grad=kind == "both")
    items, features = 40, 20
    generator = torch.Generator().manual_seed(0)
    relevance = (torch.arange(items) < 12).float() + (torch.arange(items) < 4).float()
    relevance = relevance.expand(seeds, items)
    x = torch.randn(seeds, items, features, generator=generator)
    x[..., 0] += 0.5 * relevance
    start = 0.1 * torch.randn(seeds, features, generator=generator)
    return short_runs.descend(loss, x, relevance, start, steps, hierarchical_average_precision)[1].numpy()


def end(h_ap: Array) -> float:
    """The median over seeds of the last twenty steps."""
    return float(np.median(h_ap[:, -20:].mean(1)))


#: How figures name a run.
RUNS = {
    "supremum": "HAPPIER's step",
    "stopped 16": "blackbox, λ = 16",
    "stopped 64": "blackbox, λ = 64",
    "both 64": "blackbox, λ = 64, both",
}
LENGTHS = (256, 512, 1024, 2048, 4096, 8192)


@functools.cache
def seconds(lengths: tuple[int, ...] = LENGTHS, repeats: int = 5) -> dict[str, list[float]]:
    """Median time of a forward and a backward pass for one query, by the length of its list.

    A tenth of the items are of relevance 2, four tenths of relevance 1; the contenders take turns.
    """
    losses = {"pairwise": HAPLoss(), "blackbox": HAPLoss(BlackboxRanker(16.0))}
    found: dict[str, list[float]] = {name: [] for name in losses}
    for n in lengths:
        scores = torch.randn(n, generator=torch.Generator().manual_seed(n), requires_grad=True)
        relevance = (torch.arange(n) < n // 2).float() + (torch.arange(n) < n // 10).float()
        steps = {name: partial(_step, loss, scores, relevance) for name, loss in losses.items()}
        for name, taken in in_turns(steps, repeats).items():
            found[name].append(taken)
    return found


def _step(loss: nn.Module, scores: Tensor, relevance: Tensor) -> None:
    torch.autograd.grad(loss(scores, relevance), scores)


def verdict(preset: str) -> str:
    """One line on a published setting: does it keep the bound, does it fall, is it continuous."""
    found = upper_bound(**PRESETS[preset])
    falls = [f"falls at {jump.at:g}" for jump in found.jumps if not jump.up]
    jumps = [f"jumps at {jump.at:g}" for jump in found.jumps if jump.up]
    return f"{'an upper bound' if found.holds else 'no bound':<15} {', '.join(jumps + falls)}"
