"""What an evaluation reports: means over queries, and intervals of these means."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from rankedu.checks import warn_caller
from rankedu.metrics._ranking import Floats, Ints, UndefinedMetricWarning

Interval = Callable[[Floats], tuple[float, float]] | None


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
