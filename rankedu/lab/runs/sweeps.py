"""Sweeps: a lab at every point of a grid, for several seeds, on the workers of a Dask cluster."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any

from rankedu.lab.runs.clusters import cluster_client, local_client, local_environments
from rankedu.lab.runs.locks import claims_folder
from rankedu.lab.runs.planning import Run
from rankedu.lab.runs.runner import TIMEOUT
from rankedu.lab.runs.sweep_plan import plan_sweep
from rankedu.lab.runs.worker import Job, Outcome, run_point

__all__ = ["SweepError", "sweep"]


class SweepError(RuntimeError):
    """Some runs of a sweep failed; the others are done.

    Attributes
    ----------
    runs : list of Run
        Those that are done.
    failures : list of (Run, str)
        Those that failed, and why.
    """

    def __init__(self, message: str, runs: list[Run], failures: list[tuple[Run, str]]) -> None:
        super().__init__(message)
        self.runs = runs
        self.failures = failures


def sweep(
    lab: str,
    grid: Mapping[str, Sequence[Any]] | Iterable[str] = (),
    *,
    seeds: int | None = None,
    preset: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    assignments: Iterable[str] = (),
    labs: str | os.PathLike[str] | None = None,
    runs: str | os.PathLike[str] = "runs",
    timeout: float = TIMEOUT,
    workers: int | None = None,
    scheduler: str | None = None,
    resources: Mapping[str, float] | None = None,
    progress: bool = True,
) -> list[Run]:
    """Run a lab at every point of a grid, for several seeds, but for what has been run.

    Each run is what :func:`~rankedu.lab.runs.run_lab` makes of its parameters, in a process of its own. A run that
    fails is tried once more, after the others. Whatever ends a sweep, the same call goes on where it was: what is
    finished is not run again, and what was running resumes from its checkpoint, if the lab keeps one. Two sweeps may
    share runs; each is done by one of them.

    Parameters
    ----------
    lab : str
        Name of a notebook of the labs' folder.
    grid : mapping of str to sequence, or iterable of str
        Parameter → values; or texts ``name=value,value``, in which a value that is a list stands in brackets.
    seeds : int, optional
        Each point is run with the seeds 0, 1, …, seeds − 1. Default: 3, or what the grid or the parameters say.
    preset, parameters, assignments, labs, runs, timeout
        As for :func:`~rankedu.lab.runs.run_lab`, the same for all points.
    workers : int, optional
        How many runs at a time, on this machine. Default: one a GPU if the lab's ``device`` may be one, else one a
        core.
    scheduler : str, optional
        Address of a Dask scheduler, such as ``"tcp://10.0.0.1:8786"``, to use its workers instead. They need the
        package, and the folders of the labs and of the runs under the same paths.
    resources : mapping of str to float, optional
        What a run takes of what a worker of that cluster offers, such as ``{"GPU": 1}``.
    progress : bool
        Show a progress bar of the runs, on a terminal.

    Returns
    -------
    list of Run
        All points; ``skipped=True`` for those that were finished before.

    Raises
    ------
    ValueError
        For an unknown lab, preset or parameter, one that is in the grid and elsewhere, a value that comes twice, seeds
        or workers < 1, a GPU that is not there.
    TypeError
        For a value of another type.
    FileNotFoundError
        Without a folder of labs.
    ConnectionError
        If no scheduler answers at the address.
    SweepError
        If runs failed twice.
    KeyboardInterrupt
        After Ctrl-C, once the runs have ended; says how far it came.
    """
    if not timeout > 0:
        raise ValueError(f"timeout must be > 0 seconds, got {timeout}")
    if scheduler is None and resources:
        raise ValueError(f"resources are of the workers of a scheduler, which is not given, got {dict(resources)}")
    if scheduler is not None and workers is not None:
        raise ValueError(f"workers must be left out with a scheduler, whose workers are used, got {workers}")
    options = {"seeds": seeds, "preset": preset, "parameters": parameters, "assignments": assignments}
    planned = plan_sweep(lab, grid, **options, labs=labs, runs=runs)  # type: ignore[arg-type]
    done = {run.folder: run for run in planned if run.skipped}
    jobs = [Job(run, preset, timeout) for run in planned if not run.skipped]
    failures: list[tuple[Run, str]] = []
    if jobs:
        try:
            with closing(_do(jobs, scheduler, workers, resources or {}, progress, len(done))) as ended:
                for run, outcome in ended:
                    if outcome.result is None:
                        failures.append((run, outcome.error))
                    else:
                        done[run.folder] = replace(run, result=outcome.result)
        except KeyboardInterrupt:
            finished = sum(run.finished() is not None for run in planned)
            raise KeyboardInterrupt(
                f"stopped with {finished} of {len(planned)} runs done; the same sweep goes on with the others"
            ) from None
    if failures:
        raise SweepError(_report(failures, len(planned)), list(done.values()), failures)
    return [done[run.folder] for run in planned]


def _do(
    jobs: list[Job],
    scheduler: str | None,
    workers: int | None,
    resources: Mapping[str, float],
    progress: bool,
    before: int,
) -> Generator[tuple[Run, Outcome], None, None]:
    """Have the jobs done, and tell of each when it has ended."""
    from tqdm import tqdm

    total = before + len(jobs)
    with (
        _client(jobs, scheduler, workers, resources) as (client, jobs),
        closing(_submit_all(client, jobs, dict(resources))) as all_ended,
        tqdm(desc="sweep", unit="run", total=total, initial=before, disable=None if progress else True) as bar,
    ):
        claims_folder(jobs[0].run.folder.parent.parent).mkdir(parents=True, exist_ok=True)
        failed = 0
        for job, outcome in all_ended:
            failed += outcome.result is None
            bar.set_postfix({"failed": failed} if failed else {})
            bar.update()
            yield job.run, outcome


@contextmanager
def _client(
    jobs: list[Job], scheduler: str | None, workers: int | None, resources: Mapping[str, float]
) -> Iterator[tuple[Any, list[Job]]]:
    """A client of the cluster that is wanted, and the jobs as they are for it."""
    if scheduler is not None:
        with cluster_client(scheduler, resources) as client:
            yield client, jobs
    else:
        environments = local_environments([job.run for job in jobs], workers)
        with local_client(len(environments)) as client:
            yield client, [replace(job, environments=environments) for job in jobs]


def _submit_all(
    client: Any, jobs: list[Job], resources: dict[str, float]
) -> Generator[tuple[Job, Outcome], None, None]:
    """Submit the jobs, and once more those for which this may help."""
    from distributed import as_completed

    def submit(job: Job) -> Any:
        return client.submit(run_point, job, pure=False, resources=resources or None)

    pending = {submit(job): (job, 1) for job in jobs}
    try:
        ended = as_completed(list(pending))
        for future in ended:
            job, attempt = pending.pop(future)
            outcome = _ended(future)
            if outcome.again and attempt == 1:
                retry = submit(job)
                pending[retry] = (job, 2)
                ended.add(retry)
            else:
                yield job, outcome
    finally:  # after Ctrl-C; the workers end what runs
        client.cancel(list(pending))


def _ended(future: Any) -> Outcome:
    """The outcome of a task; one that Dask could not get done has failed."""
    if future.status == "finished":
        return future.result()  # type: ignore[no-any-return]
    if future.status == "error":
        error = future.exception()
        return Outcome(None, f"{type(error).__name__}: {error}")
    raise ConnectionError("the scheduler has gone (start it and the same sweep again: what is finished is kept)")


def _report(failures: list[tuple[Run, str]], total: int) -> str:
    """What failed, why, and where it stands."""
    lines = [f"{len(failures)} of {total} runs failed:"]
    for run, error in failures:
        lines.append(f"{run.folder.name}  {error}")
        if run.notebook.is_file():
            lines.append(f"  what had run of it stands in {run.notebook}")
    return "\n".join(lines)
