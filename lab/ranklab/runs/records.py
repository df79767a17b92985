"""Finished runs as compact records: what a table needs, and nothing of the machine's folders."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from ranklab.runs.results import json_text, load_result, write_json

__all__ = ["IGNORED_PARAMETERS", "Record", "collect_runs", "flatten", "keep_runs"]

#: Parameters that say where a run found things or how it was driven, and change no number of it.
IGNORED_PARAMETERS = ("data_root", "workers", "device", "pictures", "checkpoint_every")
#: What is kept of the machine.
MACHINE: tuple[str, ...] = ("device", "threads", "peak_memory_mib", "peak_gpu_memory_mib")


@dataclass(frozen=True)
class Record:
    """One finished run."""

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
    evidence: dict[str, Any] = field(default_factory=dict)  #: hashes of code and start; per query what was found


def collect_runs(*folders: str | os.PathLike[str]) -> tuple[list[Record], list[str]]:
    """Read every finished run below some folders, each once, in the order of lab and hash.

    A folder holds runs, ``<lab>/<hash>/``, or records that were kept, ``<lab>/<hash>.json``. Beside the records
    there is a line for each run that is unfinished or damaged: where, and why.
    """
    records: dict[tuple[str, str], Record] = {}
    skipped = []
    for folder in map(Path, folders):
        if not folder.is_dir():
            raise FileNotFoundError(
                f"runs must be a folder of runs, there is none at {folder} (make some: rankedu run)"
            )
        for path in sorted(folder.glob("*/*")):
            if not (path.suffix == ".json" or any((path / name).exists() for name in ("manifest.json", "result.json"))):
                continue  # no run
            try:
                record = _of_folder(path) if path.is_dir() else _of_file(path)
            except (OSError, ValueError, KeyError, TypeError) as error:
                skipped.append(f"{path}: {_reason(error)}")
            else:
                records.setdefault((record.lab, record.run), record)
    return [records[key] for key in sorted(records)], skipped


def _of_folder(folder: Path) -> Record:
    """Read what the runner left."""
    manifest = _object(folder / "manifest.json")
    if manifest["status"] != "completed":
        raise ValueError(": ".join(filter(None, (manifest["status"], manifest.get("error")))))
    result = load_result(folder / "result.json")
    parameters = {
        name: _last_part(value) for name, value in manifest["parameters"].items() if name not in IGNORED_PARAMETERS
    }
    machine = {name: manifest[name] for name in MACHINE if name in manifest}
    return Record(
        lab=folder.parent.name,
        run=folder.name,
        parameters=parameters,
        metrics=flatten(result["metrics"]),
        machine=machine,
        versions=manifest["versions"],
        started=manifest["started"],
        evidence=result.get("evidence", {}),
        **{name: manifest.get(name) for name in ("preset", "seconds", "git")},
    )


def _of_file(path: Path) -> Record:
    """Read what :func:`keep_runs` wrote."""
    record = Record(**_object(path))
    if (record.lab, record.run) != (path.parent.name, path.stem):
        raise ValueError(f"is of {record.lab}/{record.run}, another run than its name says")
    if not (isinstance(record.parameters, dict) and isinstance(record.metrics, dict)):
        raise ValueError("parameters and metrics must be objects")
    return record


def _object(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise ValueError(f"{path.name} is no JSON, line {error.lineno}: {error.msg}") from None
    if not isinstance(content, dict):
        raise ValueError(f"{path.name} is no object but {type(content).__name__}")
    return content


def _reason(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return f"no {Path(error.filename).name}"
    return f"no {error}" if isinstance(error, KeyError) else str(error)


def _last_part(value: Any) -> Any:
    """A parameter's value, of a path its last part alone."""
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


def keep_runs(records: Iterable[Record], folder: str | os.PathLike[str]) -> list[Path]:
    """Write records to ``<folder>/<lab>/<hash>.json``, but for those that stand there; what was written."""
    written = []
    for record in records:
        path = Path(folder) / record.lab / f"{record.run}.json"
        content = {name: value for name, value in asdict(record).items() if value or name != "evidence"}
        if not path.exists() or path.read_text(encoding="utf-8") != json_text(content):
            write_json(path, content)
            written.append(path)
    return written
