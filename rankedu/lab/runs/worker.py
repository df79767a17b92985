"""What a Dask worker does for a run of a sweep: start a process for it, watch over it, and say how it ended.

A run needs a process of its own: it sets environment variables, which are a process's, not a thread's. The process
lives as long as the pipe to it is open. So it ends, and its kernel with it, when the run is no longer wanted (after
Ctrl-C, or when the sweep's process has gone), and also when the worker is killed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO, Any

from rankedu.lab.runs.locks import claims_folder
from rankedu.lab.runs.planning import Run
from rankedu.lab.runs.results import load_result

__all__ = ["FAILED", "GRACE", "Job", "Outcome", "run_point"]

#: The process's exit code after an error of the lab; the manifest tells which.
FAILED = 3
#: Seconds that it has to end its kernel.
GRACE = 15.0


@dataclass(frozen=True)
class Outcome:
    """How a run ended.

    Attributes
    ----------
    result : dict or None
        What the lab saved; None if it failed.
    error : str
        What was wrong.
    again : bool
        Whether another attempt may help.
    """

    result: dict[str, Any] | None
    error: str = ""
    again: bool = False


@dataclass(frozen=True)
class Job:
    """What it takes to do a run elsewhere; all of it is plain.

    Attributes
    ----------
    run : Run
    preset : str or None
        For the manifest.
    timeout : float
    environments : sequence of mapping
        Environment variables, one mapping for each worker of the local cluster; empty for any other cluster.
    """

    run: Run
    preset: str | None
    timeout: float
    environments: Sequence[Mapping[str, str]] = field(default=())

    def text(self) -> str:
        """What the process is told, in one line."""
        run = self.run
        told = {"lab": run.lab, "preset": self.preset, "parameters": run.parameters, "timeout": self.timeout}
        places = {"labs": str(run.source.parent), "runs": str(run.folder.parent.parent), "folder": str(run.folder)}
        return json.dumps({**told, **places}) + "\n"


def run_point(job: Job) -> Outcome:
    """Do a run in a process of its own; on a Dask worker.

    Parameters
    ----------
    job : Job

    Returns
    -------
    Outcome
    """
    from distributed import get_worker

    worker = get_worker()
    for path in (job.run.source, claims_folder(job.run.folder.parent.parent)):
        if not path.exists():
            return Outcome(None, f"worker {worker.name} has no {path}: it must be on a file system that all share")
    own = job.environments[worker.name] if job.environments else {}
    with tempfile.TemporaryFile() as log:
        code = _run_process(job.text(), {**os.environ, **own}, log)
        return _outcome(job.run, code, log)


def _run_process(text: str, environment: Mapping[str, str], log: IO[bytes]) -> int:
    """Start the process, and close the pipe to it when the run is no longer wanted; its exit code."""
    process = subprocess.Popen(
        [sys.executable, "-m", "rankedu.lab.runs.child"],
        stdin=subprocess.PIPE,
        stdout=log,
        stderr=log,
        env=environment,
        start_new_session=True,  # Ctrl-C on a terminal is for the sweep alone, which ends its processes itself
    )
    assert process.stdin is not None
    try:
        process.stdin.write(text.encode())
        process.stdin.flush()
        while process.poll() is None and _is_wanted():
            _wait(process, 0.25)
        process.stdin.close()
        _wait(process, GRACE + 5)
    except BrokenPipeError:  # it ended before it had read what to do; its log says why
        _wait(process, GRACE)
    finally:
        if process.poll() is None:
            process.kill()
    return process.wait()


def _wait(process: subprocess.Popen[bytes], seconds: float) -> None:
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)


def _is_wanted() -> bool:
    """Whether Dask still wants the task that this thread does: not once it was cancelled, or its client has gone."""
    from distributed import get_worker

    worker = get_worker()
    task = worker.state.tasks.get(worker.get_current_task())
    return task is not None and task.state in ("executing", "long-running")


def _outcome(run: Run, code: int, log: IO[bytes]) -> Outcome:
    """Read how it went from the run's folder, or from what the process printed."""
    if code == 0:
        return Outcome(load_result(run.folder / "result.json"))
    if code == FAILED:
        record = json.loads((run.folder / "manifest.json").read_text(encoding="utf-8"))
        error = f"{record['status']} after {record['seconds']:g} s: {record['error']}"
        return Outcome(None, error, again=record["attempts"] == 1)  # what hangs has been tried twice
    log.seek(0)
    printed = log.read().decode(errors="replace").strip().splitlines()
    return Outcome(None, "\n".join(printed[-3:]) or f"its process ended with exit code {code}", again=True)
