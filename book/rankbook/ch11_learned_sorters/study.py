"""Chapter 11, computed: a network that is trained to sort, and what it makes of the section."""

import functools

import numpy as np
import torch
from torch import Tensor

from rankbook.kit.ranks import Array
from rankbook.kit.relief import View, surface, view
from ranklab.contestants import LSTMRanker
from ranklab.training.sorter_data import draw_scores
from ranklab.training.sorters import fit_sorter, rank_error, sorter_errors

N = 20
#: Steps of the chapter's own sorter: some seconds. The lab trains for a minute.
STEPS = 400
#: Points along each side of its landscape.
SIZE = 160


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
    scale = seen.section.points().std()
    return seen, surface(seen, lambda scores: ranker((scores / scale).float()).double())


def heights(size: int = SIZE, steps: int = STEPS) -> tuple[Array, Array]:
    """The loss c·rk(y) at the points of the square, by the true ranks and by those of a learnt sorter."""
    seen, height = learnt_surface(size, steps)
    return seen.staircase[seen.inside], height[seen.inside]


def section_error(size: int = SIZE, steps: int = STEPS) -> float:
    """By how many ranks the sorter is off on the score vectors of the square."""
    seen, points = view(size), view(size).section.points()
    return rank_error(trained(N, steps)[0], torch.from_numpy(points / points.std())[seen.inside].float())


def errors(
    n: int, steps: int, lists: int, scales: Array, shifts: Array
) -> tuple[dict[str, float], list[float], list[float]]:
    """Errors of a sorter by kind of list; of uniform scores times each factor; of a quarter of them, shifted."""
    ranker, _ = trained(n, steps)
    scores = draw_scores(n, lists, "uniform", generator=torch.Generator().manual_seed(3))
    by_scale = [rank_error(ranker, scores * scale) for scale in scales.tolist()]
    by_shift = [rank_error(ranker, scores / 4 + shift) for shift in shifts.tolist()]
    return sorter_errors(ranker, lists=lists), by_scale, by_shift


def in_many_orders(n: int, steps: int, orders: int, seed: int) -> Tensor:
    """The ranks that a sorter gives the items of one list, best first, in random orders of it; shape (orders, n)."""
    ranker, _ = trained(n, steps)
    generator = torch.Generator().manual_seed(seed)
    scores = draw_scores(n, 1, "uniform", generator=generator)[0].sort(descending=True).values
    order = torch.rand(orders, n, generator=generator).argsort(-1)
    return torch.empty(orders, n).scatter_(1, order, ranker(scores[order]))


def slopes(ranker: LSTMRanker, scores: Tensor) -> Tensor:
    """How each rank changes with its own score; a rank should never grow with it. Shape of the scores."""
    jacobian: Tensor = torch.autograd.functional.jacobian(lambda leaf: ranker(leaf).sum(0), scores)
    return jacobian.diagonal(dim1=0, dim2=2)
