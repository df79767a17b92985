"""The lab `minibatch_statistics`: measure mini-batches while a network is trained, and compare them with the whole.

RaMBO's Fig. 2 (the metric of a batch against its size), Smooth-AP's Fig. S7 (the share of pairs that have a gradient),
and the effect of a memory: longer lists, of items that are out of date.
"""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from tabulate import tabulate
from torch import Tensor, nn

from rankedu.metrics import average_precision
from rankedu.rankers import operating_region
from rankedu_lab.experiments import _experiment
from rankedu_lab.experiments._experiment import fit
from rankedu_lab.experiments._outcome import RetrievalOutcome
from rankedu_lab.experiments.retrieval import measure
from rankedu_lab.experiments.retrieval_data import Data, embed_all
from rankedu_lab.runs.parameters import complete, defaults_of
from rankedu_lab.training.samplers import ClassBalancedSampler

__all__ = ["DEFAULTS", "Statistics", "batch_metrics", "check", "run", "table"]

#: Every parameter of the lab.
DEFAULTS = defaults_of("minibatch_statistics")
#: Moments of the run at which all is measured, as shares of its steps.
MOMENTS = (0.0, 0.5, 1.0)
#: τ at which pairs are counted if the loss has none of its own, and the least gradient (Smooth-AP supp. Eq. 1).
TEMPERATURE, THRESHOLD = 0.01, 0.005


