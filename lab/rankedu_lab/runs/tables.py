"""Tables of finished runs: mean and standard deviation over the seeds; different settings are never averaged."""

import json
import math
import os
import re
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankedu_lab.runs.parameters import check_known
from rankedu_lab.runs.records import Record, chosen, collect_runs, plain

#: Columns where none are asked for.
COLUMNS = 6
#: The names of metrics that are better if smaller.
_LESS = re.compile(r"seconds|share|loss|error|memory|severity", re.IGNORECASE)


@dataclass(frozen=True)
class Value:
    """A metric over the seeds of a setting."""

    mean: float  #: nan for no number
    sd: float  #: of a sample (n − 1); nan for a single number
    n: int  #: numbers that were averaged
    lost: int = 0  #: runs whose number was not finite, or that did not measure it

    def text(self, scale: float = 1.0, digits: int = 3) -> str:
        """Write as ``0.364 ± 0.005``; times ``scale``; a dash for none."""
        if not self.n:
            return "—"
        deviation = "" if math.isnan(self.sd) else f" ± {scale * self.sd:.{digits}f}"
        lost = f" ({self.n} of {self.n + self.lost} runs)" if self.lost else ""
        return f"{scale * self.mean:.{digits}f}{deviation}{lost}"


def value_of(values: Iterable[float | None]) -> Value:
    """Return the mean and the standard deviation of numbers; None is a number that was lost."""
    values = list(values)
    numbers = [value for value in values if value is not None]
    mean = statistics.fmean(numbers) if numbers else math.nan
    sd = statistics.stdev(numbers) if len(numbers) > 1 else math.nan
    return Value(mean, sd, len(numbers), len(values) - len(numbers))


def best(values: Sequence[Value | None], *, less: bool = False) -> set[int]:
    """Return which of two or more values are within a standard deviation of the best, the larger deviation of both."""
    there = {place: value for place, value in enumerate(values) if value is not None and value.n}
    if len(there) < 2:
        return set()
    top = (min if less else max)(there.values(), key=lambda value: value.mean)
    return {
        place
        for place, value in there.items()
        if abs(value.mean - top.mean) <= max(0.0 if math.isnan(one.sd) else one.sd for one in (value, top))
    }


@dataclass(frozen=True)
class Row:
    """The runs of one setting, which differ only in their seed."""

    parameters: dict[str, Any]  #: those that distinguish the rows
    records: list[Record]  #: in the order of their seeds

    def value(self, metric: str) -> Value:
        """Return the mean and the standard deviation of a metric."""
        return value_of(record.metrics.get(metric) for record in self.records)


def summarise(records: Sequence[Record], by: Sequence[str] | None = None) -> list[Row]:
    """Group the runs of a lab by some parameters, by default by all that differ except the seed.

    Of runs that agree in all parameters the last counts. ValueError if runs of a row differ in more than their seed.
    """
    latest = {_key(record.parameters): record for record in sorted(records, key=lambda record: record.started)}
    runs = sorted(latest.values(), key=lambda record: (record.parameters.get("seed", 0), record.run))
    for name in by or ():
        check_known("parameter", name, parameters_of(runs))
    names = varying(runs) if by is None else list(by)
    groups: dict[str, Row] = {}
    for record in runs:
        setting = {name: record.parameters.get(name) for name in names}
        groups.setdefault(_key(setting), Row(setting, [])).records.append(record)
    for row in groups.values():
        for name in varying(row.records):
            values = ", ".join(sorted({plain(record.parameters.get(name)) for record in row.records}))
            text = ", ".join(f"{name}={plain(value)}" for name, value in row.parameters.items())
            raise ValueError(
                f"runs with {text or 'any setting'} differ in {name!r} ({values}) and are not averaged: "
                f"add it to the rows (--by {','.join([*names, name])}), or choose a value (--where {name}=…)"
            )
    return list(groups.values())


def parameters_of(records: Iterable[Record]) -> list[str]:
    """List the parameters that some runs have, in the order of the lab."""
    return list(dict.fromkeys(name for record in records for name in record.parameters))


def varying(records: Sequence[Record]) -> list[str]:
    """List the parameters in which runs differ, except the seed, in the order of the lab."""
    names = [name for name in parameters_of(records) if name != "seed"]
    return [name for name in names if len({_key(record.parameters.get(name)) for record in records}) > 1]


