"""What the lab `minibatch_statistics` does: what mini-batches say about the whole, measured while a network is trained.

RaMBO's Fig. 2 (the metric of a batch against its size), Smooth-AP's Fig. S7 (the share of pairs that have a gradient),
and what a memory adds: longer lists, of items that are out of date.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from torch import Tensor, nn

from rankedu_lab.experiments import _experiment
from rankedu_lab.experiments._experiment import fit, with_defaults
from rankedu_lab.experiments._minibatches import (
    TEMPERATURE,
    batch_metrics,
    pairs_with_gradient,
    shares_of_batches,
    staleness,
    table,
)
from rankedu_lab.experiments._outcome import RetrievalOutcome
from rankedu_lab.experiments.retrieval import measure
from rankedu_lab.experiments.retrieval_data import Data, embed_all
from rankedu_lab.runs.parameters import defaults_of

__all__ = ["DEFAULTS", "Statistics", "batch_metrics", "check", "run", "table"]

#: Every parameter of the lab.
DEFAULTS = defaults_of("minibatch_statistics")
#: Moments of the run at which all is measured, as shares of its steps.
MOMENTS = (0.0, 0.5, 1.0)


@dataclass
class Statistics:
    """What was measured."""

    outcome: RetrievalOutcome
    embeddings: dict[int, Tensor]  #: of the test images, by the number of steps before
    #: For each moment and batch size "step", "batch size", the data set's "mAP" and "R@1", mean and standard deviation
    #: of those of batches ("batch mAP", "batch mAP, sd", …), and "P", the share of pairs with a gradient.
    rows: list[dict[str, Any]] = field(default_factory=list)
    shares: dict[int, float] = field(default_factory=dict)  #: mean P of all batches of a run, by its batch size
    staleness: dict[int, float] = field(default_factory=dict)  #: RMS error of a remembered score, by its age in batches
    #: For each length "memory", "list", and the mean "batch mAP" of lists with remembered items "as they are now" and
    #: "as they were then".
    memory: list[dict[str, Any]] = field(default_factory=list)


class _Watch(nn.Module):
    """A loss that notes P of each batch, and embeds the test images before some of the steps."""

    def __init__(self, net: Any, loss: Any, data: Data, moments: Sequence[int], parameters: Mapping[str, Any]) -> None:
        super().__init__()
        self.loss, self.takes_paths, self.temperature = loss, loss.takes_paths, parameters["temperature"] or TEMPERATURE
        self.seen: dict[str, Any] = {"embeddings": {}, "shares": []}
        self._embed, self._moments = lambda: embed_all(net, data, parameters).cpu(), moments

    def forward(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        step = len(self.seen["shares"])
        if step in self._moments:
            self.seen["embeddings"][step] = self._embed()
        self.seen["shares"].append(pairs_with_gradient(embeddings, self.temperature))
        return self.loss(embeddings, labels)

    def get_extra_state(self) -> dict[str, Any]:
        """What was seen, so that it is part of a checkpoint."""
        return {"embeddings": dict(self.seen["embeddings"]), "shares": list(self.seen["shares"])}

    def set_extra_state(self, state: dict[str, Any]) -> None:
        """Take over what was seen."""
        self.seen = state


def run(
    parameters: Mapping[str, Any] | None = None,
    folder: str | os.PathLike[str] | None = None,
    *,
    data: Data | None = None,
    progress: bool = True,
) -> Statistics:
    """Train a network, and measure batches of several sizes on the way; arguments and errors as in the lab `retrieval`.

    Source: RaMBO Fig. 2; Smooth-AP supp. Fig. S7.
    """
    chosen = with_defaults(parameters or {}, DEFAULTS)
    check(chosen)
    steps = chosen["steps"]
    moments = {round(part * steps) for part in MOMENTS} | {max(0, steps - age) for age in chosen["ages"]}
    full = {**_experiment.DEFAULTS, **{k: v for k, v in chosen.items() if k in _experiment.DEFAULTS}, "pictures": False}
    full["ages"] = chosen["ages"]  # by which a checkpoint is known: it holds what was measured at these moments

    def watch(net: Any, loss: Any, data: Data) -> nn.Module:
        _check_sizes(chosen, data)
        return _Watch(net, loss, data, sorted(moments), chosen)

    outcome = fit(full, folder, watch=watch, data=data, progress=progress)
    statistics = Statistics(outcome, {**outcome.objective.seen["embeddings"], steps: outcome.embeddings})
    statistics.rows = _rows(statistics, chosen)
    statistics.shares = _shares_of_runs(outcome, chosen, full, progress)
    statistics.staleness = {age: staleness(statistics.embeddings, steps, age) for age in chosen["ages"] if age <= steps}
    statistics.memory = [_memory_row(statistics, chosen, length) for length in chosen["memories"]]
    whole = measure(outcome, ("recall_at_1", "average_precision"), levels=1, progress=progress)
    outcome.metrics = {"R@1": whole["recall_at_1"], "mAP": whole["average_precision"], **_metrics(statistics, steps)}
    return statistics


def check(parameters: Mapping[str, Any]) -> None:
    """Raise ValueError for an unknown name, and for ages, memories and batches that do not fit together."""
    _experiment.check(parameters)
    longest = max(parameters["memories"], default=0)
    missing = [age for age in range(1, longest + 1) if age not in parameters["ages"]]
    if missing:
        raise ValueError(f"ages must have all up to the longest of memories, got {parameters['ages']}: no {missing[0]}")
    if longest > parameters["steps"]:
        raise ValueError(f"memories must be at most the {parameters['steps']} steps long, got {longest}")
    for size in parameters["batch_sizes"]:
        if size < 2 or size % parameters["per_class"]:
            raise ValueError(f"batch_sizes must be multiples of per_class={parameters['per_class']}, got {size}")


def _check_sizes(parameters: Mapping[str, Any], data: Data) -> None:
    """Before anything is trained: whether all batches can be drawn."""
    longest = parameters["batch_size"] * (1 + max(parameters["memories"], default=0))
    if longest > len(data.labels):
        raise ValueError(
            f"batch_size must, with the longest of memories, be at most the {len(data.labels)} test images, "
            f"got {longest}"
        )
    per_class, largest = parameters["per_class"], max(parameters["batch_sizes"], default=0)
    splits = {"test": data.labels} | ({"training": data.train.labels} if parameters["images"] else {})
    for name, labels in splits.items():
        counts = labels.reshape(len(labels), -1)[:, -1].unique(return_counts=True)[1]
        most = per_class * int((counts >= per_class).sum())
        if largest > most:
            raise ValueError(
                f"batch_sizes must be at most {most}, got {largest}: {most // per_class} classes of the {name} "
                f"split have {per_class} images"
            )


def _rows(statistics: Statistics, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A row for each moment and batch size."""
    labels, rows = statistics.outcome.data.labels[:, -1], []
    for step in sorted({round(part * parameters["steps"]) for part in MOMENTS}):
        embeddings = statistics.embeddings[step]
        whole = batch_metrics(embeddings, labels, len(labels), 1)[0].tolist()
        for size in parameters["batch_sizes"]:
            drawn = batch_metrics(embeddings, labels, size, parameters["batches"])
            drawn = drawn[~drawn.isnan().any(1)]
            row: dict[str, Any] = {"step": step, "batch size": size, "mAP": whole[0], "R@1": whole[1]}
            for place, name in enumerate(("mAP", "R@1")):
                row |= {f"batch {name}": float(drawn[:, place].mean())}
                row |= {f"batch {name}, sd": float(drawn[:, place].std(correction=0))}
            shares = shares_of_batches(embeddings, labels, size, parameters, batches=max(4, 1024 // size))
            rows.append({**row, "P": sum(shares) / len(shares)})
    return rows


def _shares_of_runs(
    outcome: RetrievalOutcome, parameters: Mapping[str, Any], full: Mapping[str, Any], progress: bool
) -> dict[int, float]:
    """Mean P of all batches of runs that differ in the size of their batches, and see as many images."""
    shares = {}
    for size in parameters["batch_sizes"] if parameters["images"] else ():
        settings = {**full, "batch_size": size, "steps": max(1, parameters["images"] // size)}
        state, watch = outcome.state / f"batches-of-{size}", partial(_Watch, moments=(), parameters=parameters)
        of_batches = fit(settings, state, watch=watch, data=outcome.data, progress=progress).objective.seen["shares"]
        shares[size] = sum(of_batches) / len(of_batches)
    return shares


def _memory_row(statistics: Statistics, parameters: Mapping[str, Any], length: int) -> dict[str, Any]:
    labels, size, steps = statistics.outcome.data.labels[:, -1], parameters["batch_size"], parameters["steps"]
    then = [statistics.embeddings[steps - age] for age in range(1, length + 1)]
    row: dict[str, Any] = {"memory": length, "list": size * (1 + length)}
    for name, memory in (("as they are now", [statistics.embeddings[steps]] * length), ("as they were then", then)):
        drawn = batch_metrics(statistics.embeddings[steps], labels, size, parameters["batches"], memory=memory)
        row[f"batch mAP, {name}"] = float(drawn[:, 0].nanmean())
    return row


def _metrics(statistics: Statistics, steps: int) -> dict[str, float]:
    """The end of the run, flat."""
    metrics: dict[str, float] = {}
    for row in statistics.rows:
        if row["step"] == steps:
            measured = {"mAP": row["batch mAP"], "R@1": row["batch R@1"], "P": row["P"]}
            metrics |= {f"{name} of batches of {row['batch size']}": value for name, value in measured.items()}
    metrics |= {f"P of a run with batches of {size}": value for size, value in statistics.shares.items()}
    metrics |= {f"error of a score after {age} batches": value for age, value in statistics.staleness.items()}
    return {**metrics, "seconds": statistics.outcome.times()["seconds"]}
