"""The records of a run: where its time went, and a line for every step."""

from __future__ import annotations

import csv
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import torch

#: Of the log of a retrieval. R@1 and mAP are empty but where it was evaluated.
COLUMNS = ("step", "loss", "lr", "R@1", "mAP")


@dataclass
class History:
    """The results of a training run, beside the trained network."""

    losses: list[float] = field(default_factory=list)  #: of every step
    evaluations: list[dict[str, float]] = field(default_factory=list)  #: "step" and what evaluate() returned
    seconds: float = 0.0  #: of the steps, without the evaluations
    waiting: float = 0.0  #: of these, seconds spent waiting for data
    loss_seconds: float = 0.0  #: of these, seconds of the loss and of its gradient with respect to the embeddings
    evaluating: float = 0.0  #: seconds of the evaluations
    interrupted: list[int] = field(default_factory=list)  #: steps after which it was stopped, and taken up again

    def shares(self) -> dict[str, float]:
        """Compute the shares of the loss and of waiting in the steps, and of the evaluations in the whole run."""
        steps, whole = self.seconds or float("nan"), (self.seconds + self.evaluating) or float("nan")
        of_steps = {"loss share": self.loss_seconds / steps, "waiting share": self.waiting / steps}
        return {**of_steps, "evaluation share": self.evaluating / whole}


class Clock:
    """Marks in time; on a GPU, which computes later than its commands are given, marks in its queue."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self._marks: dict[str, Any] = {}

    def mark(self, name: str) -> None:
        """Mark this moment; a mark of the same name is moved."""
        if self.device.type != "cuda":
            self._marks[name] = time.perf_counter()
            return
        event = self._marks.setdefault(name, torch.cuda.Event(enable_timing=True))
        event.record(torch.cuda.current_stream(self.device))

    def between(self, first: str, second: str) -> float:
        """Seconds from one mark to another; waits for the second."""
        start, end = self._marks[first], self._marks[second]
        if self.device.type != "cuda":
            return float(end - start)
        end.synchronize()
        return float(start.elapsed_time(end)) / 1000


@contextmanager
def csv_log(
    path: Path | None, *, after: int = 0, columns: Sequence[str] = COLUMNS
) -> Iterator[tuple[csv.DictWriter[str], TextIO]]:
    """Open a table with a line per step, after dropping the lines ``after`` a step; None stands for no file."""
    kept = [row for row in _rows(path) if int(row["step"]) <= after] if path and after else []
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
    with open(path or os.devnull, "w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
        table.writeheader()
        table.writerows(kept)
        file.flush()
        yield table, file


def read_log(path: Path) -> list[dict[str, float]]:
    """Read a log: a dict for each step, without the columns that are empty."""
    return [{name: float(value) for name, value in row.items() if value} for row in _rows(path)]


def _rows(path: Path) -> list[dict[str, str]]:
    """The complete lines of a log, which may have been cut off in the middle of one."""
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]  # what has no end is not complete
    rows = csv.DictReader(lines)
    return [row for row in rows if (row.get("step") or "").isdigit() and None not in row.values()]