def _key(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


@dataclass(frozen=True)
class Tables:
    """The tables that :func:`tabulate` made, and their runs."""

    text: str  #: the tables, one per lab
    records: list[Record]  #: the runs in them
    skipped: list[str]  #: a line for each run that is unfinished or damaged, and for a lab whose code has changed


def tabulate(
    folders: Sequence[str | os.PathLike[str]],
    *,
    lab: str | None = None,
    by: Sequence[str] | None = None,
    metrics: str | None = None,
    where: Mapping[str, Any] | None = None,
) -> Tables:
    """Make the tables of the runs in some folders or tables, one per lab.

    `where` chooses runs by their parameters, `by` is that of :func:`summarise`, and `metrics` are names with commas
    between them, by default the first few of each lab. ValueError if no run is there, or none that is asked for.
    """
    records, skipped = collect_runs(*folders)
    if not records:
        also = f"; {len(skipped)} skipped, the first: {skipped[0]}" if skipped else ""
        places = ", ".join(map(str, folders))
        raise ValueError(f"runs must hold a finished run, found none in {places} (make some: rankedu run LAB){also}")
    records = select(records, lab, where or {})
    parts = []
    for name in dict.fromkeys(record.lab for record in records):
        runs = [record for record in records if record.lab == name]
        codes = {record.evidence["code"] for record in runs if "code" in record.evidence}
        if len(codes) > 1:
            skipped.append(f"nothing of {name}, but its runs were made by {len(codes)} versions of the code")
        columns = metric_names(runs, metrics)[: None if metrics else COLUMNS]
        parts.append(f"### {name}\n\n{render(summarise(runs, by), columns)}\n")
    return Tables("\n".join(parts), records, skipped)


def select(records: Sequence[Record], lab: str | None, where: Mapping[str, Any]) -> list[Record]:
    """Choose the runs of one lab and with some parameters; ValueError lists the values there are if no run is left."""
    if lab is not None:
        check_known("lab", lab, sorted({record.lab for record in records}))
    left = [record for record in records if lab in (None, record.lab)]
    for name, value in where.items():
        check_known("parameter", name, parameters_of(left))
        there = dict.fromkeys(plain(r.parameters[name]) for r in left if name in r.parameters)
        left = chosen(left, {name: value})
        if not left:
            raise ValueError(f"no run has {name}={plain(value)}; there are: {', '.join(there)}")
    return left


def metric_names(records: Iterable[Record], wanted: str | None = None) -> list[str]:
    """List the metrics of some runs, or those that are wanted; a name of a metric may itself have a comma."""
    known = list(dict.fromkeys(name for record in records for name in record.metrics))
    if wanted is None:
        return known
    names, rest = [], wanted
    while rest:
        starts = [name for name in known if rest == name or rest.startswith(f"{name},")]
        names.append(max(starts, key=len) if starts else rest.partition(",")[0])
        check_known("metric", names[-1], known)
        rest = rest[len(names[-1]) + 1 :]
    return names


def render(rows: Sequence[Row], metrics: Sequence[str]) -> str:
    """Write rows as a Markdown table, the best of the first metric first; the best of each column are bold."""
    from tabulate import tabulate as laid_out

    less = {metric: bool(_LESS.search(metric)) for metric in metrics}
    for metric in metrics[:1]:
        means = {id(row): row.value(metric).mean for row in rows}
        rows = sorted(rows, key=lambda row: (math.isnan(means[id(row)]), means[id(row)] * (1 if less[metric] else -1)))
    table = {name: [plain(row.parameters[name]).replace("|", r"\|") for row in rows] for name in rows[0].parameters}
    table["runs"] = [str(len(row.records)) for row in rows]
    for metric in metrics:
        values = [row.value(metric) for row in rows]
        bold = best(values, less=less[metric])
        table[metric] = [f"**{v.text()}**" if place in bold else v.text() for place, v in enumerate(values)]
    table["s a run"] = [value_of(record.seconds for record in row.records).text(digits=0) for row in rows]
    table["device"] = [
        " / ".join(sorted({str(record.machine.get("device", "unknown")) for record in row.records})) for row in rows
    ]
    sides = ["left"] * len(rows[0].parameters) + ["right"] * (len(metrics) + 2) + ["left"]
    return laid_out(table, headers="keys", tablefmt="pipe", disable_numparse=True, colalign=sides)
