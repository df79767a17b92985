"""RaMBO's Table 1, measured: how the time of each loss grows with the list and with its number of relevant items."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rankedu.lab.experiments._exponents import fit_growth
from rankedu.lab.experiments._published import published_ap, published_smooth_ap
from rankedu.lab.experiments._stopwatch import Limits, Row, Work, clock, one_thread
from rankedu.losses import APLoss, APSVMLoss, ErrorDrivenAPLoss, FastAPLoss, SmoothAPLoss, SupAPLoss
from rankedu.rankers import BlackboxRanker, LSTMRanker

__all__ = ["METHODS", "Method", "growth"]

Loss = Callable[[Tensor, Tensor], Tensor]
#: One timing is of as many calls as take so many seconds.
LEAST = 0.005
#: Lengths, and numbers of relevant items, that are tried with each other.
CELLS = 4


@dataclass(frozen=True)
class Method:
    """A row of the table.

    Attributes
    ----------
    make : callable
        Length → loss.
    lengths, counts : (int, int)
        Shortest and longest list; fewest and most relevant items. Few enough that p is small beside n.
    printed : str
        The complexity in the table; empty for a method that is not in it.
    claim : callable
        (n, p) → what grows as printed says, for a method that is in the table; else as its own paper or we say.
    """

    make: Callable[[int], Loss]
    lengths: tuple[int, int]
    counts: tuple[int, int]
    printed: str
    claim: Callable[[float, float], float]


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
METHODS = {
    "RaMBO": Method(
        lambda n: APLoss(BlackboxRanker(0.4 * n), 0.02), LONG, MANY, "O(n log n)", lambda n, p: n * math.log(n)
    ),
    "RaMBO, transcription": Method(
        lambda n: lambda y, r: published_ap(y, r, 0.4 * n, 0.02), MIDDLE, MANY, "", lambda n, p: n * math.log(n)
    ),
    "Mohapatra et al.": Method(
        lambda n: APSVMLoss("mohapatra"), MIDDLE, MANY, "O(n log p)", lambda n, p: n * math.log(p)
    ),
    "Chen et al.": Method(lambda n: ErrorDrivenAPLoss(1.0), SHORT, FEW, "O(np)", lambda n, p: n * p),
    "Yue et al.": Method(lambda n: APSVMLoss("yue"), SHORT, FEW, "O(n²)", lambda n, p: n * n),
    "FastAP": Method(lambda n: FastAPLoss(20), LONG, MANY, "O((n + p)L)", lambda n, p: n),
    "SoDeep": Method(_Sorter, (64, 192), (4, 16), "O((n + p)h²), h ≈ n", lambda n, p: n**3),
    "Smooth-AP": Method(lambda n: SmoothAPLoss(), SHORT, FEW, "", lambda n, p: n * p),
    "Smooth-AP, transcription": Method(
        lambda n: lambda y, r: published_smooth_ap(y, r), (300, 2_000), (4, 40), "", lambda n, p: n * n
    ),
    "SupAP (HAPPIER)": Method(lambda n: SupAPLoss(), SHORT, FEW, "", lambda n, p: n * p),
}


def cells_of(method: Method, scale: float) -> list[tuple[int, int]]:
    """Every length with every number of relevant items; a scale below 1 makes them smaller."""
    sides = []
    for (low, high), least in ((method.lengths, 16), (method.counts, 2)):
        ends = (max(least, low * scale), max(4 * least, high * scale))
        sides.append([round(size) for size in np.geomspace(ends[0], ends[1], CELLS)])
    return [(n, p) for n in sides[0] for p in sides[1]]


def growth(parameters: Mapping[str, Any], limits: Limits, device: str) -> list[Row]:
    """Time every method on a grid of lists, fit exponents, and set those beside it that the printed formula has.

    Parameters
    ----------
    parameters : mapping
        Of the lab: ``scale``, ``rounds`` and ``seed`` are used.
    limits : Limits
    device : {"cpu", "cuda"}

    Returns
    -------
    list of dict
        A row each: ``work`` (the method), ``n`` and ``p`` (the exponents), ``n margin`` and ``p margin`` (half of the
        95 % intervals), ``n claimed`` and ``p claimed`` (the exponents that the formula has on the same lists),
        ``from``, ``to`` (shortest and longest list) and ``seconds`` at the largest.
    """
    works: dict[tuple[str, int, int], tuple[Work, int]] = {}
    with one_thread():
        for name, method in METHODS.items():
            for n, p in cells_of(method, parameters["scale"]):
                if limits.left() > 0:
                    work = _work(method, n, p, parameters["seed"], device)
                    work()
                    works[name, n, p] = work, max(1, math.ceil(LEAST / max(clock(work, device), 1e-6)))
        times: dict[tuple[str, int, int], list[float]] = {key: [] for key in works}
        for _ in range(parameters["rounds"]):
            for key, (work, calls) in works.items():
                if limits.left() > 0:
                    times[key].append(clock(lambda w=work, c=calls: [w() for _ in range(c)], device) / calls)  # type: ignore[misc]
    return [_row(name, method, times) for name, method in METHODS.items()]


def _work(method: Method, n: int, p: int, seed: int, device: str) -> Work:
    """One list of cosines, forward and backward."""
    generator = torch.Generator(device).manual_seed(seed)
    scores = (2 * torch.rand(n, generator=generator, device=device) - 1).requires_grad_()
    relevance = torch.zeros(n, dtype=torch.bool, device=device)
    relevance[torch.randperm(n, generator=generator, device=device)[:p]] = True
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        loss = method.make(n)
    loss = loss.to(device) if isinstance(loss, torch.nn.Module) else loss

    def forward_and_backward() -> None:
        scores.grad = None
        loss(scores, relevance).backward()

    return forward_and_backward


def _row(name: str, method: Method, times: Mapping[tuple[str, int, int], list[float]]) -> Row:
    """The fit of one method."""
    typical = {key[1:]: statistics.median(taken) for key, taken in times.items() if key[0] == name and taken}
    row: Row = {"work": name, "printed": method.printed, "note": ""}
    if len(typical) < CELLS**2:
        return row | {"note": "not measured: the budget is used up"}
    found = fit_growth([(n, p, taken) for (n, p), taken in typical.items()])
    claimed = fit_growth([(n, p, method.claim(n, p)) for n, p in typical])
    row |= {"n": found.a, "n margin": found.a_margin, "p": found.b, "p margin": found.b_margin}
    row |= {"n claimed": claimed.a, "p claimed": claimed.b}
    return row | {"from": min(typical)[0], "to": max(typical)[0], "seconds": typical[max(typical)]}
