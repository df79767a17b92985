"""Where the runs of a sweep are done: processes of this machine, or any Dask cluster."""

import asyncio
import logging
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

from rankedu.checks import check_count
from rankedu.extras import needed
from rankedu_lab.runs.planning import Run

__all__ = ["ANSWER", "cluster_client", "local_client", "local_environments", "parse_resources"]

#: Seconds within which a scheduler must answer.
ANSWER = 5.0


def local_environments(runs: Sequence[Run], workers: int | None = None) -> list[dict[str, str]]:
    """Environment variables of each worker of this machine: its GPU (one each, in turn) and its share of the cores.

    By default one worker a GPU if the runs may use one, else one a core; no more than runs.
    """
    needed("distributed", "sweeps run on Dask")
    from dask.system import CPU_COUNT

    if workers is not None:
        check_count(workers, "workers")
    devices = _gpus({str(run.parameters.get("device", "cpu")) for run in runs})
    count = min(workers or len(devices) or CPU_COUNT, len(runs))
    threads = os.environ.get("OMP_NUM_THREADS") or str(max(1, CPU_COUNT // count))
    gpus = [{"CUDA_VISIBLE_DEVICES": devices[worker % len(devices)]} if devices else {} for worker in range(count)]
    return [{"OMP_NUM_THREADS": threads, **variables} for variables in gpus]


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
def local_client(environments: Sequence[Mapping[str, str]]) -> Iterator[Any]:
    """One process of this machine for each environment; all of them end with the block, or with this process."""
    import dask
    import distributed

    private = {"dashboard": False, "dashboard_address": "127.0.0.1:0", "host": "127.0.0.1", "protocol": "tcp://"}
    worker = {**private, "nthreads": 1, "memory_limit": None, "silence_logs": logging.CRITICAL}
    workers = {
        number: {"cls": distributed.Nanny, "options": {**worker, "env": dict(environment)}}
        for number, environment in enumerate(environments)
    }
    settings = {"distributed.worker.profile.enabled": False, "distributed.scheduler.allowed-failures": 1}
    with (
        dask.config.set(settings),
        distributed.SpecCluster(
            workers, {"cls": distributed.Scheduler, "options": private}, silence_logs=logging.CRITICAL
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        try:
            yield client
        except BaseException:  # Ctrl-C: the workers end, and then their kernels
            with _no_kernel_left():
                cluster.close()
            raise


@contextmanager
def _no_kernel_left() -> Iterator[None]:
    """End the kernels below this process with the block: a kernel that is left would write to the next run's folder."""
    import psutil

    kernels = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):  # it has gone
            if "ipykernel_launcher" in process.cmdline():
                kernels.append(process)
    yield
    for kernel in kernels:
        with suppress(psutil.NoSuchProcess):
            kernel.kill()
    psutil.wait_procs(kernels, timeout=5)


def parse_resources(texts: Iterable[str]) -> dict[str, float]:
    """Read ``NAME=NUMBER``, such as ``GPU=1``, from the command line; ValueError for any other text."""
    resources = {}
    for text in texts:
        name, _, number = text.partition("=")
        try:
            resources[name] = float(number)
        except ValueError:
            raise ValueError(f"--resources must be followed by NAME=NUMBER, got {text!r} (such as GPU=1)") from None
    return resources


async def _greet(scheduler: str) -> None:
    """Say hello to a scheduler and leave. A Client waits for ever where something else than Dask has the port."""
    from distributed import Security
    from distributed.comm.core import connect

    settings = Security().get_connection_args("client")
    comm = await asyncio.wait_for(connect(scheduler, timeout=ANSWER, **settings), ANSWER + 1)
    await comm.close()


@contextmanager
def cluster_client(scheduler: str, resources: Mapping[str, float]) -> Iterator[Any]:
    """A cluster by its address; ConnectionError if none answers, a warning if no worker offers the resources so far."""
    distributed = needed("distributed", "sweeps run on Dask")
    try:
        with ThreadPoolExecutor(1) as thread:  # a notebook has a loop of its own in this thread
            thread.submit(asyncio.run, _greet(scheduler)).result()
    except (OSError, ValueError, TimeoutError, asyncio.TimeoutError) as error:
        raise ConnectionError(
            f"scheduler must be the address of a Dask scheduler that runs, got {scheduler!r}: none answered within "
            f"{ANSWER:g} s ({error or 'timed out'}); start one with `dask scheduler`, or leave it out for this machine"
        ) from None
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # what goes wrong is told in our own words
    with distributed.Client(scheduler, timeout=ANSWER) as client:
        offers = [worker.get("resources", {}) for worker in client.scheduler_info(n_workers=-1)["workers"].values()]
        if not any(all(offer.get(name, 0) >= least for name, least in resources.items()) for offer in offers):
            wanted = f" with {', '.join(f'{name}={least:g}' for name, least in resources.items())}" if resources else ""
            warnings.warn(f"{scheduler} has no worker{wanted} yet; the runs wait for one", stacklevel=1)
        yield client
