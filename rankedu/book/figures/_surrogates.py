"""What chapter 12 compares: every registered ranker that has a strength, on one section of score space."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from itertools import cycle

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from rankedu.blackbox import interpolate
from rankedu.book.figures import style
from rankedu.rankers import BlackboxRanker, LSTMRanker, Strength
from rankedu.rankers.registry import turnable
from rankedu.ranks import rank
from rankedu.solvers import ranking

Array = npt.NDArray[np.float64]

#: The plane of chapter 4 in a larger square.
SEED, EXTENT = 3, 2.4
#: Length of the finite steps by which gradients are judged, and the noise on every score, both in units of a score.
STEP, NOISE = 0.3, 0.05
#: A gradient shorter than this share of the root mean square over the section counts as none.
NOTHING = 1e-3
#: Steps for which the book's small sorter is trained: some ten seconds on one core.
SORTER_STEPS = 800
BANDS = 10
#: How many, in words, as descriptions have it.
WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
#: Colour, marker and line of each method, in the order of the table of rankers. Red is the LSTM's.
LOOKS = (
    (style.BLUE, "o", "-"),
    (style.ORANGE, "s", "--"),
    (style.GREEN, "^", "-."),
    (style.PURPLE, "D", ":"),
    (style.SKY, "v", "-"),
    (style.BLACK, "P", "--"),
    (style.GREY, "X", "-."),
)


@dataclass(frozen=True)
class Method:
    """A ranker with one strength to turn, and how the figures draw it."""

    strength: Strength
    colour: str
    marker: str
    line: str

    def make(self, strength: float) -> nn.Module:
        """The ranker of this strength."""
        return self.strength.make(strength)

    def told(self, strength: float) -> str:
        """The strength as a reader knows it."""
        return self.strength.told(strength)


METHODS = {name: Method(strength, *look) for (name, strength), look in zip(turnable().items(), cycle(LOOKS))}


@functools.cache
def sorter() -> LSTMRanker:
    """The book's small LSTM for lists of 20: trained once for a few seconds, then read from the cache."""
    from rankedu.lab.training import trained_sorter

    return trained_sorter(20, steps=SORTER_STEPS, progress=False)


def surrogate(ranker: nn.Module, points: npt.ArrayLike, coefficients: npt.ArrayLike) -> tuple[Array, Array]:
    """Evaluate what a ranker makes of the loss c·rk(y): the function that its gradient belongs to, and the gradient.

    Parameters
    ----------
    ranker : Module
        Any ranker. For :class:`BlackboxRanker`, whose forward pass is exact, the function is the interpolation.
    points : array of float, shape (..., n)
        Score vectors.
    coefficients : array of float, shape (n,)

    Returns
    -------
    values : array of float, shape (...)
    gradients : array of float, shape (..., n)

    Examples
    --------
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
    product: Array = ranks @ coefficients
    return product


def in_words(count: int) -> str:
    """A number as descriptions have it: in words up to ten."""
    return WORDS[count] if count < len(WORDS) else str(count)
