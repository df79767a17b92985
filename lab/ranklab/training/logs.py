"""What a run writes down: where its time went, and a line for every step."""

from __future__ import annotations

import csv
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import torch

from rankedu.files import written

if TYPE_CHECKING:
    from _csv import Writer

__all__ = ["COLUMNS", "Clock", "CsvLog", "History", "read_log"]

#: Of the log of a retrieval. R@1 and mAP are empty but where it was evaluated.
COLUMNS = ("step", "loss", "lr", "R@1", "mAP")


@dataclass
class History:
    """What a training run leaves behind, beside the trained network."""

    losses: list[float] = field(default_factory=list)  #: of every step
    evaluations: list[dict[str, float]] = field(default_factory=list)  #: "step" and what evaluate() returned
    seconds: float = 0.0  #: of the steps, without the evaluations
    waiting: float = 0.0  #: of these, seconds spent waiting for data
    loss_seconds: float = 0.0  #: of these, seconds of the loss and of its gradient with respect to the embeddings
    evaluating: float = 0.0  #: seconds of the evaluations
    interrupted: list[int] = field(default_factory=list)  #: steps after which it was stopped, and taken up again

    def shares(self) -> dict[str, float]:
        """Tell which share of the steps went into the loss and into waiting, and of the whole run into evaluating."""
        steps, whole = self.seconds or float("nan"), (self.seconds + self.evaluating) or float("nan")
        parts = (self.loss_seconds / steps, self.waiting / steps, self.evaluating / whole)
        return dict(zip(("loss share", "waiting share", "evaluation share"), parts, strict=True))


class Clock:
    """Marks in time; on a GPU, which computes later than it is asked to, marks in its queue."""

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


class CsvLog:
    """A table on disk that grows by a line a step; lines ``after`` the step where a run goes on are dropped.

    A context manager. Lines are on disk after :meth:`flush` and at the end.
    """

    def __init__(self, path: Path | None, *, after: int = 0, columns: Sequence[str] = COLUMNS) -> None:
        self.path, self.after, self.columns = path, after, columns

    def __enter__(self) -> CsvLog:
        if self.path is not None:
            kept = [row for row in _rows(self.path) if int(row["step"]) <= self.after] if self.after else []
            with written(self.path) as part, part.open("w", newline="", encoding="utf-8") as file:
                lines = [self.columns, *([row.get(name, "") for name in self.columns] for row in kept)]
                csv.writer(file, lineterminator="\n").writerows(lines)
            self._file = self.path.open("a", newline="", encoding="utf-8")
            self._writer: Writer = csv.writer(self._file, lineterminator="\n")
        return self

    def write(self, row: Mapping[str, float]) -> None:
        """Add a line; what is no column is left out, a column that is not there stays empty."""
        if self.path is not None:
            self._writer.writerow([row.get(name, "") for name in self.columns])

    def flush(self) -> None:
        """Bring all lines to disk."""
        if self.path is not None:
            self._file.flush()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.path is not None:
            self._file.close()


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
