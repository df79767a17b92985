"""The lab `retrieval`: train a network for retrieval, and measure it as RaMBO and Smooth-AP do."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from tabulate import tabulate

from rankedu.metrics import evaluate_retrieval
from rankedu_lab.experiments._experiment import DEFAULTS, check, fit, open_test
from rankedu_lab.experiments._outcome import RetrievalOutcome, noting, timed
from rankedu_lab.experiments.retrieval_data import PROBE, Data
from rankedu_lab.runs.parameters import complete

__all__ = ["DEFAULTS", "PROBE", "RetrievalOutcome", "chance", "check", "measure", "open_test", "run", "table"]


def run(
    parameters: Mapping[str, Any] | None = None,
    folder: str | os.PathLike[str] | None = None,
    *,
    data: Data | None = None,
    progress: bool = True,
) -> RetrievalOutcome:
    """Train by a method of `rankedu_lab.methods` and measure the result on the whole test split.

    `parameters` are of `DEFAULTS`, which the lab's notebook explains. Until the outcome's ``close()`` a checkpoint is
    kept in `folder` (by default ``$RANKEDU_RESULT_FOLDER``, else the current one); a run that was interrupted goes on
    from there. `data` are those that `open_test` has opened. The metrics are "R@K" for every K, "mAP" and
    "mAP@R", of the finest level, and where the time went.
    ValueError or TypeError for an unknown name or a value out of range, FileNotFoundError where data are missing.

    Source: RaMBO Sec. 5.1; RaMBO Tab. 2; RaMBO Tab. 3; RaMBO Tab. 4; RaMBO Tab. 7; RaMBO supp. Tab. 1;
    Smooth-AP supp. Sec. 4.
    """
    chosen = complete("retrieval", parameters)
    outcome = fit(chosen, folder, data=data, progress=progress)
    names = {f"R@{k}": f"recall_at_{k}" for k in chosen["recall_at"]}
    names |= {"mAP": "average_precision", "mAP@R": "map_at_r"}
    with timed(outcome.history):
        measured = measure(outcome, tuple(names.values()), levels=1, progress=progress)
    outcome.metrics = {**{name: measured[metric] for name, metric in names.items()}, **outcome.times()}
    return outcome


def measure(
    outcome: RetrievalOutcome,
    metrics: Sequence[str],
    *,
    levels: int | None = None,
    progress: bool = True,
    **options: Any,
) -> dict[str, Any]:
    """Evaluate the embeddings of a run, `levels` from the leaves up (default: all); its warnings become notes."""
    labels = outcome.data.labels
    labels, queries = labels[:, -levels:] if levels else labels, len(outcome.data.test)
    apart: dict[str, Any] = {}
    if outcome.data.gallery is not None:
        apart = {"gallery": outcome.embeddings[queries:], "gallery_labels": labels[queries:]}
    with noting(outcome.notes):
        return evaluate_retrieval(
            outcome.embeddings[:queries],
            labels[:queries],
            metrics=metrics,
            device=next(outcome.net.parameters()).device,
            progress=progress,
            **apart,
            **options,
        )


def chance(data: Data) -> float:
    """Compute R@1 of a random ranking: the mean share of a query's candidates that have its class."""
    leaves, candidates = data.labels[:, -1], data.candidates
    asked = leaves if candidates is None else leaves[~candidates]
    among, itself = (leaves, 1) if candidates is None else (leaves[candidates], 0)
    relevant = (torch.bincount(among, minlength=int(leaves.max()) + 1)[asked] - itself).double()
    return float(relevant[relevant > 0].mean() / (len(among) - itself))


def table(metrics: Mapping[str, float]) -> str:
    """Write metrics as aligned lines."""
    return tabulate(metrics.items(), tablefmt="plain", floatfmt=".3f")
