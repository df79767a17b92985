"""Chapter 12, computed: every registered ranker that has a strength, on one section of score space."""

from __future__ import annotations

import functools
import math

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from rankbook.kit.ranks import Array
from rankedu.blackbox import interpolate
from rankedu.landscapes import Section, interpolated_landscape
from rankedu.rankers import BlackboxRanker, Strength
from rankedu.rankers.registry import turnable
from rankedu.ranks import rank
from rankedu.solvers import ranking
from ranklab.contestants import LSTMRanker

#: The plane of chapter 4 in a larger square.
SEED, EXTENT = 3, 2.4
#: Length of the finite steps by which gradients are judged, and the noise on every score, both in units of a score.
STEP, NOISE = 0.3, 0.05
#: A gradient shorter than this share of the root mean square over the section counts as none.
NOTHING = 1e-3
#: Steps for which the book's small sorter is trained: some five seconds on one core.
SORTER_STEPS = 400
#: Every registered ranker that has a strength to turn.
SURROGATES = turnable()


@functools.cache
def sorter() -> LSTMRanker:
    """The book's small LSTM for lists of 20: trained once for a few seconds, then read from the cache."""
    from ranklab.training import trained_sorter

    return trained_sorter(20, steps=SORTER_STEPS, progress=False)


def surrogate(ranker: nn.Module, points: npt.ArrayLike, coefficients: npt.ArrayLike) -> tuple[Array, Array]:
    """What a ranker makes of the loss c·rk(y): the function that its gradient belongs to, and the gradient.

    Score vectors have shape (..., n), the values (...). The function of a blackbox ranker, whose forward pass is exact,
    is the interpolation.

    >>> values, gradients = surrogate(BlackboxRanker(lam=1.0), [[0.5, 0.0]], [0.0, 1.0])
    >>> values, gradients
    (array([1.5]), array([[ 1., -1.]]))
    """
    y = torch.tensor(np.asarray(points, dtype=np.float64), requires_grad=True)
    c = torch.tensor(np.asarray(coefficients, dtype=np.float64))
    values = ranker(y) @ c
    (gradients,) = torch.autograd.grad(values.sum(), y)
    if isinstance(ranker, BlackboxRanker):
        values = interpolate(ranking, c, ranker.lam)(y.detach())
    return values.detach().numpy(), gradients.numpy()


def loss_of(points: npt.ArrayLike, coefficients: Array) -> Array:
    """Evaluate the loss itself, c·rk(y)."""
    ranks: Array = rank(torch.tensor(np.asarray(points, dtype=np.float64))).numpy()
    return np.asarray(ranks @ coefficients)


def best_in_plane(section: Section, coefficients: Array, angles: int = 72) -> Array:
    """Try every direction in the plane at every point: which steps of length 0.3 lower the loss most."""
    turns = np.linspace(0, 2 * np.pi, angles, endpoint=False)
    compass = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    steps = STEP * compass @ np.stack([section.u, section.v])
    tried = loss_of(section.points()[:, :, None] + steps, coefficients)
    ties = tried <= tried.min(-1, keepdims=True) + 1e-9
    direction: Array = (ties[..., None] * compass).sum(-2)  # the middle of the directions that are equally good
    return direction


def as_steep(method: Strength, slope: float) -> float:
    """The strength at which the rank of the second of two items falls so steeply where they meet; bisection."""
    low, high = method.weakest, method.strongest
    for _ in range(40):
        middle = math.sqrt(low * high)
        steeper = -surrogate(method.make(middle), [[0.0, 0.0]], [0.0, 1.0])[1][0, 1] > slope
        low, high = (middle, high) if steeper else (low, middle)
    return math.sqrt(low * high)


def surface(section: Section, coefficients: Array, ranker: nn.Module) -> Array:
    """A surrogate's value on a section; a network's on a coarser grid, which is enough for it."""
    if isinstance(ranker, BlackboxRanker):
        return interpolated_landscape(section, coefficients, ranker.lam)
    if isinstance(ranker, LSTMRanker):
        coarse = Section(section.origin, section.u, section.v, section.extent, 120)
        rough = torch.from_numpy(_values(ranker, coarse.points(), coefficients))
        size = (section.resolution,) * 2
        fine: Tensor = nn.functional.interpolate(rough[None, None], size, mode="bicubic", align_corners=True)
        return fine[0, 0].numpy()
    return _values(ranker, section.points(), coefficients)


@torch.no_grad()
def _values(ranker: nn.Module, points: Array, coefficients: Array) -> Array:
    return np.asarray((ranker(torch.from_numpy(points.copy())) @ torch.from_numpy(coefficients.copy())).numpy())
