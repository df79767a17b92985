"""How much memory a piece of work takes, how much there is, and what the machine is called."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import torch

__all__ = ["free_memory", "peak_of", "processor"]

_PROC, _CGROUP = Path("/proc/self"), Path("/sys/fs/cgroup")
T = TypeVar("T")


def free_memory(device: str = "cpu") -> float:
    """Bytes that can be had now.

    Parameters
    ----------
    device : {"cpu", "cuda"}
        Of the machine, within the limit of its container, or of the GPU.

    Returns
    -------
    float

    Examples
    --------
    >>> free_memory() > 0
    True
    """
    if device == "cuda":
        return float(torch.cuda.mem_get_info()[0])
    import psutil

    free = float(psutil.virtual_memory().available)
    try:
        most, used = (int((_CGROUP / name).read_text()) for name in ("memory.max", "memory.current"))
    except (OSError, ValueError):  # no container, or no limit: "max"
        return free
    return min(free, max(0.0, float(most - used)))


def peak_of(work: Callable[[], T], device: str = "cpu") -> tuple[T, float | None]:
    """Do some work; tell what it returned, and the bytes that it took at its peak beyond what was there before.

    Parameters
    ----------
    work : callable
        Without arguments.
    device : {"cpu", "cuda"}
        Whose memory.

    Returns
    -------
    object, float or None
        None where the system does not tell; Linux does. Blocks that the process had kept from earlier work, of up to
        some 30 MB each, are not seen when they are used again; what something else in the process frees meanwhile
        is missing from it. A process of its own tells it right.

    Examples
    --------
    >>> made, taken = peak_of(lambda: torch.ones(1 << 24).sum().item())  # takes 67 MB
    >>> made
    16777216.0
    """
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        done = work()
        return done, float(torch.cuda.max_memory_allocated() - before)
    try:
        (_PROC / "clear_refs").write_text("5")  # the largest resident size begins anew
        start = _status("VmRSS")
    except OSError:
        return work(), None
    done = work()
    return done, float(max(0, _status("VmHWM") - start))


def _status(name: str) -> int:
    """Bytes, of a line such as `VmRSS:  1234 kB`."""
    lines = (_PROC / "status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(name))


def processor() -> str:
    """Name the processor, and count its cores.

    Returns
    -------
    str

    Examples
    --------
    >>> processor().endswith("cores")
    True
    """
    name = ""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        name = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "")
    except OSError:
        pass
    return f"{name or platform.processor() or platform.machine()}, {os.cpu_count()} cores"
