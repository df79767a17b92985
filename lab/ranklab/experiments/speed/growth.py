"""RaMBO's Table 1, measured: how the time of each loss grows with the list and with its number of relevant items."""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from ranklab.contestants import APSVMLoss, ErrorDrivenAPLoss, LSTMRanker
from ranklab.experiments.speed.contestants import LOSSES, List, Loss
from ranklab.experiments.speed.stopwatch import Limits, Row, Work, clock, one_thread

#: One timing is of as many calls as take so many seconds.
LEAST = 0.005
#: Lengths, and numbers of relevant items, that are tried with each other.
CELLS = 4


class Algorithm(NamedTuple):
    """A row of the table: who is timed, on which lists, and what is printed of it."""

    make: Callable[[List], Loss]
    lengths: tuple[int, int]  # shortest and longest list
    counts: tuple[int, int]  # fewest and most relevant items; few enough that p is small beside n
    printed: str  # the complexity in the table; empty for an algorithm that is not in it
    claim: Callable[[float, float], float]  # (n, p) → what grows as printed, or else as its own paper or we say


def so_deep(one: List) -> Loss:
    """SoDeep's network with as many hidden units as there are items, as the table has it."""
    sorter = LSTMRanker(one.size, hidden=one.size, layers=1).requires_grad_(False).to(one.device)
    return lambda scores, relevance: sorter(scores)[relevance].mean()


LONG, MIDDLE, SHORT = (100_000, 1_000_000), (20_000, 200_000), (3_000, 30_000)
FEW, MANY = (30, 300), (100, 1_000)
(RAMBO, RAMBO_WRITTEN), (SMOOTH, SMOOTH_WRITTEN) = LOSSES["RaMBO AP"], LOSSES["Smooth-AP"]
ALGORITHMS = {
    "RaMBO": Algorithm(RAMBO, LONG, MANY, "O(n log n)", lambda n, p: n * math.log(n)),
    "RaMBO, transcription": Algorithm(RAMBO_WRITTEN, MIDDLE, MANY, "", lambda n, p: n * math.log(n)),
    "Mohapatra et al.": Algorithm(lambda _: APSVMLoss(), MIDDLE, MANY, "O(n log p)", lambda n, p: n * math.log(p)),
    "Chen et al.": Algorithm(lambda _: ErrorDrivenAPLoss(1.0), SHORT, FEW, "O(np)", lambda n, p: n * p),
    "Yue et al.": Algorithm(lambda _: APSVMLoss("yue"), SHORT, FEW, "O(n²)", lambda n, p: n * n),
    "FastAP": Algorithm(LOSSES["FastAP"][0], LONG, MANY, "O((n + p)L)", lambda n, p: n),
    "SoDeep": Algorithm(so_deep, (64, 192), (4, 16), "O((n + p)h²), h ≈ n", lambda n, p: n**3),
    "Smooth-AP": Algorithm(SMOOTH, SHORT, FEW, "", lambda n, p: n * p),
    "Smooth-AP, transcription": Algorithm(SMOOTH_WRITTEN, (300, 2_000), (4, 40), "", lambda n, p: n * n),
    "SupAP (HAPPIER)": Algorithm(LOSSES["SupAP"][0], SHORT, FEW, "", lambda n, p: n * p),
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
    """
    from scipy import stats

    table = np.array(cells, dtype=float)
    free = len(table) - table.shape[-1]
    *sizes, seconds = np.log(table).T
    design = np.stack([np.ones_like(seconds), *sizes], axis=1)
    solution = np.linalg.lstsq(design, seconds, rcond=None)[0]
    variance = float(((seconds - design @ solution) ** 2).sum()) / free
    margins = stats.t.ppf(0.975, free) * np.sqrt(variance * np.diag(np.linalg.inv(design.T @ design)))
    return list(zip(solution[1:].tolist(), margins[1:].tolist(), strict=True))


def growth(chosen: Mapping[str, Any], limits: Limits, device: str) -> list[Row]:
    """Time every algorithm on a grid of lists, fit exponents, and set those beside it that the printed formula has.

    A row has ``work`` (the algorithm), ``n`` and ``p`` (the exponents), ``n margin`` and ``p margin`` (half of the 95 %
    intervals), ``n claimed`` and ``p claimed`` (the exponents that the formula has on the same lists), ``from``, ``to``
    (shortest and longest list) and ``seconds`` at the largest.
    """
    works: dict[tuple[str, int, int], tuple[Work, int]] = {}
    times: dict[str, dict[tuple[int, int], list[float]]] = {name: {} for name in ALGORITHMS}
    with one_thread():
        for name, algorithm in ALGORITHMS.items():
            for n, p in cells_of(algorithm, chosen["scale"]):
                if limits.left() > 0:
                    work = _work(algorithm, List(n, seed=chosen["seed"], device=device, relevant=p))
                    work()
                    works[name, n, p] = work, max(1, math.ceil(LEAST / max(clock(work, device), 1e-6)))
        for _ in range(chosen["rounds"]):
            for (name, *cell), (work, calls) in works.items():
                if limits.left() > 0:
                    seconds = clock(lambda w=work, c=calls: [w() for _ in range(c)], device)  # type: ignore[misc]
                    times[name].setdefault((cell[0], cell[1]), []).append(seconds / calls)
    typical = {name: {cell: statistics.median(s) for cell, s in found.items()} for name, found in times.items()}
    return [_row(name, algorithm, typical[name]) for name, algorithm in ALGORITHMS.items()]


def _work(algorithm: Algorithm, one: List) -> Work:
    """One list of cosines, forward and backward."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(one.seed)
        loss = algorithm.make(one)
    return one.of(loss.to(one.device) if isinstance(loss, torch.nn.Module) else loss)


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
