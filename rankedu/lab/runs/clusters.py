"""Where the runs of a sweep are done: workers of this machine, or any Dask cluster."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rankedu.lab.runs.planning import Run

__all__ = ["ANSWER", "cluster_client", "local_client", "local_environments", "parse_resources"]

#: Seconds within which a scheduler must answer.
ANSWER = 5.0


def _distributed() -> Any:
    try:
        import distributed
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "sweeps run on Dask, which is not installed: pip install 'rankedu[lab]'", name=error.name
        ) from error
    return distributed


def local_environments(runs: Sequence[Run], workers: int | None = None) -> list[dict[str, str]]:
    """Environment variables for each worker of this machine: its GPU, and its share of the cores.

    Parameters
    ----------
    runs : sequence of Run
        What is to be done.
    workers : int, optional
        How many. Default: one a GPU if the runs may use one, else one a core; no more than runs.

    Returns
    -------
    list of dict
        ``CUDA_VISIBLE_DEVICES``, one GPU a worker in turn; ``OMP_NUM_THREADS``, unless it is set.

    Raises
    ------
    ValueError
        For workers < 1, or if the runs ask for a GPU and there is none, or for one by its number.
    """
    _distributed()
    from dask.system import CPU_COUNT

    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise ValueError(f"workers must be an integer >= 1, got {workers!r}")
    devices = _gpus({str(run.parameters.get("device", "cpu")) for run in runs})
    count = min(workers or len(devices) or CPU_COUNT, len(runs))
    threads = os.environ.get("OMP_NUM_THREADS") or str(max(1, CPU_COUNT // count))
    own = [{"CUDA_VISIBLE_DEVICES": devices[worker % len(devices)]} if devices else {} for worker in range(count)]
    return [{"OMP_NUM_THREADS": threads, **variables} for variables in own]


def _gpus(wanted: set[str]) -> list[str]:
    """What CUDA_VISIBLE_DEVICES calls the GPUs here; none if no run wants one."""
    if wanted <= {"cpu"}:
        return []
    numbered = sorted(name for name in wanted if ":" in name)
    if numbered:
        raise ValueError(
            f"device must be 'cuda' or 'auto' in a sweep, which gives each worker its GPU, got {numbered[0]!r} "
            "(to use some GPUs only, set CUDA_VISIBLE_DEVICES=0,2 before it)"
        )
    import torch

    count = torch.cuda.device_count()
    if not count and "auto" not in wanted:
        raise ValueError(
            f"device must be available, got {min(wanted - {'cpu'})!r} (torch finds no GPU here: use 'cpu' or 'auto')"
        )
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    return named.split(",")[:count] if named else [str(number) for number in range(count)]


@contextmanager
def local_client(workers: int) -> Iterator[Any]:
    """Workers of this machine. They are threads of this process, since each run gets a process from its worker.

    Parameters
    ----------
    workers : int
        They are called 0, 1, ….
    """
    distributed = _distributed()
    import dask

    bare: dict[str, list[str]] = {"distributed.scheduler.http.routes": [], "distributed.worker.http.routes": []}
    with (
        dask.config.set({**bare, "distributed.worker.profile.enabled": False}),
        distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=False,
            memory_limit=None,
            dashboard_address=None,
            worker_dashboard_address="127.0.0.1:0",  # Dask opens a port all the same: not to other machines
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def parse_resources(texts: Iterable[str]) -> dict[str, float]:
    """Read ``NAME=NUMBER``, such as ``GPU=1``, from the command line; ValueError for any other text."""
    found = {}
    for text in texts:
        name, _, number = text.partition("=")
        try:
            found[name] = float(number)
        except ValueError:
            raise ValueError(f"--resources must be followed by NAME=NUMBER, got {text!r} (such as GPU=1)") from None
    return found


@contextmanager
def _quiet(name: str) -> Iterator[None]:
    """Of what goes wrong in the meantime, tell in our own words."""
    logger = logging.getLogger(name)
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)


async def _greet(scheduler: str) -> None:
    """Say hello to a scheduler and leave. A Client waits for ever where something else than Dask has the port."""
    import asyncio

    from distributed import Security
    from distributed.comm.core import connect

    settings = Security().get_connection_args("client")
    comm = await asyncio.wait_for(connect(scheduler, timeout=ANSWER, **settings), ANSWER + 1)
    await comm.close()


@contextmanager
def cluster_client(scheduler: str, resources: Mapping[str, float]) -> Iterator[Any]:
    """A cluster that somebody started.

    Parameters
    ----------
    scheduler : str
        Its address, such as ``"tcp://10.0.0.1:8786"``.
    resources : mapping of str to float
        What a worker must offer; a warning says if none does so far.

    Raises
    ------
    ConnectionError
        If nothing answers there.
    """
    distributed = _distributed()
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    try:
        with ThreadPoolExecutor(1) as thread:  # a notebook has a loop of its own in this thread
            thread.submit(asyncio.run, _greet(scheduler)).result()
    except (OSError, ValueError, TimeoutError, asyncio.TimeoutError) as error:
        raise ConnectionError(
            f"scheduler must be the address of a Dask scheduler that runs, got {scheduler!r}: none answered within "
            f"{ANSWER:g} s ({error or 'timed out'}); start one with `dask scheduler`, or leave it out for this machine"
        ) from None
    with _quiet("distributed.client"), distributed.Client(scheduler, timeout=ANSWER) as client:
        offers = [worker.get("resources", {}) for worker in client.scheduler_info(n_workers=-1)["workers"].values()]
        if not any(all(offer.get(name, 0) >= least for name, least in resources.items()) for offer in offers):
            asked = f" with {', '.join(f'{name}={least:g}' for name, least in resources.items())}" if resources else ""
            warnings.warn(f"{scheduler} has no worker{asked} yet; the runs wait for one", stacklevel=1)
        yield client
