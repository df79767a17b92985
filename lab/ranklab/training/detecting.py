"""What a trained detector finds, how good that is, and how it scores the places where it looks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from rankedu.metrics import match_detections
from ranklab.training.detection_batches import DetectionBatch, DetectionData, Target, in_order

__all__ = ["detect", "evaluate_detector", "proposal_scores"]


def detect(
    net: nn.Module, data: DetectionData, *, batch_size: int = 16, workers: int = 0, progress: bool = False
) -> list[Target]:
    """Find the objects in every picture: ``boxes`` (N, 4), ``scores`` and ``labels`` each, best first, on the CPU."""
    return [detections for detections, _ in _detected(net, data, batch_size, workers, progress)]


def evaluate_detector(
    net: nn.Module, data: DetectionData, *, batch_size: int = 16, workers: int = 0, progress: bool = False
) -> dict[str, float]:
    """Measure "AP50", the mean over classes of average precision at an overlap of one half, and its 11-point form."""
    pairs = list(_detected(net, data, batch_size, workers, progress))
    detections, truths = [detected for detected, _ in pairs], [truth for _, truth in pairs]
    matches = match_detections(detections, truths, n_classes=len(data.names))
    kinds = {"AP50": "all-point", "AP50 11-point": "11-point"}
    return {name: float(matches.average_precision(kind).nanmean()) for name, kind in kinds.items()}


@torch.no_grad()
def proposal_scores(
    net: nn.Module, data: DetectionData, *, batch_size: int = 16, workers: int = 0, progress: bool = False
) -> tuple[Tensor, Tensor]:
    """Score the proposals of every picture: class logits (P, C + 1) and labels (P,), what a loss would be given.

    All proposals are taken, as the detector makes them when it is tested; the label is −1 for those that are neither
    object nor background. In training, the boxes of the objects join them, and a sample is drawn.
    """
    heads: Any = getattr(net, "roi_heads", None)
    if not hasattr(heads, "last"):
        raise TypeError(
            f"net must be one of ranklab.models.build_detector, got a {type(net).__name__} (it keeps scores)"
        )
    seen = []
    with _testing(net):
        for batch, _ in _batches(data, net, batch_size, workers, progress):
            net(batch.images, batch.targets)
            seen.append([part.cpu() for part in heads.last])
    logits, labels = (torch.cat(parts) for parts in zip(*seen, strict=True))
    return logits.float(), labels


@torch.no_grad()
def _detected(
    net: nn.Module, data: DetectionData, batch_size: int, workers: int, progress: bool
) -> Iterator[tuple[Target, Target]]:
    """The detections in each picture, and the truths."""
    with _testing(net):
        for batch, truths in _batches(data, net, batch_size, workers, progress):
            for detected, truth in zip(net(batch.images), truths, strict=True):
                yield {name: detected[name].cpu() for name in ("boxes", "scores", "labels")}, truth


def _batches(
    data: DetectionData, net: nn.Module, batch_size: int, workers: int, progress: bool
) -> Iterator[tuple[DetectionBatch, list[Target]]]:
    """The pictures in order, with a progress bar."""
    from tqdm import tqdm

    device = next(net.parameters()).device
    with tqdm(desc="detecting", unit="picture", total=len(data), disable=None if progress else True) as bar:
        for batch, truths in in_order(data, batch_size=batch_size, device=device, workers=workers):
            yield batch, truths
            bar.update(len(truths))


@contextmanager
def _testing(net: nn.Module) -> Iterator[None]:
    """In eval mode, if the weights are sound."""
    if not all(bool(parameter.isfinite().all()) for parameter in net.parameters()):
        raise ValueError("net must have finite weights, got NaN or infinite ones (its training has exploded)")
    was_training = net.training
    net.eval()
    try:
        yield
    finally:
        net.train(was_training)
