"""Settings of a sweep against each other: every seed, and their mean and standard deviation."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.figure import Figure

from rankbook.kit import style
from ranklab.runs.selection import plain
from ranklab.runs.summaries import Row


def compare_settings(rows: Sequence[Row], metric: str) -> Figure:
    """Draw one line for each setting: its seeds as dots, their mean and standard deviation as a bar."""
    measured = sorted((row for row in rows if row.value(metric).n), key=lambda row: row.value(metric).mean)
    if not measured:
        raise ValueError(f"metric {metric!r} must be measured by a run, got none that has a number for it")
    names = [", ".join(map(plain, row.parameters.values())) or "all runs" for row in measured]
    made, axes = style.figure(height=max(2.0, 0.9 + 0.32 * len(measured)))
    with style.style():
        for place, row in enumerate(measured):
            value = row.value(metric)
            spread = 0.0 if math.isnan(value.sd) else value.sd
            axes.errorbar(value.mean, place, xerr=spread, fmt="o", color=style.BLUE, capsize=3, markersize=7)
            seeds = [number for record in row.records if (number := record.metrics.get(metric)) is not None]
            axes.plot(seeds, [place] * len(seeds), "|", color=style.BLACK, markersize=10, markeredgewidth=1)
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(-0.6, len(names) - 0.4)
        axes.set_xlabel(f"{metric} (mean ± standard deviation; a stroke is a seed)")
        axes.set_ylabel(", ".join(measured[0].parameters))
        axes.grid(axis="x", alpha=0.3)
    facts = "; ".join(
        f"{name}: {row.value(metric).text()}" for name, row in zip(names[::-1], measured[::-1], strict=True)
    )
    return style.describe(made, f"{metric} of {len(measured)} settings, best first where more is better. {facts}.")
