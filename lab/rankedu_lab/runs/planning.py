"""Which run is asked for: everything checked before anything starts, and a folder that belongs to it alone."""

import hashlib
import importlib
import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rankedu_lab.runs.code import code_hash
from rankedu_lab.runs.folders import find_lab, find_labs, read_preset
from rankedu_lab.runs.parameters import check_parameters, parse_assignments, read_parameters
from rankedu_lab.runs.results import load_result

#: Where the experiments of the labs lie, a module each.
EXPERIMENTS = "rankedu_lab.experiments"


@dataclass(frozen=True)
class Run:
    """One lab with all its parameters, and the folder that belongs to the two."""

    lab: str
    source: Path  #: the lab's notebook
    parameters: dict[str, Any]  #: a value for every parameter of the lab
    folder: Path  #: `runs/<lab>/<hash>/`; the hash is of the lab's code and the parameters
    skipped: bool = False  #: whether a finished run was found
    result: dict[str, Any] = field(default_factory=dict)  #: what the lab saved; empty before it has run

    @property
    def notebook(self) -> Path:
        """The executed notebook."""
        return self.folder / self.source.name

    def manifest(self) -> dict[str, Any]:
        """What the runner wrote of the last attempt; empty if there was none, or if it is damaged."""
        with suppress(OSError, ValueError, TypeError):
            return dict(json.loads((self.folder / "manifest.json").read_text(encoding="utf-8")))
        return {}

    def finished(self) -> dict[str, Any] | None:
        """The result of an earlier run that was completed; None if there is none, it was damaged, or of other code."""
        with suppress(OSError, ValueError):
            if self.manifest().get("status") == "completed":
                result = load_result(self.folder / "result.json")
                made_by = result.get("evidence", {})
                if "code" not in made_by or made_by["code"] == code_hash(made_by["module"]):
                    return result
        return None


def plan(
    lab: str,
    *,
    preset: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    assignments: Iterable[str] = (),
    labs: str | os.PathLike[str] | None = None,
    runs: str | os.PathLike[str] = "runs",
) -> Run:
    """Check everything that is given for a run, as :func:`run_lab` takes it, and name its folder; starts nothing."""
    folder = find_labs(labs)
    source = find_lab(lab, folder)
    declared = read_parameters(source)
    given = dict(read_preset(preset, lab, folder, declared)) if preset else {}
    given |= dict(parameters or {}) | parse_assignments(assignments, declared, lab=lab)
    values = check_parameters(given, declared, lab=lab)
    with suppress(ModuleNotFoundError):  # of a lab of the reader's own, or where an extra is missing, of which it tells
        experiment = importlib.import_module(f"{EXPERIMENTS}.{lab}")
        getattr(experiment, "check", lambda _: None)(values)  # of its losses, data sets and networks
    return Run(lab, source, values, Path(runs).resolve() / lab / fingerprint(source, values))


def fingerprint(source: Path, parameters: Mapping[str, Any]) -> str:
    """A hash of the code of a lab and of its parameters; its text and its outputs change no result."""
    cells = json.loads(source.read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    text = json.dumps([code, dict(parameters)], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
