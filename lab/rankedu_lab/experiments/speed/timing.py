"""Time contestants with `torch.utils.benchmark`: one row each, and none that would not fit into memory or time."""

import os
import platform
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch.utils.benchmark import Timer

Work = Callable[[], object]
Name = tuple[str, str]  # the work, and its contestant
Row = dict[str, Any]


@dataclass
class Limits:
    """What a measurement may take: seconds for one contestant at one size, seconds and bytes for everything."""

    seconds: float = 1.0
    budget: float = 600.0
    memory: float = 2.0**31
    begun: float = field(default_factory=time.monotonic)

    def left(self) -> float:
        """Return the seconds until the budget is used up."""
        return self.budget - (time.monotonic() - self.begun)


def race(
    sizes: Iterable[int],
    works: Callable[[int], Mapping[Name, Work]],
    limits: Limits,
    needed: Callable[[Name, int], float] = lambda name, size: 0.0,
) -> list[Row]:
    """Time contestants at growing sizes, with one thread.

    Parameters
    ----------
    sizes : Iterable[int]
        Sizes of the list or of the batch.
    works : Callable[[int], Mapping[Name, Work]]
        Makes the contestants of a size, each a function without arguments.
    limits : Limits
        A contestant is not timed where it would need more memory, or more time than is left. We expect three calls,
        each longer than at the last size by the square of the ratio of sizes.
    needed : Callable[[Name, int], float]
        Bytes that a contestant needs at a size.

    Returns
    -------
    list[Row]
        ``work``, ``contender``, ``size``, ``seconds`` (the median of one call; None where it was not timed) and
        ``note``, which says why it was not.
    """
    rows: list[Row] = []
    last: dict[Name, tuple[int, float]] = {}
    for size in sorted(set(sizes)):
        for name, work in works(size).items():
            before, taken = last.get(name, (size, 0.0))
            seconds, note = None, ""
            if needed(name, size) > limits.memory:
                note = f"not timed: it needs about {needed(name, size) / 2**30:.3g} GiB"
            elif limits.left() <= 3 * taken * (size / before) ** 2:
                note = "not timed: the budget would be used up"
            else:
                timer = Timer("work()", globals={"work": work})
                try:
                    seconds = timer.blocked_autorange(min_run_time=limits.seconds).median
                    last[name] = size, seconds
                except torch.cuda.OutOfMemoryError as error:
                    note = f"not timed: {str(error).splitlines()[0]}"
            rows.append({"work": name[0], "contender": name[1], "size": size, "seconds": seconds, "note": note})
    return rows


def free_memory(device: str = "cpu") -> float:
    """Return the bytes that are free: of the machine, within the limit of its container, or of the GPU."""
    if device == "cuda":
        return float(torch.cuda.mem_get_info()[0])
    import psutil

    free = float(psutil.virtual_memory().available)
    with suppress(OSError, ValueError):  # no container, or no limit: "max"
        group = Path("/sys/fs/cgroup")
        most, used = (int((group / name).read_text()) for name in ("memory.max", "memory.current"))
        free = min(free, max(0.0, float(most - used)))
    return free


def processor() -> str:
    """Return the name of the processor, and the number of its cores."""
    name = ""
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        name = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "")
    return f"{name or platform.processor() or platform.machine()}, {os.cpu_count()} cores"
