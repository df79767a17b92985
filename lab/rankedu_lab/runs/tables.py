"""Tables of finished runs in Markdown."""

import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankedu_lab.runs.records import Record, collect_runs
from rankedu_lab.runs.selection import metric_names, of_one_code, plain, select
from rankedu_lab.runs.summaries import Row, best, summarise

#: Columns where none are asked for.
COLUMNS = 6

#: How a metric is called of which less is better.
_LESS = re.compile(r"seconds|share|loss|error|memory|severity", re.IGNORECASE)


@dataclass(frozen=True)
class Tables:
    """What :func:`tabulate` made, and of what."""

    text: str  #: the tables, one a lab
    records: list[Record]  #: the runs in them
    skipped: list[str]  #: which run is unfinished, damaged or of other code, and what is wrong with it


def tabulate(
    folders: Sequence[str | os.PathLike[str]],
    *,
    lab: str | None = None,
    by: Sequence[str] | None = None,
    metrics: Sequence[str] | str | None = None,
    where: Mapping[str, Any] | None = None,
) -> Tables:
    """Make the tables of the runs in some folders or tables, one a lab.

    The other arguments are those of ``select``, :func:`summarise` and ``metric_names``, by default the first
    few metrics of each lab. ValueError if nothing is there, or nothing that is asked for.
    """
    records, skipped = collect_runs(*folders)
    places = ", ".join(map(str, folders))
    if not records:
        also = f"; {len(skipped)} skipped, the first: {skipped[0]}" if skipped else ""
        raise ValueError(f"runs must hold a finished run, found none in {places} (make some: rankedu run LAB){also}")
    records, others = of_one_code(select(records, lab, where))
    skipped += others
    labs = list(dict.fromkeys(record.lab for record in records))
    parts = []
    for name in labs:
        runs = [record for record in records if record.lab == name]
        columns = metric_names(runs, metrics)[: None if metrics else COLUMNS]
        parts.append(f"### {name}\n\n{render(summarise(runs, by), columns)}\n")
    return Tables("\n".join(parts), records, skipped)


def render(rows: Sequence[Row], metrics: Sequence[str]) -> str:
    """Write rows as a table, the best of the first metric first; what is not worse is bold."""
    less = bool(metrics and _LESS.search(metrics[0]))

    def rank(row: Row) -> tuple[bool, float]:
        mean = row.value(metrics[0]).mean if metrics else math.nan
        return mean != mean, mean if less else -mean

    rows = sorted(rows, key=rank)
    names = list(rows[0].parameters) if rows else []
    columns = {metric: [row.value(metric) for row in rows] for metric in metrics}
    bold = {metric: best(values, less=bool(_LESS.search(metric))) for metric, values in columns.items()}
    lines = [[*names, "runs", *metrics, "s a run", "device"]]
    lines.append([*["---"] * len(names), *["---:"] * (len(metrics) + 2), "---"])
    for place, row in enumerate(rows):
        cells = [f"**{v[place].text()}**" if place in bold[m] else v[place].text() for m, v in columns.items()]
        setting = [plain(value) for value in row.parameters.values()]
        lines.append([*setting, str(len(row.records)), *cells, row.seconds().text(digits=0), row.devices()])
    return "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines)
