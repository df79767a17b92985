"""Chapter 6, computed: a scorer that collapses or does not, and the AP gradient near a tie."""

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from rankbook.kit.ranks import Array, ranks_of
from rankedu.metrics import average_precision

Mask = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
#: The training run of the chapter: strength of the interpolation, step of gradient descent, number of steps.
LAM, RATE, STEPS, EVERY = 300.0, 0.05, 3300, 30
BATCH, DIM, SEPARATION, SHARE = 128, 4, 3.0, 0.25
#: The margins that the chapter compares.
MARGINS = (0.0, 0.02, 0.05, 0.1, 0.2)


@dataclass(frozen=True, eq=False)
class TrainedScorer:
    """A training run of :func:`train_scorer`, looked at k times."""

    steps: Ints  # (k,)
    weights: Array  # of the linear scorer, (k, dim)
    features: Array  # of items that are never trained on, (n, dim)
    relevance: Mask  # (n,)

    def scores(self) -> Array:
        """Scores of the items at each look, shape (k, n)."""
        return self.weights @ self.features.T

    def spread(self) -> Array:
        """Standard deviation of the scores at each look, shape (k,)."""
        return np.asarray(self.scores().std(axis=1))

    def average_precision(self, noise: float = 0.0, seed: int = 0) -> Array:
        """AP at each look, shape (k,), if scores are off by normal errors of standard deviation ``noise``."""
        scores = self.scores()
        off = noise * np.random.default_rng(seed).standard_normal(scores.shape[1])
        return ap(scores + off, self.relevance)


@functools.lru_cache(maxsize=32)
def train_scorer(margin: float = 0.0, *, steps: int = STEPS, seed: int = 0) -> TrainedScorer:
    """Train a linear scorer for average precision by plain gradient descent, RaMBO's loss with this margin.

    Each step draws 128 new items from two normal clouds in four dimensions, a quarter of them relevant, whose centres
    are three standard deviations apart. The clouds overlap a little, so there is always some mistake to correct.

    Source: RaMBO Fig. 3; RaMBO Eq. 14; RaMBO Eq. 15.

    >>> run = train_scorer(margin=0.0, steps=100)
    >>> run.scores().shape
    (4, 400)
    """
    random = np.random.default_rng(seed)
    features, relevance = draw_items(400, np.random.default_rng(99))
    weights = random.standard_normal(DIM)
    weights /= np.linalg.norm(weights)
    looks = []
    for step in range(steps + 1):
        if step % EVERY == 0:
            looks.append(weights)
        batch, labels = draw_items(BATCH, random)
        weights = weights - RATE * (batch.T @ ap_gradient(batch @ weights, labels, LAM, margin))
    return TrainedScorer(np.arange(0, steps + 1, EVERY), np.array(looks), features, relevance)


def ap_gradient(scores: Array, relevance: Mask, lam: float, margin: float = 0.0) -> Array:
    """Gradient of RaMBO's AP loss for one list: Algorithm 1, written out.

    Source: RaMBO Alg. 1; RaMBO Eq. 15; RaMBO Eq. 22.

    >>> ap_gradient(np.array([0.9, 0.8, 0.7, 0.1]), np.array([False, True, True, False]), lam=2.0)
    array([ 1. , -0.5, -0.5,  0. ])
    """
    _, before, after = _two_rankings(scores, relevance, lam, margin)
    return (after - before) / lam


def overtaking_lengths(scores: Array, relevance: Mask, lam: float, margin: float = 0.0) -> Array:
    """How far ahead each negative was that a positive overtakes within Algorithm 1's step, for the AP loss.

    Source: RaMBO Alg. 1; RaMBO Eq. 15.

    >>> overtaking_lengths(np.array([0.9, 0.7, 0.1]), np.array([False, True, False]), lam=2.0).round(6)
    array([0.2])
    """
    shifted, before, after = _two_rankings(scores, relevance, lam, margin)
    overtakes = (before[:, None] > before) & (after[:, None] < after) & relevance[:, None] & ~relevance
    i, j = np.nonzero(overtakes)
    return shifted[j] - shifted[i]


def _two_rankings(scores: Array, relevance: Mask, lam: float, margin: float) -> tuple[Array, Ints, Ints]:
    """The shifted scores, their ranks, and their ranks after the step along dAP loss/drk."""
    shifted = scores + np.where(relevance, -margin / 2, margin / 2)
    before = ranks_of(shifted)
    within = np.zeros(len(scores))
    within[relevance] = ranks_of(shifted[relevance])
    incoming = within / before**2 / relevance.sum()
    return shifted, before, ranks_of(shifted + lam * incoming)


def ap(scores: Array, relevance: Mask) -> Array:
    """AP of each row of scores."""
    rows = torch.from_numpy(scores)
    return average_precision(rows, torch.from_numpy(relevance).expand_as(rows)).double().numpy()


def draw_items(n: int, seed: int | np.random.Generator) -> tuple[Array, Mask]:
    """Draw items from the two clouds, the relevant ones first: features (n, 4) and relevance (n,)."""
    random = np.random.default_rng(seed)
    relevance = np.arange(n) < SHARE * n
    features = random.standard_normal((n, DIM))
    features[:, 0] += SEPARATION * (relevance - 0.5)
    return features, relevance


def expected_ap_after_shift(gap: float, noise: float, relevance: Mask, draws: int = 100) -> float:
    """AP of a list with all positives at ``gap``, all negatives at 0, after normal noise: mean of ``draws``.

    >>> expected_ap_after_shift(1.0, 0.01, np.arange(20) < 5)
    1.0
    """
    random = np.random.default_rng(3)
    moved = gap * relevance + noise * random.standard_normal((draws, len(relevance)))
    return float(ap(moved, relevance).mean())


#: Fourteen fixed items of the landscape: where they stand in their class, in units of its spread.
LANDSCAPE_LAM, GAPS, SPREADS = 12.0, (-0.6, 1.2), (0.0, 1.0)
_U = np.array([-1.1, -0.25, 0.3, 1.05])
_V = np.array([-1.6, -1.1, -0.75, -0.45, -0.15, 0.1, 0.35, 0.7, 1.15, 1.75])
POSITIVE: Mask = np.arange(len(_U) + len(_V)) < len(_U)


def shifted_scores(gap: Any, spread: Any, margin: float) -> Array:
    """Scores of the landscape, positives first, shifted by the margin."""
    half = (gap - margin) / 2
    return np.concatenate([half + spread * _U, -half + spread * _V], axis=-1)


def landscape(margin: float) -> Array:
    """The AP loss of the landscape's items, a row a spread, a column a gap; shape (121, 181)."""
    gap, spread = np.meshgrid(np.linspace(*GAPS, 181), np.linspace(SPREADS[0] + 1e-3, SPREADS[1], 121))
    return 1 - ap(shifted_scores(gap[..., None], spread[..., None], margin), POSITIVE)


def gap_spread_descent(gap: float, spread: float, margin: float, lam: float) -> tuple[float, float]:
    """Minus Algorithm 1's gradient of the AP loss, as far as it moves the gap and the spread.

    >>> gap_spread_descent(0.2, 0.0, margin=0.0, lam=12.0)  # all positives ahead: nothing left to do
    (0.0, 0.0)
    """
    gradient = ap_gradient(shifted_scores(gap, spread, margin), POSITIVE, lam)
    along = np.where(POSITIVE, 0.5, -0.5), np.concatenate([_U, _V])
    down = [float(-(gradient @ direction)) + 0.0 for direction in along]
    return down[0], down[1]