@dataclass
class Statistics:
    """The measurements of a run."""

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
        """Return what was seen, so that it is part of a checkpoint."""
        return {"embeddings": dict(self.seen["embeddings"]), "shares": list(self.seen["shares"])}

    def set_extra_state(self, state: dict[str, Any]) -> None:
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
    chosen = complete("minibatch_statistics", parameters)
    check(chosen)
    steps, ages = chosen["steps"], chosen["ages"]
    measured = [round(part * steps) for part in MOMENTS]
    moments = {*measured, *(max(0, steps - age) for age in ages)}
    full = {**_experiment.DEFAULTS, **{k: v for k, v in chosen.items() if k in _experiment.DEFAULTS}, "pictures": False}
    full["ages"] = ages  # a part of the checkpoint's key, because the checkpoint holds the measurements of these ages

    def watch(net: Any, loss: Any, data: Data) -> nn.Module:
        _check_sizes(chosen, data)
        return _Watch(net, loss, data, sorted(moments), chosen)

    outcome = fit(full, folder, watch=watch, data=data, progress=progress)
    embeddings, labels = {**outcome.objective.seen["embeddings"], steps: outcome.embeddings}, outcome.data.labels[:, -1]
    found = Statistics(outcome, embeddings)
    found.rows = [row for step in sorted({*measured}) for row in _rows(embeddings[step], labels, step, chosen)]
    for size in chosen["batch_sizes"] if chosen["images"] else ():  # runs that see as many images
        settings = {**full, "batch_size": size, "steps": max(1, chosen["images"] // size)}
        state, seeing = outcome.state / f"batches-of-{size}", partial(_Watch, moments=(), parameters=chosen)
        shares = fit(settings, state, watch=seeing, data=outcome.data, progress=progress).objective.seen["shares"]
        found.shares[size] = sum(shares) / len(shares)
    found.staleness = {age: _staleness(embeddings[steps], embeddings[steps - age]) for age in ages if age <= steps}
    found.memory = [_memory_row(embeddings, labels, length, chosen) for length in chosen["memories"]]
    whole = measure(outcome, ("recall_at_1", "average_precision"), levels=1, progress=progress)
    outcome.metrics = {"R@1": whole["recall_at_1"], "mAP": whole["average_precision"], **_metrics(found, steps)}
    return found


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
    """Raise ValueError, before anything is trained, if a batch cannot be drawn."""
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


def batch_metrics(
    embeddings: Tensor, labels: Tensor, size: int, batches: int = 40, *, memory: Sequence[Tensor] = (), seed: int = 0
) -> Tensor:
    """Measure random batches as if each were a data set: mAP and R@1 of each, (batches, 2); nan without relevant items.

    Each tensor of `memory`, (N, dim), lengthens every list by a batch of other items with these embeddings.
    """
    total = size * (1 + len(memory))
    if not 2 <= size <= total <= len(labels):
        raise ValueError(
            f"batch_sizes must be at least 2 and, with the memory, at most the {len(labels)} test images, "
            f"got {size} with {len(memory)} remembered batches"
        )
    generator = torch.Generator().manual_seed(seed)
    measured: list[list[float]] = []
    for _ in range(batches):
        items = torch.randperm(len(labels), generator=generator)[:total]
        parts = [vectors[part] for vectors, part in zip((embeddings, *memory), items.split(size), strict=True)]
        where = ~torch.eye(size, total, dtype=torch.bool)
        relevance = (labels[items[:size], None] == labels[items]) & where
        scores = (parts[0] @ torch.cat(parts).T).masked_fill(~where, -torch.inf)
        has = relevance.any(1)
        if not has.any():
            measured.append([math.nan, math.nan])
            continue
        first = relevance.gather(1, scores.argmax(1, keepdim=True))[has]
        ap = average_precision(scores[has], relevance[has], where=where[has])
        measured.append([float(ap.mean()), float(first.double().mean())])
    return torch.tensor(measured, dtype=torch.float64)


def pairs_with_gradient(embeddings: Tensor, temperature: float) -> float:
    """Compute P of a batch: the share of pairs, of all queries, that are near enough to have a gradient."""
    unit = nn.functional.normalize(embeddings.detach().float(), dim=1)
    return float(operating_region(unit @ unit.T, temperature, THRESHOLD).mean())


def _rows(embeddings: Tensor, labels: Tensor, step: int, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Measure the network of one moment: a row for each batch size."""
    rows, whole = [], batch_metrics(embeddings, labels, len(labels), 1)[0].tolist()
    temperature = parameters["temperature"] or TEMPERATURE
    for size in parameters["batch_sizes"]:
        drawn = batch_metrics(embeddings, labels, size, parameters["batches"])
        drawn = drawn[~drawn.isnan().any(1)]
        row: dict[str, Any] = {"step": step, "batch size": size, "mAP": whole[0], "R@1": whole[1]}
        for place, name in enumerate(("mAP", "R@1")):
            row |= {f"batch {name}": float(drawn[:, place].mean())}
            row |= {f"batch {name}, sd": float(drawn[:, place].std(correction=0))}
        sampler = ClassBalancedSampler(labels, size, parameters["per_class"], batches=max(4, 1024 // size), seed=1)
        shares = [pairs_with_gradient(embeddings[batch], temperature) for batch in sampler]
        rows.append({**row, "P": sum(shares) / len(shares)})
    return rows


def _staleness(now: Tensor, then: Tensor) -> float:
    """Compute the root mean square error of the scores of remembered items, over all pairs."""
    return float((now @ (now - then).T).square().mean().sqrt())


def _memory_row(
    embeddings: Mapping[int, Tensor], labels: Tensor, length: int, parameters: Mapping[str, Any]
) -> dict[str, Any]:
    """Measure batches whose lists a memory lengthens, with fresh and with remembered embeddings."""
    size, steps = parameters["batch_size"], parameters["steps"]
    then = [embeddings[steps - age] for age in range(1, length + 1)]
    row: dict[str, Any] = {"memory": length, "list": size * (1 + length)}
    for name, memory in (("as they are now", [embeddings[steps]] * length), ("as they were then", then)):
        drawn = batch_metrics(embeddings[steps], labels, size, parameters["batches"], memory=memory)
        row[f"batch mAP, {name}"] = float(drawn[:, 0].nanmean())
    return row


def _metrics(statistics: Statistics, steps: int) -> dict[str, float]:
    """Flatten the measurements at the end of the run."""
    metrics: dict[str, float] = {}
    for row in statistics.rows:
        if row["step"] == steps:
            measured = {"mAP": row["batch mAP"], "R@1": row["batch R@1"], "P": row["P"]}
            metrics |= {f"{name} of batches of {row['batch size']}": value for name, value in measured.items()}
    metrics |= {f"P of a run with batches of {size}": value for size, value in statistics.shares.items()}
    metrics |= {f"error of a score after {age} batches": value for age, value in statistics.staleness.items()}
    return {**metrics, "seconds": statistics.outcome.times()["seconds"]}


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Write rows with the same keys as aligned text."""
    return tabulate(rows, headers="keys", tablefmt="plain", floatfmt=".3f")
