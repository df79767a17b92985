"""Chapter 12, computed: every registered ranker that has a strength, on one section of score space."""

import functools

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from rankbook.kit import style
from rankbook.kit.ranks import Array, ranks_of
from rankedu.blackbox import interpolate
from rankedu.landscapes import Section, random_coefficients, random_section
from rankedu.rankers import BlackboxRanker
from rankedu.rankers.registry import turnable
from rankedu.solvers import ranking
from ranklab.contestants import LSTMRanker
from ranklab.training import trained_sorter

#: The plane of chapter 4 in a larger square.
SEED, EXTENT = 3, 2.4
#: Length of the finite steps by which gradients are judged, and the noise on every score, both in units of a score.
STEP, NOISE = 0.3, 0.05
#: A gradient shorter than this share of the root mean square over the section counts as none.
NOTHING = 1e-3
#: Every registered ranker that has a strength to turn, and how each is drawn. Red is the LSTM's.
SURROGATES = turnable()
LOOKS = style.looks(SURROGATES) | {"LSTM": {"color": style.RED, "marker": "*"}}
#: Of the loss c·rk(y).
COEFFICIENTS = random_coefficients(seed=SEED)


@functools.cache
def sorter() -> LSTMRanker:
    """The book's small LSTM for lists of 20: trained once for a few seconds, then read from the cache."""
    return trained_sorter(20, steps=400, progress=False)


def surrogate(
    ranker: nn.Module, points: npt.ArrayLike, coefficients: npt.ArrayLike = COEFFICIENTS
) -> tuple[Array, Array]:
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


def loss_of(points: Array, coefficients: Array = COEFFICIENTS) -> Array:
    """Evaluate the loss itself, c·rk(y)."""
    return np.asarray(ranks_of(points) @ coefficients)


def section(resolution: int, extent: float = EXTENT) -> Section:
    """The chapter's section, with so many points a side."""
    return random_section(seed=SEED, extent=extent, resolution=resolution)


def down_in_plane(ranker: nn.Module, places: Section) -> Array:
    """Minus the part of a surrogate's gradient that lies in the plane, shape (resolution, resolution, 2)."""
    return np.asarray(-surrogate(ranker, places.points())[1] @ np.stack([places.u, places.v], axis=1))


def no_gradient(down: Array) -> npt.NDArray[np.bool_]:
    """Where a gradient is too short to count."""
    length = np.linalg.norm(down, axis=-1)
    return np.asarray(length <= NOTHING * max(np.sqrt((length**2).mean()), 1e-30))


def best_in_plane(places: Section) -> Array:
    """Try every direction in the plane at every point: which steps of length 0.3 lower the loss most."""
    turns = np.linspace(0, 2 * np.pi, 72, endpoint=False)
    compass = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    steps = STEP * compass @ np.stack([places.u, places.v])
    tried = loss_of(places.points()[:, :, None] + steps)
    ties = tried <= tried.min(-1, keepdims=True) + 1e-9
    return (ties[..., None] * compass).sum(-2)  # the middle of the directions that are equally good
