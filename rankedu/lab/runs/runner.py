"""Run a lab in its folder: a time limit, a second attempt where one may help, and a record of how it went."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from rankedu.lab.runs.locks import claim
from rankedu.lab.runs.manifest import git_revision, versions
from rankedu.lab.runs.planning import Run, plan
from rankedu.lab.runs.results import RESULT_FOLDER, load_result, write_json

__all__ = ["LabError", "run_lab"]

#: Seconds that a run may take, and that a kernel may take to start.
TIMEOUT, START_TIMEOUT = 3600.0, 60
#: These may go well the next time; an error of the lab would come again.
HUNG = ("timed out", "lost its kernel")


class LabError(RuntimeError):
    """A lab failed or ran out of time.

    Attributes
    ----------
    notebook : Path
        What had run of it.
    """

    def __init__(self, message: str, notebook: Path) -> None:
        super().__init__(message)
        self.notebook = notebook

    def __reduce__(self) -> tuple[type[LabError], tuple[str, Path]]:
        return type(self), (str(self), self.notebook)  # so that it reaches the caller from another process


def run_lab(
    lab: str,
    *,
    preset: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    assignments: Iterable[str] = (),
    labs: str | os.PathLike[str] | None = None,
    runs: str | os.PathLike[str] = "runs",
    timeout: float = TIMEOUT,
    force: bool = False,
    progress: bool = True,
) -> Run:
    """Execute a lab with papermill in a folder of its own, unless that has been done.

    The folder holds the executed notebook, `result.json`, which the lab writes by
    :func:`~rankedu.lab.runs.save_result`, and `manifest.json`: parameters, versions, git revision, device, seed,
    seconds, peak memory, status. It is the current folder of the lab.

    Parameters
    ----------
    lab : str
        Name of a notebook of the labs' folder.
    preset : str, optional
        Name of a file of `presets/`.
    parameters : mapping, optional
        Name → value; they go before the preset's.
    assignments : iterable of str
        ``key=value`` texts; they go before both.
    labs : path, optional
        Folder of the labs, see :func:`~rankedu.lab.runs.find_labs`.
    runs : path
        Where the folders of the runs are made.
    timeout : float
        Seconds that the run may take. One that takes longer, or whose kernel dies, is started once more.
    force : bool
        Run again even if a finished run is there.
    progress : bool
        Show a progress bar of the cells, on a terminal.

    Returns
    -------
    Run
        With ``skipped=True`` if it was finished before.

    Raises
    ------
    ValueError
        For an unknown lab, preset or parameter; lists what exists. For a timeout that is not > 0.
    TypeError
        For a parameter of another type.
    FileNotFoundError
        Without a folder of labs.
    LabError
        If the lab fails; its notebook, as far as it had run, is kept.
    """
    if not timeout > 0:
        raise ValueError(f"timeout must be > 0 seconds, got {timeout}")
    run = plan(lab, preset=preset, parameters=parameters, assignments=assignments, labs=labs, runs=runs)
    with claim(run.folder):  # another process may be at it: then its result is ours
        return _run(run, preset, timeout, force, progress)


def _run(run: Run, preset: str | None, timeout: float, force: bool, progress: bool) -> Run:
    """Run it, unless that has been done."""
    found = None if force else run.finished()
    if found is not None:
        return replace(run, skipped=True, result=found)
    run.folder.mkdir(parents=True, exist_ok=True)
    (run.folder / "result.json").unlink(missing_ok=True)
    manifest = {
        "lab": run.lab,
        "preset": preset,
        "parameters": run.parameters,
        "seed": run.parameters.get("seed"),
        "versions": versions(),
        "git": git_revision(run.source.parent),
        "started": datetime.now(timezone.utc).isoformat(timespec="seconds"),
    }
    return replace(run, result=_execute(run, manifest, timeout, progress))


def _execute(run: Run, manifest: dict[str, Any], timeout: float, progress: bool) -> dict[str, Any]:
    """Attempt the run, twice if it hangs; the manifest always says how it went."""
    path, started = run.folder / "manifest.json", time.perf_counter()
    status, error = "interrupted", ""
    result: dict[str, Any] = {}
    try:
        for attempt in (1, 2):
            manifest["attempts"] = attempt
            write_json(path, {**manifest, "status": "running"})
            status, error, result = _attempt(run, timeout, progress)
            if status not in HUNG:
                break
    finally:  # also after Ctrl-C, or on a full disk
        seconds = round(time.perf_counter() - started, 1)
        note = {"error": error} if error else {}
        write_json(path, {**manifest, "status": status, "seconds": seconds, **result.get("machine", {}), **note})
    if status != "completed":
        times = "" if attempt == 1 else f", {attempt} attempts"
        raise LabError(
            f"lab {run.lab!r} {status} after {seconds:g} s{times}: {error}\n"
            f"what had run of it stands in {run.notebook}\nand what it was made with in {path}",
            run.notebook,
        )
    return result


def _attempt(run: Run, timeout: float, progress: bool) -> tuple[str, str, dict[str, Any]]:
    """Execute the notebook once; say how it went, what was wrong, and what the lab saved."""
    from nbclient.exceptions import CellTimeoutError, DeadKernelError
    from papermill.exceptions import PapermillExecutionError

    try:
        _run_notebook(run, timeout, progress)
        return "completed", "", load_result(run.folder / "result.json")
    except PapermillExecutionError as failure:
        return "failed", f"In [{failure.exec_count}]: {failure.ename}: {failure.evalue}", {}
    except CellTimeoutError:
        return "timed out", f"it takes longer than {timeout:g} s (give it more with --timeout)", {}
    except (DeadKernelError, RuntimeError) as failure:  # RuntimeError: it did not start
        return "lost its kernel", str(failure).strip() or type(failure).__name__, {}
    except FileNotFoundError as failure:
        if failure.filename and Path(failure.filename).name == "result.json":
            return "failed", "it saved no result (a lab ends with rankedu.lab.runs.save_result({...}))", {}
        raise
    except ValueError as failure:
        return "failed", str(failure), {}


def _run_notebook(run: Run, timeout: float, progress: bool) -> None:
    """Let papermill execute the lab; no cell may outlast what is left of the time."""
    import papermill

    deadline = time.monotonic() + timeout
    with _result_folder(run.folder):
        papermill.execute_notebook(
            str(run.source),
            str(run.notebook),
            parameters=run.parameters,
            cwd=str(run.folder),
            progress_bar=progress and sys.stderr.isatty(),
            start_timeout=START_TIMEOUT,
            extra_arguments=["--IPKernelApp.log_level=CRITICAL"],
            timeout_func=lambda cell: max(1, round(deadline - time.monotonic())),
        )


@contextmanager
def _result_folder(folder: Path) -> Iterator[None]:
    """Tell the kernel where save_result() writes to."""
    before = os.environ.get(RESULT_FOLDER)
    os.environ[RESULT_FOLDER] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ[RESULT_FOLDER]
        else:
            os.environ[RESULT_FOLDER] = before
