"""Run a lab once: check what is asked for, execute the notebook with papermill, and record how it went."""

from __future__ import annotations

import ast
import hashlib
import importlib
import json
import os
import platform
import subprocess
import sys
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import Context
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rankedu import __version__
from rankedu.extras import needed
from rankedu_lab import CHECKOUT
from rankedu_lab.runs.parameters import (
    check_parameters,
    find_lab,
    find_labs,
    parse_assignments,
    read_parameters,
    read_preset,
)
from rankedu_lab.runs.results import load_result, write_json

#: Seconds that a run may take, and that a kernel may take to start.
TIMEOUT, START_TIMEOUT = 3600.0, 60
#: A second attempt may succeed after these; an error of the lab would come again.
HUNG = ("timed out", "lost its kernel")


class LabError(RuntimeError):
    """A lab failed or ran out of time; the message names the notebook as far as it ran."""


@dataclass(frozen=True)
class Run:
    """One lab with all its parameters, and the folder that belongs to the two."""

    lab: str
    source: Path  #: the lab's notebook
    parameters: dict[str, Any]  #: a value for every parameter of the lab
    folder: Path  #: `runs/<lab>/<hash>/`; the hash is of the notebook's code and the parameters
    skipped: bool = False  #: whether a finished run was found
    result: dict[str, Any] = field(default_factory=dict)  #: what the lab saved; empty before it has run

    @property
    def runs(self) -> Path:
        """The folder of all runs."""
        return self.folder.parent.parent

    def where(self) -> dict[str, Any]:
        """Return the folders `labs` and `runs`, as :func:`plan` takes them."""
        return {"labs": self.source.parent, "runs": self.runs}

    @property
    def notebook(self) -> Path:
        """The executed notebook."""
        return self.folder / self.source.name

    def manifest(self) -> dict[str, Any]:
        """Read what the runner wrote about the last attempt; empty if there was none, or if it is damaged."""
        with suppress(OSError, ValueError, TypeError):
            return dict(json.loads((self.folder / "manifest.json").read_text(encoding="utf-8")))
        return {}

    def finished(self) -> Run | None:
        """Return the run with its result; None if it is not complete, if it is damaged, or if other code made it."""
        with suppress(OSError, ValueError):
            if self.manifest().get("status") == "completed":
                result = load_result(self.folder / "result.json")
                if result.get("evidence", {}).get("code", code_hash()) == code_hash():
                    return replace(self, skipped=True, result=result)
        return None

    def state(self) -> str:
        """Return "done", "new", "running", or how the last attempt ended: "interrupted", "failed", …."""
        if self.skipped:
            return "done"
        state = str(self.manifest().get("status", "new"))
        if state == "running" and not is_locked(self.folder):
            return "interrupted"  # it was killed
        return "damaged" if state == "completed" else state


def plan(
    lab: str,
    *,
    preset: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    assignments: Iterable[str] = (),
    labs: str | os.PathLike[str] | None = None,
    runs: str | os.PathLike[str] = "runs",
) -> Run:
    """Check everything that is given for a run, as :func:`run_lab` takes it, and name its folder; start nothing."""
    folder = find_labs(labs)
    source = find_lab(lab, folder)
    declared = read_parameters(source)
    given = read_preset(preset, lab, folder) if preset else {}
    given |= dict(parameters or {}) | parse_assignments(assignments, declared, lab=lab)
    values = check_parameters(given, declared, lab=lab)
    check_names(lab, values)
    return Run(lab, source, values, Path(runs).resolve() / lab / fingerprint(source, values))


def check_names(lab: str, parameters: Mapping[str, Any]) -> None:
    """Let the module of a lab check the names of losses, data sets and networks; a reader's own lab has no module."""
    with suppress(ModuleNotFoundError):  # also where an extra is missing, which the lab itself says
        getattr(importlib.import_module(f"rankedu_lab.experiments.{lab}"), "check", lambda _: None)(parameters)


