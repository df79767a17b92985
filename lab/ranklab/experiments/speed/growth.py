"""RaMBO's Table 1, measured: how the time of each loss grows with the list and with its number of relevant items."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from rankedu.losses import APLoss, FastAPLoss, SmoothAPLoss, SupAPLoss
from rankedu.rankers import BlackboxRanker
from ranklab.contestants import APSVMLoss, ErrorDrivenAPLoss, LSTMRanker
from ranklab.experiments.speed.contestants import step
from ranklab.experiments.speed.published import published_ap, published_smooth_ap
from ranklab.experiments.speed.stopwatch import Limits, Row, Work, clock, one_thread

__all__ = ["ALGORITHMS", "Algorithm", "exponents", "growth"]

Loss = Callable[[Tensor, Tensor], Tensor]
Cell = tuple[str, int, int]  # algorithm, n, p
#: One timing is of as many calls as take so many seconds.
LEAST = 0.005
#: Lengths, and numbers of relevant items, that are tried with each other.
CELLS = 4


class Algorithm(NamedTuple):
    """A row of the table: who is timed, on which lists, and what is printed of it."""

    make: Callable[[int], Loss]  # of the length
    lengths: tuple[int, int]  # shortest and longest list
    counts: tuple[int, int]  # fewest and most relevant items; few enough that p is small beside n
    printed: str  # the complexity in the table; empty for an algorithm that is not in it
    claim: Callable[[float, float], float]  # (n, p) → what grows as printed, or else as its own paper or we say


class _Sorter(torch.nn.Module):
    """SoDeep's network with as many hidden units as there are items, as the table has it."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self.sorter = LSTMRanker(n, hidden=n, layers=1).requires_grad_(False)

    def forward(self, scores: Tensor, relevance: Tensor) -> Tensor:
        ranks: Tensor = self.sorter(scores)
        return ranks[relevance].mean()


LONG, MIDDLE, SHORT = (100_000, 1_000_000), (20_000, 200_000), (3_000, 30_000)
FEW, MANY = (30, 300), (100, 1_000)
ALGORITHMS = {
    "RaMBO": Algorithm(
        lambda n: APLoss(BlackboxRanker(0.4 * n), 0.02), LONG, MANY, "O(n log n)", lambda n, p: n * math.log(n)
    ),
    "RaMBO, transcription": Algorithm(
        lambda n: lambda y, r: published_ap(y, r, 0.4 * n, 0.02), MIDDLE, MANY, "", lambda n, p: n * math.log(n)
    ),
    "Mohapatra et al.": Algorithm(
        lambda n: APSVMLoss("mohapatra"), MIDDLE, MANY, "O(n log p)", lambda n, p: n * math.log(p)
    ),
    "Chen et al.": Algorithm(lambda n: ErrorDrivenAPLoss(1.0), SHORT, FEW, "O(np)", lambda n, p: n * p),
    "Yue et al.": Algorithm(lambda n: APSVMLoss("yue"), SHORT, FEW, "O(n²)", lambda n, p: n * n),
    "FastAP": Algorithm(lambda n: FastAPLoss(20), LONG, MANY, "O((n + p)L)", lambda n, p: n),
    "SoDeep": Algorithm(_Sorter, (64, 192), (4, 16), "O((n + p)h²), h ≈ n", lambda n, p: n**3),
    "Smooth-AP": Algorithm(lambda n: SmoothAPLoss(), SHORT, FEW, "", lambda n, p: n * p),
    "Smooth-AP, transcription": Algorithm(
        lambda n: lambda y, r: published_smooth_ap(y, r), (300, 2_000), (4, 40), "", lambda n, p: n * n
    ),
    "SupAP (HAPPIER)": Algorithm(lambda n: SupAPLoss(), SHORT, FEW, "", lambda n, p: n * p),
}


def cells_of(algorithm: Algorithm, scale: float) -> list[tuple[int, int]]:
    """Every length with every number of relevant items; a scale below 1 makes them smaller."""
    sides = []
    for (low, high), least in ((algorithm.lengths, 16), (algorithm.counts, 2)):
        ends = (max(least, low * scale), max(4 * least, high * scale))
        sides.append([round(size) for size in np.geomspace(ends[0], ends[1], CELLS)])
    return [(n, p) for n in sides[0] for p in sides[1]]


