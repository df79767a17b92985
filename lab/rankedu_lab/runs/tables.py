"""Tables of finished runs: mean and standard deviation over the seeds; different settings are never averaged."""

import json
import math
import os
import re
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankedu.checks import did_you_mean
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


@dataclass(frozen=True)
class Row:
    """The runs of one setting, which differ only in their seed."""

    parameters: dict[str, Any]  #: those that distinguish the rows
    records: list[Record]  #: in the order of their seeds

    def value(self, metric: str) -> Value:
        """Return the mean and the standard deviation of a metric."""
        return value_of([record.metrics.get(metric) for record in self.records])

    def seconds(self) -> Value:
        """Return the mean and the standard deviation of a run's time."""
        return value_of([record.seconds for record in self.records])

    def devices(self) -> str:
        """Return the devices of the runs."""
        return " / ".join(sorted({str(record.machine.get("device", "unknown")) for record in self.records}))


def value_of(values: Iterable[float | None]) -> Value:
    """Return the mean and the standard deviation of numbers; None is a number that was lost."""
    values = list(values)
    numbers = [value for value in values if value is not None]
    mean = statistics.fmean(numbers) if numbers else math.nan
    sd = statistics.stdev(numbers) if len(numbers) > 1 else math.nan
    return Value(mean, sd, len(numbers), len(values) - len(numbers))


def summarise(records: Sequence[Record], by: Sequence[str] | None = None) -> list[Row]:
    """Group the runs of a lab by some parameters, by default by all that differ except the seed.

    Of runs that agree in all parameters the last counts. ValueError if runs of a row differ in more than their seed.
    """
    latest = {_key(record.parameters): record for record in sorted(records, key=lambda record: record.started)}
    runs = sorted(latest.values(), key=lambda record: (record.parameters.get("seed", 0), record.run))
    known = dict.fromkeys(name for record in runs for name in record.parameters)
    for name in by or ():
        check_known("parameter", name, known)
    names = varying(runs) if by is None else list(by)
    groups: dict[str, list[Record]] = {}
    for record in runs:
        groups.setdefault(_key({name: record.parameters.get(name) for name in names}), []).append(record)
    rows = [Row({name: group[0].parameters.get(name) for name in names}, group) for group in groups.values()]
    for row in rows:
        for name in varying(row.records):
            values = ", ".join(sorted({plain(record.parameters.get(name)) for record in row.records}))
            setting = ", ".join(f"{name}={plain(value)}" for name, value in row.parameters.items())
            raise ValueError(
                f"runs with {setting or 'any setting'} differ in {name!r} ({values}) and are not averaged: "
                f"add it to the rows (--by {','.join([*names, name])}), or choose a value (--where {name}=…)"
            )
    return rows


def varying(records: Sequence[Record]) -> list[str]:
    """List the parameters in which runs differ, except the seed, in the order of the lab."""
    names = dict.fromkeys(name for record in records for name in record.parameters if name != "seed")
    return [name for name in names if len({_key(record.parameters.get(name)) for record in records}) > 1]


def _key(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def best(values: Sequence[Value | None], *, less: bool = False) -> set[int]:
    """Return which of two or more values are within a standard deviation of the best, the larger deviation of both."""
    there = {place: value for place, value in enumerate(values) if value is not None and value.n}
    if len(there) < 2:
        return set()
    top = (min if less else max)(there.values(), key=lambda value: value.mean)
    sd = {place: 0.0 if math.isnan(value.sd) else value.sd for place, value in there.items()}
    of_top = 0.0 if math.isnan(top.sd) else top.sd
    return {place for place, value in there.items() if abs(value.mean - top.mean) <= max(sd[place], of_top)}


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
    records = select(records, lab, where)
    parts = []
    for name in dict.fromkeys(record.lab for record in records):
        runs = [record for record in records if record.lab == name]
        codes = {record.evidence["code"] for record in runs if "code" in record.evidence}
        if len(codes) > 1:
            skipped.append(f"nothing of {name}, but its runs were made by {len(codes)} versions of the code")
        columns = metric_names(runs, metrics)[: None if metrics else COLUMNS]
        parts.append(f"### {name}\n\n{render(summarise(runs, by), columns)}\n")
    return Tables("\n".join(parts), records, skipped)


def select(records: Sequence[Record], lab: str | None = None, where: Mapping[str, Any] | None = None) -> list[Record]:
    """Choose the runs of one lab and with some parameters; ValueError lists the values there are if no run is left."""
    labs = sorted({record.lab for record in records})
    if lab is not None and lab not in labs:
        raise ValueError(f"lab {lab!r} has no finished runs{did_you_mean(lab, labs)}; these have: {', '.join(labs)}")
    records = [record for record in records if lab in (None, record.lab)]
    for name, value in (where or {}).items():
        check_known("parameter", name, dict.fromkeys(known for record in records for known in record.parameters))
        there = dict.fromkeys(plain(r.parameters[name]) for r in records if name in r.parameters)
        records = chosen(records, {name: value})
        if not records:
            raise ValueError(f"no run has {name}={plain(value)}; there are: {', '.join(there)}")
    return records


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
