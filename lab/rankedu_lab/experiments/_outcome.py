"""The results of a run of a training lab, beside its files."""

import shutil
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from rankedu.hierarchy import InvertedRelevanceWarning
from rankedu.metrics import UndefinedMetricWarning
from rankedu_lab.experiments.retrieval_data import Data
from rankedu_lab.methods import Objective
from rankedu_lab.training import History
from rankedu_lab.training.checkpoints import write_packed


@dataclass(kw_only=True)
class Trained:
    """The results of every run that trains a network."""

    net: Any  #: trained
    history: History
    data: Any  #: for training and test
    state: Path  #: folder of the checkpoint
    metrics: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)  #: remarks for the reader of the numbers
    evidence: dict[str, Any] = field(default_factory=dict)  #: hashes of code and first weights

    def times(self) -> dict[str, float]:
        """Return the "seconds" of training and evaluation, and the shares of `History.shares`."""
        return {"seconds": self.history.seconds + self.history.evaluating, **self.history.shares()}

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The log: the loss of every step, and the evaluations after it on a part of the test images."""
        return self.history.rows({"loss": "loss"}, " of a part")

    def close(self) -> None:
        """Give up the checkpoint, and keep the weights; to be called when the result is saved."""
        if self.state.is_dir():
            write_packed(self.state.parent / "net.pt", lambda file: torch.save(self.net.state_dict(), file))
            shutil.rmtree(self.state)


@dataclass(kw_only=True)
class RetrievalOutcome(Trained):
    """The results of a run of a retrieval lab."""

    loss: Objective  #: trained too, where it has weights
    data: Data
    objective: Any  #: the loss, or the module that took its place in the training
    embeddings: Tensor  #: (N, dim) of the test images, on the CPU; where the gallery is apart, queries first
    shown: Data | None = None  #: a part of the test images
    before: Tensor | None = None  #: its embeddings, by the network as it began
    after: Tensor | None = None  #: and as it ended


@contextmanager
def timed(history: History) -> Iterator[None]:
    """Add the time of the block to the evaluation."""
    started = time.perf_counter()
    yield
    history.evaluating += time.perf_counter() - started


def resumed(history: History) -> list[str]:
    """Return a note on a run that was interrupted, and goes on from its checkpoint."""
    steps = ", ".join(map(str, history.interrupted))
    return [f"the run was interrupted after step {steps}, and went on from its checkpoint"] if steps else []


@contextmanager
def noting(notes: list[str]) -> Iterator[None]:
    """Turn warnings about a data set into notes, once each; other warnings are given as usual."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        if not issubclass(warning.category, UndefinedMetricWarning | InvertedRelevanceWarning):
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
        elif str(warning.message) not in notes:
            notes.append(str(warning.message))
