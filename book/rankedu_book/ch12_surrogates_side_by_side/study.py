"""Chapter 12, computed: how much a surrogate distorts a loss, and what a step along its gradient gains."""

import functools
from typing import NamedTuple

import numpy as np
from torch import nn

from rankedu_book.ch12_surrogates_side_by_side import surrogates as known
from rankedu_book.ch12_surrogates_side_by_side.surrogates import SEED, SURROGATES, loss_of, no_gradient, surrogate
from rankedu_book.kit.landscapes import random_coefficients
from rankedu_book.kit.ranks import Array

#: How many losses c·rk(y), and score vectors for each of them.
LOSSES, VECTORS = 16, 8
#: The length of the step whose gain is measured, in units of a score.
STEP = 0.3


class Quality(NamedTuple):
    """What a surrogate does on the cloud; means over the losses."""

    distortion: float  # standard deviation of surrogate − loss, in standard deviations of the loss
    nothing: float  # share of score vectors without a gradient
    gained: float  # by a step against the gradient, as a share of what the best step found gains


@functools.cache
def cloud() -> tuple[Array, Array, Array]:
    """Draw standard normal score vectors (16, 8, 20), coefficients (16, 1, 20), the book's first, and the losses."""
    c = np.stack([random_coefficients(seed=SEED + start) for start in range(LOSSES)])[:, None]
    y = np.random.default_rng(SEED).standard_normal((LOSSES, VECTORS, c.shape[-1]))
    return y, c, loss_of(y, c)


@functools.cache
def best_gains() -> Array:
    """Return what the best step found by trial gains at every vector of the cloud, (16, 8)."""
    y, c, loss = cloud()
    random = np.random.default_rng(0)
    steps, gains = np.zeros_like(y), np.zeros_like(loss)

    def offer(directions: Array) -> None:
        norm = np.linalg.norm(directions, axis=-1, keepdims=True)
        tried = STEP * directions / np.maximum(norm, 1e-12)
        gained = loss - loss_of(y + tried, c)
        better = gained > gains
        steps[better], gains[better] = tried[better], gained[better]

    for how in SURROGATES.values():
        for strength in np.geomspace(0.003, 3.0, 10):
            offer(-surrogate(how.make(float(strength)), y, c)[1])
    for _ in range(400):
        offer(steps / STEP + 0.25 * random.standard_normal(y.shape) / np.sqrt(y.shape[-1]))
    return gains


def gain(down: Array) -> float:
    """Return what steps gain, as a share of the best found; directions have length 1, or 0."""
    y, c, loss = cloud()
    gained = loss - loss_of(y + STEP * down, c)
    return float((gained.sum(1) / best_gains().sum(1)).mean())


def floor(ranker: nn.Module) -> float:
    """Return the length below which a gradient counts as none: a share of its root mean square on the cloud."""
    y, c, _ = cloud()
    return float(known.NOTHING * max(np.sqrt((surrogate(ranker, y, c)[1] ** 2).sum(-1).mean()), 1e-30))


def quality(ranker: nn.Module) -> Quality:
    """Measure a ranker: see :class:`Quality`."""
    y, c, loss = cloud()
    values, gradients = surrogate(ranker, y, c)
    nothing = no_gradient(gradients, floor(ranker))
    down = -gradients / np.where(nothing, np.inf, np.linalg.norm(gradients, axis=-1))[..., None]
    off = ((values - loss) / loss.std(1, keepdims=True)).std(1)
    return Quality(off.mean(), nothing.mean(), gain(down))


@functools.cache
def strength_at(method: str, distortion: float) -> float:
    """Find the strength at which a method distorts the losses so much, by bisection."""
    y, c, loss = cloud()
    how = SURROGATES[method]
    low, high = np.log(how.weakest), np.log(how.strongest)
    for _ in range(14):
        middle = (low + high) / 2
        off = surrogate(how.make(float(np.exp(middle))), y, c)[0] - loss
        low, high = (middle, high) if (off.std(1) / loss.std(1)).mean() < distortion else (low, middle)
    return float(np.exp((low + high) / 2))


def at(method: str, distortion: float) -> nn.Module:
    """Make the ranker of a method that distorts the losses so much."""
    return SURROGATES[method].make(strength_at(method, distortion))
