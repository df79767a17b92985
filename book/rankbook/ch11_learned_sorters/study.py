"""Chapter 11, computed: a network that is trained to sort, and what it makes of the section."""

import functools
from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from rankbook.kit.compare import Comparison, compare
from rankbook.kit.ranks import Array
from rankbook.kit.relief import View, surface, view
from rankedu.metrics import spearman
from rankedu.rankers import SigmoidRanker
from rankedu.ranks import rank
from ranklab.contestants import LSTMRanker, equivariance_error
from ranklab.training.sorter_data import DISTRIBUTIONS, draw_scores
from ranklab.training.sorters import fit_sorter, rank_error, train_sorter

#: Length of lists and steps of the chapter's own sorter, and points along each side of its landscape.
N, STEPS, SIZE = 20, 200, 90
#: Twelve small ones beside it: length of their lists, steps, lists to measure each with; lengths of a first step.
SMALL, FEW, STARTS, LISTS = 10, 80, 12, 80
LENGTHS = (0.2, 0.8, 3.2, 12.8, 51.2, 204.8)


@functools.cache
def trained(n: int = N, steps: int = STEPS) -> tuple[LSTMRanker, Array]:
    """A sorter, frozen, and the error of each of its training steps, in ranks."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        ranker = LSTMRanker(n)
    history = fit_sorter(ranker, steps=steps, seed=0, progress=False)
    return ranker.requires_grad_(False), np.array(history.losses)


@functools.cache
def learnt_surface(size: int = SIZE, steps: int = STEPS) -> tuple[View, Array]:
    """The book's section, and the loss c·rk of a learnt sorter over it, for the scores on the scale of its training."""
    seen, (ranker, _) = view(size), trained(N, steps)
    return seen, surface(seen, lambda scores: ranker((scores / seen.section.points().std()).float()).double())


def heights(size: int = SIZE, steps: int = STEPS) -> tuple[Array, Array]:
    """The loss c·rk(y) at the points of the square, by the true ranks and by those of a learnt sorter."""
    seen, height = learnt_surface(size, steps)
    return seen.staircase[seen.inside], height[seen.inside]


def section_error(ranker: nn.Module, size: int = 30) -> float:
    """By how many ranks a ranker is off on the score vectors of the square."""
    seen, points = view(size), view(size).section.points()
    return rank_error(ranker, torch.from_numpy(points / points.std())[seen.inside].float())


@functools.cache
def blurred(size: int = SIZE, steps: int = STEPS) -> tuple[float, Array]:
    """The temperature at which a sigmoid is as far off on the square as the sorter, and its surface."""
    wanted = section_error(trained(N, steps)[0])
    tau = min(np.geomspace(0.1, 3, 300).tolist(), key=lambda tau: abs(section_error(SigmoidRanker(tau)) - wanted))
    seen = view(size)
    return tau, surface(seen, lambda scores: SigmoidRanker(tau)(scores / seen.section.points().std()))


def plane(size: int = SIZE) -> Array:
    """What the loss would be if minus the scores were the ranks: a plane, which ranks nothing."""
    return surface(view(size), lambda scores: -scores)


def errors(ranker: nn.Module, scales: Array, shifts: Array) -> tuple[dict[str, float], list[float], list[float]]:
    """Errors by kind of list; of uniform scores times each factor; of a quarter of them, shifted."""
    drawn = {name: draw_scores(N, 300, name, generator=torch.Generator().manual_seed(1)) for name in DISTRIBUTIONS}
    by_scale = [rank_error(ranker, drawn["uniform"] * scale) for scale in scales.tolist()]
    by_shift = [rank_error(ranker, drawn["uniform"] / 4 + shift) for shift in shifts.tolist()]
    return {name: rank_error(ranker, lists) for name, lists in drawn.items()}, by_scale, by_shift


def slopes(ranker: LSTMRanker, scores: Tensor) -> Tensor:
    """How each rank changes with its own score; a rank should never grow with it. Shape of the scores."""
    jacobian: Tensor = torch.autograd.functional.jacobian(lambda leaf: ranker(leaf).sum(0), scores)
    return jacobian.diagonal(dim1=0, dim2=2)


@functools.cache
def small_sorters(steps: int = FEW) -> list[LSTMRanker]:
    """One a start, from its own weights and lists."""
    return [train_sorter(SMALL, steps=steps, seed=s, hidden=32, layers=1, progress=False) for s in range(STARTS)]


