"""Sweeps: a lab at every point of a grid, for several seeds, on the workers of a Dask cluster."""

import asyncio
import itertools
import logging
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import yaml

from rankedu.checks import check_count
from rankedu.extras import needed
from rankedu_lab.runs.parameters import Parameter, check_parameters, parse_assignments, read_parameters
from rankedu_lab.runs.runner import TIMEOUT, LabError, Run, check_timeout, execute, fingerprint, plan

__all__ = ["SweepError", "expand", "list_states", "parse_grid", "parse_resources", "plan_sweep", "run_all", "sweep"]

#: How many seeds a sweep has that names none, and the seconds within which a scheduler must answer.
SEEDS, ANSWER = 3, 5.0


class SweepError(RuntimeError):
    """Some runs of a sweep failed; ``runs`` are those that are done."""

    def __init__(self, message: str, runs: list[Run]) -> None:
        super().__init__(message)
        self.runs = runs


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
    """Run a lab at every point of a grid, for several seeds (default 3), except what has been run; return all points.

    `grid` maps a parameter to its values, or is texts ``name=value,value``. Everything is checked before anything
    starts. Runs go to as many processes of this machine as there are GPUs or cores, or `workers`; or to the workers of
    a Dask `scheduler`, such as ``"tcp://10.0.0.1:8786"``, which need the package and the same folders, and of which a
    run takes `resources`, such as ``{"GPU": 1}``. The other parameters are those of
    :func:`~rankedu_lab.runs.run_lab`.

    A run that fails is tried once more. However a sweep ended, the same call continues it: what is finished is not run
    again, and what was running resumes from its checkpoint, if the lab keeps one. Two sweeps may share runs; each is
    done by one of them. Raises SweepError if runs failed twice, ConnectionError if no scheduler answers, and
    KeyboardInterrupt after Ctrl-C, once the processes have ended.
    """
    how: dict[str, Any] = {"timeout": timeout, "workers": workers, "scheduler": scheduler, "resources": resources}
    return run_all(plan_sweep(lab, grid, seeds=seeds, **asked), asked.get("preset"), **how, progress=progress)


# --- The points of a grid ---------------------------------------------------------------------------------------------


def plan_sweep(
    lab: str, grid: Mapping[str, Sequence[Any]] | Iterable[str] = (), *, seeds: int | None = None, **asked: Any
) -> list[Run]:
    """Check every point of a sweep, as :func:`sweep` takes it; those that are finished have their result."""
    base = plan(lab, **asked)
    declared = read_parameters(base.source)
    if not isinstance(grid, Mapping):
        grid = parse_grid(grid, declared, lab=lab)
    given = {*(asked.get("parameters") or {}), *(text.partition("=")[0] for text in asked.get("assignments", ()))}
    if seeds is None and "seed" not in declared:
        given.add("seed")  # a lab without one runs once at each point
    points = expand(grid, seeds=seeds, given=given)
    planned = [plan(lab, parameters={**base.parameters, **point}, **base.where()) for point in points]
    return [run.finished() or run for run in planned]


def list_states(runs: Sequence[Run]) -> str:
    """Write a line for each planned run: its folder's name, its state, and the parameters that differ."""
    varied = [name for name, first in runs[0].parameters.items() if any(run.parameters[name] != first for run in runs)]
    states = [run.state() for run in runs]
    width = max(map(len, states))
    points = [" ".join(f"{name}={run.parameters[name]}" for name in varied) for run in runs]
    rows = zip(runs, states, points, strict=True)
    lines = [f"{run.folder.name}  {state:<{width}}  {point}".rstrip() for run, state, point in rows]
    return "\n".join([*lines, f"{states.count('done')} of {len(runs)} runs are done"])


