"""What a trained detector finds, how good that is, and how it scores the places where it looks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from rankedu.metrics import match_detections
from ranklab.training.detection_batches import DetectionBatch, DetectionData, Target, in_order
from ranklab.training.updates import all_finite

__all__ = ["detect", "evaluate_detector", "proposal_scores"]


@torch.no_grad()
def detect(
    net: nn.Module, data: DetectionData, *, batch_size: int = 16, workers: int = 0, progress: bool = False
) -> list[Target]:
    """Find the objects in every picture: ``boxes`` (N, 4), ``scores`` and ``labels`` each, best first, on the CPU."""
    shown = _shown(net, data, batch_size, workers, progress)
    parts = ("boxes", "scores", "labels")
    return [{name: found[name].cpu() for name in parts} for batch, _ in shown for found in net(batch.images)]


@torch.no_grad()
def evaluate_detector(
    net: nn.Module, data: DetectionData, *, batch_size: int = 16, workers: int = 0, progress: bool = False
) -> dict[str, float]:
    """Measure "AP50", the mean over classes of average precision at an overlap of one half, and its 11-point form."""
    detections, truths = [], []
    for batch, targets in _shown(net, data, batch_size, workers, progress):
        detections += [{name: values.cpu() for name, values in found.items()} for found in net(batch.images)]
        truths += targets
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
    for batch, _ in _shown(net, data, batch_size, workers, progress):
        net(batch.images, batch.targets)
        seen.append([part.cpu() for part in heads.last])
    logits, labels = (torch.cat(parts) for parts in zip(*seen, strict=True))
    return logits.float(), labels


def _shown(
    net: nn.Module, data: DetectionData, batch_size: int, workers: int, progress: bool
) -> Iterator[tuple[DetectionBatch, list[Target]]]:
    """The pictures in order, with a progress bar; meanwhile a network with sound weights is in eval mode."""
    from tqdm import tqdm

    if not all_finite(net.parameters()):
        raise ValueError("net must have finite weights, got NaN or infinite ones (its training has exploded)")
    was_training, device = net.training, next(net.parameters()).device
    net.eval()
    try:
        with tqdm(desc="detecting", unit="picture", total=len(data), disable=None if progress else True) as bar:
            for batch, truths in in_order(data, batch_size=batch_size, device=device, workers=workers):
                yield batch, truths
                bar.update(len(truths))
    finally:
        net.train(was_training)
