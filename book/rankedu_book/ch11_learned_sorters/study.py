"""Chapter 11, computed: networks that are trained to sort, and what one of them makes of the section."""

import functools

import numpy as np
import torch
from torch import Tensor, nn

from rankedu.ranks import rank
from rankedu_book.kit.ranks import Array
from rankedu_book.kit.relief import View, surface, view
from rankedu_lab.contestants import LSTMRanker
from rankedu_lab.training.sorter_data import DISTRIBUTIONS, draw_scores
from rankedu_lab.training.sorters import fit_sorter, rank_error

#: Length of lists and steps of the chapter's own sorter, and points along each side of its landscape.
N, STEPS, SIZE = 20, 200, 120
#: Length of lists and steps of the small sorters that are trained on one scale.
SMALL, FEW = 10, 100
#: Four scores, the range of a fifth one, three times that of most of the training, and steps of training.
OTHERS, REACH, STAGES = (0.7, 0.3, -0.2, -0.6), 3.0, (0, 20, 80, 400)


@functools.cache
def trained(n: int = N, steps: int = STEPS) -> tuple[LSTMRanker, Array]:
    """Return a frozen sorter, and the error of each of its training steps, in ranks."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        ranker = LSTMRanker(n)
    history = fit_sorter(ranker, steps=steps, seed=0, progress=False)
    return ranker.requires_grad_(False), np.array(history.losses)


def answers(steps: int, moving: Tensor) -> tuple[Tensor, Tensor]:
    """Return a sorter's ranks of five items and the true ones, for each score of the moving item; shape (m, 5)."""
    ranker, _ = trained(len(OTHERS) + 1, steps)
    scores = torch.cat([torch.tensor(OTHERS).expand(len(moving), -1), moving.unsqueeze(1)], 1)
    return ranker(scores), rank(scores)


@functools.cache
def learned_surface(size: int = SIZE, steps: int = STEPS) -> tuple[View, Array]:
    """Return the book's section and the loss c·rk of a sorter over it, on the scale of its training."""
    seen, (ranker, _) = view(size), trained(N, steps)
    return seen, surface(seen, lambda scores: ranker((scores / seen.section.points().std()).float()).double())


def heights(size: int = SIZE, steps: int = STEPS) -> tuple[Array, Array]:
    """Return the loss c·rk(y) at the points of the square, by true ranks and by the ranks of a sorter."""
    seen, height = learned_surface(size, steps)
    return seen.staircase[seen.inside], height[seen.inside]


def errors(ranker: nn.Module, scales: Array, shifts: Array) -> tuple[dict[str, float], list[float], list[float]]:
    """Return errors by kind of list, of uniform scores times each factor, and of a quarter of them, shifted."""
    drawn = {name: draw_scores(N, 300, name, generator=torch.Generator().manual_seed(1)) for name in DISTRIBUTIONS}
    by_scale = [rank_error(ranker, drawn["uniform"] * scale) for scale in scales.tolist()]
    by_shift = [rank_error(ranker, drawn["uniform"] / 4 + shift) for shift in shifts.tolist()]
    return {name: rank_error(ranker, lists) for name, lists in drawn.items()}, by_scale, by_shift


def slopes(ranker: LSTMRanker, scores: Tensor) -> Tensor:
    """Return how each rank changes with its own score; a rank should never grow with it. Shape of the scores."""
    jacobian: Tensor = torch.autograd.functional.jacobian(lambda leaf: ranker(leaf).sum(0), scores)
    return jacobian.diagonal(dim1=0, dim2=2)


@functools.cache
def taught_on(scale: float) -> LSTMRanker:
    """Train a small sorter for ten items on uniform scores times a scale, and freeze it."""
    generator = torch.Generator().manual_seed(0)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        ranker = LSTMRanker(SMALL, hidden=32, layers=1)
    optimiser = torch.optim.Adam(ranker.parameters(), lr=0.02)
    for _ in range(FEW):
        lists = scale * draw_scores(SMALL, 64, "uniform", generator=generator)
        optimiser.zero_grad()
        (ranker(lists) - rank(lists)).abs().mean().backward()
        optimiser.step()
    return ranker.requires_grad_(False)


def errors_on(ranker: nn.Module, scales: Array) -> list[float]:
    """Return how many ranks a ranker for ten items is off on uniform scores times each scale."""
    lists = draw_scores(SMALL, 200, "uniform", generator=torch.Generator().manual_seed(1))
    return [rank_error(ranker, scale * lists) for scale in scales.tolist()]
