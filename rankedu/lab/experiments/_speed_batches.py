"""Batches of embeddings: the losses against their transcriptions, other libraries, and one matrix product."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from rankedu import hierarchy
from rankedu.lab.experiments import _published as published
from rankedu.lab.experiments._stopwatch import Limits, Name, Row, Work, race
from rankedu.losses import APLoss, FastAPLoss, HAPLoss, OnEmbeddings, RecallLoss, SmoothAPLoss, SupAPLoss
from rankedu.metrics import average_precision
from rankedu.rankers import BlackboxRanker, SupremumRanker

__all__ = ["BESIDE", "batches", "make_batch", "step", "transcriptions"]

PRODUCT = ("limit", "matrix product with gradient")
#: λ of the blackbox for each item, on the paper's scale, and its margin.
LAM, MARGIN = 0.2, 0.02
#: With which powers of the batch time and memory grow, where it is not 2: all pairs of all queries are laid out.
CUBIC = ("Smooth-AP", "SupAP", "H-AP")
#: Value alone: what the other libraries have of average precision.
VALUE = "AP, value alone"
#: Who beside us is measured, and with whose numbers we are compared.
BESIDE = ("transcription", "pytorch-metric-learning", "scikit-learn", "torchmetrics")


def make_batch(size: int, per_class: int, dim: int, seed: int, device: str) -> tuple[Tensor, Tensor]:
    """Embeddings as of a trained network, and their label paths: classes, four of them in a coarse class."""
    classes = torch.arange(size) // per_class
    generator = torch.Generator().manual_seed(seed)
    centres = torch.randn(int(classes[-1]) + 1, dim, generator=generator)
    embeddings = normalize(centres[classes] + 0.9 * torch.randn(size, dim, generator=generator), dim=1)
    return embeddings.to(device), torch.stack([classes // 4, classes], dim=1).to(device)


def step(loss: Callable[[Tensor], Tensor], embeddings: Tensor) -> Work:
    """A loss of the embeddings, forward and backward."""
    leaf = embeddings.detach().requires_grad_()

    def forward_and_backward() -> None:
        loss(leaf).backward()
        leaf.grad = None

    return forward_and_backward


def own_losses(size: int) -> dict[str, nn.Module]:
    """Ours, of this package."""
    ranker = BlackboxRanker(LAM * size)
    return {
        "Smooth-AP": SmoothAPLoss(),
        "FastAP": FastAPLoss(10),
        "RaMBO AP": APLoss(ranker, MARGIN),
        "RaMBO recall": RecallLoss(ranker, MARGIN),
        "SupAP": SupAPLoss(),
        "H-AP": HAPLoss(),
    }


def transcriptions(paths: Tensor, size: int, bins: int = 10, lam: float = LAM) -> dict[str, Callable[[Tensor], Tensor]]:
    """The published formulas, of the cosines of a batch; no query ranks itself. λ is for each item."""
    where = ~torch.eye(size, dtype=torch.bool, device=paths.device)
    labels, ranker = paths[:, -1], SupremumRanker()
    relevance = (labels[:, None] == labels) & where
    graded = hierarchy.relevance(hierarchy.levels(paths), where=where).float()
    others = where.nonzero(as_tuple=True)
    alone = relevance[others].view(size, -1)

    def cosines(embeddings: Tensor) -> Tensor:
        unit = normalize(embeddings, dim=1)
        return unit @ unit.T

    def rows(embeddings: Tensor) -> Tensor:
        return cosines(embeddings)[others].view(size, -1)

    return {
        "Smooth-AP": lambda e: published.published_smooth_ap(cosines(e), relevance, where),
        "FastAP": lambda e: published.published_fast_ap(cosines(e), relevance, where, bins),
        "RaMBO AP": lambda e: published.published_ap(rows(e), alone, lam * size, MARGIN),
        "RaMBO recall": lambda e: published.published_recall(rows(e), alone, lam * size, MARGIN),
        "SupAP": lambda e: published.published_sup_ap(cosines(e), relevance, where, step=ranker.step),
        "H-AP": lambda e: published.published_h_ap(cosines(e), graded, where, step=ranker.step),
    }


def peers(embeddings: Tensor, labels: Tensor) -> dict[Name, Work]:
    """The losses that pytorch-metric-learning has too."""
    from pytorch_metric_learning import losses

    library = {"Smooth-AP": losses.SmoothAPLoss(temperature=0.01), "FastAP": losses.FastAPLoss(num_bins=10)}
    return {
        (name, "pytorch-metric-learning"): step(lambda e, loss=loss: loss(e, labels), embeddings)  # type: ignore[misc]
        for name, loss in library.items()
    }


def values(embeddings: Tensor, labels: Tensor) -> dict[Name, Work]:
    """The mean average precision of the batch from scores that are there, without a gradient."""
    from rankedu.lab.models import load_torchvision

    with suppress(ImportError):
        load_torchvision("torchmetrics")  # which imports it; beside a torch for the CPU it must be helped
    from torchmetrics.retrieval import RetrievalMAP

    size = len(labels)
    where = ~torch.eye(size, dtype=torch.bool, device=labels.device)
    scores = (embeddings @ embeddings.T)[where].view(size, -1)
    relevance = (labels[:, None] == labels)[where].view(size, -1)
    above_zero = (scores + 1).flatten()  # torchmetrics takes what is not above zero for not retrieved
    queries = torch.arange(size, device=labels.device).repeat_interleave(size - 1)

    def torchmetrics() -> Tensor:
        metric = RetrievalMAP().to(labels.device)
        metric.update(above_zero, relevance.flatten(), indexes=queries)
        found: Tensor = metric.compute()
        return found

    works: dict[Name, Work] = {
        (VALUE, "ours"): lambda: average_precision(scores, relevance).mean(),
        (VALUE, "torchmetrics"): torchmetrics,
    }
    if labels.device.type == "cpu":
        from sklearn.metrics import average_precision_score

        arrays = scores.numpy(), relevance.numpy()
        works[VALUE, "scikit-learn"] = lambda: np.mean(
            [average_precision_score(true, found) for found, true in zip(*arrays, strict=True)]
        )
    return works


def works_of(size: int, parameters: Mapping[str, Any], device: str) -> dict[Name, Work]:
    """All contenders for one batch size."""
    seed, per_class = parameters["seed"], parameters["per_class"]
    embeddings, paths = make_batch(size, per_class, parameters["dim"], seed, device)
    labels = paths[:, -1]
    gradient = torch.randn(size, size, generator=torch.Generator().manual_seed(seed)).to(device)
    leaf = embeddings.detach().requires_grad_()

    def product() -> None:
        (leaf @ leaf.T).backward(gradient)
        leaf.grad = None

    works: dict[Name, Work] = {PRODUCT: product}
    written = transcriptions(paths, size)
    for name, loss in own_losses(size).items():
        wrapped, given = OnEmbeddings(loss), paths if name == "H-AP" else labels
        works[name, "ours"] = step(lambda e, w=wrapped, g=given: w(e, g), embeddings)  # type: ignore[misc]
        works[name, "transcription"] = step(written[name], embeddings)
    return works | peers(embeddings, labels) | values(embeddings, labels)


def batches(parameters: Mapping[str, Any], limits: Limits, device: str) -> list[Row]:
    """Time all contenders at every batch size.

    Parameters
    ----------
    parameters : mapping
        Of the lab: ``batch_sizes``, ``per_class``, ``dim`` and ``seed`` are used.
    limits : Limits
    device : {"cpu", "cuda"}

    Returns
    -------
    list of dict
        As of :func:`rankedu.lab.experiments._stopwatch.race`.
    """
    names = [PRODUCT, *((name, who) for name in (*own_losses(1), VALUE) for who in ("ours", *BESIDE))]
    growth = dict.fromkeys(names, (2.1, 2.0))
    growth |= {(name, "transcription"): (3.0, 3.0) for name in CUBIC}
    growth["Smooth-AP", "pytorch-metric-learning"] = (3.0, 3.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the other libraries
        return race(
            parameters["batch_sizes"],
            lambda size: works_of(size, parameters, device),
            limits,
            device=device,
            growth=growth,
        )
