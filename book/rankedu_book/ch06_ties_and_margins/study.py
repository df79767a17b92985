"""Chapter 6, computed: linear scorers trained for AP from twelve starts at once."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from rankedu.metrics import average_precision
from rankedu_book.kit.ranks import Array, ranks_of

Mask = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
#: The training runs of the chapter: strength of the interpolation, rate of descent, steps, one look in so many.
LAM, RATE, STEPS, EVERY = 300.0, 0.1, 4000, 40
STARTS, BATCH, POSITIVES, DIM, APART = 12, 32, 8, 4, 3.0


def draw_items(random: np.random.Generator, n: int = BATCH, apart: float = APART) -> Array:
    """Items of every start, a quarter of them relevant, which come first: (starts, n, 4).

    They are drawn from two normal clouds whose centres lie so many standard deviations apart in the first feature.
    """
    features = random.standard_normal((STARTS, n, DIM))
    features[..., 0] += apart * (relevant(n) - 0.5)
    return features


def relevant(n: int) -> Mask:
    """The relevant ones of n items."""
    return np.asarray(np.arange(n) < n * POSITIVES // BATCH)


@dataclass(frozen=True, eq=False)
class Runs:
    """Training runs of :func:`train`, looked at now and then."""

    steps: Ints  # (looks,)
    weights: Array  # of the linear scorers, (looks, settings, starts, 4)
    features: Array  # of items that are never trained on, (starts, 400, 4)

    @property
    def scale(self) -> Array:
        """The length of the weights, (looks, settings, starts)."""
        return np.linalg.norm(self.weights, axis=-1)

    def scores(self) -> Array:
        """Scores of the unseen items, (looks, settings, starts, 400)."""
        return np.asarray(np.einsum("...sd,snd->...sn", self.weights, self.features))

    def average_precision(self) -> Array:
        """AP of the unseen items, (looks, settings, starts)."""
        return ap(self.scores())


@functools.cache
def train(
    margin: Sequence[float] = (0.0,),
    lam: Sequence[float] = (LAM,),
    rate: Sequence[float] = (RATE,),
    *,
    steps: int = STEPS,
    begin: float = 1.0,
    seed: int = 0,
) -> Runs:
    """Train linear scorers for AP by plain gradient descent, RaMBO's loss with a margin: a setting of each for a run.

    Each step draws a batch of new items for each start. All settings see the same ones, from the same weights of length
    `begin` in a random direction. Source: RaMBO Fig. 3; RaMBO Eq. 14; RaMBO Eq. 15.

    >>> train((0.0, 0.1), steps=80).scores().shape
    (3, 2, 12, 400)
    """
    random, unseen = np.random.default_rng(seed), draw_items(np.random.default_rng(99), 400)
    alpha, strength, eta = (np.array(each)[:, None, None] for each in np.broadcast_arrays(margin, lam, rate))
    weights = random.standard_normal((1, STARTS, DIM))
    weights = weights * begin / np.linalg.norm(weights, axis=-1, keepdims=True) + np.zeros_like(alpha)
    looks = []
    for step in range(steps + 1):
        if step % EVERY == 0:
            looks.append(weights)
        items = draw_items(random)
        gradient = ap_gradient((items @ weights[..., None])[..., 0], relevant(BATCH), strength, alpha)
        weights = weights - eta * (gradient[:, :, None] @ items)[:, :, 0]
    return Runs(np.arange(0, steps + 1, EVERY), np.array(looks), unseen)


def ap_gradient(scores: Array, relevance: Mask, lam: float | Array, margin: float | Array = 0.0) -> Array:
    """Gradient of RaMBO's AP loss for each list (..., n): Algorithm 1, written out.

    Source: RaMBO Alg. 1; RaMBO Eq. 15; RaMBO Eq. 22.

    >>> ap_gradient(np.array([0.9, 0.8, 0.7, 0.1]), np.array([False, True, True, False]), lam=2.0)
    array([ 1. , -0.5, -0.5,  0. ])
    """
    _, before, after = _two_rankings(scores, relevance, lam, margin)
    return np.asarray((after - before) / lam)


def _two_rankings(y: Array, relevance: Mask, lam: float | Array, margin: float | Array) -> tuple[Array, Ints, Ints]:
    """The shifted scores, their ranks, and their ranks after the step along dAP loss/drk."""
    shifted = y + margin * np.where(relevance, -0.5, 0.5)
    before = ranks_of(shifted)
    within = np.zeros_like(shifted)
    within[..., relevance] = ranks_of(shifted[..., relevance])
    incoming = within / before**2 / relevance.sum()
    return shifted, before, ranks_of(shifted + lam * incoming)


def ap(scores: Array) -> Array:
    """AP of each list of scores, a quarter of them relevant, which come first."""
    rows = torch.from_numpy(scores)
    return average_precision(rows, torch.from_numpy(relevant(scores.shape[-1])).expand_as(rows)).double().numpy()


def ap_after_errors(scale: float, of_scores: float = 0.0, of_inputs: float = 0.0) -> float:
    """Mean AP of a right scorer with weights of this length, if scores or features are off by normal errors."""
    items, random = draw_items(np.random.default_rng(3), 200, apart=8.0), np.random.default_rng(4)
    errors = random.standard_normal((20, *items.shape[:-1], 2)) * (of_inputs, of_scores)
    return float(ap(scale * (items[..., 0] + errors[..., 0]) + errors[..., 1]).mean())
