"""Chapter 12, measured: what a surrogate distorts, what a step along its gradient is worth, and where walks end."""

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from torch import nn

from rankbook.ch12_surrogates_side_by_side import surrogates as known
from rankbook.ch12_surrogates_side_by_side.surrogates import SEED, SURROGATES, loss_of, no_gradient, surrogate
from rankbook.kit.compare import Comparison, compare
from rankbook.kit.landscapes import random_coefficients
from rankbook.kit.ranks import Array, ranks_of

#: A start is a loss c·rk(y) and its score vectors: a setting is chosen on one half of them and reported on the other.
STARTS, VECTORS = 16, 8
CHOOSE, REPORT = slice(VECTORS // 2), slice(VECTORS // 2, None)
#: The length of the step by which a gradient is judged, and the noise on every score, both in units of a score.
STEP, NOISE = 0.3, 0.05
#: Lengths of steps at which gains are compared.
LENGTHS = (0.05, 0.1, STEP)
#: Walks: how many steps; how long, where all have one length; and by what a gradient is multiplied, where they do not.
STEPS, LENGTH, RATES = 60, 0.1, (0.01, 0.03, 0.12, 0.5, 2.0)
#: Distortions that are tried: for walks, and for one step.
SHARES, FINE = (0.05, 0.1, 0.2, 0.4, 0.7), (0.01, 0.02, 0.05, 0.08, 0.1, 0.12, 0.15, 0.2, 0.3, 0.5, 0.7)

ARMS = {name: name for name in SURROGATES}


class Quality(NamedTuple):
    """How good a surrogate and its gradient are on the cloud; means over the losses."""

    bias: float  # mean of surrogate − loss, in standard deviations of the loss
    distortion: float  # standard deviation of the same: a constant moves no gradient
    nothing: float  # share of score vectors without a gradient
    gained: float  # by a step of length 0.3 against the gradient, as a share of what the best step found gains
    steadiness: float  # |E g|² / E|g|² under noise of 0.05 on every score; 1 if the gradient does not change


@functools.cache
def cloud(n: int = 20) -> tuple[Array, Array, Array]:
    """Draw standard normal score vectors (16, 8, n), coefficients (16, 1, n), the book's first, and the losses."""
    c = np.stack([random_coefficients(n, seed=SEED + start) for start in range(STARTS)])[:, None]
    y = np.random.default_rng(SEED).standard_normal((STARTS, VECTORS, n))
    return y, c, loss_of(y, c)


def blind(n: int = 20) -> Array:
    """The direction that looks at no score, of length 1: it raises the items with a large coefficient; (16, 1, n)."""
    c = cloud(n)[1]
    up = c - c.mean(-1, keepdims=True)
    return np.asarray(up / np.linalg.norm(up, axis=-1, keepdims=True))


@functools.cache
def best_gains(length: float = STEP) -> Array:
    """What the best step of a length gains that was found at every vector, from all methods', by trial; (16, 8)."""
    y, c, loss = cloud()
    random = np.random.default_rng(0)
    steps, gains = np.zeros_like(y), np.zeros_like(loss)

    def offer(directions: Array) -> None:
        norm = np.linalg.norm(directions, axis=-1, keepdims=True)
        tried = length * directions / np.maximum(norm, 1e-12)
        gained = loss - loss_of(y + tried, c)
        better = gained > gains
        steps[better], gains[better] = tried[better], gained[better]

    for how in SURROGATES.values():
        for strength in np.geomspace(0.003, 3.0, 10):
            offer(-surrogate(how.make(float(strength)), y, c)[1])
    for _ in range(400):
        offer(steps / length + 0.25 * random.standard_normal(y.shape) / np.sqrt(y.shape[-1]))
    return gains


def gain(down: Array, part: slice = slice(None), length: float = STEP) -> Array:
    """What steps of a length gain, as a share of the best found; directions have length 1, or 0; (16,)."""
    y, c, loss = cloud()
    gained = loss - loss_of(y + length * down, c)
    return np.asarray(gained[:, part].sum(1) / best_gains(length)[:, part].sum(1))


def downhill(ranker: nn.Module) -> Array:
    """Minus the gradient at every vector of the cloud, of length 1, or 0 where there is none; (16, 8, 20)."""
    y, c, _ = cloud()
    gradients = surrogate(ranker, y, c)[1]
    length = np.where(no_gradient(gradients, floor(ranker)), np.inf, np.linalg.norm(gradients, axis=-1))
    return np.asarray(-gradients / length[..., None])


def floor(ranker: nn.Module, n: int = 20) -> float:
    """A gradient shorter than this counts as none: a thousandth of the root mean square length on the cloud."""
    y, c, _ = cloud(n)
    return float(known.NOTHING * max(np.sqrt((surrogate(ranker, y, c)[1] ** 2).sum(-1).mean()), 1e-30))


def quality(ranker: nn.Module) -> Quality:
    """Judge a ranker: see :class:`Quality`."""
    y, c, loss = cloud()
    off, down = (surrogate(ranker, y, c)[0] - loss) / loss.std(1, keepdims=True), downhill(ranker)
    noise = NOISE * np.random.default_rng(0).standard_normal((4, *y.shape))
    gradients = surrogate(ranker, y + noise, c)[1]
    power = (gradients**2).sum()  # of four draws: an unbiased estimate
    steady = (16 * (gradients.mean(0) ** 2).sum() - power) / (3 * max(power, 1e-30))
    nothing = (down == 0).all(-1).mean()
    return Quality(off.mean(), off.std(1).mean(), nothing, gain(down).mean(), steady)


@functools.cache
def strength_at(method: str, distortion: float, n: int = 20) -> float:
    """Find the strength at which a method distorts the losses so much; bisection."""
    y, c, _ = cloud(n)
    how = SURROGATES[method]
    return _bisect(lambda strength: surrogate(how.make(strength), y, c)[0], how.weakest, how.strongest, distortion, n)


def _bisect(values: Callable[[float], Array], weakest: float, strongest: float, distortion: float, n: int) -> float:
    loss = cloud(n)[2]
    low, high = np.log(weakest), np.log(strongest)
    for _ in range(14):
        middle = (low + high) / 2
        off = values(float(np.exp(middle))) - loss
        low, high = (middle, high) if (off.std(1) / loss.std(1)).mean() < distortion else (low, middle)
    return float(np.exp((low + high) / 2))


def centred(distortion: float) -> Array:
    """Downhill by the quotient that looks λ/2 ahead and as far back, at the λ that distorts so much; (16, 8, 20).

    Its function is (m(y + λc/2) − m(y − λc/2)) / λ, with the least value m of the ranking problem.
    """
    y, c, _ = cloud()

    def ends(lam: float) -> Iterator[tuple[Array, Array]]:
        for z in (y + lam * c / 2, y - lam * c / 2):
            yield z, ranks_of(z).astype(np.float64)

    def values(lam: float) -> Array:
        ahead, behind = ((z * ranks).sum(-1) for z, ranks in ends(lam))
        return np.asarray((ahead - behind) / lam)

    how = SURROGATES["blackbox"]
    (_, ahead), (_, behind) = ends(_bisect(values, how.weakest, how.strongest, distortion, y.shape[-1]))
    length = np.linalg.norm(behind - ahead, axis=-1, keepdims=True)
    return np.asarray((behind - ahead) / np.where(length > 0, length, np.inf))


def at(method: str, distortion: float, n: int = 20) -> nn.Module:
    """Make the ranker of a method that distorts the loss so much; the LSTM has no strength to turn."""
    return known.sorter() if method == "LSTM" else SURROGATES[method].make(strength_at(method, distortion, n))


@functools.cache
def one_step(length: float = STEP) -> Comparison:
    """Hold the gains of one step against each other, each method at its own distortion, and against the blind step."""

    def judge(name: str, share: float, rates: Sequence[float], starts: int) -> tuple[Array, Array]:
        down = downhill(at(name, share))
        return gain(down, CHOOSE, length)[None], gain(down, REPORT, length)[None]

    return compare(judge, ARMS, {"blind step": gain(blind(), REPORT, length)}, FINE, starts=STARTS)


def blind_walk(length: float, n: int = 20) -> Array:
    """The share of the way that a blind walk of a length goes, of the vectors that are reported; (16,)."""
    return gone(cloud(n)[0] + length * blind(n), REPORT)


@functools.cache
def walk(method: str, share: float, rate: float, proportional: bool, n: int = 20) -> tuple[Array, Array]:
    """Go sixty steps down a surrogate from every vector of the cloud.

    Returns where each walk ends, (16, 8, n), and whether it has come to rest, at a place without a gradient, (16, 8).
    """
    y, c, loss = cloud(n)
    y, c, ranker = y.copy(), np.broadcast_to(c, y.shape), at(method, share, n)
    going, still = np.ones(loss.shape, dtype=bool), floor(ranker, n)
    for _ in range(STEPS):
        gradients = surrogate(ranker, y[going], c[going])[1]
        alive = ~no_gradient(gradients, still)
        going[going], gradients = alive, gradients[alive]
        length = np.linalg.norm(gradients, axis=-1, keepdims=True)
        y[going] -= rate * gradients if proportional else rate * gradients / length
    return y, ~going


def gone(ends: Array, part: slice) -> Array:
    """The share of its way to the least loss, the items in the order of their coefficients, that is gone; (16,)."""
    _, c, loss = cloud(ends.shape[-1])
    fallen, way = loss - loss_of(ends, c), loss - loss_of(c, c)
    return np.asarray(fallen[:, part].sum(1) / way[:, part].sum(1))


@functools.cache
def walks(proportional: bool, n: int = 20, shares: tuple[float, ...] = SHARES) -> Comparison:
    """Hold walks against each other: with steps of one length, or in proportion to the gradient, at a rate of each."""

    def go(name: str, share: float, rates: Sequence[float], starts: int) -> tuple[Array, Array]:
        ends = [walk(name, share, rate, proportional, n)[0] for rate in rates]
        chosen, reported = (np.array([gone(end, part) for end in ends]) for part in (CHOOSE, REPORT))
        return chosen, reported

    y = cloud(n)[0]
    ends = {
        "random order": np.random.default_rng(1).standard_normal(y.shape),
        "blind walk": y + STEPS * LENGTH * blind(n),
        "blind walk, ten times the step": y + 10 * STEPS * LENGTH * blind(n),
    }
    known_ends = {name: gone(end, REPORT) for name, end in ends.items()}
    rates = RATES if proportional else (LENGTH,)
    return compare(go, ARMS, known_ends, shares, rates=rates, starts=STARTS, ceilings=list(ends)[2:])


def at_rest(method: str, share: float, proportional: bool) -> float:
    """The share of the walks that end at rest, each loss with the rate that it has chosen."""
    found = walks(proportional)
    best = found.validation[method][SHARES.index(share)].argmax(0)
    return float(np.mean([walk(method, share, found.rates[r], proportional)[1][k] for k, r in enumerate(best)]))
