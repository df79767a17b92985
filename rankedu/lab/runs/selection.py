"""Which runs, and which of their metrics, a table is made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rankedu.lab.runs.parameters import did_you_mean
from rankedu.lab.runs.records import Record

__all__ = ["chosen", "metric_names", "plain", "select"]


def plain(value: Any) -> str:
    """A parameter's value as it is given on the command line."""
    if isinstance(value, list):
        return ",".join(map(plain, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def chosen(records: Iterable[Record], wanted: Mapping[str, Any]) -> list[Record]:
    """The runs whose parameters have some values, which may be given as texts."""
    return [
        record
        for record in records
        if all(name in record.parameters and _same(record.parameters[name], value) for name, value in wanted.items())
    ]


def _same(value: Any, wanted: Any) -> bool:
    """Whether two values are equal, or a text stands for the value."""
    if isinstance(wanted, str) and isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return float(wanted) == value
        except ValueError:
            return False
    return bool(value == wanted) or (isinstance(wanted, str) and plain(value).lower() == wanted.lower())


def select(records: Sequence[Record], lab: str | None = None, where: Mapping[str, Any] | None = None) -> list[Record]:
    """As :func:`chosen`, and of one lab; ValueError says what there is if no run is left."""
    labs = sorted({record.lab for record in records})
    if lab is not None and lab not in labs:
        raise ValueError(f"lab {lab!r} has no finished runs{did_you_mean(lab, labs)}; these have: {', '.join(labs)}")
    records = [record for record in records if lab in (None, record.lab)]
    for name, value in (where or {}).items():
        there = list(dict.fromkeys(plain(r.parameters[name]) for r in records if name in r.parameters))
        if not there:
            known = dict.fromkeys(parameter for record in records for parameter in record.parameters)
            raise ValueError(f"parameter {name!r} is unknown{did_you_mean(name, known)}; there are: {', '.join(known)}")
        records = chosen(records, {name: value})
        if not records:
            raise ValueError(f"no run has {name}={plain(value)}; there are: {', '.join(there)}")
    return records


def metric_names(records: Iterable[Record], wanted: Sequence[str] | str | None = None) -> list[str]:
    """The metrics that runs have, or those that are wanted, also as a text with commas between the names."""
    known = list(dict.fromkeys(name for record in records for name in record.metrics))
    if isinstance(wanted, str):
        wanted = _split(wanted, known)
    for name in wanted or ():
        if name not in known:
            raise ValueError(f"metric {name!r} is unknown{did_you_mean(name, known)}; there are: {'; '.join(known)}")
    return known if wanted is None else list(wanted)


def _split(text: str, known: Sequence[str]) -> list[str]:
    """Split at commas, but for those within a known name."""
    names: list[str] = []
    rest = text
    while rest:
        starts = [name for name in known if rest == name or rest.startswith(f"{name},")]
        names.append(max(starts, key=len) if starts else rest.partition(",")[0])
        rest = rest[len(names[-1]) + 1 :]
    return names
