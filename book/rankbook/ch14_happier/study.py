"""Chapter 14, computed: the smoothed H-AP, its bound, and another ranker."""

import functools
from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from rankbook.ch14_happier.bounds import upper_bound
from rankbook.kit.compare import Array, Comparison, Interval, compare, interval
from rankbook.kit.timing import in_turns
from rankedu.losses import HAPLoss
from rankedu.metrics import hierarchical_average_precision
from rankedu.rankers import PRESETS, BlackboxRanker, SupremumRanker
from ranklab import CHECKOUT
from ranklab.runs import Record, collect_runs

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
def broken_share(preset: str, spread: float, fifth: int | None = None) -> float:
    """Share of random rankings of eight items whose loss is below the true one; or of a fifth of them, best first."""
    scores, relevance = draws(spread)
    true = losses(scores, relevance)
    broken = (losses(scores, relevance, SupremumRanker.preset(preset).step) < true - 1e-12).double()
    return (broken if fifth is None else broken[true.argsort()].chunk(5)[fifth]).mean().item()


def example() -> tuple[Tensor, Tensor]:
    """Eight items in which far and near mistakes meet; scores and relevance, shape (8,)."""
    scores = torch.tensor([0.90, 0.86, 0.74, 0.70, 0.67, 0.50, 0.46, 0.20], dtype=torch.float64)
    return scores, torch.tensor([1, 2, 0, 1, 2, 0, 0, 2], dtype=torch.float64)


# --- Linear scorers, trained on lists: each loss at its own setting -------------------------------------------------

#: A start has its own lists: to train with, to choose a setting by, to report. Four items of relevance 2, eight of 1.
STARTS, LISTS, BATCH, ITEMS, FEATURES, ITERATIONS = 12, (32, 32, 64), 8, 40, 20, 60
GRADES = (torch.arange(ITEMS) < 12).float() + (torch.arange(ITEMS) < 4).float()
#: How many times the published τ and δ, with ρ divided by it; λ for the ranks of one list; rates of Adam.
WIDTHS, LAMS, RATES = (1.0, 10.0, 100.0, 1000.0), (1.0, 4.0, 16.0, 64.0, 256.0), (0.01, 0.03, 0.1)


def _wider(rho: float = 100.0, start: float = 0.5) -> Callable[[float], nn.Module]:
    return lambda width: HAPLoss(SupremumRanker(0.01 * width, rho / width, 0.05 * width, start=start))


def _blackbox(within_grad: bool) -> Callable[[float], nn.Module]:
    # The mean is over all lists of a batch: for the λ of one list, so many times as much.
    return lambda lam: HAPLoss(BlackboxRanker(lam * STARTS * BATCH), within_grad=within_grad)


#: Losses by their strength.
ARMS = {
    "HAPPIER's step": _wider(),
    "without the line": _wider(rho=0.0),
    "continuous, no bound": _wider(start=0.0),
    "blackbox": _blackbox(False),
    "blackbox, both": _blackbox(True),
}


@functools.cache
def lists() -> tuple[Tensor, Tensor]:
    """Features (starts, lists, 40, 20), noise and a direction in which the relevance stands out; and the directions."""
    generator = torch.Generator().manual_seed(0)
    noise = torch.randn(STARTS, sum(LISTS), ITEMS, FEATURES, generator=generator)
    direction = normalize(torch.randn(STARTS, FEATURES, generator=generator), dim=1)
    return noise + GRADES[:, None] * direction[:, None, None], direction


def scored(weights: Tensor, part: int) -> Array:
    """Mean H-AP of each start on its lists to train with (0), to choose by (1), or to report (2); (starts,)."""
    scores = torch.einsum("slif,sf->sli", lists()[0].split(LISTS, 1)[part], weights)
    found: Array = hierarchical_average_precision(scores, GRADES.expand_as(scores)).mean(1).double().numpy()
    return found


def start_weights() -> Tensor:
    return 0.1 * torch.randn(STARTS, FEATURES, generator=torch.Generator().manual_seed(1))


def train(arm: Callable[[float], nn.Module], strength: float, rate: float, starts: int) -> tuple[Array, Array]:
    """H-AP on the lists to choose by, and on those to report, after training by Adam, eight lists a batch."""
    loss, weights = arm(strength), start_weights().requires_grad_()
    optimiser, generator = torch.optim.Adam([weights], lr=rate), torch.Generator().manual_seed(2)
    for _ in range(ITERATIONS):
        pick = torch.randint(0, LISTS[0], (starts, BATCH), generator=generator)
        scores = torch.einsum("slif,sf->sli", lists()[0][torch.arange(starts)[:, None], pick], weights)
        optimiser.zero_grad()
        loss(scores.flatten(0, 1), GRADES.expand(starts * BATCH, -1)).backward()
        optimiser.step()
    return scored(weights.detach(), 1), scored(weights.detach(), 2)


def regression() -> Tensor:
    """Least squares of the grades on the features of all lists to train with, ranking nothing; (starts, 20)."""
    x = lists()[0][:, : LISTS[0]].flatten(1, 2)
    grades = (GRADES - GRADES.mean()).repeat(LISTS[0])[None, :, None].expand(STARTS, -1, -1)
    solution: Tensor = torch.linalg.lstsq(x - x.mean(1, keepdim=True), grades).solution[..., 0]
    return solution


@functools.cache
def scorers() -> Comparison:
    """The losses held against each other, and against what trains without them."""
    known = {"untrained": start_weights(), "regression": regression(), "the true direction": lists()[1]}
    baselines = {name: scored(weights, 2) for name, weights in known.items()}
    sweep = {name: LAMS if "blackbox" in name else WIDTHS for name in ARMS}
    above = ["regression", "the true direction"]
    return compare(train, ARMS, baselines, sweep, rates=RATES, starts=STARTS, ceilings=above)


# --- The records of the claims page ---------------------------------------------------------------------------------

RECORDS = CHECKOUT / "lab" / "records" / "claims_cpu.jsonl"


@functools.cache
def recorded() -> dict[str, list[Record]]:
    """The records of an arm by its name, the seeds in order."""
    found: dict[str, list[Record]] = {}
    for record in sorted(collect_runs(RECORDS)[0], key=lambda record: record.parameters["seed"]):
        found.setdefault(record.run.rpartition("-")[0], []).append(record)
    return found


def arms(symbol: str) -> dict[float, str]:
    """The arms that vary "α" or "λ" alone, by its value."""
    named = f"happier with {symbol} = "
    return dict(sorted((float(arm.removeprefix(named)), arm) for arm in recorded() if arm.startswith(named)))


def gain(arm: str, other: str, measure: str) -> Interval:
    """By how many points an arm is ahead, paired by seed; the spread of the one search behind them is not in it."""
    values = (np.array([record.metrics[measure] for record in recorded()[name]]) for name in (arm, other))
    return interval(100 * np.subtract(*values))


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
