"""The metrics of a dump, as a table and as JSON."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

from rankedu import __version__

__all__ = ["Report"]


@dataclass(frozen=True)
class Report:
    """What :func:`evaluate` found."""

    result: dict[str, Any]  #: as :func:`rankedu.metrics.evaluate_retrieval` returns it
    metrics: dict[str, str]  #: from the names as they were asked for to those of the result
    levels: tuple[str, ...]  #: names of the levels, from root to leaf; of a table without a head 1, 2, …
    inputs: dict[str, Any]  #: files, shapes and settings
    notes: tuple[str, ...]  #: what must be known to read the numbers, and what was assumed

    def table(self) -> str:
        """A row for each level, and one for all of them together; a dash where a metric is not of that row."""
        head = ["level", "queries", "left out", *self.metrics]
        rows = [
            [self._level(row["level"]), str(row["queries"]), str(row["left_out"])]
            + [f"{row[name]:.4f}" if name in row else "—" for name in self.metrics.values()]
            for row in self.result["table"]
        ]
        widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
        lines = [
            "  ".join([cells[0].ljust(widths[0]), *map(str.rjust, cells[1:], widths[1:])]) for cells in (head, *rows)
        ]
        return "\n".join(lines)

    def record(self) -> dict[str, Any]:
        """What JSON can hold: the numbers, None for nan, and all that they depend on."""
        wanted = ("queries", "left_out", *self.metrics.values())
        rows = [{k: _plain(v) for k, v in row.items() if k != "level"} for row in self.result["table"]]
        names = [self._level(row["level"]) for row in self.result["table"]]
        return {
            **self.inputs,
            "metrics": {name: _plain(self.result[name]) for name in wanted},
            "table": [{"level": name, **row} for name, row in zip(names, rows, strict=True)],
            "notes": list(self.notes),
            "rankedu": __version__,
        }

    def json(self) -> str:
        """Write :meth:`record` as JSON."""
        return json.dumps(self.record(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    def _level(self, level: Any) -> str:
        return self.levels[level - 1] if isinstance(level, int) else str(level)


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value
