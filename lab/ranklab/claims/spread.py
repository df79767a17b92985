"""A difference between two arms by several deals of the letters, each with a start and a search of its own."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ranklab.runs.judging import ALPHA, resolution

ABOVE, BELOW, EQUAL, OPEN = "above", "below", "no difference that matters here", "undecided here"
FURTHER = "by less than matters here"


@dataclass(frozen=True)
class Mean:
    """A mean with its standard error and degrees of freedom."""

    value: float
    error: float
    freedom: float

    def half_width(self, share: float) -> float:
        """Of the interval outside of which a share may lie."""
        from scipy import stats

        return float(stats.t.isf(share / 2, self.freedom) * self.error)

    def p_different(self) -> float:
        """How often a mean is as far from 0, to either side, if the truth is 0."""
        return 2 * self._tail(abs(self.value))

    def p_equal(self, delta: float) -> float:
        """How often a mean is as far within ±δ, if the truth is δ, or −δ: the larger of two one-sided tests."""
        return self._tail(delta - abs(self.value))

    def _tail(self, distance: float) -> float:
        from scipy import stats

        if self.error == 0:
            return float(distance <= 0)
        return float(stats.t.sf(distance / self.error, self.freedom))


def mean_of_deals(values: npt.ArrayLike, sums: npt.ArrayLike = (), counts: npt.ArrayLike = ()) -> Mean:
    """The mean of the differences of the deals (K,), with the spread of the deals and that of the letters.

    ``sums`` and ``counts`` (L,) are a letter's differences added up over all queries and deals, and their number. The
    deals are drawn independently and so are start, search and seed in each, so that s²/K is the variance for these
    characters; the variance by letters is added for characters of the kind. What the letters add to s² is counted
    twice, which makes the interval too wide rather than too narrow. Satterthwaite's degrees of freedom.
    """
    y, n = np.asarray(values, dtype=float), np.asarray(counts, dtype=float)
    if y.ndim != 1 or len(y) < 2 or not np.isfinite(y).all():
        raise ValueError(f"values must be finite, (deals,) with two deals or more, got {y}")
    parts = [(float(y.var(ddof=1)) / len(y), len(y) - 1.0)]
    if n.size:
        there = n > 0
        weights = n[there] / n.sum()
        by_letter = np.asarray(sums, dtype=float)[there] / n[there]
        factor, freedom = resolution(weights)
        parts.append((float(factor * (weights**2 * (by_letter - weights @ by_letter) ** 2).sum()), freedom))
    variance = sum(part for part, _ in parts)
    if variance == 0:
        return Mean(float(y.mean()), 0.0, len(y) - 1.0)
    return Mean(float(y.mean()), math.sqrt(variance), variance**2 / sum(part**2 / free for part, free in parts))


def levels(p: Mapping[str, float], alpha: float = ALPHA) -> dict[str, float]:
    """The level at which each of a family is tested, by Holm: α/m for the smallest p of m, α/(m − 1) for the next …

    Those after the first that is not below its level share that level.
    """
    found: dict[str, float] = {}
    left, stopped = len(p), False
    for name in sorted(p, key=lambda name: p[name]):
        found[name] = alpha / left
        stopped |= p[name] > found[name]
        left -= not stopped
    return found


def say(mean: Mean, *, different: float, equal: float, delta: float | None) -> str:
    """What is to be said at the levels of the two tests: both may hold, a difference that does not matter."""
    side = (ABOVE if mean.value > 0 else BELOW) if mean.p_different() <= different else ""
    within = delta is not None and mean.p_equal(delta) <= equal
    if side and within:
        return f"{side}, {FURTHER}"
    return side or (EQUAL if within else OPEN)


def redrawn(values: Sequence[float | None]) -> float:
    """The standard deviation of the best value when as many trials are drawn from these, with replacement.

    The best is the kth of n, from below, with the chance (k/n)ⁿ − ((k − 1)/n)ⁿ; a failed trial, None, is below all
    others and counts like the worst.
    """
    there = [value for value in values if value is not None]
    ordered = np.sort([*there, *[min(there)] * (len(values) - len(there))])
    chances = np.diff((np.arange(len(ordered) + 1) / len(ordered)) ** len(ordered))
    return float(np.sqrt(chances @ np.square(ordered - chances @ ordered)))
