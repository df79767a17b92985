"""What an evaluation reports: means over queries, and intervals of these means."""

import math
from collections.abc import Callable
from functools import lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np
import torch

from rankedu.checks import warn_caller
from rankedu.metrics._ranking import Floats, Ints, UndefinedMetricWarning

Interval = Callable[[Floats], tuple[float, float]] | None


def mean_interval(values: Floats, unit: Ints, level: float) -> tuple[float, float]:
    """Compute an interval for the mean of values in [0, 1], some of them nan, which come in units, such as classes.

    The variance s² is that of a bootstrap which draws the units anew, in closed form, and corrected for their number.
    The interval is Wilson's for a share m, which never leaves [0, 1], with Student's quantile, and with m (1 − m) / s²
    in place of the number of values. Where all units have one mean, which is no certainty, it is as wide as Wilson's
    for none or all of as many values as there are units.
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


def summary(values: dict[str, Floats], n: int, rows: Ints, dtype: Any, interval: Interval) -> dict[str, Any]:
    """Summarise values of the queries, which are some rows of n, as `evaluate_retrieval` returns them."""
    n_levels = max((v.shape[1] for v in values.values() if v.ndim == 2), default=0)
    of_level = {level + 1: {m: v[:, level] for m, v in values.items() if v.ndim == 2} for level in range(n_levels)}
    table = [_row(level, found, interval) for level, found in of_level.items()]
    if of_all := {m: v for m, v in values.items() if v.ndim == 1}:
        table.append(_row("all", of_all, interval))
    if left_out := ", ".join(f"{row['left_out']} at level {row['level']}" for row in table if row["left_out"]):
        warn_caller(
            f"{left_out} of {len(rows)} queries have no relevant item in the gallery, and are left out "
            "(result['per_query'] has nan for them)",
            UndefinedMetricWarning,
        )
    levels = {row["level"]: {k: v for k, v in row.items() if k != "level"} for row in table}
    graded, finest = levels.pop("all", {}), levels.get(n_levels, {})
    flat = {**graded, **finest, "interval": graded.get("interval", {}) | finest.get("interval", {})}
    per_query = {}
    for name, found in values.items():
        of_rows = np.full((n, *found.shape[1:]), np.nan, dtype)
        of_rows[rows] = found
        per_query[name] = torch.from_numpy(of_rows)
    order = [*values, "queries", "left_out", *(["interval"] if interval else [])]
    return {**{key: flat[key] for key in order}, "levels": levels, "table": table, "per_query": per_query}


def _row(level: int | str, values: dict[str, Floats], interval: Interval) -> dict[str, Any]:
    """Average the values of one level over the queries that have one; sums are exact, whatever the order."""
    defined = {m: v[~np.isnan(v)].tolist() for m, v in values.items()}
    queries = len(next(iter(defined.values())))
    left_out = len(next(iter(values.values()))) - queries
    means = {m: math.fsum(v) / len(v) if v else math.nan for m, v in defined.items()}
    row = {"level": level, "queries": queries, "left_out": left_out, **means}
    return {**row, "interval": {m: interval(v) for m, v in values.items()}} if interval else row
