"""What a network is judged by in a moment: how well it retrieves, from a sample of queries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

from rankedu.lab.datasets.augmentation import augment
from rankedu.lab.training.loading import FileData, RetrievalData, in_memory, leaves, load_pictures

__all__ = ["embed", "evaluate"]

#: Pictures that a CPU embeds at a time: those of the book are done in half the time if all stays in the cache.
PART = 64


def evaluate(
    net: nn.Module,
    data: RetrievalData | FileData,
    *,
    limit: int | None = 4096,
    augmented: bool = True,
    strength: float = 1.0,
    seed: int = 1,
    chunk_size: int = 512,
    workers: int = 0,
) -> dict[str, float]:
    """Measure R@1 and mAP: each query ranks all other items of the data by cosine similarity.

    Items in memory are augmented once, as in training, which is what makes the task hard. At most ``limit`` queries are
    drawn at random; those without a second item of their class do not count. An item that ties with a positive is
    ranked before it, so that a collapsed network, for which everything ties, gets no credit.

    Examples
    --------
    >>> from rankedu.lab.datasets import UnicodeGlyphs
    >>> from rankedu.lab.models import ConvNet
    >>> sorted(evaluate(ConvNet(8), UnicodeGlyphs("all", characters="AB")))
    ['R@1', 'mAP']
    """
    generator = torch.Generator().manual_seed(seed)
    labels = leaves(data)
    queries = torch.randperm(len(labels), generator=generator)[:limit]
    strength = strength if augmented else 0.0
    embeddings = embed(net, data, strength=strength, generator=generator, chunk_size=chunk_size, workers=workers)
    if not embeddings.isfinite().all():
        raise ValueError("net must give finite embeddings, got NaN or infinite ones (its weights have exploded)")
    classes = _Classes(labels.to(embeddings.device))
    results = [
        _first_hits_and_ap(embeddings, classes, chunk)
        for chunk in torch.split(queries.to(embeddings.device), chunk_size)
    ]
    hit, ap = torch.cat(results).double().nanmean(0).tolist()
    return {"R@1": hit, "mAP": ap}


@torch.no_grad()
def embed(
    net: nn.Module,
    images: Tensor | RetrievalData | FileData,
    *,
    strength: float = 1.0,
    generator: torch.Generator | None = None,
    chunk_size: int = 512,
    workers: int = 0,
) -> Tensor:
    """Embed images (N, H, W) or a data set in eval mode, ``chunk_size`` at a time: (N, dim) on the network's device."""
    device, was_training = next(net.parameters()).device, net.training
    net.eval()
    try:
        chunks = _pictures(images, device, strength, generator, chunk_size, workers)
        part = PART if device.type == "cpu" else chunk_size
        return torch.cat([net(pictures) for chunk in chunks for pictures in chunk.split(part)])
    finally:
        net.train(was_training)


def _pictures(
    images: Tensor | RetrievalData | FileData,
    device: torch.device,
    strength: float,
    generator: torch.Generator | None,
    chunk_size: int,
    workers: int,
) -> Iterator[Tensor]:
    """Make the chunks of pictures."""
    if isinstance(images, Tensor) or in_memory(images):
        pictures = images if isinstance(images, Tensor) else cast(RetrievalData, images).images
        for chunk in torch.split(pictures, chunk_size):
            yield augment(chunk.to(device), generator=generator, strength=strength)
        return
    files = cast(FileData, images)
    keys = [[(index, 0, 0) for index in chunk.tolist()] for chunk in torch.arange(len(files)).split(chunk_size)]
    for chunk in load_pictures(files, keys, workers=workers):
        yield chunk.to(device)


def _first_hits_and_ap(embeddings: Tensor, classes: _Classes, queries: Tensor) -> Tensor:
    """R@1 and AP of each query, (q, 2): a positive's rank is a count of the items that score at least as much."""
    scores = embeddings[queries] @ embeddings.T
    scores[torch.arange(len(queries), device=scores.device), queries] = -torch.inf  # itself comes last
    items, members = classes.of(queries)
    positives = scores.gather(1, items).masked_fill(~members, -torch.inf).sort(1, descending=True).values
    sizes = members.sum(1) - 1
    outranking = _at_least(scores, positives) - _at_least(positives, positives)  # negatives only
    place = torch.arange(1, positives.shape[1] + 1, device=scores.device)
    precision = (place / (place + outranking)).masked_fill(place > sizes[:, None], 0)
    both = torch.stack([(outranking[:, 0] == 0).float(), precision.sum(1) / sizes.clamp(min=1)], dim=1)
    return both.masked_fill((sizes == 0)[:, None], torch.nan)


class _Classes:
    """The items of each class, found without a look at all others."""

    def __init__(self, labels: Tensor) -> None:
        _, self.number, self.sizes = labels.unique(return_inverse=True, return_counts=True)
        self.items, self.starts = self.number.argsort(stable=True), self.sizes.cumsum(0) - self.sizes

    def of(self, queries: Tensor) -> tuple[Tensor, Tensor]:
        """Items of the queries' classes, (q, m), the query itself too; and where there are some, as classes differ."""
        number = self.number[queries]
        place = torch.arange(int(self.sizes[number].max()), device=number.device)
        members = place < self.sizes[number, None]
        return self.items[self.starts[number, None] + place * members], members


def _at_least(scores: Tensor, thresholds: Tensor) -> Tensor:
    """How many scores (q, n) reach each threshold (q, m) of their row. Row by row, NumPy counts 20 times as fast."""
    if scores.device.type != "cpu":
        return torch.stack([(scores >= column[:, None]).sum(1) for column in thresholds.unbind(1)], dim=1)
    rows = zip(scores.numpy(), thresholds.numpy(), strict=True)
    return torch.tensor([[np.count_nonzero(row >= value) for value in values] for row, values in rows])
