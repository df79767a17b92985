"""What a trained detector finds, how good that is, and how it scores the places where it looks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from rankedu.lab.training.detection_batches import Batch, DetectionData, Target, in_order
from rankedu.metrics import match_detections

__all__ = ["detect", "evaluate_detector", "proposal_scores"]


def detect(
    net: nn.Module, data: DetectionData, *, batch_size: int = 16, workers: int = 0, progress: bool = False
) -> list[Target]:
    """Find the objects in every picture.

    Parameters
    ----------
    net : Module
        A detector of torchvision's form: in eval mode a list of pictures (3, H, W) from 0 to 1 becomes a list of dicts.
        Put in eval mode, and back afterwards.
    data : DetectionData
        What is known of its objects is not used.
    batch_size : int
        Pictures at a time.
    workers : int
        Processes that load pictures. 0: a thread of this process.
    progress : bool
        Show a progress bar.

    Returns
    -------
    list of dict
        For each picture ``boxes`` (N, 4), ``scores`` (N,) and ``labels`` (N,), best score first; on the CPU.

    Raises
    ------
    ValueError
        If a weight is NaN or infinite: such a network finds nothing, and says so of everything.

    Notes
    -----
    Explained in chapter 16.

    Examples
    --------
    >>> class Whole(nn.Linear):  # it takes each picture for an object
    ...     def forward(self, images):
    ...         box = torch.tensor([[0.0, 0.0, 8.0, 8.0]])
    ...         return [{"boxes": box, "scores": torch.ones(1), "labels": torch.tensor([1])} for image in images]
    >>> from types import SimpleNamespace
    >>> class Pictures(list):
    ...     names, flips = ("thing",), False
    >>> target = {"boxes": torch.empty(0, 4), "labels": torch.empty(0).long(), "difficult": torch.empty(0).bool()}
    >>> found = detect(Whole(1, 1), Pictures([(torch.zeros(3, 8, 8, dtype=torch.uint8), target)] * 3))
    >>> len(found), found[0]["labels"]
    (3, tensor([1]))
    """
    return [found for found, _ in _detected(net, data, batch_size, workers, progress)]


def evaluate_detector(
    net: nn.Module, data: DetectionData, *, batch_size: int = 16, workers: int = 0, progress: bool = False
) -> dict[str, float]:
    """Measure the mean over classes of the average precision at an overlap of one half.

    Parameters
    ----------
    net, data, batch_size, workers, progress
        As for :func:`detect`.

    Returns
    -------
    dict of str to float
        ``"AP50"``: the area under each class's curve of precision, made monotone, and recall; ``"AP50 11-point"``: its
        mean at the eleven recalls 0, 0.1, …, 1, as in VOC 2007. The mean is over the classes that occur; nan if none
        does.

    Raises
    ------
    ValueError
        As :func:`detect`.

    Notes
    -----
    See :func:`rankedu.metrics.evaluate_detections`. Explained in chapter 16.
    """
    pairs = list(_detected(net, data, batch_size, workers, progress))
    detections, truths = [found for found, _ in pairs], [truth for _, truth in pairs]
    matches = match_detections(detections, truths, n_classes=len(data.names))
    kinds = {"AP50": "all-point", "AP50 11-point": "11-point"}
    return {name: float(matches.average_precision(kind).nanmean()) for name, kind in kinds.items()}


@torch.no_grad()
def proposal_scores(
    net: nn.Module, data: DetectionData, *, batch_size: int = 16, workers: int = 0, progress: bool = False
) -> tuple[Tensor, Tensor]:
    """Score the proposals of every picture, and tell what they hold: what the loss of the classifier would be given.

    Parameters
    ----------
    net : Module
        Of :func:`rankedu.lab.models.build_detector`. Put in eval mode, and back afterwards.
    data, batch_size, workers, progress
        As for :func:`detect`.

    Returns
    -------
    logits : Tensor of float32, shape (P, C + 1)
        Of the background and the classes; on the CPU.
    labels : Tensor of int64, shape (P,)
        The class of the object that the proposal overlaps most, if by half or more; 0 for the background; −1 if that
        object is difficult.

    Raises
    ------
    ValueError
        As :func:`detect`.
    TypeError
        For another network.

    Notes
    -----
    All proposals are taken, as the detector makes them when it is tested. In training, the boxes of the objects join
    them, and a sample is drawn. Explained in chapter 16.
    """
    heads: Any = getattr(net, "roi_heads", None)
    if not hasattr(heads, "last"):
        raise TypeError(
            f"net must be one of rankedu.lab.models.build_detector, got a {type(net).__name__} (it keeps scores)"
        )
    seen = []
    with _testing(net):
        for batch, _ in _shown(data, net, batch_size, workers, progress):
            net(batch.images, batch.targets)
            seen.append([part.cpu() for part in heads.last])
    logits, labels = (torch.cat(parts) for parts in zip(*seen, strict=True))
    return logits.float(), labels


@torch.no_grad()
def _detected(
    net: nn.Module, data: DetectionData, batch_size: int, workers: int, progress: bool
) -> Iterator[tuple[Target, Target]]:
    """What is found in each picture, and what is to be found."""
    with _testing(net):
        for batch, truths in _shown(data, net, batch_size, workers, progress):
            for found, truth in zip(net(batch.images), truths, strict=True):
                yield {name: found[name].cpu() for name in ("boxes", "scores", "labels")}, truth


def _shown(
    data: DetectionData, net: nn.Module, batch_size: int, workers: int, progress: bool
) -> Iterator[tuple[Batch, list[Target]]]:
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
