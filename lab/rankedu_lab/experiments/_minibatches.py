"""What is measured of mini-batches: their metrics, the pairs that have a gradient, and how stale a memory is."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from rankedu.metrics import average_precision
from rankedu.rankers import operating_region
from rankedu_lab.training.samplers import ClassBalancedSampler

#: τ at which pairs are counted if the loss has none of its own, and what counts as a gradient (Smooth-AP supp. Eq. 1).
TEMPERATURE, THRESHOLD = 0.01, 0.005


def batch_metrics(
    embeddings: Tensor, labels: Tensor, size: int, batches: int = 40, *, memory: Sequence[Tensor] = (), seed: int = 0
) -> Tensor:
    """Measure random batches as if each were a data set: mAP and R@1 of each, (batches, 2); nan without relevant items.

    Each of `memory`, (N, dim), lengthens every list by a batch of other items, embedded as it says.
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
    """P of a batch: the share of pairs, of all queries, that are near enough to have a gradient."""
    unit = nn.functional.normalize(embeddings.detach().float(), dim=1)
    return float(operating_region(unit @ unit.T, temperature, THRESHOLD).mean())


def shares_of_batches(
    embeddings: Tensor, labels: Tensor, size: int, parameters: Mapping[str, Any], *, batches: int, seed: int = 1
) -> list[float]:
    """P of batches as the training has them, embedded by one network."""
    sampler = ClassBalancedSampler(labels, size, parameters["per_class"], batches=batches, seed=seed)
    temperature = parameters["temperature"] or TEMPERATURE
    return [pairs_with_gradient(embeddings[batch], temperature) for batch in sampler]


def staleness(embeddings: Mapping[int, Tensor], steps: int, age: int) -> float:
    """How far off the scores of remembered items are: root mean square, over all pairs."""
    now, then = embeddings[steps], embeddings[steps - age]
    return float((now @ (now - then).T).square().mean().sqrt())


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Write rows with the same keys as aligned text."""
    names = list(rows[0])
    widths = [max(len(name), 5) if isinstance(rows[0][name], float) else len(name) for name in names]
    lines = ["  ".join(f"{name:>{width}}" for name, width in zip(names, widths, strict=True))]
    for row in rows:
        cells = [f"{row[name]:.3f}" if isinstance(row[name], float) else str(row[name]) for name in names]
        lines.append("  ".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True)))
    return "\n".join(lines)
