"""Chapter 14, computed: the smoothed H-AP, its bound, and another ranker."""

import functools
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from rankbook.ch14_happier.bounds import upper_bound
from rankbook.kit.compare import Comparison, Interval, interval
from rankbook.kit.scorers import MANY, Arm, Task
from rankedu.losses import HAPLoss
from rankedu.metrics import hierarchical_average_precision
from rankedu.rankers import PRESETS, BlackboxRanker, SigmoidRanker, SupremumRanker
from ranklab import CHECKOUT
from ranklab.runs import Record, collect_runs


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
def broken_share(preset: str, spread: float, fifth: int | None = None, n: int = 8) -> float:
    """Share of random rankings of n items whose loss is below the true one; or of a fifth of them, best first."""
    scores, relevance = draws(spread, n=n)
    true = losses(scores, relevance)
    broken = (losses(scores, relevance, SupremumRanker.preset(preset).step) < true - 1e-12).double()
    return (broken if fifth is None else broken[true.argsort()].chunk(5)[fifth]).mean().item()


def example() -> tuple[Tensor, Tensor]:
    """Eight items in which far and near mistakes meet; scores and relevance, shape (8,)."""
    scores = torch.tensor([0.90, 0.86, 0.74, 0.70, 0.67, 0.50, 0.46, 0.20], dtype=torch.float64)
    return scores, torch.tensor([1, 2, 0, 1, 2, 0, 0, 2], dtype=torch.float64)


# --- Linear scorers, trained on lists: each loss at its own setting -------------------------------------------------

#: Lists of forty items, four of relevance 2, eight of 1.
TASK = Task((2.0,) * 4 + (1.0,) * 8 + (0.0,) * 28, hierarchical_average_precision)
#: How many times the published τ and δ, with ρ divided by it; and λ for the ranks of one list.
WIDTHS, LAMS = (1.0, 10.0, 100.0, 1000.0), (1.0, 4.0, 16.0, 64.0, 256.0)


def _wider(rho: float = 100.0, start: float = 0.5) -> Arm:
    return lambda width: HAPLoss(SupremumRanker(0.01 * width, rho / width, 0.05 * width, start=start))


ARMS: dict[str, Arm] = {
    "HAPPIER's step": _wider(),
    "without the line": _wider(rho=0.0),
    "continuous, no bound": _wider(start=0.0),
    "all by a sigmoid": lambda width: HAPLoss(SigmoidRanker(0.01 * width), within_grad=True),
    "blackbox": lambda lam: HAPLoss(BlackboxRanker(lam * MANY)),
    "blackbox, both": lambda lam: HAPLoss(BlackboxRanker(lam * MANY), within_grad=True),
}


@functools.cache
def scorers() -> Comparison:
    """HAPPIER's step, two variants of it, sigmoids and blackbox ranks, each at its own strength and rate."""
    return TASK.compare(ARMS, {name: LAMS if "blackbox" in name else WIDTHS for name in ARMS})


# --- The records of the claims page ---------------------------------------------------------------------------------

RECORDS = CHECKOUT / "lab" / "records" / "claims_cpu.jsonl"
DEALS = CHECKOUT / "lab" / "records" / "claims_deals.jsonl"


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


def in_deals(question: str) -> Interval:
    """What the second round of the claims found in H-AP, in points; the spread of the searches is in it."""
    from ranklab.claims.answers import all_answers  # it reads pages of the book, which a chapter alone can do without

    answer = all_answers(DEALS.parent)["hierarchy, in H-AP"][question]
    return Interval(answer.mean.value, answer.mean.half_width(answer.different))


def verdict(preset: str) -> str:
    """One line on a published setting: its start and offset, does it keep the bound, does it fall, is it continuous."""
    setting, found = PRESETS[preset], upper_bound(**PRESETS[preset])
    falls = [f"falls at {jump.at:g}" for jump in found.jumps if not jump.up]
    jumps = [f"jumps at {jump.at:g}" for jump in found.jumps if jump.up]
    offset = "joined" if setting["offset"] is None else f"{setting['offset']:g}"
    about = f"start {setting['start']:<4g} offset {offset:<7}"
    return f"{about} {'an upper bound' if found.holds else 'no bound':<15} {', '.join(jumps + falls)}"
