"""Which runs, and which of their metrics, a table is made of."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rankedu.checks import did_you_mean
from rankedu_lab.runs.parameters import check_known
from rankedu_lab.runs.records import Record


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
        check_known("parameter", name, dict.fromkeys(known for record in records for known in record.parameters))
        there = dict.fromkeys(plain(r.parameters[name]) for r in records if name in r.parameters)
        records = chosen(records, {name: value})
        if not records:
            raise ValueError(f"no run has {name}={plain(value)}; there are: {', '.join(there)}")
    return records


def admit(records: Iterable[Record], **wanted: Any) -> tuple[list[Record], list[str]]:
    """The records of one code, start, split, salt, …; of each other a line that says in what it is another.

    What is wanted is the record's evidence of that name, else its parameter.
    """
    kept, left_out = [], []
    for record in records:
        found = {name: record.evidence.get(name, record.parameters.get(name)) for name in wanted}
        other = [f"{name} {found[name]!r} and not {value!r}" for name, value in wanted.items() if found[name] != value]
        if other:
            left_out.append(f"{record.lab}/{record.run}: has {', '.join(other)}")
        else:
            kept.append(record)
    return kept, left_out


def of_one_code(records: Sequence[Record]) -> tuple[list[Record], list[str]]:
    """Of each lab the records of the code that ran last; of each other a line. Old records know no code, and stay."""
    kept: list[Record] = []
    left_out: list[str] = []
    for lab in dict.fromkeys(record.lab for record in records):
        of_lab = [record for record in records if record.lab == lab]
        knowing = [record for record in of_lab if "code" in record.evidence]
        last = max(knowing, key=lambda record: record.started).evidence["code"] if knowing else None
        admitted, others = admit(knowing, code=last)
        kept += [record for record in of_lab if record in admitted or "code" not in record.evidence]
        left_out += others
    return kept, left_out


def metric_names(records: Iterable[Record], wanted: Sequence[str] | str | None = None) -> list[str]:
    """The metrics that runs have, or those that are wanted, also as a text with commas between the names."""
    known = list(dict.fromkeys(name for record in records for name in record.metrics))
    if isinstance(wanted, str):
        wanted = _split(wanted, known)
    for name in wanted or ():
        check_known("metric", name, known)
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
