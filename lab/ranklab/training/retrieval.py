"""The training loop of the book."""

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from ranklab.training.batches import batches
from ranklab.training.checkpoints import TrainingState
from ranklab.training.evaluation import embed, evaluate
from ranklab.training.loading import RetrievalData, leaves
from ranklab.training.logs import History
from ranklab.training.loop import run_steps
from ranklab.training.recipe import Recipe
from ranklab.training.samplers import ClassBalancedSampler

__all__ = ["History", "Recipe", "RetrievalData", "embed", "evaluate", "train"]


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
    column. Batches come from ``sampler`` or else from :class:`ClassBalancedSampler`. ``folder`` gets ``checkpoint.pt``
    and ``log.csv``; with ``resume`` the run goes on from there: on a CPU to the result, bit for bit, of a run that
    never stopped. The start is the caller's: set ``torch.manual_seed`` before you make the network.

    1,200 steps on :class:`~ranklab.datasets.UnicodeGlyphs` take about a minute on two cores. For several processes, see
    :mod:`ranklab.training.distributed`.
    """
    paths = bool(getattr(loss, "takes_paths", False)) if paths is None else paths
    shared = {"seed": seed, "strength": strength, "paths": paths, "items": len(data.labels)}
    if sampler is None:
        shared |= {"batch_size": batch_size, "per_class": per_class}
        sampler = ClassBalancedSampler(leaves(data), batch_size, per_class, batches=steps, seed=seed)
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
