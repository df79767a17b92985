"""The training loop of the book, and what it is judged by."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from rankedu.datasets.augmentation import augment
from rankedu.training.samplers import ClassBalancedSampler

__all__ = ["History", "RetrievalData", "embed", "evaluate", "train"]


class RetrievalData(Protocol):
    """What the loop needs of a data set; :class:`rankedu.datasets.UnicodeGlyphs` has it."""

    images: Tensor  # (N, H, W) uint8
    labels: Tensor  # (N,) or (N, L) int, from root to leaf


@dataclass
class History:
    """What a training run leaves behind, beside the trained network."""

    losses: list[float] = field(default_factory=list)  #: of every step
    evaluations: list[dict[str, float]] = field(default_factory=list)  #: "step" and what evaluate() returned
    seconds: float = 0.0  #: of the steps, without the evaluations


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
) -> History:
    """Train a network to retrieve the items of a class, with Adam on class-balanced, augmented batches.

    Parameters
    ----------
    net : Module
        Images (B, 1, H, W) to embeddings (B, dim). It is trained in place, on its own device.
    data : RetrievalData
        Images and labels; the last column of the labels, the leaf, is the class.
    loss : callable
        ``loss(embeddings, labels)`` returns a scalar, for instance ``OnEmbeddings(RecallLoss(ranker, margin=0.05))``.
        If it is a module with parameters of its own, they are trained too. A memory belongs to the loss.
    steps : int
        Batches, ≥ 0.
    batch_size, per_class : int
        See :class:`ClassBalancedSampler`; classes that are too small are left out.
    lr : float
        Of Adam.
    seed : int
        Of the batches and the augmentation. The network's own start is the caller's: set ``torch.manual_seed`` before
        you make it. The same start, seed and number of threads give the same numbers on the same machine.
    strength : float
        Of the augmentation, see :func:`rankedu.datasets.augment`.
    test : RetrievalData, optional
        What to evaluate on.
    evaluate_every : int, optional
        Evaluate after every so many steps. Default: after the last one, if there is ``test``.
    progress : bool
        Show a progress bar.

    Returns
    -------
    History

    Raises
    ------
    FloatingPointError
        If the loss becomes NaN or infinite; names the step.
    ValueError
        As :class:`ClassBalancedSampler`.

    Notes
    -----
    1,200 steps on :class:`UnicodeGlyphs` take about a minute on two cores. Explained in chapter 5.

    Examples
    --------
    >>> from rankedu.datasets import UnicodeGlyphs
    >>> from rankedu.models import ConvNet
    >>> data = UnicodeGlyphs("all", characters="ABCDEFGH")
    >>> def together(embeddings, labels):  # 1 - mean cosine of two items of a class
    ...     return 1 - (embeddings @ embeddings.T)[labels[:, None] == labels].mean()
    >>> history = train(ConvNet(8), data, together, steps=3, batch_size=16, progress=False)
    >>> len(history.losses)
    3
    """
    from tqdm import tqdm

    classes = _leaves(data)
    sampler = ClassBalancedSampler(classes, batch_size, per_class, batches=steps, seed=seed, small="drop")
    generator = torch.Generator().manual_seed(seed)
    device = next(net.parameters()).device
    optimizer = torch.optim.Adam(_parameters(net, loss), lr=lr)
    history = History()
    net.train()
    bar = tqdm(sampler, desc="training", unit="step", disable=None if progress else True)
    for step, batch in enumerate(bar, start=1):
        started = time.perf_counter()
        images, labels = data.images[batch].to(device), classes[batch].to(device)
        value = loss(net(augment(images, generator=generator, strength=strength)), labels)
        optimizer.zero_grad()
        torch.autograd.backward(value)
        optimizer.step()
        history.losses.append(value.item())
        history.seconds += time.perf_counter() - started
        if not value.isfinite():
            raise FloatingPointError(f"loss must stay finite, got {value.item()} at step {step} (try a smaller lr)")
        if test is not None and step % (evaluate_every or steps) == 0:
            history.evaluations.append({"step": step, **evaluate(net, test)})
            bar.set_postfix(
                {name: f"{number:.3f}" for name, number in history.evaluations[-1].items() if name != "step"}
            )
    return history


def evaluate(
    net: nn.Module,
    data: RetrievalData,
    *,
    limit: int | None = 4096,
    augmented: bool = True,
    strength: float = 1.0,
    seed: int = 1,
    chunk_size: int = 512,
) -> dict[str, float]:
    """Measure R@1 and mAP: each query ranks all other items of the data by cosine similarity.

    Parameters
    ----------
    net : Module
        Images (B, 1, H, W) to embeddings (B, dim). Put in eval mode, and back afterwards.
    data : RetrievalData
        Images and labels; the last column of the labels is the class. All items are candidates.
    limit : int, optional
        At most so many queries, drawn at random. Default 4096; None: all items.
    augmented : bool
        Augment every item once, as in training, which is what makes the task hard.
    strength : float
        Of the augmentation.
    seed : int
        Of the draw of the queries and of the augmentation.
    chunk_size : int
        Queries ranked at a time, and images embedded at a time.

    Returns
    -------
    dict of str to float
        ``"R@1"``: the share of queries whose best candidate has their class; ``"mAP"``: the mean average precision.
        nan if no query has a second item of its class; such queries do not count.

    Notes
    -----
    An item that ties with a positive is ranked before it, so that a collapsed network, for which everything ties,
    gets no credit. O(queries · items · dim). Explained in chapter 5.

    Examples
    --------
    >>> from rankedu.datasets import UnicodeGlyphs
    >>> from rankedu.models import ConvNet
    >>> sorted(evaluate(ConvNet(8), UnicodeGlyphs("all", characters="AB")))
    ['R@1', 'mAP']
    """
    generator = torch.Generator().manual_seed(seed)
    queries = torch.randperm(len(data.images), generator=generator)[:limit]
    embeddings = embed(
        net, data.images, strength=strength if augmented else 0.0, generator=generator, chunk_size=chunk_size
    )
    labels = _leaves(data).to(embeddings.device)
    results = [
        _first_hits_and_ap(embeddings, labels, chunk)
        for chunk in torch.split(queries.to(embeddings.device), chunk_size)
    ]
    hit, ap = torch.cat(results).double().nanmean(0).tolist()
    return {"R@1": hit, "mAP": ap}


@torch.no_grad()
def embed(
    net: nn.Module,
    images: Tensor,
    *,
    strength: float = 1.0,
    generator: torch.Generator | None = None,
    chunk_size: int = 512,
) -> Tensor:
    """Embed images in eval mode, a chunk at a time.

    Parameters
    ----------
    net : Module
        Put in eval mode, and back afterwards.
    images : Tensor of uint8, shape (N, H, W)
    strength : float
        Of the augmentation; 0 for none.
    generator : torch.Generator, optional
        Of the augmentation.
    chunk_size : int
        Images at a time.

    Returns
    -------
    Tensor, shape (N, dim)
        On the network's device.
    """
    device, was_training = next(net.parameters()).device, net.training
    net.eval()
    try:
        chunks = torch.split(images, chunk_size)
        return torch.cat([net(augment(chunk.to(device), generator=generator, strength=strength)) for chunk in chunks])
    finally:
        net.train(was_training)


def _first_hits_and_ap(embeddings: Tensor, labels: Tensor, queries: Tensor) -> Tensor:
    """R@1 and AP of each query, (q, 2): a positive's rank is a count of the items that score at least as much."""
    scores = embeddings[queries] @ embeddings.T
    relevance = labels[queries, None] == labels
    itself = torch.arange(len(queries), device=scores.device), queries
    scores[itself], relevance[itself] = -torch.inf, False
    sizes = relevance.sum(1)
    positives = scores.masked_fill(~relevance, -torch.inf).topk(max(int(sizes.max()), 1), dim=1).values
    outranking = _at_least(scores, positives) - _at_least(positives, positives)  # negatives only
    place = torch.arange(1, positives.shape[1] + 1, device=scores.device)
    precision = (place / (place + outranking)).masked_fill(place > sizes[:, None], 0)
    both = torch.stack([(outranking[:, 0] == 0).float(), precision.sum(1) / sizes.clamp(min=1)], dim=1)
    return both.masked_fill((sizes == 0)[:, None], torch.nan)


def _at_least(scores: Tensor, thresholds: Tensor) -> Tensor:
    """How many scores (q, n) reach each threshold (q, m) of their row. Row by row, NumPy counts 20 times as fast."""
    if scores.device.type != "cpu":
        return torch.stack([(scores >= column[:, None]).sum(1) for column in thresholds.unbind(1)], dim=1)
    rows = zip(scores.numpy(), thresholds.numpy(), strict=True)
    return torch.tensor([[np.count_nonzero(row >= value) for value in values] for row, values in rows])


def _leaves(data: RetrievalData) -> Tensor:
    """The class of each item: the labels, or their last column."""
    return data.labels if data.labels.ndim == 1 else data.labels[:, -1]


def _parameters(net: nn.Module, loss: Any) -> list[nn.Parameter]:
    """All that is trained: the network's parameters, and the loss's own, if it has any."""
    return [*net.parameters(), *(loss.parameters() if isinstance(loss, nn.Module) else ())]
