"""Finished runs as records, the lines of a table; pandas reads such a table with ``read_json(table, lines=True)``."""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from rankedu.extras import needed
from rankedu.files import written
from rankedu_lab.runs.results import load_result

#: Parameters that say where a run found its data or how it was driven, and change no number.
IGNORED_PARAMETERS = ("data_root", "workers", "device", "pictures", "checkpoint_every")
#: What is kept of the machine.
MACHINE = ("device", "threads", "peak_memory_mib", "peak_gpu_memory_mib")
#: The ending of a table's name.
TABLE = ".jsonl"


@dataclass(frozen=True)
class Record:
    """One finished run; a line of a table holds these fields, `evidence` only where there is any."""

    lab: str
    run: str  #: the hash that names the run's folder
    preset: str | None
    parameters: dict[str, Any]  #: those that decide about the numbers; of a path, the last part
    metrics: dict[str, float | None]  #: nested ones by a path such as "lstm/error"; None where it was not finite
    seconds: float | None  #: of the whole run
    machine: dict[str, Any]  #: `MACHINE`, as far as it is known
    versions: dict[str, str]
    git: dict[str, Any] | None  #: "revision", and whether files were "modified"
    started: str  #: ISO 8601
    evidence: dict[str, Any] = field(default_factory=dict)  #: hashes of code and first weights, and the loss

    @property
    def key(self) -> tuple[str, str]:
        """Lab and hash, of which a table has one line."""
        return self.lab, self.run


def collect_runs(*places: str | os.PathLike[str]) -> tuple[list[Record], list[str]]:
    """Read every finished run of some places, each once, in the order of lab and hash.

    A place is a table, a file of JSON lines that :func:`keep_runs` wrote, or a folder of runs, ``<lab>/<hash>/``.
    The second value has a line for each run that is unfinished or damaged: where, and why. A damaged line of a table is
    a ValueError.
    """
    records: dict[tuple[str, str], Record] = {}
    skipped = []
    for place in map(Path, places):
        if not place.exists():
            raise FileNotFoundError(
                f"runs must be a folder of runs, or a table of them, there is none at {place} (make some: rankedu run)"
            )
        if place.is_file():
            found = read_table(place)
        else:
            found = []
            for folder in sorted({path.parent for path in place.glob("*/*/*.json")}):
                try:
                    found.append(_of_folder(folder))
                except (OSError, ValueError, KeyError, TypeError) as error:
                    skipped.append(f"{folder}: {error}")
        for record in found:
            records.setdefault(record.key, record)
    return [records[key] for key in sorted(records)], skipped


def _of_folder(folder: Path) -> Record:
    """Read what the runner left."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    if manifest["status"] != "completed":
        raise ValueError(": ".join(filter(None, (manifest["status"], manifest.get("error")))))
    result = load_result(folder / "result.json")
    return Record(
        lab=folder.parent.name,
        run=folder.name,
        parameters={k: _last_part(v) for k, v in manifest["parameters"].items() if k not in IGNORED_PARAMETERS},
        metrics=flatten(result["metrics"]),
        machine={name: manifest[name] for name in MACHINE if name in manifest},
        versions=manifest["versions"],
        started=manifest["started"],
        evidence=result.get("evidence", {}),
        **{name: manifest.get(name) for name in ("preset", "seconds", "git")},
    )


def _last_part(value: Any) -> Any:
    """Return a parameter's value; of a path only the last part."""
    if isinstance(value, str) and (PurePosixPath(value).is_absolute() or PureWindowsPath(value).is_absolute()):
        return Path(value).name
    return value


def flatten(metrics: Mapping[str, Any], prefix: str = "") -> dict[str, float | None]:
    """Bring nested metrics to one level.

    >>> flatten({"R@1": 0.5, "fine": {"AP": 0.25}})
    {'R@1': 0.5, 'fine/AP': 0.25}
    """
    flat: dict[str, float | None] = {}
    for name, value in metrics.items():
        flat |= flatten(value, f"{prefix}{name}/") if isinstance(value, Mapping) else {f"{prefix}{name}": value}
    return flat


def read_table(table: Path) -> list[Record]:
    """Read the lines of a table; ValueError names a damaged one."""
    records = []
    for number, line in enumerate(table.read_text(encoding="utf-8").removesuffix("\n").split("\n"), 1):
        try:
            records.append(Record(**json.loads(line)))
        except (ValueError, TypeError) as error:
            raise ValueError(f"{table}, line {number} is no record: {error} (fix or remove the line)") from None
    return records


def keep_runs(records: Iterable[Record], table: str | os.PathLike[str]) -> list[Record]:
    """Write records to a table, each as a line that replaces the one of the same lab and hash; return the new ones.

    The lines are in the order of lab and hash. The table is written whole or not at all, under a lock: where two
    processes keep runs at a time, none is lost. ValueError for another ending, or if a line of the table is damaged.
    """
    table = Path(table)
    if table.suffix != TABLE:
        raise ValueError(f"table must be a file that ends in {TABLE}, got {table}")
    lock = table.parent / ".locks" / f"{table.name}.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    with needed("filelock", "tables are kept under a lock").FileLock(lock, poll_interval=0.1):
        kept = {record.key: record for record in (read_table(table) if table.exists() else [])}
        changed = [record for record in records if kept.get(record.key) != record]
        if changed:
            kept |= {record.key: record for record in changed}
            with written(table) as part:
                part.write_bytes(b"".join(_line(kept[key]) for key in sorted(kept)))
    return changed


def _line(record: Record) -> bytes:
    content = {name: value for name, value in asdict(record).items() if value or name != "evidence"}
    return json.dumps(content, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def plain(value: Any) -> str:
    """Write a parameter's value as it is given on the command line."""
    if isinstance(value, list):
        return ",".join(map(plain, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def chosen(records: Iterable[Record], wanted: Mapping[str, Any]) -> list[Record]:
    """Return the runs whose parameters have some values, which may be given as texts."""
    named = [record for record in records if wanted.keys() <= record.parameters.keys()]
    return [r for r in named if all(_same(r.parameters[name], value) for name, value in wanted.items())]


def _same(value: Any, wanted: Any) -> bool:
    """Return whether two values are equal, or a text stands for the value."""
    if isinstance(wanted, str) and isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return float(wanted) == value
        except ValueError:
            return False
    return bool(value == wanted) or (isinstance(wanted, str) and plain(value).lower() == wanted.lower())
