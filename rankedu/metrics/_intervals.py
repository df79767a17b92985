"""Intervals for the mean of a metric, by a bootstrap over classes that is also right where all values are 0 or 1."""

import math
from statistics import NormalDist

import numpy as np

from rankedu.metrics._ranking import Floats, Ints


def mean_interval(values: Floats, unit: Ints, level: float) -> tuple[float, float]:
    """Compute an interval for the mean of values in [0, 1], some of them nan, which come in units, such as classes.

    A bootstrap that draws the units anew has the variance s², computed here in closed form: no draws are needed, and
    their order does not matter. The interval is Wilson's for a share, which never leaves [0, 1] and has a width at the
    edge, too, with the number of units for which a share m has this variance, m (1 − m) / s²; where s = 0, with the
    number of units itself.
    """
    defined = ~np.isnan(values)
    _, unit = np.unique(unit[defined], return_inverse=True)
    if not len(unit):
        return math.nan, math.nan
    size, total = np.bincount(unit), np.bincount(unit, values[defined])
    mean = float(total.sum() / size.sum())
    variance = float(((total - mean * size) ** 2).sum() / size.sum() ** 2)
    number = mean * (1 - mean) / variance if variance > 1e-20 else len(size)
    quantile = NormalDist().inv_cdf((1 + level) / 2)
    centre = mean + quantile**2 / (2 * number)
    half = quantile * math.sqrt(mean * (1 - mean) / number + (quantile / (2 * number)) ** 2)
    ends = ((centre + sign * half) / (1 + quantile**2 / number) for sign in (-1, 1))
    low, high = (min(max(end, 0.0), 1.0) for end in ends)  # but for rounding they are inside
    return low, high
