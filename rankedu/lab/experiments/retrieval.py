"""What the lab `retrieval` does: train a network for retrieval, and measure it as RaMBO and Smooth-AP do."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from rankedu.lab.experiments import _experiment
from rankedu.lab.experiments._experiment import check, fit, with_defaults
from rankedu.lab.experiments._outcome import Outcome, Trained, noting
from rankedu.lab.experiments.retrieval_data import PROBE
from rankedu.metrics import evaluate_retrieval

__all__ = ["DEFAULTS", "PROBE", "Outcome", "chance", "check", "measure", "run", "table", "times"]

#: Every parameter of the lab.
DEFAULTS: dict[str, Any] = {**_experiment.DEFAULTS, "recall_at": [1, 10, 100]}


def run(
    parameters: Mapping[str, Any] | None = None,
    folder: str | os.PathLike[str] | None = None,
    *,
    progress: bool = True,
) -> Outcome:
    """Train by a method of `rankedu.lab.methods` and measure the result on the whole test split.

    Parameters
    ----------
    parameters : mapping, optional
        Of `DEFAULTS`, which the lab's notebook explains; what is left out has its default.
    folder : path, optional
        Where a checkpoint is kept until the outcome's ``close()``; a run that was interrupted goes on from there.
        Default: ``$RANKEDU_RESULT_FOLDER``, else the current folder.
    progress : bool
        Show progress bars.

    Returns
    -------
    Outcome
        Its ``metrics`` are ``"R@K"`` for every K, ``"mAP"`` and ``"mAP@R"``, all of the finest level; then those of
        :func:`times`.

    Raises
    ------
    ValueError, TypeError
        For an unknown parameter, loss, data set or network; a value out of range; a batch that is larger than the set;
        a GPU that is not there.
    FileNotFoundError
        If the data are missing: names the file, and where its owner publishes it.

    Source
    ------
    RaMBO Sec. 5.1; RaMBO Tab. 2; RaMBO Tab. 3; RaMBO Tab. 4; RaMBO Tab. 7; RaMBO supp. Tab. 1; Smooth-AP supp. Sec. 4.
    """
    chosen = with_defaults(parameters or {}, DEFAULTS)
    outcome = fit(chosen, folder, progress=progress)
    started = time.perf_counter()
    names = {f"R@{k}": f"recall_at_{k}" for k in chosen["recall_at"]} | {
        "mAP": "average_precision",
        "mAP@R": "map_at_r",
    }
    found = measure(outcome, tuple(names.values()), levels=1, progress=progress)
    outcome.metrics = {name: found[metric] for name, metric in names.items()}
    outcome.history.evaluating += time.perf_counter() - started
    outcome.metrics |= times(outcome)
    return outcome


def measure(
    outcome: Outcome, metrics: Sequence[str], *, levels: int | None = None, progress: bool = True, **options: Any
) -> dict[str, Any]:
    """Evaluate the embeddings of a run; what the metrics warn of becomes a note.

    Parameters
    ----------
    outcome : Outcome
    metrics : sequence of str
        See :func:`rankedu.metrics.evaluate_retrieval`.
    levels : int, optional
        So many levels from the leaves up. Default: all.
    progress : bool
    **options
        For :func:`rankedu.metrics.evaluate_retrieval`.

    Returns
    -------
    dict
    """
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


def times(outcome: Trained) -> dict[str, float]:
    """Say where the time of a run went.

    Parameters
    ----------
    outcome : Trained

    Returns
    -------
    dict of str to float
        ``"seconds"`` of training and evaluation; the shares of :meth:`rankedu.lab.training.History.shares`.
    """
    history = outcome.history
    return {"seconds": history.seconds + history.evaluating, **history.shares()}


def chance(outcome: Outcome) -> float:
    """R@1 of a random ranking: the share of a query's candidates that have its class, averaged over the queries.

    Parameters
    ----------
    outcome : Outcome

    Returns
    -------
    float
    """
    leaves, candidates = outcome.data.labels[:, -1], outcome.data.candidates
    asked = leaves if candidates is None else leaves[~candidates]
    among, itself = (leaves, 1) if candidates is None else (leaves[candidates], 0)
    relevant = (torch.bincount(among, minlength=int(leaves.max()) + 1)[asked] - itself).double()
    return float(relevant[relevant > 0].mean() / (len(among) - itself))


def table(metrics: Mapping[str, float]) -> str:
    """Write metrics as aligned lines.

    Parameters
    ----------
    metrics : mapping of str to float

    Returns
    -------
    str

    Examples
    --------
    >>> print(table({"R@1": 0.25, "evaluation share": 0.125}))
    R@1               0.250
    evaluation share  0.125
    """
    width = max(map(len, metrics))
    return "\n".join(f"{name:<{width}}  {value:.3f}" for name, value in metrics.items())
