"""The training of an object detector, whose classifier may learn from a loss on ranks, and its evaluation."""

import math
from collections.abc import Generator, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn

from rankedu.checks import check_count, check_number
from rankedu_lab.datasets.voc import DetectionData
from rankedu_lab.detections import match_detections
from rankedu_lab.training.checkpoints import TrainingState
from rankedu_lab.training.device import seeded
from rankedu_lab.training.large_batch import autocast
from rankedu_lab.training.loading import generator_of, load
from rankedu_lab.training.logs import Clock, History
from rankedu_lab.training.loop import run_steps
from rankedu_lab.training.recipe import Recipe, all_finite

#: What torchvision's Faster R-CNN is trained with: "loss" is the sum of these, the classifier's with its weight.
LOSSES = ("loss_classifier", "loss_box_reg", "loss_objectness", "loss_rpn_box_reg")


Target = dict[str, Tensor]


class DetectionBatch(NamedTuple):
    """Pictures of any sizes, and the objects on them."""

    images: list[Tensor]  #: (3, H, W), from 0 to 1, on the network's device
    targets: list[Target]  #: "boxes" (M, 4) and "labels" (M,); on a difficult object the label is −1
    draws: None = None  #: nothing is drawn from one batch to the next


def batches(
    data: DetectionData,
    *,
    steps: int,
    batch_size: int,
    device: torch.device,
    first: int = 0,
    seed: int = 0,
    workers: int = 0,
) -> Generator[DetectionBatch, None, None]:
    """Load the batches of a training run, from the ``first`` on; epochs follow each other without a gap.

    Seed and epoch determine the order; seed, step and place determine which pictures are mirrored.
    """

    def order() -> Iterator[int]:
        epoch, used = divmod(first * batch_size, len(data))
        while True:
            yield from torch.randperm(len(data), generator=generator_of(seed, 0, epoch))[used:].tolist()
            epoch, used = epoch + 1, 0

    indices = order()
    keys = ([(next(indices), step, place) for place in range(batch_size)] for step in range(first, steps))
    return _load(data, seed, keys, device, workers)


def _load(
    data: DetectionData, seed: int | None, keys: Iterable[Any], device: torch.device, workers: int
) -> Generator[DetectionBatch, None, None]:
    """Load pictures as a detector takes them: from 0 to 1, with labels that leave out difficult objects."""
    for items in load(partial(_view, data, seed), keys, workers=workers, pin=device.type == "cuda", collate=list):
        images = [image.to(device, non_blocking=True).float() / 255 for image, _ in items]
        known = ((target["boxes"], target["labels"].masked_fill(target["difficult"], -1)) for _, target in items)
        yield DetectionBatch(images, [{"boxes": b.to(device), "labels": labels.to(device)} for b, labels in known])


def _view(data: DetectionData, seed: int | None, key: tuple[int, ...]) -> tuple[Tensor, Target]:
    """Load a picture by (index, step, place), perhaps with left and right exchanged, or by (index,), as it is."""
    index, *place = key
    image, target = data[index]
    if seed is None or not data.flips or torch.rand((), generator=generator_of(seed, 1, *place)) >= 0.5:
        return image, target
    left, top, right, bottom = target["boxes"].unbind(1)
    width = image.shape[-1]
    return image.flip(-1), {**target, "boxes": torch.stack([width - right, top, width - left, bottom], dim=1)}


def train_detector(
    net: nn.Module,
    data: DetectionData,
    *,
    steps: int,
    batch_size: int = 8,
    lr: float,
    seed: int = 0,
    weight: float = 1.0,
    test: DetectionData | None = None,
    evaluate_every: int | None = None,
    recipe: Recipe = Recipe(),  # noqa: B008  # it is frozen
    folder: str | Path | None = None,
    resume: bool = True,
    checkpoint_every: int | None = None,
    workers: int = 0,
    progress: bool = True,
) -> History:
    """Train a detector, see :func:`rankedu_lab.models.build_detector`, in place, much as :func:`train` for retrieval.

    ``weight`` multiplies the classifier's loss, whose time is ``loss_seconds``; ``losses`` are sums of all. ``seed``
    decides on order, mirroring and sampled proposals; torch's global generator is left as it was.
    """
    check_count(steps, "steps", least=0)
    check_count(batch_size, "batch_size")
    check_count(seed, "seed", least=0)
    check_number(weight, "weight", above=0)
    if recipe.chunk is not None:
        raise ValueError(
            f"recipe.chunk must be None for a detector, got {recipe.chunk} (its pictures are not embedded; "
            "lower batch_size)"
        )
    if len(data) == 0:
        raise ValueError("data must have pictures, got 0")
    shared: dict[str, Any] = {"seed": seed, "batch_size": batch_size}
    with seeded(seed, next(net.parameters()).device):
        begun: dict[str, Any] = {"steps": steps, "folder": folder, "resume": resume}
        run = TrainingState(net, None, recipe, lr, weight=weight, items=len(data), **begun, **shared)
        net.train()
        run_steps(
            run,
            batches(data, steps=steps, first=run.step, device=run.device, workers=workers, **shared),
            steps=steps,
            evaluate=None if test is None else partial(evaluate_detector, net, test, workers=workers),
            evaluate_every=evaluate_every,
            checkpoint_every=checkpoint_every,
            progress=progress,
            step_by=partial(detector_step, weight=weight),
        )
    return run.history