def parse_grid(texts: Iterable[str], declared: Mapping[str, Parameter], *, lab: str) -> dict[str, list[Any]]:
    """Read ``name=value,value`` as values of the parameter's type.

    A list is written in brackets: ``kinds=[a,b],[c]`` are two values. An empty text, or one with a comma, is written
    in double quotes.
    """
    grid: dict[str, list[Any]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        name = name.strip()
        if not equals or name in grid:
            raise ValueError(f"--grid must be followed by name=value,value, each name once, got {text!r}")
        if name not in declared:
            check_parameters({name: values}, declared, lab=lab)  # raises
        entries = _split(values, declared[name])
        grid[name] = [parse_assignments([f"{name}={entry}"], declared, lab=lab)[name] for entry in entries]
    return grid


def _split(values: str, parameter: Parameter) -> list[str]:
    """Split at the commas that are neither in quotes nor, for a list parameter, in brackets."""
    try:
        entries = yaml.load(f"[{values}]", Loader=yaml.BaseLoader)  # it makes texts of everything
    except yaml.YAMLError:
        entries = []
    if not entries or not all(isinstance(entry, list if parameter.is_list else str) for entry in entries):
        raise ValueError(
            f"--grid {parameter.name} must have values of type {parameter.type} with commas between them, got "
            f"{values!r} (put a list into brackets, and a text that is empty or has a comma into double quotes)"
        )
    return [",".join(entry) if parameter.is_list else entry for entry in entries]


def expand(
    grid: Mapping[str, Sequence[Any]], *, seeds: int | None = None, given: Iterable[str] = ()
) -> list[dict[str, Any]]:
    """List every combination of the grid's values for every seed; ``seed`` varies slowest, and is 0, 1, 2 by default.

    `given` are the names of the parameters that are the same in all points.
    """
    fixed = set(given)
    for name, values in grid.items():
        if isinstance(values, str) or not isinstance(values, Sequence) or not values:
            raise TypeError(f"grid[{name!r}] must be a list of at least one value, got {values!r}")
        if name in fixed:
            raise ValueError(f"parameter {name!r} must be in the grid or be given for all points, got both")
    named = "seed" in grid or "seed" in fixed
    if seeds is not None:
        if named:
            raise ValueError(f"seeds must be left out where the grid or the parameters name 'seed', got {seeds}")
        check_count(seeds, "seeds", hint="how many; --grid seed=5,7 takes others")
    axes: dict[str, Sequence[Any]] = {} if named else {"seed": range(seeds or SEEDS)}
    axes |= grid
    return [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]


# --- The runs, on Dask ------------------------------------------------------------------------------------------------


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
    """Do planned runs, as :func:`~rankedu_lab.runs.sweep` does those of a grid; return all of them, finished."""
    check_timeout(timeout)
    if scheduler is None and resources:
        raise ValueError(f"resources are of the workers of a scheduler, which is not given, got {dict(resources)}")
    if scheduler is not None and workers is not None:
        raise ValueError(f"workers must be left out with a scheduler, whose workers are used, got {workers}")
    done = {run.folder: finished for run in planned if (finished := run.finished())}
    waiting = list({run.folder: run for run in planned if run.folder not in done}.values())
    if not waiting:
        return [done[run.folder] for run in planned]
    from distributed import as_completed
    from tqdm import tqdm

    gpus = [] if scheduler else visible_gpus({str(run.parameters.get("device", "cpu")) for run in waiting})
    how = {"pure": False, "retries": 1, "resources": dict(resources or {}) or None}
    bar: dict[str, Any] = {"total": len(planned), "initial": len(done), "disable": None if progress else True}
    failures: list[str] = []
    waiting[0].runs.mkdir(parents=True, exist_ok=True)
    try:
        with _connect(scheduler, resources or {}) if scheduler else _local(len(waiting), workers, gpus) as client:
            futures = {client.submit(do_run, run, preset, timeout, gpus, **how): run for run in waiting}
            for future in tqdm(as_completed(list(futures)), "sweep", unit="run", **bar):
                run = futures[future]
                if future.status == "finished":
                    done[run.folder] = future.result()
                elif future.status == "error":
                    error = future.exception()
                    kind = "" if isinstance(error, LabError) else f"{type(error).__name__}: "
                    failures.append(f"{run.folder.name}  {kind}{error}")
                else:
                    message = "start it and the sweep again: what is finished is kept"
                    raise ConnectionError(f"the scheduler has gone ({message})")
    except KeyboardInterrupt:
        count = sum(run.finished() is not None for run in planned)
        raise KeyboardInterrupt(
            f"stopped with {count} of {len(planned)} runs done; the same sweep goes on with the others"
        ) from None
    if failures:
        lines = "\n".join(failures)
        raise SweepError(f"{len(failures)} of {len(planned)} runs failed:\n{lines}", list(done.values()))
    return [done[run.folder] for run in planned]


def do_run(run: Run, preset: str | None, timeout: float, gpus: Sequence[str] = ()) -> Run:
    """Do a planned run, on a Dask worker; a worker of this machine takes its own of the GPUs."""
    for path in (run.source, run.runs):
        if not path.exists():
            raise FileNotFoundError(f"this worker has no {path}: it must be on a file system that all share")
    if fingerprint(run.source, run.parameters) != run.folder.name:
        raise ValueError(f"lab {run.lab!r} has changed since the sweep began (start the sweep again)")
    if gpus:
        from distributed import get_worker

        os.environ["CUDA_VISIBLE_DEVICES"] = gpus[int(get_worker().name) % len(gpus)]
    return execute(run, preset, timeout, attempts=1)  # Dask makes the second attempt


# --- The workers ------------------------------------------------------------------------------------------------------


def visible_gpus(wanted: set[str]) -> list[str]:
    """Return the names of the GPUs in CUDA_VISIBLE_DEVICES; none if no run wants one."""
    if wanted <= {"cpu"}:
        return []
    if numbered := sorted(name for name in wanted if ":" in name):
        raise ValueError(
            f"device must be 'cuda' or 'auto' in a sweep, which gives each worker its GPU, got {numbered[0]!r} "
            "(to use some GPUs only, set CUDA_VISIBLE_DEVICES=0,2 before it)"
        )
    import torch

    count = torch.cuda.device_count()
    if not count and "auto" not in wanted:
        raise ValueError("device must be available, got 'cuda' (torch finds no GPU here: use 'cpu' or 'auto')")
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    return named.split(",")[:count] if named else [str(number) for number in range(count)]


@contextmanager
def _local(runs: int, workers: int | None, gpus: Sequence[str]) -> Iterator[Any]:
    """Start processes of this machine, by default one per GPU, or else per core, and no more than runs."""
    import dask
    from dask.system import CPU_COUNT

    distributed = needed("distributed", "sweeps run on Dask")
    if workers is not None:
        check_count(workers, "workers")
    count = min(workers or len(gpus) or CPU_COUNT, runs)
    threads = os.environ.get("OMP_NUM_THREADS") or str(max(1, CPU_COUNT // count))
    private = {"dashboard_address": "127.0.0.1:0", "worker_dashboard_address": "127.0.0.1:0"}
    each = {"threads_per_worker": 1, "memory_limit": None, "env": {"OMP_NUM_THREADS": threads}}
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        distributed.LocalCluster(count, **each, **private, silence_logs=logging.CRITICAL) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@contextmanager
def _connect(scheduler: str, resources: Mapping[str, float]) -> Iterator[Any]:
    """Connect to a scheduler; ConnectionError if none answers."""
    distributed = needed("distributed", "sweeps run on Dask")
    _greet(scheduler)
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # our own messages say what went wrong
    with distributed.Client(scheduler, timeout=ANSWER) as client:
        offers = [worker.get("resources", {}) for worker in client.scheduler_info(n_workers=-1)["workers"].values()]
        if not any(all(offer.get(name, 0) >= least for name, least in resources.items()) for offer in offers):
            warnings.warn(f"{scheduler} has no worker with {resources} yet; the runs wait for one", stacklevel=1)
        yield client


def _greet(scheduler: str) -> None:
    """Raise ConnectionError if no scheduler answers, because a Client waits for ever where it is something else."""
    from distributed import Security
    from distributed.comm.core import connect

    async def greet() -> None:
        settings = Security().get_connection_args("client")
        comm = await asyncio.wait_for(connect(scheduler, timeout=ANSWER, **settings), ANSWER + 1)
        await comm.close()

    try:
        with ThreadPoolExecutor(1) as thread:  # a notebook has a loop of its own in this thread
            thread.submit(asyncio.run, greet()).result()
    except (OSError, ValueError, TimeoutError, asyncio.TimeoutError) as error:
        raise ConnectionError(
            f"scheduler must be the address of a Dask scheduler that runs, got {scheduler!r}: none answered within "
            f"{ANSWER:g} s ({error or 'timed out'}); start one with `dask scheduler`, or leave it out for this machine"
        ) from None


def parse_resources(texts: Iterable[str]) -> dict[str, float]:
    """Read ``NAME=NUMBER``, such as ``GPU=1``, from the command line; ValueError for any other text."""
    pairs = [text.partition("=")[::2] for text in texts]
    try:
        return {name: float(number) for name, number in pairs}
    except ValueError as error:
        raise ValueError(f"--resources must be followed by NAME=NUMBER, such as GPU=1: {error}") from None
