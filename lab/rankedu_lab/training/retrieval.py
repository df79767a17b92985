"""The training loop of the book for retrieval, and a quick evaluation of a network."""

import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn

from rankedu.metrics import UndefinedMetricWarning, evaluate_retrieval
from rankedu_lab.datasets.augmentation import augment
from rankedu_lab.training.checkpoints import TrainingState
from rankedu_lab.training.loading import RetrievalData, batches, in_memory, leaves, load_pictures
from rankedu_lab.training.logs import History
from rankedu_lab.training.loop import run_steps
from rankedu_lab.training.recipe import Recipe
from rankedu_lab.training.samplers import ClassBalancedSampler

__all__ = ["History", "Recipe", "RetrievalData", "embed", "evaluate", "train"]

#: Pictures that a CPU embeds at a time: those of the book are done in half the time if all stays in the cache.
PART = 64


def train(
    net: nn.Module,
    data: RetrievalData,
    loss: Callable[[Tensor, Tensor], Tensor],
    *,
    steps: int,
    batch_size: int = 128,
    per_class: int = 4,
    lr: float = 1e-3,
    seed: int = 0,
    strength: float = 1.0,
    test: RetrievalData | None = None,
    evaluate_every: int | None = None,
    progress: bool = True,
    sampler: Iterable[Tensor] | None = None,
    recipe: Recipe = Recipe(),  # noqa: B008  # it is frozen
    folder: str | Path | None = None,
    resume: bool = True,
    checkpoint_every: int | None = None,
    workers: int = 0,
    paths: bool | None = None,
) -> History:
    """Train a network, images (B, C, H, W) to embeddings (B, dim), to retrieve the items of a class; in place.

    ``loss(embeddings, labels)`` is a scalar; if it is a module with parameters, they are trained too. If it has a true
    attribute ``takes_paths``, or ``paths`` says so, its labels are paths (B, L) from root to leaf, else their last
    column; with a true ``takes_items`` it is given, third, which items of the data they are. Batches come from
    ``sampler`` or else from :class:`ClassBalancedSampler`. ``folder`` gets ``checkpoint.pt`` and ``log.csv``; with
    ``resume`` the run goes on from there: on a CPU to the result, bit for bit, of a run that never stopped. The start
    is the caller's: set ``torch.manual_seed`` before you make the network.

    1,200 steps on :class:`~rankedu_lab.datasets.UnicodeGlyphs` take about a minute on two cores. For several processes,
    see :mod:`rankedu_lab.training.distributed`.
    """
    paths = bool(getattr(loss, "takes_paths", False)) if paths is None else paths
    shared = {"seed": seed, "strength": strength, "paths": paths, "items": len(data.labels)}
    if sampler is None:
        shared |= {"batch_size": batch_size, "per_class": per_class}
        sampler = ClassBalancedSampler(leaves(data.labels), batch_size, per_class, batches=steps, seed=seed)
    run = TrainingState(net, loss, recipe, lr, steps=steps, folder=folder, resume=resume, **shared)
    net.train()
    drawn: dict[str, Any] = {"first": run.step, "seed": seed, "strength": strength, "draws": run.draws}
    run_steps(
        run,
        batches(data, sampler, device=run.device, paths=paths, workers=workers, **drawn),
        steps=steps,
        evaluate=None if test is None else partial(evaluate, net, test, strength=strength, workers=workers),
        evaluate_every=evaluate_every,
        checkpoint_every=checkpoint_every,
        progress=progress,
    )
    return run.history


def evaluate(
    net: nn.Module, data: RetrievalData, *, strength: float = 1.0, seed: int = 1, workers: int = 0
) -> dict[str, float]:
    """Measure R@1 and mAP: each query with a second item of its class ranks all other items by cosine similarity.

    Items in memory are augmented once, as in training. Ties fall by chance, not in the order in which the items came.
    """
    generator, labels = torch.Generator().manual_seed(seed), leaves(data.labels)
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