def exponents(cells: Sequence[tuple[float, ...]]) -> list[tuple[float, float]]:
    r"""Fit :math:`\log t = c + \sum_i a_i \log x_i` to rows (x₁, …, t) by least squares: each exponent, and its margin.

    The intervals a ± margin are Student's, at 95 %. What makes a row deviate is taken as independent from row to row;
    rounds of one cell share what is not noise, so they are to be brought together before.

    >>> [(n, _), (p, _)] = exponents([(n, p, 1e-9 * n * p**0.5) for n in (10, 100, 1000) for p in (1, 4)])
    >>> round(n, 6), round(p, 6)
    (1.0, 0.5)
    """
    from scipy import stats

    table = np.array(cells, dtype=float)
    free = len(table) - table.shape[-1]
    if free < 1 or not (table > 0).all():
        raise ValueError(f"cells must be rows of numbers > 0, more than there are columns, got {list(cells)}")
    *sizes, seconds = np.log(table).T
    design = np.stack([np.ones_like(seconds), *sizes], axis=1)
    if np.linalg.matrix_rank(design) < design.shape[1]:
        raise ValueError("cells must have several n for one p, and several p for one n, got n and p that vary together")
    solution = np.linalg.lstsq(design, seconds, rcond=None)[0]
    variance = float(((seconds - design @ solution) ** 2).sum()) / free
    spread = np.sqrt(variance * np.diag(np.linalg.inv(design.T @ design)))
    margins = stats.t.ppf(0.975, free) * spread
    return list(zip(solution[1:].tolist(), margins[1:].tolist(), strict=True))


def growth(scale: float, rounds: int, seed: int, limits: Limits, device: str) -> list[Row]:
    """Time every algorithm on a grid of lists, fit exponents, and set those beside it that the printed formula has.

    A row has ``work`` (the algorithm), ``n`` and ``p`` (the exponents), ``n margin`` and ``p margin`` (half of the 95 %
    intervals), ``n claimed`` and ``p claimed`` (the exponents that the formula has on the same lists), ``from``, ``to``
    (shortest and longest list) and ``seconds`` at the largest.
    """
    works: dict[Cell, tuple[Work, int]] = {}
    times: dict[Cell, list[float]] = {}
    with one_thread():
        for name, algorithm in ALGORITHMS.items():
            for n, p in cells_of(algorithm, scale):
                if limits.left() > 0:
                    work = _work(name, n, p, seed, device)
                    work()
                    works[name, n, p] = work, max(1, math.ceil(LEAST / max(clock(work, device), 1e-6)))
        for _ in range(rounds):
            for cell, (work, calls) in works.items():
                if limits.left() > 0:
                    seconds = clock(lambda w=work, c=calls: [w() for _ in range(c)], device)  # type: ignore[misc]
                    times.setdefault(cell, []).append(seconds / calls)
    typical = {cell: statistics.median(found) for cell, found in times.items()}
    of = {name: {cell[1:]: seconds for cell, seconds in typical.items() if cell[0] == name} for name in ALGORITHMS}
    return [_row(name, algorithm, of[name]) for name, algorithm in ALGORITHMS.items()]


def _work(name: str, n: int, p: int, seed: int, device: str) -> Work:
    """One list of cosines, forward and backward."""
    generator = torch.Generator(device).manual_seed(seed)
    scores = 2 * torch.rand(n, generator=generator, device=device) - 1
    relevance = torch.zeros(n, dtype=torch.bool, device=device)
    relevance[torch.randperm(n, generator=generator, device=device)[:p]] = True
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        loss = ALGORITHMS[name].make(n)
    loss = loss.to(device) if isinstance(loss, torch.nn.Module) else loss
    return step(lambda y: loss(y, relevance), scores)


def _row(name: str, algorithm: Algorithm, typical: Mapping[tuple[int, int], float]) -> Row:
    """The fit of one algorithm."""
    row: Row = {"work": name, "printed": algorithm.printed, "note": ""}
    if len(typical) < CELLS**2:
        return row | {"note": "not measured: the budget is used up"}
    found = exponents([(*cell, seconds) for cell, seconds in typical.items()])
    claimed = exponents([(*cell, algorithm.claim(*cell)) for cell in typical])
    for letter, (value, margin), (formula, _) in zip("np", found, claimed, strict=True):
        row |= {letter: value, f"{letter} margin": margin, f"{letter} claimed": formula}
    return row | {"from": min(typical)[0], "to": max(typical)[0], "seconds": typical[max(typical)]}
