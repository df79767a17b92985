"""Sweeps: a lab at every point of a grid, for several seeds, on the workers of a Dask cluster."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from rankedu_lab.runs.clusters import cluster_client, local_client, local_environments
from rankedu_lab.runs.locks import locks_folder
from rankedu_lab.runs.planning import Run, fingerprint
from rankedu_lab.runs.runner import TIMEOUT, LabError, check_timeout, execute
from rankedu_lab.runs.sweep_plan import plan_sweep, with_result


class SweepError(RuntimeError):
    """Some runs of a sweep failed: ``failures`` are these, each with its error; ``runs`` are those that are done."""

    def __init__(self, message: str, runs: list[Run], failures: list[tuple[Run, str]]) -> None:
        super().__init__(message)
        self.runs = runs
        self.failures = failures


def sweep(
    lab: str,
    grid: Mapping[str, Sequence[Any]] | Iterable[str] = (),
    *,
    seeds: int | None = None,
    timeout: float = TIMEOUT,
    workers: int | None = None,
    scheduler: str | None = None,
    resources: Mapping[str, float] | None = None,
    progress: bool = True,
    **asked: Any,
) -> list[Run]:
    """Run a lab at every point of a grid, for several seeds (default 3), but for what has been run; all points.

    `grid` maps a parameter to its values, or is texts ``name=value,value``. Everything is checked before anything
    starts. Runs go to as many processes of this machine as there are GPUs or cores, or `workers`; or to the workers of
    a Dask `scheduler`, such as ``"tcp://10.0.0.1:8786"``, which need the package and the same folders, and of which a
    run takes `resources`, such as ``{"GPU": 1}``. The other parameters are those of
    :func:`~rankedu_lab.runs.run_lab`.

    A run that fails is tried once more. Whatever ends a sweep, the same call goes on where it was: what is finished is
    not run again, and what was running resumes from its checkpoint, if the lab keeps one. Two sweeps may share runs;
    each is done by one of them. Raises SweepError if runs failed twice, ConnectionError if no scheduler answers, and
    KeyboardInterrupt after Ctrl-C, once the processes have ended.
    """
    how: dict[str, Any] = {"timeout": timeout, "workers": workers, "scheduler": scheduler, "resources": resources}
    return run_all(plan_sweep(lab, grid, seeds=seeds, **asked), asked.get("preset"), **how, progress=progress)


def run_all(
    planned: Sequence[Run],
    preset: str | None = None,
    *,
    timeout: float = TIMEOUT,
    workers: int | None = None,
    scheduler: str | None = None,
    resources: Mapping[str, float] | None = None,
    progress: bool = True,
) -> list[Run]:
    """Do planned runs of any parameters, as :func:`sweep` does those of a grid; all of them, finished."""
    from tqdm import tqdm

    check_timeout(timeout)
    if scheduler is None and resources:
        raise ValueError(f"resources are of the workers of a scheduler, which is not given, got {dict(resources)}")
    if scheduler is not None and workers is not None:
        raise ValueError(f"workers must be left out with a scheduler, whose workers are used, got {workers}")
    planned = [run if run.skipped else with_result(run) for run in planned]
    open_runs = list({run.folder: run for run in planned if not run.skipped}.values())
    done = {run.folder: run for run in planned if run.skipped}
    failures: list[tuple[Run, str]] = []
    counts: dict[str, Any] = {"total": len(planned), "initial": len(planned) - len(open_runs)}
    try:
        if open_runs:
            locks_folder(open_runs[0].folder.parent.parent).mkdir(parents=True, exist_ok=True)
            with (
                _client(open_runs, scheduler, workers, resources or {}) as client,
                tqdm(desc="sweep", unit="run", **counts, disable=None if progress else True) as bar,
            ):
                for run, ended in _submit(client, open_runs, preset, timeout, resources or {}):
                    if isinstance(ended, Run):
                        done[run.folder] = ended
                    else:
                        failures.append((run, ended))
                        bar.set_postfix({"failed": len(failures)})
                    bar.update()
    except KeyboardInterrupt:
        finished = sum(run.finished() is not None for run in planned)
        raise KeyboardInterrupt(
            f"stopped with {finished} of {len(planned)} runs done; the same sweep goes on with the others"
        ) from None
    if failures:
        raise SweepError(_report(failures, len(planned)), list(done.values()), failures)
    return [done[run.folder] for run in planned]


def _client(
    runs: list[Run], scheduler: str | None, workers: int | None, resources: Mapping[str, float]
) -> AbstractContextManager[Any]:
    if scheduler is not None:
        return cluster_client(scheduler, resources)
    return local_client(local_environments(runs, workers))


def _submit(
    client: Any, runs: list[Run], preset: str | None, timeout: float, resources: Mapping[str, float]
) -> Iterator[tuple[Run, Run | str]]:
    """Have the runs done; of each that has ended, the finished run or what was wrong."""
    from distributed import as_completed

    how = {"pure": False, "retries": 1, "resources": dict(resources) or None}
    futures = {client.submit(do_run, run, preset, timeout, **how): run for run in runs}
    try:
        for future in as_completed(list(futures)):
            if future.status not in ("finished", "error"):
                raise ConnectionError("the scheduler has gone (start it and the sweep again: what is finished is kept)")
            if (error := future.exception()) is None:
                yield futures[future], future.result()
            elif isinstance(error, LabError):
                yield futures[future], str(error).split("\n")[0]
            else:
                yield futures[future], f"{type(error).__name__}: {error}"
    finally:  # after Ctrl-C: what has not begun does not begin
        client.cancel(list(futures))


def do_run(run: Run, preset: str | None, timeout: float) -> Run:
    """Do a planned run, on a Dask worker."""
    for path in (run.source, locks_folder(run.folder.parent.parent)):
        if not path.exists():
            raise FileNotFoundError(f"this worker has no {path}: it must be on a file system that all share")
    if fingerprint(run.source, run.parameters) != run.folder.name:
        raise ValueError(f"lab {run.lab!r} has changed since the sweep began (start the sweep again)")
    return execute(run, preset, timeout, attempts=1)  # Dask makes the second attempt


def _report(failures: list[tuple[Run, str]], total: int) -> str:
    """What failed, why, and where it stands."""
    lines = [f"{len(failures)} of {total} runs failed:"]
    for run, error in failures:
        lines.append(f"{run.folder.name}  {error}")
        if run.notebook.is_file():
            lines.append(f"  what had run of it stands in {run.notebook}")
    return "\n".join(lines)
