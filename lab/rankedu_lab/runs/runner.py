"""Run a lab in its folder: a time limit, a second attempt where one may help, and a record of how it went."""

from __future__ import annotations

import platform
import subprocess
import sys
import time
from contextvars import Context
from dataclasses import replace
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rankedu import __version__
from rankedu.extras import needed
from rankedu_lab.runs.locks import lock_run
from rankedu_lab.runs.planning import Run, plan
from rankedu_lab.runs.results import load_result, write_json

#: Seconds that a run may take, and that a kernel may take to start.
TIMEOUT, START_TIMEOUT = 3600.0, 60
#: These may go well the next time; an error of the lab would come again.
HUNG = ("timed out", "lost its kernel")


class LabError(RuntimeError):
    """A lab failed or ran out of time; ``notebook`` is the path of what had run of it."""

    def __init__(self, message: str, notebook: Path) -> None:
        super().__init__(message)
        self.notebook = notebook

    def __reduce__(self) -> tuple[type[LabError], tuple[str, Path]]:
        return type(self), (str(self), self.notebook)  # so that it reaches the caller from another process


def run_lab(lab: str, *, timeout: float = TIMEOUT, force: bool = False, progress: bool = True, **asked: Any) -> Run:
    """Execute a lab with papermill in a folder of its own; ``skipped=True`` if that had been done, unless `force`.

    What is asked for is that of :func:`plan`: a `preset`, `parameters` (name → value), which go before the preset's,
    `assignments` (``key=value`` texts), which go before both, and the folders `labs` and `runs`. The run's folder
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


def execute(
    run: Run, preset: str | None, timeout: float, *, force: bool = False, progress: bool = False, attempts: int = 2
) -> Run:
    """Execute a planned run, unless that has been done; one that hangs is started up to `attempts` times."""
    needed("papermill", "labs are run by papermill")
    with lock_run(run.folder):  # another process may be at it: then its result is ours
        result = None if force else run.finished()
        if result is not None:
            return replace(run, skipped=True, result=result)
        run.folder.mkdir(parents=True, exist_ok=True)
        (run.folder / "result.json").unlink(missing_ok=True)
        last = run.manifest()
        manifest = {
            "lab": run.lab,
            "preset": preset,
            "parameters": run.parameters,
            "seed": run.parameters.get("seed"),
            "versions": versions(),
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
            f"what had run of it stands in {run.notebook}\nand what it was made with in {path}",
            run.notebook,
        )
    return result


def _attempt(run: Run, timeout: float, progress: bool) -> tuple[str, str, dict[str, Any]]:
    """Let papermill execute the notebook once: the status, what was wrong, and what the lab saved."""
    import papermill
    from nbclient.exceptions import CellTimeoutError, DeadKernelError
    from papermill.exceptions import PapermillExecutionError

    deadline = time.monotonic() + timeout
    told = {"desc": f"{run.lab} (Ctrl-C stops it; the same command goes on)"}
    try:
        papermill.execute_notebook(
            str(run.source),
            str(run.notebook),
            parameters=run.parameters,
            resources={"metadata": {"path": str(run.folder)}},  # papermill's `cwd` would be that of all threads
            progress_bar=told if progress and sys.stderr.isatty() else False,
            start_timeout=START_TIMEOUT,
            extra_arguments=["--IPKernelApp.log_level=CRITICAL"],
            timeout_func=lambda cell: max(1, round(deadline - time.monotonic())),  # no cell may outlast what is left
        )
        return "completed", "", load_result(run.folder / "result.json")
    except PapermillExecutionError as failure:
        return "failed", f"In [{failure.exec_count}]: {failure.ename}: {failure.evalue}", {}
    except CellTimeoutError:
        return "timed out", f"it takes longer than {timeout:g} s (give it more with --timeout)", {}
    except (DeadKernelError, RuntimeError) as failure:  # RuntimeError: it did not start
        return "lost its kernel", str(failure).strip() or type(failure).__name__, {}
    except FileNotFoundError as failure:
        if failure.filename and Path(failure.filename).name == "result.json":
            return "failed", "it saved no result (a lab ends with rankedu_lab.runs.save_result({...}))", {}
        raise
    except ValueError as failure:
        return "failed", str(failure), {}


def versions() -> dict[str, str]:
    """Of Python, this package, and the libraries that decide about numbers."""
    libraries = {name: version(name) for name in ("torch", "numpy", "papermill")}
    return {"python": platform.python_version(), "rankedu": __version__, **libraries}


def git_revision(folder: Path) -> dict[str, Any] | None:
    """The commit of the checkout that holds a folder, and whether files differ from it; None without one."""
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None
    return {"revision": said.removesuffix("-dirty"), "modified": said.endswith("-dirty")}
