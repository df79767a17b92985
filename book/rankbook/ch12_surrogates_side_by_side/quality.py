"""How good a surrogate is: what it distorts, and what its gradient is worth, in numbers."""

import functools
from typing import NamedTuple

import numpy as np
from torch import nn

from rankbook.ch12_surrogates_side_by_side import surrogates as known
from rankbook.ch12_surrogates_side_by_side.surrogates import COEFFICIENTS, STEP, SURROGATES, loss_of, surrogate
from rankbook.kit.ranks import Array
from rankedu.rankers.registry import SCORE_RANGE


class Quality(NamedTuple):
    """How good a surrogate of the loss, and its gradient, are on a cloud of random score vectors."""

    bias: float  # mean of surrogate − loss, in units of the loss's standard deviation over the cloud
    distortion: float  # standard deviation of the same: a constant moves no gradient
    nothing: float  # share of score vectors whose gradient is shorter than a thousandth of the root mean square length
    gained: float  # by a step of length 0.3 against the gradient, as a share of what the best step found gains
    cosine: float  # mean cosine between the two steps, 0 where there is no gradient
    steadiness: float  # |E g|² / E|g|² under noise of 0.05 on every score; 1 if the gradient does not change
    spread: float  # standard deviation of the gradient's length over its mean


@functools.cache
def cloud() -> tuple[Array, Array, Array]:
    """Draw 128 standard normal score vectors; they, the book's coefficients c, and the loss c·rk(y) of each."""
    points = np.random.default_rng(known.SEED).standard_normal((128, 20))
    return points, COEFFICIENTS, loss_of(points)


@functools.cache
def best_steps() -> tuple[Array, Array]:
    """The best step of length 0.3 that was found at every vector of the cloud, from those of all methods, by trial."""
    points, _, loss = cloud()
    random = np.random.default_rng(0)
    steps, gains = np.zeros_like(points), np.zeros(len(points))

    def offer(directions: Array) -> None:
        norm = np.linalg.norm(directions, axis=1, keepdims=True)
        tried = STEP * directions / np.maximum(norm, 1e-12)
        gained = loss - loss_of(points + tried)
        better = gained > gains
        steps[better], gains[better] = tried[better], gained[better]

    for how in SURROGATES.values():
        for strength in np.geomspace(0.003, 3.0, 10):
            offer(-surrogate(how.make(float(strength)), points)[1])
    for _ in range(400):
        offer(steps / STEP + 0.25 * random.standard_normal(points.shape) / np.sqrt(20))
    return steps, gains


def quality(ranker: nn.Module) -> Quality:
    """Judge a ranker: see :class:`Quality`."""
    points, _, loss = cloud()
    best, gains = best_steps()
    values, gradients = surrogate(ranker, points)
    length = np.linalg.norm(gradients, axis=1)
    alive = length > known.NOTHING * np.sqrt((length**2).mean())
    down = np.where(alive[:, None], -gradients / np.where(alive, length, 1.0)[:, None], 0.0)
    off = (values - loss) / loss.std()
    return Quality(
        bias=float(off.mean()),
        distortion=float(off.std()),
        nothing=float(1 - alive.mean()),
        gained=float((loss - loss_of(points + STEP * down)).sum() / gains.sum()),
        cosine=float((down * best).sum(1).mean() / STEP),
        steadiness=_steadiness(ranker),
        spread=float(length.std() / max(length.mean(), 1e-12)),
    )


def _steadiness(ranker: nn.Module, draws: int = 4) -> float:
    """An unbiased estimate, from a few draws of the noise."""
    points = cloud()[0]
    noise = known.NOISE * np.random.default_rng(0).standard_normal((draws, *points.shape))
    gradients = surrogate(ranker, points + noise)[1]
    power = (gradients**2).sum()
    return float((draws**2 * (gradients.mean(0) ** 2).sum() - power) / ((draws - 1) * max(power, 1e-30)))


@functools.cache
def strength_at(method: str, distortion: float) -> float:
    """Find the strength at which a method distorts the loss so much; bisection."""
    points, _, loss = cloud()
    how = SURROGATES[method]
    low, high = np.log(how.weakest), np.log(how.strongest)
    for _ in range(14):
        middle = (low + high) / 2
        off = surrogate(how.make(float(np.exp(middle))), points)[0] - loss
        low, high = (middle, high) if off.std() < distortion * loss.std() else (low, middle)
    return float(np.exp((low + high) / 2))


def at(method: str, distortion: float) -> nn.Module:
    """Make the ranker of a method that distorts the loss so much."""
    return SURROGATES[method].make(strength_at(method, distortion))


@functools.cache
def sweep() -> dict[str, list[Quality]]:
    """Judge every method over the whole range of its strength, more closely where a step gains most."""
    found = {}
    for name, how in SURROGATES.items():
        close = [strength_at(name, share) for share in (0.05, 0.06, 0.08, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3)]
        wide = np.geomspace(how.weakest, how.strongest, 13)
        strengths = np.sort(np.append(wide[(wide < close[0]) | (wide > close[-1])], close))
        if name == "histogram":
            bins = [700, 200, 80, 50, 40, 33, 29, 25, 21, 18, 15, 13, 11, 10, 8, 6, 5, 4, 3, 2, 1]
            strengths = (SCORE_RANGE[1] - SCORE_RANGE[0]) / np.array(bins)
        found[name] = [quality(how.make(float(strength))) for strength in strengths]
    return found


@functools.cache
def descents(distortion: float) -> dict[str, tuple[Array, float]]:
    """Walk down each surrogate from 64 random score vectors, with 60 steps of length 0.1.

    By name: what is left of the way after each step, (loss − least loss) / (loss at the start − least loss), mean over
    the starts; and the share of the walks that have come to rest, where the gradient is zero.
    """
    rankers = {name: at(name, distortion) for name in SURROGATES} | {"LSTM": known.sorter()}
    return {name: _descent(ranker) for name, ranker in rankers.items()}


def _descent(ranker: nn.Module) -> tuple[Array, float]:
    """Walk down one surrogate."""
    least = float(np.sort(COEFFICIENTS)[::-1] @ np.arange(1, 21))
    y = np.random.default_rng(12).standard_normal((64, 20))
    way, left, norm = loss_of(y) - least, [], np.ones(1)
    for _ in range(61):
        left.append(((loss_of(y) - least) / way).mean())
        gradient = surrogate(ranker, y)[1]
        norm = np.linalg.norm(gradient, axis=1, keepdims=True)
        y -= 0.1 * np.divide(gradient, norm, out=np.zeros_like(y), where=norm > 1e-12)
    return np.array(left), float((norm <= 1e-12).mean())
