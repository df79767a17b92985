"""Time pieces of work against each other: in turn, in one process, and none that would not fit into memory or time."""

import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import torch

Work = Callable[[], object]
Name = tuple[str, str]  # what is done, and who does it
Row = dict[str, Any]
Powers = tuple[float, float]
T = TypeVar("T")
#: A first call, which warms up, is given another one unless it takes so many times the seconds of a contender.
PATIENCE = 3
#: Bytes up to which a process may take what it has kept from earlier work.
LITTLE = 2.0**25
_PROC, _CGROUP = Path("/proc/self"), Path("/sys/fs/cgroup")


@dataclass
class Limits:
    """What a measurement may take: rounds and seconds for each contender at a size, seconds and bytes for everything.

    A contender always gets one round; what is expected to go beyond `budget` or `memory` is not begun, nor what is
    larger than the size that `longest` names for its contender. Who wants what is not installed, or more memory of a
    GPU than there is, is told as not measured.
    """

    rounds: int = 5
    seconds: float = 1.0
    budget: float = 600.0
    memory: float = 2.0**31
    longest: Mapping[str, int] = field(default_factory=dict)
    begun: float = field(default_factory=lambda: time.monotonic())

    def left(self) -> float:
        """Seconds until the budget is used up."""
        return self.budget - (time.monotonic() - self.begun)

    def refusal(self, name: Name, size: int, expected: Mapping[str, float]) -> str:
        """Why this is not to be tried; empty if it is."""
        needed, taken = expected.get("bytes", 0.0), expected.get("seconds", 0.0)
        if size > self.longest.get(name[1], size):
            return f"not tried: longest is {self.longest[name[1]]:,}"
        if needed > self.memory:
            return f"not tried: about {_gib(needed)} GiB would be needed, {_gib(self.memory)} may be used"
        if taken > self.left():
            return f"not tried: it would take about {max(taken, 0.1):,.1f} s, and the budget ends before"
        return ""


def _gib(size: float) -> str:
    """Bytes in GiB, with two digits or as a whole number."""
    return f"{size / 2**30:,.0f}" if size >= 10 * 2**30 else f"{size / 2**30:.2g}"


def clock(work: Work, device: str = "cpu") -> float:
    """Seconds of one call: of the processor for this process alone, or between two events on the GPU."""
    if device == "cpu":
        start = time.process_time()
        work()
        return time.process_time() - start
    torch.cuda.synchronize()
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    work()
    end.record()
    torch.cuda.synchronize()
    return float(begin.elapsed_time(end)) / 1e3


@contextmanager
def one_thread() -> Iterator[None]:
    """As in a training run: one thread, and an allocator that has given back something large before."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.zeros(31 << 18)  # after that glibc keeps freed blocks of up to 31 MB, instead of asking for them each time
    try:
        yield
    finally:
        torch.set_num_threads(before)


def race(
    sizes: Iterable[int],
    works: Callable[[int], Mapping[Name, Work]],
    limits: Limits,
    *,
    device: str = "cpu",
    usual: Powers = (1.2, 1.0),
    growth: Mapping[Name, Powers] | None = None,
) -> list[Row]:
    """Time contenders at growing sizes, in turn.

    ``works`` makes of a size (what is done, who does it) → a function without arguments. Time and memory are expected
    to grow with the ``usual`` powers of the size, or with others by ``growth``. A row has ``work``, ``contender``,
    ``size``, ``seconds`` (the median), ``best``, ``rounds``, ``bytes`` (at the peak, beyond what was there; None where
    that cannot be told, as if it is little) and ``note``. What was not tried has no seconds; its note tells why, and
    ``expected seconds`` and ``expected bytes`` what was expected, if anything was.
    """
    rows: list[Row] = []
    last: dict[Name, Row] = {}
    for size in sorted(set(sizes)):
        with one_thread():
            contenders = works(size)
            expected = {name: _expected(size, last.get(name), (growth or {}).get(name, usual)) for name in contenders}
            found = _race_at(size, contenders, expected, limits, device)
        last |= found
        rows += found.values()
    return rows


def _race_at(
    size: int, works: Mapping[Name, Work], expected: Mapping[Name, dict[str, float]], limits: Limits, device: str
) -> dict[Name, Row]:
    """A row for each contender at one size; they run in turn until each has had its rounds or its seconds."""
    rows: dict[Name, Row] = {}
    times: dict[Name, list[float]] = {}
    cold: dict[Name, float] = {}
    for name, work in works.items():
        row: Row = {"work": name[0], "contender": name[1], "size": size, "seconds": None, "best": None, "rounds": 0}
        rows[name] = row | {"bytes": None, "note": limits.refusal(name, size, expected[name])}
        if rows[name]["note"]:
            rows[name] |= {f"expected {key}": value for key, value in expected[name].items()}
            continue
        with _told(rows[name]):
            cold[name], peak = peak_of(lambda work=work: clock(work, device), device)  # type: ignore[misc]
            rows[name]["bytes"] = peak if device != "cpu" or (peak or 0) > LITTLE else None
            times[name] = [cold[name]] if cold[name] > PATIENCE * limits.seconds else []  # too long to be warmed up
    for _ in range(limits.rounds):
        for name, taken in times.items():
            typical = statistics.median(taken) if taken else 0.0
            if len(taken) < limits.rounds and sum(taken) < limits.seconds and typical < limits.left():
                with _told(rows[name]):
                    taken.append(clock(works[name], device))
    for name, taken in times.items():
        if not taken:
            taken.append(cold[name])
            rows[name]["note"] = rows[name]["note"] or "one call, not warmed up: the budget is used up"
        rows[name] |= {"seconds": statistics.median(taken), "best": min(taken), "rounds": len(taken)}
    return rows


@contextmanager
def _told(row: Row) -> Iterator[None]:
    """Note why something could not be measured."""
    try:
        yield
    except (ImportError, torch.cuda.OutOfMemoryError) as error:
        said = str(error).partition("\n")[0]
        row["note"] = f"not measured: {type(error).__name__}: {said}"


def _expected(size: int, before: Row | None, growth: Powers) -> dict[str, float]:
    """Seconds and bytes at a size, from the last one; of what was not tried, from what was expected of it."""
    if before is None:
        return {}
    powers = dict(zip(("seconds", "bytes"), growth, strict=True))
    known = {key: before.get(f"expected {key}" if before.get(key) is None else key) for key in powers}
    ratio = size / before["size"]
    return {key: value * ratio ** powers[key] for key, value in known.items() if value is not None}


def free_memory(device: str = "cpu") -> float:
    """Bytes that can be had now: of the machine, within the limit of its container, or of the GPU."""
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

    On a CPU, None where the system does not tell; Linux does. Blocks that the process had kept from earlier work, of
    up to some 30 MB each, are not seen when they are used again, and what something else frees meanwhile is missing.
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


def told(module: str, call: str, **variables: str) -> Any:
    """What a call of one of a module's functions returns, in JSON, in a process of its own."""
    name = call.partition("(")[0]
    command = [sys.executable, "-c", f"import json; from {module} import {name}; print(json.dumps({call}))"]
    run = subprocess.run(command, env=os.environ | variables, check=True, capture_output=True, text=True, timeout=600)
    return json.loads(run.stdout)


def processor() -> str:
    """The name of the processor, and the number of its cores."""
    name = ""
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        name = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "")
    return f"{name or platform.processor() or platform.machine()}, {os.cpu_count()} cores"