def detector_step(run: TrainingState, batch: DetectionBatch, clock: Clock, *, weight: float = 1.0) -> dict[str, float]:
    """Take a step by the sum of the losses; return it, "loss", and each; "cross_entropy" is no part of it."""
    heads = cast(Any, run.net).roi_heads
    before, heads.mark = heads.mark, clock.mark
    for name in ("loss begins", "loss ends"):  # a detector without marks has a loss time of 0
        clock.mark(name)
    try:
        with autocast(run.device, run.updates.recipe.amp):
            losses = run.net(batch.images, batch.targets)
    except ValueError:
        if all_finite(run.updates.parameters()):
            raise
        return {"loss": math.nan}  # what exploded in the step before cannot be ranked
    finally:
        heads.mark = before
    factors = {name: {"loss_classifier": weight, "cross_entropy": 0.0}.get(name, 1.0) for name in losses}
    total = sum(factor * losses[name].float() for name, factor in factors.items() if factor)
    torch.autograd.backward(run.updates.scale(total))
    values = torch.stack([total, *losses.values()]).detach().tolist()
    if math.isfinite(values[0]):
        run.updates.apply()
    return dict(zip(("loss", *losses), values, strict=True))


@torch.no_grad()
def detect(
    net: nn.Module, data: DetectionData, *, batch_size: int = 16, workers: int = 0, progress: bool = False
) -> list[Target]:
    """Find the objects in every picture: ``boxes`` (N, 4), ``scores`` and ``labels`` each, best first, on the CPU."""
    shown = _shown(net, data, batch_size, workers, progress)
    parts = ("boxes", "scores", "labels")
    return [{name: found[name].cpu() for name in parts} for batch in shown for found in net(batch.images)]


def evaluate_detector(
    net: nn.Module, data: DetectionData, *, batch_size: int = 16, workers: int = 0, progress: bool = False
) -> dict[str, float]:
    """Measure "AP50", the mean over classes of average precision at an overlap of one half, and its 11-point form."""
    detections = detect(net, data, batch_size=batch_size, workers=workers, progress=progress)
    truths = [data.target(index) for index in range(len(data))]
    matches = match_detections(detections, truths, n_classes=len(data.names))
    kinds = {"AP50": "all-point", "AP50 11-point": "11-point"}
    return {name: float(matches.average_precision(kind).nanmean()) for name, kind in kinds.items()}


@torch.no_grad()
def proposal_scores(
    net: nn.Module, data: DetectionData, *, batch_size: int = 16, workers: int = 0, progress: bool = False
) -> tuple[Tensor, Tensor]:
    """Score a detector's proposals in every picture, as they are made in a test: class logits (P, C + 1), labels (P,).

    The label is −1 for those that are neither object nor background.
    """
    seen, heads = [], cast(Any, net).roi_heads
    for batch in _shown(net, data, batch_size, workers, progress):
        net(batch.images, batch.targets)
        seen.append([part.cpu() for part in heads.last])
    logits, labels = (torch.cat(parts) for parts in zip(*seen, strict=True))
    return logits.float(), labels


def _shown(
    net: nn.Module, data: DetectionData, batch_size: int, workers: int, progress: bool
) -> Iterator[DetectionBatch]:
    """Load all pictures in order, with a progress bar; until the end the network is in eval mode."""
    from tqdm import tqdm

    if not all_finite(net.parameters()):
        raise ValueError("net must have finite weights, got NaN or infinite ones (its training has exploded)")
    was_training, device = net.training, next(net.parameters()).device
    net.eval()
    try:
        with tqdm(desc="detecting", unit="picture", total=len(data), disable=None if progress else True) as bar:
            keys = ([(index,) for index in part.tolist()] for part in torch.arange(len(data)).split(batch_size))
            for batch in _load(data, None, keys, device, workers):
                yield batch
                bar.update(len(batch.images))
    finally:
        net.train(was_training)
