"""Finished runs as a table of pandas with one row per run, read from folders of runs and from files of JSON lines."""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import pandas as pd

from rankedu.extras import needed
from rankedu.files import written
from rankedu_lab.runs.results import flatten, load_result

__all__ = ["collect_runs", "keep_runs"]

#: Parameters that say where a run found its data or how it was driven, and change no number.
IGNORED_PARAMETERS = ("data_root", "workers", "device", "pictures", "checkpoint_every")
#: What is kept of the machine.
MACHINE = ("device", "threads", "peak_memory_mib", "peak_gpu_memory_mib")
#: The fields of a run, which `lab/records/README.md` explains; `evidence` is written only where there is any.
FIELDS = ("lab", "run", "preset", "parameters", "metrics", "seconds", "machine", "versions", "git", "started")
#: The ending of a table's name.
TABLE = ".jsonl"


def collect_runs(*places: str | os.PathLike[str]) -> tuple[pd.DataFrame, list[str]]:
    """Read every finished run of some places, each once, in the order of lab and hash.

    A place is a table, a file of JSON lines that :func:`keep_runs` wrote, or a folder of runs, ``<lab>/<hash>/``.

    Returns
    -------
    runs : DataFrame
        One row per run, with the columns of ``FIELDS`` and ``evidence``; parameters and metrics are mappings.
    skipped : list of str
        A line for each run that is unfinished or damaged: where, and why.

    Raises
    ------
    FileNotFoundError
        If a place does not exist.
    ValueError
        If a line of a table is damaged.
    """
    found: list[dict[str, Any]] = []
    skipped = []
    for place in map(Path, places):
        if not place.exists():
            raise FileNotFoundError(
                f"runs must be a folder of runs, or a table of them, there is none at {place} (make some: rankedu run)"
            )
        if place.is_file():
            found += _read_table(place)
            continue
        for folder in sorted({path.parent for path in place.glob("*/*/*.json")}):
            try:
                found.append(_of_folder(folder))
            except (OSError, ValueError, KeyError, TypeError) as error:
                skipped.append(f"{folder}: {error}")
    runs = pd.DataFrame(found, columns=[*FIELDS, "evidence"], dtype=object).drop_duplicates(["lab", "run"])
    return runs.sort_values(["lab", "run"], ignore_index=True), skipped


def _of_folder(folder: Path) -> dict[str, Any]:
    """Read what the runner left; of a parameter that is a path only the last part."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    if manifest["status"] != "completed":
        raise ValueError(": ".join(filter(None, (manifest["status"], manifest.get("error")))))
    result = load_result(folder / "result.json")
    return {
        "lab": folder.parent.name,
        "run": folder.name,
        "preset": manifest.get("preset"),
        "parameters": {k: _last_part(v) for k, v in manifest["parameters"].items() if k not in IGNORED_PARAMETERS},
        "metrics": flatten(result["metrics"]),
        "seconds": manifest.get("seconds"),
        "machine": {name: manifest[name] for name in MACHINE if name in manifest},
        "versions": manifest["versions"],
        "git": manifest.get("git"),
        "started": manifest["started"],
        "evidence": result.get("evidence", {}),
    }


def _last_part(value: Any) -> Any:
    if isinstance(value, str) and (PurePosixPath(value).is_absolute() or PureWindowsPath(value).is_absolute()):
        return Path(value).name
    return value


def _read_table(table: Path) -> list[dict[str, Any]]:
    """Read the lines of a table; ValueError names a damaged one."""
    lines = []
    for number, line in enumerate(table.read_text(encoding="utf-8").removesuffix("\n").split("\n"), 1):
        try:
            content = {"evidence": {}, **json.loads(line)}
            if content.keys() != {*FIELDS, "evidence"}:
                raise ValueError(f"its fields must be {', '.join(FIELDS)}, got {', '.join(content)}")
            lines.append(content)
        except (ValueError, TypeError) as error:
            raise ValueError(f"{table}, line {number} is no record: {error} (fix or remove the line)") from None
    return lines


def keep_runs(runs: pd.DataFrame, table: str | os.PathLike[str]) -> int:
    """Write runs to a table, each as a line that replaces the one of the same lab and hash; return how many are new.

    The lines are in the order of lab and hash. The table is written whole or not at all, under a lock: where two
    processes keep runs at a time, none is lost. ValueError for another ending, or if a line of the table is damaged.
    """
    table = Path(table)
    if table.suffix != TABLE:
        raise ValueError(f"table must be a file that ends in {TABLE}, got {table}")
    lock = table.parent / ".locks" / f"{table.name}.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    with needed("filelock", "tables are kept under a lock").FileLock(lock, poll_interval=0.1):
        before = _by_key(_read_table(table) if table.exists() else [])
        kept = before | _by_key(runs.to_dict("records"))
        changed = sum(kept[key] != before.get(key) for key in kept)
        if changed:
            with written(table) as part:
                part.write_bytes(b"".join(_line(kept[key]) for key in sorted(kept)))
    return changed


def _by_key(lines: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], Mapping[str, Any]]:
    return {(line["lab"], line["run"]): line for line in lines}


def _line(run: Mapping[str, Any]) -> bytes:
    content = {name: run[name] for name in FIELDS} | ({"evidence": run["evidence"]} if run["evidence"] else {})
    return json.dumps(content, ensure_ascii=False, allow_nan=False).encode() + b"\n"
