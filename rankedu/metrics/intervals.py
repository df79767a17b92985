"""Intervals of a mean over queries that come in classes."""

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from rankedu.metrics._ranking import Floats, Ints


def mean_interval(values: Floats, unit: Ints, level: float) -> tuple[float, float]:
    """Compute an interval for the mean of values in [0, 1], some of them nan, which come in units, such as classes.

    The variance s² is that of a bootstrap which draws the units anew, in closed form, and corrected for their number.
    The interval is Wilson's for a share m, which never leaves [0, 1], with Student's quantile, and with m (1 − m) / s²
    in place of the number of values. Where all units have one mean, which is no certainty, it is as wide as Wilson's
    for none or all of as many values as there are units. It is nan, nan where all values are nan.

    Parameters
    ----------
    values, unit : ndarray, shape (n,)
        One value per query, such as its AP, and its unit, such as the number of its class.
    level : float
        The confidence, such as 0.95.

    Returns
    -------
    low, high : float

    Examples
    --------
    >>> low, high = mean_interval(np.array([1.0, 0.5, 0.8, 0.4]), np.array([0, 0, 1, 1]), 0.95)
    >>> round(low, 2), round(high, 2)
    (0.09, 0.98)
    """
    defined = ~np.isnan(values)
    _, unit = np.unique(unit[defined], return_inverse=True)
    if not len(unit):
        return math.nan, math.nan
    size, total = np.bincount(unit), np.bincount(unit, values[defined])
    mean, share = float(total.sum() / size.sum()), size / size.sum()
    variance = float(((total - mean * size) ** 2).sum() / size.sum() ** 2)
    if variance < 1e-18:
        half = (square := NormalDist().inv_cdf((1 + level) / 2) ** 2) / (len(size) + square)
        return max(mean - half, 0.0), min(mean + half, 1.0)
    # Of independent units of one variance, the mean has their variance times Σw², of which the bootstrap finds a part.
    square, cube = float((share**2).sum()), float((share**3).sum())
    variance *= square / (square - 2 * cube + square**2)
    part = student(level, max(1 / square - 1, 1.0)) ** 2 * variance / (mean * (1 - mean))  # t² / number of values
    half = math.sqrt(part * mean * (1 - mean) + part**2 / 4)
    low, high = ((mean + part / 2 + sign * half) / (1 + part) for sign in (-1, 1))
    return low, high


@lru_cache(1 << 10)
def student(level: float, freedom: float) -> float:
    """Find how far to both sides of 0 Student's t has this probability, by its density along atan(t / √freedom)."""
    angle = np.linspace(0, min(math.pi / 2, 12 / math.sqrt(freedom)), 1 << 12)
    density = np.cos(angle) ** (freedom - 1)
    inside = np.concatenate([[0.0], np.cumsum(density[1:] + density[:-1])])
    return math.sqrt(freedom) * math.tan(np.interp(level * inside[-1], inside, angle))