def fingerprint(source: Path, parameters: Mapping[str, Any]) -> str:
    """Hash the code of a lab's notebook and its parameters; text and outputs change no result."""
    cells = json.loads(source.read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    text = json.dumps([code, dict(parameters)], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@cache
def code_hash() -> str:
    """Hash the code of `rankedu` and `rankedu_lab` without comments and docstrings, so that no old result is reused."""
    digest = hashlib.sha256()
    for package in (CHECKOUT / "rankedu", CHECKOUT / "lab" / "rankedu_lab"):
        for path in sorted(package.rglob("*.py")):
            tree = ast.parse(path.read_bytes())
            for node in ast.walk(tree):
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
                    node.body[0] = ast.Pass()
            digest.update(path.relative_to(CHECKOUT).as_posix().encode() + ast.dump(tree).encode())
    return digest.hexdigest()[:16]


def run_lab(lab: str, *, timeout: float = TIMEOUT, force: bool = False, progress: bool = True, **asked: Any) -> Run:
    """Execute a lab with papermill in a folder of its own; ``skipped=True`` if that had been done, unless `force`.

    What is asked for is that of :func:`plan`: a `preset`, `parameters` (name → value), which override the preset's,
    `assignments` (``key=value`` texts), which override both, and the folders `labs` and `runs`. The run's folder
    holds the executed notebook, `result.json` and `manifest.json`, and is the current folder of the lab. A run that
    takes longer than `timeout` seconds, or whose kernel dies, is started once more. Raises ValueError or TypeError
    before anything starts, and LabError if the lab fails.
    """
    check_timeout(timeout)
    return execute(plan(lab, **asked), asked.get("preset"), timeout, force=force, progress=progress)


def check_timeout(timeout: float) -> None:
    """Raise ValueError unless it is > 0."""
    if not timeout > 0:
        raise ValueError(f"timeout must be > 0 seconds, got {timeout}")


def _lock(folder: Path) -> Any:
    """Make the lock of a run, which the system releases when the process ends, even if it is killed."""
    file = folder.parent.parent / ".locks" / f"{folder.parent.name}-{folder.name}.lock"
    file.parent.mkdir(parents=True, exist_ok=True)
    return needed("filelock", "labs need filelock").FileLock(file, poll_interval=0.1)


def is_locked(folder: Path) -> bool:
    """Return whether a process is at work on this run."""
    try:
        with _lock(folder).acquire(blocking=False):
            return False
    except TimeoutError:
        return True


@contextmanager
def lock_run(folder: Path) -> Iterator[None]:
    """Hold the lock of ``runs/<lab>/<hash>``; wait, with a warning, while another process holds it."""
    if is_locked(folder):
        warnings.warn(f"{folder} is being run by another process: waiting for it", stacklevel=4)
    with _lock(folder):
        yield


def execute(
    run: Run, preset: str | None, timeout: float, *, force: bool = False, progress: bool = False, attempts: int = 2
) -> Run:
    """Execute a planned run, unless that has been done; one that hangs is started up to `attempts` times."""
    needed("papermill", "labs are run by papermill")
    with lock_run(run.folder):  # if another process has done it meanwhile, its result counts
        if not force and (finished := run.finished()):
            return finished
        run.folder.mkdir(parents=True, exist_ok=True)
        (run.folder / "result.json").unlink(missing_ok=True)
        last = run.manifest()
        libraries = {name: version(name) for name in ("torch", "numpy", "papermill")}
        manifest = {
            "lab": run.lab,
            "preset": preset,
            "parameters": run.parameters,
            "seed": run.parameters.get("seed"),
            "versions": {"python": platform.python_version(), "rankedu": __version__, **libraries},
            "git": git_revision(run.source.parent),
            "started": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "attempts": 0 if last.get("status") == "completed" else last.get("attempts", 0),
        }
        return replace(run, result=_try(run, manifest, timeout, progress, attempts))


def _try(run: Run, manifest: dict[str, Any], timeout: float, progress: bool, attempts: int) -> dict[str, Any]:
    """Attempt the run until it does not hang; the manifest always says how it went."""
    path, started = run.folder / "manifest.json", time.perf_counter()
    status, error = "interrupted", ""
    result: dict[str, Any] = {}
    try:
        for _ in range(attempts):
            manifest["attempts"] += 1
            write_json(path, {**manifest, "status": "running"})
            # In a context of its own: threads that share one would share the event loop that the client keeps in it.
            status, error, result = Context().run(_attempt, run, timeout, progress)
            if status not in HUNG:
                break
    finally:  # also after Ctrl-C, or on a full disk
        seconds = round(time.perf_counter() - started, 1)
        note = {"error": error} if error else {}
        write_json(path, {**manifest, "status": status, "seconds": seconds, **result.get("machine", {}), **note})
    if status != "completed":
        times = "" if manifest["attempts"] == 1 else f", {manifest['attempts']} attempts"
        raise LabError(
            f"lab {run.lab!r} {status} after {seconds:g} s{times}: {error}\n"
            f"the notebook, as far as it ran, is {run.notebook}\nand its settings are in {path}"
        )
    return result


def _attempt(run: Run, timeout: float, progress: bool) -> tuple[str, str, dict[str, Any]]:
    """Let papermill execute the notebook once: the status, what was wrong, and what the lab saved."""
    import papermill
    from nbclient.exceptions import CellTimeoutError, DeadKernelError
    from papermill.exceptions import PapermillExecutionError

    deadline = time.monotonic() + timeout
    bar = {"desc": f"{run.lab} (Ctrl-C stops it; the same command goes on)"}
    try:
        papermill.execute_notebook(
            str(run.source),
            str(run.notebook),
            parameters=run.parameters,
            resources={"metadata": {"path": str(run.folder)}},  # papermill's `cwd` would be that of all threads
            progress_bar=bar if progress and sys.stderr.isatty() else False,
            start_timeout=START_TIMEOUT,
            extra_arguments=["--IPKernelApp.log_level=CRITICAL"],
            timeout_func=lambda cell: max(1, round(deadline - time.monotonic())),  # no cell may outlast what is left
        )
    except PapermillExecutionError as failure:
        return "failed", f"In [{failure.exec_count}]: {failure.ename}: {failure.evalue}", {}
    except CellTimeoutError:
        return "timed out", f"it takes longer than {timeout:g} s (give it more with --timeout)", {}
    except (DeadKernelError, RuntimeError) as failure:  # RuntimeError: it did not start
        return "lost its kernel", str(failure).strip() or type(failure).__name__, {}
    try:
        return "completed", "", load_result(run.folder / "result.json")
    except FileNotFoundError:
        return "failed", "it saved no result (a lab ends with rankedu_lab.runs.save_result({...}))", {}
    except ValueError as failure:
        return "failed", str(failure), {}


def git_revision(folder: Path) -> dict[str, Any] | None:
    """Return the commit of the checkout that holds a folder, and whether files differ from it; None without one."""
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        printed = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None
    return {"revision": printed.removesuffix("-dirty"), "modified": printed.endswith("-dirty")}
