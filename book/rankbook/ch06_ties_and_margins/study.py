"""Chapter 6, computed: linear scorers trained for AP from twelve starts at once, and the balance that they come to."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from rankbook.kit.compare import Comparison, compare
from rankbook.kit.ranks import Array, ranks_of
from rankedu.metrics import average_precision

Mask = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
#: The training runs of the chapter: strength of the interpolation, rate of descent, steps, one look in so many.
LAM, RATE, STEPS, EVERY = 300.0, 0.1, 4000, 40
STARTS, BATCH, POSITIVES, DIM, APART = 12, 32, 8, 4, 3.0
#: The margins that the chapter compares.
MARGINS = (0.0, 0.02, 0.05, 0.1, 0.2)
#: λ and rates that runs with and without a margin are held against each other at.
LAMS, RATES = (3.0, 10.0, 30.0, 100.0, 300.0, 1000.0), (0.03, 0.1, 0.3, 1.0)
#: λ and rates of which the rest is looked for, from longer and from shorter weights.
REST_LAMS, REST_RATES, BEGINS = (10.0, 30.0, 100.0, 300.0, 1000.0), (0.1, 0.4), (0.3, 0.05)


def draw_items(random: np.random.Generator, n: int = BATCH, apart: float = APART) -> Array:
    """Items of every start, a quarter of them relevant, which come first: (starts, n, 4).

    They are drawn from two normal clouds whose centres lie so many standard deviations apart in the first feature.
    """
    features = random.standard_normal((STARTS, n, DIM))
    features[..., 0] += apart * (relevant(n) - 0.5)
    return features


def relevant(n: int) -> Mask:
    return np.asarray(np.arange(n) < n * POSITIVES // BATCH)


@functools.cache
def unseen(apart: float = APART, seed: int = 99) -> Array:
    """Items that are never trained on, (starts, 400, 4)."""
    return draw_items(np.random.default_rng(seed), 400, apart)


@dataclass(frozen=True, eq=False)
class Runs:
    """Training runs of :func:`train`, looked at now and then."""

    steps: Ints  # (looks,)
    weights: Array  # of the linear scorers, (looks, settings, starts, 4)
    stirred: Array  # share of the batches since the last look that had a gradient, (looks, settings, starts)
    features: Array  # of items that are never trained on, (starts, 400, 4)

    @property
    def scale(self) -> Array:
        """The length of the weights, (looks, settings, starts)."""
        return np.linalg.norm(self.weights, axis=-1)

    def scores(self) -> Array:
        """Scores of the unseen items, (looks, settings, starts, 400)."""
        return np.asarray(np.einsum("...sd,snd->...sn", self.weights, self.features))

    def spread(self) -> Array:
        """Standard deviation of the scores, (looks, settings, starts)."""
        return np.asarray(self.scores().std(-1))

    def average_precision(self) -> Array:
        """AP of the unseen items, (looks, settings, starts)."""
        return ap(self.scores())

    def at_rest(self) -> "Runs":
        """What was seen in the last quarter of the run."""
        last = slice(3 * len(self.steps) // 4, None)
        return Runs(self.steps[last], self.weights[last], self.stirred[last], self.features)


@functools.cache
def train(
    margin: Sequence[float] = MARGINS,
    lam: Sequence[float] = (LAM,),
    rate: Sequence[float] = (RATE,),
    *,
    steps: int = STEPS,
    begin: float = 1.0,
    batch: int = BATCH,
    apart: float = APART,
    seed: int = 0,
    falling: bool = False,
) -> Runs:
    """Train linear scorers for AP by plain gradient descent, RaMBO's loss with a margin: a setting of each for a run.

    Each step draws a batch of new items for each start. All settings see the same ones, from the same weights of length
    `begin` in a random direction. A `falling` rate gets to 0. Source: RaMBO Fig. 3; RaMBO Eq. 14; RaMBO Eq. 15.

    >>> train((0.0, 0.1), steps=80).scores().shape
    (3, 2, 12, 400)
    """
    random = np.random.default_rng(seed)
    alpha, strength, eta = (np.array(each)[:, None, None] for each in np.broadcast_arrays(margin, lam, rate))
    weights = random.standard_normal((1, STARTS, DIM))
    weights = weights * begin / np.linalg.norm(weights, axis=-1, keepdims=True) + np.zeros_like(alpha)
    looks, stirred, moved = [], [], np.zeros(weights.shape[:-1])
    for step in range(steps + 1):
        if step % EVERY == 0:
            looks.append(weights)
            stirred.append(moved / EVERY)
            moved = np.zeros_like(moved)
        items = draw_items(random, batch, apart)
        scores = (items @ weights[..., None])[..., 0]
        gradient = ap_gradient(scores, relevant(batch), strength, alpha)
        moved = moved + gradient.any(-1)
        weights = weights - eta * (1 - falling * step / steps) * (gradient[:, :, None] @ items)[:, :, 0]
    return Runs(np.arange(0, steps + 1, EVERY), np.array(looks), np.array(stirred), unseen(apart))


def rest(margin: float, rate: float, begin: float) -> Runs:
    """The last quarter of 4,000 steps, for each λ."""
    every = [(m, lam, eta) for m in (0.0, 0.1) for eta in REST_RATES for lam in REST_LAMS]
    runs = train(*zip(*every, strict=True), begin=begin).at_rest()
    mine = [k for k, (m, _, eta) in enumerate(every) if (m, eta) == (margin, rate)]
    return Runs(runs.steps, runs.weights[:, mine], runs.stirred[:, mine], runs.features)


def ap_gradient(scores: Array, relevance: Mask, lam: float | Array, margin: float | Array = 0.0) -> Array:
    """Gradient of RaMBO's AP loss for each list (..., n): Algorithm 1, written out.

    Source: RaMBO Alg. 1; RaMBO Eq. 15; RaMBO Eq. 22.

    >>> ap_gradient(np.array([0.9, 0.8, 0.7, 0.1]), np.array([False, True, True, False]), lam=2.0)
    array([ 1. , -0.5, -0.5,  0. ])
    """
    _, before, after = _two_rankings(scores, relevance, lam, margin)
    return np.asarray((after - before) / lam)


def mean_length(runs: Runs, margin: Sequence[float], lam: Sequence[float] = (LAM,)) -> Array:
    """How far ahead a negative was on average that a positive overtakes; (settings,).

    The AP loss, in fresh batches, by the weights of all looks of these runs. Source: RaMBO Alg. 1; RaMBO Eq. 15.
    """
    random, mask = np.random.default_rng(5), relevant(BATCH)
    alpha, strength = (np.array(each)[:, None, None] for each in np.broadcast_arrays(margin, lam))
    total, count = np.zeros((2, len(alpha)))
    for weights in runs.weights:
        scores = np.einsum("snd,ksd->ksn", draw_items(random), weights)
        z, _, after = _two_rankings(scores, mask, strength, alpha)
        ahead = z[..., None, ~mask] - z[..., mask, None]
        passed = (ahead > 0) & (after[..., None, ~mask] > after[..., mask, None])
        total, count = total + (ahead * passed).sum((1, 2, 3)), count + passed.sum((1, 2, 3))
    return np.asarray(total / count)


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


def contest(
    steps: int, margins: Sequence[float] = (0.0, 0.1), *, falling: bool = False, apart: float = APART
) -> Comparison:
    """AP with and without a margin after so many steps, each start with the λ and the rate that it has chosen."""
    every = np.array([(m, lam, rate) for m in margins for lam in LAMS for rate in RATES])
    weights = train(*map(tuple, every.T), falling=falling, apart=apart).weights[[0, steps // EVERY]]
    chosen_by, reported = (ap(np.einsum("lksd,snd->lksn", weights, unseen(apart, s))) for s in (98, 99))
    places = {tuple(setting): k for k, setting in enumerate(every.tolist())}

    def looked_up(margin: float, lam: float, rates: Sequence[float], starts: int) -> tuple[Array, Array]:
        k = [places[margin, lam, rate] for rate in rates]
        return chosen_by[1, k], reported[1, k]

    baselines = {"untrained": reported[0, 0], "the first feature": ap(unseen(apart)[..., 0])}
    arms = {f"margin {margin:g}" if margin else "no margin": margin for margin in margins}
    return compare(looked_up, arms, baselines, LAMS, rates=RATES, ceilings=["the first feature"])


def harm(errors: float) -> Array:
    """AP without a margin, of unseen items whose features are off by normal errors of this size: (3, starts).

    At the last look with weights longer than 0.6, at the first one with weights shorter than 0.1, and at rest.
    """
    runs, start = train(), np.arange(STARTS)
    off = unseen() + errors * np.random.default_rng(7).standard_normal(unseen().shape)
    seen = Runs(runs.steps, runs.weights[:, :1], runs.stirred, off).average_precision()[:, 0]
    scale = runs.scale[:, 0]
    moments = len(scale) - 1 - (scale > 0.6)[::-1].argmax(0), (scale < 0.1).argmax(0)
    return np.stack([*(seen[look, start] for look in moments), seen[3 * len(seen) // 4 :].mean(0)])


def by_mean_direction() -> Array:
    """AP without a margin by the mean direction of the weights at rest, of unseen items: (starts,)."""
    runs = train().at_rest()
    weights = (runs.weights / runs.scale[..., None]).mean(0)[0]
    return ap(np.einsum("sd,snd->sn", weights, runs.features))


def ap_after_errors(scale: float, of_scores: float = 0.0, of_inputs: float = 0.0) -> float:
    """Mean AP of a right scorer with weights of this length, if scores or features are off by normal errors."""
    items, random = draw_items(np.random.default_rng(3), 200, apart=8.0), np.random.default_rng(4)
    errors = random.standard_normal((20, *items.shape[:-1], 2)) * (of_inputs, of_scores)
    return float(ap(scale * (items[..., 0] + errors[..., 0]) + errors[..., 1]).mean())
