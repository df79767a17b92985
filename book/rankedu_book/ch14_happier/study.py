"""Compute what chapter 14 shows: the smoothed H-AP of random lists, and the recorded runs of HAPPIER."""

import csv
import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from rankedu.rankers import PRESETS, SupremumRanker
from rankedu_book.ch14_happier.bounds import upper_bound
from rankedu_lab import CHECKOUT


def losses(scores: Tensor, relevance: Tensor, step: Callable[[Tensor], Tensor] | None = None) -> Tensor:
    """Return Eq. 5 for each query, by all pairs, with a step for items of lower relevance or with the true one."""
    difference = scores.unsqueeze(-2) - scores.unsqueeze(-1)  # (..., k, j): j outranks k where it is > 0
    own, other = relevance.unsqueeze(-1), relevance.unsqueeze(-2)
    above = torch.where(other < own, difference > 0, difference >= 0).to(scores)
    h_rank = (torch.minimum(own, other) * above).sum(-1)
    counted = above if step is None else torch.where(other < own, step(difference), above)
    return 1 - (h_rank / counted.sum(-1)).sum(-1) / relevance.sum(-1)


SPREADS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)


def draws(spread: float, rankings: int = 4000, n: int = 8, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Draw scores of this standard deviation, and relevances 0, 1 or 2 with at least one 2; (rankings, n)."""
    generator = torch.Generator().manual_seed(seed)
    scores = spread * torch.randn(rankings, n, generator=generator, dtype=torch.float64)
    relevance = torch.randint(0, 3, (rankings, n), generator=generator).double()
    relevance[:, 0] = 2
    return scores, relevance


@functools.cache
def broken_share(preset: str, spread: float) -> float:
    """Return the share of random rankings of eight items whose loss is below the true one."""
    scores, relevance = draws(spread)
    surrogate = losses(scores, relevance, SupremumRanker.preset(preset).step)
    return (surrogate < losses(scores, relevance) - 1e-12).double().mean().item()


def example() -> tuple[Tensor, Tensor]:
    """Return eight items with near and far mistakes: scores and relevance, shape (8,)."""
    scores = torch.tensor([0.90, 0.86, 0.74, 0.70, 0.67, 0.50, 0.46, 0.20], dtype=torch.float64)
    return scores, torch.tensor([1, 2, 0, 1, 2, 0, 0, 2], dtype=torch.float64)


# --- The records of the claims page ---------------------------------------------------------------------------------

RECORDS = CHECKOUT / "lab" / "records" / "claims_first.csv"


@functools.cache
def recorded() -> dict[str, list[dict[str, str]]]:
    """Return the rows of each method by its name, with the seeds in order."""
    found: dict[str, list[dict[str, str]]] = {}
    with RECORDS.open(encoding="utf-8", newline="") as lines:
        for row in sorted(csv.DictReader(lines), key=lambda row: int(row["seed"])):
            found.setdefault(row["method"], []).append(row)
    return found


def arms(symbol: str) -> dict[float, str]:
    """Return the arms that vary only "α" or only "λ", by its value."""
    named = f"happier with {symbol} = "
    return dict(sorted((float(arm.removeprefix(named)), arm) for arm in recorded() if arm.startswith(named)))


class Gain(NamedTuple):
    """A mean over seeds, ± half of the width of its confidence interval of 95 % (Student's t)."""

    mean: float
    half: float


def gain(arm: str, other: str, measure: str) -> Gain:
    """Return by how many points an arm is better, paired by seed, without the variation between searches."""
    from scipy import stats

    values = (np.array([100 * float(row[measure]) for row in recorded()[name]]) for name in (arm, other))
    low, high = stats.ttest_rel(*values).confidence_interval()
    return Gain((low + high) / 2, (high - low) / 2)


def verdict(preset: str) -> str:
    """Describe a published setting in one line: start, offset, whether it is a bound, and where it jumps or falls."""
    setting, found = PRESETS[preset], upper_bound(**PRESETS[preset])
    falls = [f"falls at {jump.at:g}" for jump in found.jumps if not jump.up]
    jumps = [f"jumps at {jump.at:g}" for jump in found.jumps if jump.up]
    offset = "joined" if setting["offset"] is None else f"{setting['offset']:g}"
    about = f"start {setting['start']:<4g} offset {offset:<7}"
    return f"{about} {'an upper bound' if found.holds else 'no bound':<15} {', '.join(jumps + falls)}"
