"""Time pieces of work against each other: in turn, in one process, and none that would not fit into memory or time."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch

from rankedu.lab.experiments._footprint import peak_of

__all__ = ["Limits", "clock", "one_thread", "race"]

Work = Callable[[], object]
Name = tuple[str, str]  # what is done, and who does it
Row = dict[str, Any]
#: With which powers of the size time and memory are expected to grow, where nothing else is said.
GROWTH = (1.2, 1.0)
#: A first call, which warms up, is given another one unless it takes so many times the seconds of a contender.
PATIENCE = 3
#: Bytes up to which a process may take what it has kept from earlier work.
LITTLE = 2.0**25


@dataclass
class Limits:
    """What a measurement may take.

    Attributes
    ----------
    rounds : int
        Times that a contender is timed at one size.
    seconds : float
        A contender gets no further round at a size after so many seconds; it always gets one.
    budget : float
        Seconds for everything. What is expected to end later is not begun.
    memory : float
        Bytes. What is expected to need more is not begun.
    longest : mapping of str to int
        Largest size that a contender is given, by its name.
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
        if size > self.longest.get(name[1], size):
            return f"not tried: longest is {self.longest[name[1]]:,}"
        if (needed := expected.get("bytes", 0.0)) > self.memory:
            return f"not tried: about {_gib(needed)} GiB would be needed, {_gib(self.memory)} may be used"
        if (taken := expected.get("seconds", 0.0)) > self.left():
            return f"not tried: it would take about {max(taken, 0.1):,.1f} s, and the budget ends before"
        return ""


def clock(work: Work, device: str) -> float:
    """Seconds of one call: of the processor for this process alone, or until the GPU has done it."""
    if device == "cpu":
        start = time.process_time()
        work()
        return time.process_time() - start
    torch.cuda.synchronize()
    start = time.perf_counter()
    work()
    torch.cuda.synchronize()
    return time.perf_counter() - start


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
    growth: Mapping[Name, tuple[float, float]] | None = None,
) -> list[Row]:
    """Time contenders at growing sizes, in turn.

    Parameters
    ----------
    sizes : iterable of int
        Measured from the smallest to the largest.
    works : callable
        Size → (what is done, who does it) → a function without arguments.
    limits : Limits
    device : {"cpu", "cuda"}
    growth : mapping, optional
        (what, who) → with which powers of the size its time and its memory are expected to grow.

    Returns
    -------
    list of dict
        A row for each contender and size: ``work``, ``contender``, ``size``, ``seconds`` (the median), ``best``,
        ``rounds``, ``bytes`` (at the peak, beyond what was there; None where that cannot be told, as if it is
        little) and ``note``. What was not tried has no seconds; its note tells why, and ``expected seconds`` and
        ``expected bytes`` what was expected, if anything was.

    Examples
    --------
    >>> (row,) = race([10], lambda n: {("sum", "ours"): lambda: sum(range(n))}, Limits(rounds=3))
    >>> row["work"], row["size"], row["rounds"]
    ('sum', 10, 3)
    """
    rows: list[Row] = []
    last: dict[Name, Row] = {}
    with one_thread():
        for size in sorted(set(sizes)):
            found = _race_at(size, works(size), limits, device, last, growth or {})
            last |= {(row["work"], row["contender"]): row for row in found}
            rows += found
    return rows


def _race_at(
    size: int,
    works: Mapping[Name, Work],
    limits: Limits,
    device: str,
    last: Mapping[Name, Row],
    growth: Mapping[Name, tuple[float, float]],
) -> list[Row]:
    """A row for each contender at one size; they run in turn until each has had its rounds or its seconds."""
    rows, times, cold = {}, {}, {}
    for name, work in works.items():
        expected = _expected(size, last.get(name), growth.get(name, GROWTH))
        row: Row = {"work": name[0], "contender": name[1], "size": size, "seconds": None, "best": None, "rounds": 0}
        rows[name] = row | {"bytes": None, "note": limits.refusal(name, size, expected)}
        if rows[name]["note"]:
            rows[name] |= {f"expected {key}": value for key, value in expected.items()}
            continue
        cold[name], peak = peak_of(lambda work=work: clock(work, device), device)  # type: ignore[misc]
        rows[name]["bytes"] = peak if device != "cpu" or (peak or 0) > LITTLE else None
        times[name] = [cold[name]] if cold[name] > PATIENCE * limits.seconds else []  # too long to be warmed up
    for _ in range(limits.rounds):
        for name, taken in times.items():
            typical = statistics.median(taken) if taken else 0.0
            if len(taken) < limits.rounds and sum(taken) < limits.seconds and typical < limits.left():
                taken.append(clock(works[name], device))
    for name, taken in times.items():
        if not taken:
            taken.append(cold[name])
            rows[name]["note"] = "one call, not warmed up: the budget is used up"
        rows[name] |= {"seconds": statistics.median(taken), "best": min(taken), "rounds": len(taken)}
    return list(rows.values())


def _gib(size: float) -> str:
    """Bytes in GiB, with two digits or as a whole number."""
    return f"{size / 2**30:,.0f}" if size >= 10 * 2**30 else f"{size / 2**30:.2g}"


def _expected(size: int, before: Row | None, growth: tuple[float, float]) -> dict[str, float]:
    """Seconds and bytes at a size, from the last one; of what was not tried, from what was expected of it."""
    if before is None:
        return {}
    ratio = size / before["size"]
    found = {}
    for key, power in zip(("seconds", "bytes"), growth, strict=True):
        value = before.get(key) if before.get(key) is not None else before.get(f"expected {key}")
        if value is not None:
            found[key] = value * ratio**power
    return found
