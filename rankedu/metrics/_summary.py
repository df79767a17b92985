"""From one value a query to means, by level and over all levels, and to what must be said about them."""

from __future__ import annotations

import math
import warnings
from typing import Any

from torch import Tensor

from rankedu.hierarchy import InvertedRelevanceWarning
from rankedu.metrics._formulas import is_graded
from rankedu.metrics._relevant import Bools
from rankedu.metrics.binary import UndefinedMetricWarning

__all__ = ["summary", "warn_inverted"]


def _mean(values: Tensor) -> tuple[float, int]:
    """Over the queries that have a value; the sum is exact, so their order does not matter."""
    defined = values[~values.isnan()]
    return (math.fsum(defined.tolist()) / len(defined) if len(defined) else math.nan), len(defined)


def summary(values: dict[str, Tensor], shard: tuple[int, int]) -> dict[str, Any]:
    """From one value a query to the result."""
    rows: list[dict[str, Any]] = []
    binary = {m: v for m, v in values.items() if not is_graded(m)}
    graded = {m: v for m, v in values.items() if is_graded(m)}
    for level in range(next(iter(binary.values())).shape[1] if binary else 0):
        rows.append({"level": level + 1, **_row({m: v[:, level] for m, v in binary.items()})})
    if graded:
        rows.append({"level": "all", **_row(graded)})
    if shard[1] == 1:
        _warn_left_out(rows)
    levels = {row["level"]: {k: v for k, v in row.items() if k != "level"} for row in rows}
    flat = {**levels.pop("all", {}), **(levels[max(levels)] if levels else {})}
    order = [*values, "queries", "left_out"]
    return {
        **{key: flat[key] for key in order},
        "levels": levels,
        "table": rows,
        "per_query": values,
        "shard": shard,
    }


def _row(values: dict[str, Tensor]) -> dict[str, Any]:
    means = {m: _mean(v) for m, v in values.items()}
    queries = next(iter(means.values()))[1]
    total = len(next(iter(values.values())))
    return {"queries": queries, "left_out": total - queries, **{m: mean for m, (mean, _) in means.items()}}


def _warn_left_out(rows: list[dict[str, Any]]) -> None:
    told = ", ".join(f"{row['left_out']} at level {row['level']}" for row in rows if row["left_out"])
    if told:
        warnings.warn(
            f"{told} of {rows[0]['queries'] + rows[0]['left_out']} queries have no relevant item in the gallery, and "
            "are left out (result['per_query'] has nan for them)",
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
