"""What a run on the splits of the protocol leaves for its judges, small enough to be committed: a few kilobytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from ranklab.experiments._outcome import RetrievalOutcome
from ranklab.runs.packing import pack
from ranklab.training import History

__all__ = ["add_evidence", "curve"]

#: Points of the curve of the loss.
POINTS = 24


def add_evidence(outcome: RetrievalOutcome, hits: Tensor, per_query: Mapping[str, Tensor]) -> None:
    """Pack what was measured of each query, in the order of their base letters, and its mean for each base letter.

    `hits` (n, L) says at which levels the first result is right, `per_query` (n,) are metrics. Of the pictures that two
    characters share the means are told apart.
    """
    letters = outcome.data.test.labels[:, -2:][:, 0]
    order = letters.argsort(stable=True)
    numbers, place, counts = letters.unique(return_inverse=True, return_counts=True)
    means = {
        name: torch.zeros(len(numbers), dtype=torch.float64).index_add(0, place, values.double()) / counts
        for name, values in per_query.items()
    }
    outcome.evidence |= {
        "levels": outcome.data.test.labels.shape[1],
        "first": pack(hits.nansum(1).long().cpu()[order], "uint8"),
        "letters": pack(numbers, "int32"),
        "queries": pack(counts, "uint16"),
        "means": {name: pack(values, "float32") for name, values in means.items()},
        "curve": curve(outcome.history),
    }
    twins = getattr(outcome.data.test, "twins", None)
    if twins is not None:
        outcome.metrics |= {
            f"{name} of {side}": float(values[mask].mean())
            for name, values in per_query.items()
            for side, mask in (("twins", twins), ("others", ~twins))
        }


def curve(history: History) -> dict[str, Any]:
    """The loss as means over equal parts of the training, and what was evaluated on the way."""
    losses = torch.tensor(history.losses, dtype=torch.float64)
    parts = losses.tensor_split(min(POINTS, len(losses))) if len(losses) else ()
    return {"loss": [round(float(part.mean()), 5) for part in parts], "evaluations": history.evaluations}