def by_start() -> dict[str, Array]:
    """Errors of each of the small sorters on uniform lists of its own, in ranks; dummies score -1; (starts,)."""
    rows: list[dict[str, float]] = []
    for start, ranker in enumerate(small_sorters()):
        lists, row = draw_scores(SMALL, LISTS, "uniform", generator=torch.Generator().manual_seed(start)), {}
        for n in (10, 9, 7, 5):
            filled = torch.where(torch.arange(SMALL) < n, lists, -1)
            answers = ranker(filled)[:, :n]
            row[f"{n} items"] = float((answers - rank(lists[:, :n])).abs().mean())
            row[f"order of {n}"] = float(spearman(-answers, lists[:, :n]).mean())
        orders = [torch.randperm(SMALL, generator=torch.Generator().manual_seed(o)) for o in range(8)]
        mean = torch.stack([ranker(lists[:, order])[:, order.argsort()] for order in orders]).mean(0)
        row["a reordering changes"] = equivariance_error(ranker, lists)
        row["mean of eight orders"] = float((mean - rank(lists)).abs().mean())
        rows.append(row)
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def spearman_of(ranks: Tensor, exact: Tensor, wanted: Tensor) -> Tensor:
    """Spearman's correlation by ranks that may be soft; (lists,)."""
    return 1 - 6 * (ranks - rank(wanted)).square().sum(-1) / (SMALL * (SMALL**2 - 1))


def ap_of(ranks: Tensor, exact: Tensor, wanted: Tensor) -> Tensor:
    """AP of the three items that are wanted most; their ranks among themselves are exact, so they have no gradient."""
    relevant = rank(wanted) <= 3
    within = (relevant[:, None] & (exact[:, None] <= exact[:, :, None])).sum(-1)
    return torch.where(relevant, within / ranks, 0).sum(-1) / 3


def first_step(metric: Callable[[Tensor, Tensor, Tensor], Tensor]) -> Comparison:
    """How much one step raises a metric, by the gradient of a ranker; strength: τ, or what scores are multiplied by.

    A straight line ranks nothing: it answers the middle less the score, whatever the other items are.
    """
    rankers: dict[str, Callable[[int, float], Callable[[Tensor], Tensor]]] = {
        "sigmoid": lambda start, tau: SigmoidRanker(tau),
        "learnt sorter": lambda start, factor: lambda scores: small_sorters()[start](factor * scores),
        "untrained sorter": lambda start, _: small_sorters(0)[start],
        "a straight line": lambda *_: lambda scores: (SMALL + 1) / 2 - scores,
    }

    def drawn(start: int) -> Tensor:
        generator = torch.Generator().manual_seed(start)
        return 2 * torch.rand(3, 2 * LISTS, SMALL, generator=generator, dtype=torch.float64) - 1

    def exactly(scores: Tensor, wanted: Tensor) -> Tensor:
        return metric(rank(scores).double(), rank(scores), wanted).view(2, LISTS).mean(-1)

    def train(name: str, strength: float, rates: Sequence[float], starts: int) -> tuple[Array, Array]:
        found = np.empty((2, len(rates), starts))
        for start in range(starts):
            wanted, scores, slope = drawn(start)
            if name in rankers:
                leaf = scores.clone().requires_grad_()
                ranks = rankers[name](start, strength)(leaf)
                (slope,) = torch.autograd.grad(metric(ranks, rank(scores), wanted).sum(), leaf)
            steps = slope / slope.abs().amax(-1, keepdim=True).clamp_min(1e-12)
            value = torch.stack([exactly(scores + rate * steps, wanted) for rate in rates])
            found[:, :, start] = (value - exactly(scores, wanted)).T.numpy()
        return found[0], found[1]

    baselines = {}
    for name in ("untrained sorter", "a blind step", "a straight line"):
        by, report = train(name, 1.0, LENGTHS, STARTS)
        baselines[name] = report[by.argmax(0), range(STARTS)]
    pairs = (drawn(start)[:2] for start in range(STARTS))
    baselines["the wanted order"] = np.array([(exactly(a, a) - exactly(b, a))[1].item() for a, b in pairs])
    sweep = {"sigmoid": (0.1, 0.3, 1.0, 3.0, 10.0), "learnt sorter": (0.03, 0.1, 0.3, 1.0, 3.0)}
    arms = {name: name for name in sweep}
    return compare(train, arms, baselines, sweep, rates=LENGTHS, starts=STARTS, ceilings=["the wanted order"])
