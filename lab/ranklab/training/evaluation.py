"""What a network is judged by in a moment: how well it retrieves the items of a data set from each other."""

import warnings
from collections.abc import Iterator
from typing import Any, cast

import torch
from torch import Tensor, nn

from rankedu.metrics import UndefinedMetricWarning, evaluate_retrieval
from ranklab.datasets.augmentation import augment
from ranklab.training.loading import RetrievalData, in_memory, leaves, load_pictures

__all__ = ["embed", "evaluate"]

#: Pictures that a CPU embeds at a time: those of the book are done in half the time if all stays in the cache.
PART = 64


def evaluate(
    net: nn.Module, data: RetrievalData, *, strength: float = 1.0, seed: int = 1, workers: int = 0
) -> dict[str, float]:
    """Measure R@1 and mAP: each query with a second item of its class ranks all other items by cosine similarity.

    Items in memory are augmented once, as in training. Ties fall by chance, not in the order in which the items came.
    """
    generator, labels = torch.Generator().manual_seed(seed), leaves(data)
    order = torch.randperm(len(labels), generator=generator)
    embeddings = embed(net, data, strength=strength, generator=generator, workers=workers)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        found = evaluate_retrieval(
            embeddings[order.to(embeddings.device)], labels[order], metrics=("recall@1", "ap"), progress=False
        )
    return {"R@1": found["recall@1"], "mAP": found["ap"]}


@torch.no_grad()
def embed(
    net: nn.Module,
    images: Tensor | RetrievalData,
    *,
    strength: float = 1.0,
    generator: torch.Generator | None = None,
    chunk_size: int = 512,
    workers: int = 0,
) -> Tensor:
    """Embed images (N, H, W) or a data set in eval mode, ``chunk_size`` at a time: (N, dim) on the network's device."""
    device, was_training = next(net.parameters()).device, net.training
    if isinstance(images, Tensor) or in_memory(images):
        pictures = images if isinstance(images, Tensor) else cast(Any, images).images
        chunks: Iterator[Tensor] = (
            augment(chunk.to(device), generator=generator, strength=strength) for chunk in pictures.split(chunk_size)
        )
    else:
        parts = torch.arange(len(images.labels)).split(chunk_size)
        keys = [[(index, 0, 0) for index in part.tolist()] for part in parts]
        chunks = (chunk.to(device) for _, chunk in load_pictures(images, keys, workers=workers))
    net.eval()
    try:
        size = PART if device.type == "cpu" else chunk_size
        return torch.cat([net(part) for chunk in chunks for part in chunk.split(size)])
    finally:
        net.train(was_training)
