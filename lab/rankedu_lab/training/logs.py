"""The records of a run: the values of every step, the evaluations, and where its time went."""

import csv
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from rankedu.files import written


@dataclass
class History:
    """The results of a training run, beside the trained network."""

    values: dict[str, list[float]] = field(default_factory=dict)  #: of every step: "loss", "lr", and parts of the loss
    evaluations: list[dict[str, float]] = field(default_factory=list)  #: "step" and what evaluate() returned
    seconds: float = 0.0  #: of the steps, without the evaluations
    waiting: float = 0.0  #: of these, seconds spent waiting for data
    loss_seconds: float = 0.0  #: of these, seconds of the loss and of its gradient with respect to the embeddings
    evaluating: float = 0.0  #: seconds of the evaluations
    interrupted: list[int] = field(default_factory=list)  #: steps after which it was stopped, and taken up again

    @property
    def losses(self) -> list[float]:
        """The loss of every step."""
        return self.values.get("loss", [])

    def add(self, values: Mapping[str, float]) -> None:
        """Add the values of a step."""
        for name, value in values.items():
            self.values.setdefault(name, []).append(value)

    def rows(self, names: Mapping[str, str] | None = None, suffix: str = "") -> list[dict[str, Any]]:
        """Return a row per step: "step", its values, or those in ``names`` by other names, and its evaluation."""
        names = {name: name for name in self.values} if names is None else names
        columns = {to: self.values[name] for name, to in names.items() if name in self.values}
        rows: list[dict[str, Any]] = [{"step": step} for step in range(1, len(self.losses) + 1)]
        for name, values in columns.items():
            for row, value in zip(rows, values, strict=True):
                row[name] = value
        for measured in self.evaluations:
            found = {f"{name}{suffix}": value for name, value in measured.items() if name != "step"}
            rows[int(measured["step"]) - 1] |= found
        return rows

    def write(self, path: Path) -> None:
        """Write a table with a row per step, whole or not at all."""
        rows = self.rows()
        names = dict.fromkeys(name for row in rows for name in row)
        with written(path) as part, part.open("w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, [*names], lineterminator="\n")
            table.writeheader()
            table.writerows(rows)

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
        """Return the seconds from one mark to another; on a GPU, wait for the second."""
        start, end = self._marks[first], self._marks[second]
        if self.device.type != "cuda":
            return float(end - start)
        end.synchronize()
        return float(start.elapsed_time(end)) / 1000
