"""Runs of one setting brought together: mean and standard deviation over the seeds; settings are never averaged."""

import json
import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rankedu_lab.runs.parameters import check_known
from rankedu_lab.runs.records import Record
from rankedu_lab.runs.selection import plain


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
        spread = "" if math.isnan(self.sd) else f" ± {scale * self.sd:.{digits}f}"
        lost = f" ({self.n} of {self.n + self.lost} runs)" if self.lost else ""
        return f"{scale * self.mean:.{digits}f}{spread}{lost}"


@dataclass(frozen=True)
class Row:
    """The runs of one setting, which differ in their seed alone."""

    parameters: dict[str, Any]  #: those by which the rows are told apart
    records: list[Record]  #: in the order of their seeds

    def value(self, metric: str) -> Value:
        """Mean and standard deviation of a metric."""
        return value_of([record.metrics.get(metric) for record in self.records])

    def seconds(self) -> Value:
        """Mean and standard deviation of what a run took."""
        return value_of([record.seconds for record in self.records])

    def devices(self) -> str:
        """What the runs were made on."""
        return " / ".join(sorted({str(record.machine.get("device", "unknown")) for record in self.records}))


def value_of(values: Iterable[float | None]) -> Value:
    """Mean and standard deviation of numbers; None is a number that was lost."""
    values = list(values)
    numbers = [value for value in values if value is not None]
    mean = statistics.fmean(numbers) if numbers else math.nan
    sd = statistics.stdev(numbers) if len(numbers) > 1 else math.nan
    return Value(mean, sd, len(numbers), len(values) - len(numbers))


def summarise(records: Sequence[Record], by: Sequence[str] | None = None) -> list[Row]:
    """Group the runs of a lab by some parameters, by default all in which they differ but for the seed.

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
                f"runs with {setting or 'nothing told apart'} differ in {name!r} ({values}) and are not averaged: "
                f"tell rows apart by it (--by {','.join([*names, name])}), or choose (--where {name}=…)"
            )
    return rows


def varying(records: Sequence[Record]) -> list[str]:
    """The parameters in which runs differ, but for the seed; in the order of the lab."""
    names = dict.fromkeys(name for record in records for name in record.parameters if name != "seed")
    return [name for name in names if len({_key(record.parameters.get(name)) for record in records}) > 1]


def best(values: Sequence[Value | None], *, less: bool = False) -> set[int]:
    """Which of two or more values are not worse than the best by more than a standard deviation of either."""
    there = {place: value for place, value in enumerate(values) if value is not None and value.n}
    if len(there) < 2:
        return set()
    top = (min if less else max)(there.values(), key=lambda value: value.mean)

    def spread(value: Value) -> float:
        return 0.0 if math.isnan(value.sd) else value.sd

    return {place for place, v in there.items() if abs(v.mean - top.mean) <= max(spread(v), spread(top))}


def _key(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
