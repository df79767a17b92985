"""Aggregate per-query values into the result: means by level and over all levels, and what must be said about them."""

from __future__ import annotations

import math
import warnings
from typing import Any

from torch import Tensor

from rankedu.hierarchy import InvertedRelevanceWarning
from rankedu.metrics._relevant import Bools
from rankedu.metrics.binary import UndefinedMetricWarning


def _mean(values: Tensor) -> tuple[float, int]:
    """Over the queries that have a value; the sum is exact, so their order does not matter."""
    defined = values[~values.isnan()]
    return (math.fsum(defined.tolist()) / len(defined) if len(defined) else math.nan), len(defined)


def summary(values: dict[str, Tensor]) -> dict[str, Any]:
    """What :func:`evaluate_retrieval` returns; a metric of one level has values of shape (n, L), a graded one (n,)."""
    of_one_level = {m: v for m, v in values.items() if v.ndim == 2}
    graded = {m: v for m, v in values.items() if v.ndim == 1}
    n_levels = next(iter(of_one_level.values())).shape[1] if of_one_level else 0
    rows: list[dict[str, Any]] = [
        {"level": level + 1, **_row({m: v[:, level] for m, v in of_one_level.items()})} for level in range(n_levels)
    ]
    if graded:
        rows.append({"level": "all", **_row(graded)})
    _warn_left_out(rows)
    levels = {row["level"]: {k: v for k, v in row.items() if k != "level"} for row in rows}
    flat = {**levels.pop("all", {}), **(levels[n_levels] if levels else {})}
    order = [*values, "queries", "left_out"]
    return {**{key: flat[key] for key in order}, "levels": levels, "table": rows, "per_query": values}


def _row(values: dict[str, Tensor]) -> dict[str, Any]:
    means = {m: _mean(v) for m, v in values.items()}
    queries = next(iter(means.values()))[1]
    total = len(next(iter(values.values())))
    return {"queries": queries, "left_out": total - queries, **{m: mean for m, (mean, _) in means.items()}}


def _warn_left_out(rows: list[dict[str, Any]]) -> None:
    left_out = ", ".join(f"{row['left_out']} at level {row['level']}" for row in rows if row["left_out"])
    if left_out:
        warnings.warn(
            f"{left_out} of {rows[0]['queries'] + rows[0]['left_out']} queries have no relevant item in the gallery, "
            "and are left out (result['per_query'] has nan for them)",
            UndefinedMetricWarning,
            stacklevel=4,
        )


def warn_inverted(inverted: Bools) -> None:
    if inverted.any():
        warnings.warn(
            f"Eq. 4 gives a finer level less relevance than a coarser one in {int(inverted.sum())} of {len(inverted)} "
            "queries: h_ap then rewards the wrong order (use monotone=True)",
            InvertedRelevanceWarning,
            stacklevel=3,
        )
