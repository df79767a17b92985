"""Every registered ranker that has a strength, on one section of score space: surrogates of a loss c·rk(y)."""

import functools

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from rankedu.rankers import BlackboxRanker
from rankedu_book.kit import style
from rankedu_book.kit.known_rankers import turnable
from rankedu_book.kit.landscapes import random_coefficients
from rankedu_book.kit.ranks import Array, ranks_of
from rankedu_lab.contestants import LSTMRanker
from rankedu_lab.training import trained_sorter

#: The plane of chapter 4 in a larger square.
SEED, EXTENT = 3, 2.4
#: Every registered ranker that has a strength to turn, and how each is drawn. Red is the LSTM's.
SURROGATES = turnable()
LOOKS = style.looks(SURROGATES) | {"LSTM": {"color": style.RED, "marker": "*"}}
#: Of the loss c·rk(y).
COEFFICIENTS = random_coefficients(seed=SEED)


@functools.cache
def sorter() -> LSTMRanker:
    """Return the book's small LSTM for lists of 20, trained once for a few seconds, then read from the cache."""
    return trained_sorter(20, steps=200, progress=False)


def surrogate(
    ranker: nn.Module, points: npt.ArrayLike, coefficients: npt.ArrayLike = COEFFICIENTS
) -> tuple[Array, Array]:
    """Return the function that a ranker puts in the place of the loss c·rk(y), and its gradient.

    Score vectors and coefficients have shape (..., n), the values (...). The function of a blackbox
    ranker, whose forward pass is exact, is the interpolation.

    >>> values, gradients = surrogate(BlackboxRanker(lam=1.0), [[0.5, 0.0]], [0.0, 1.0])
    >>> values, gradients
    (array([1.5]), array([[ 1., -1.]]))
    """
    y = torch.tensor(np.asarray(points, dtype=np.float64), requires_grad=True)
    c = np.asarray(coefficients, dtype=np.float64)
    values = (ranker(y) * torch.from_numpy(np.ascontiguousarray(c))).sum(-1)
    (gradients,) = torch.autograd.grad(values.sum(), y)
    if isinstance(ranker, BlackboxRanker):
        here, there = y.detach().numpy(), ranks_of(y.detach().numpy() + ranker.lam * c)
        return (c * there + here * ((there - ranks_of(here)) / ranker.lam)).sum(-1), gradients.numpy()
    return values.detach().numpy(), gradients.numpy()


def loss_of(points: Array, coefficients: Array = COEFFICIENTS) -> Array:
    """Evaluate the loss itself, c·rk(y)."""
    return np.asarray((ranks_of(points) * coefficients).sum(-1))
