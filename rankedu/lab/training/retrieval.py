"""The training loop of the book."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from rankedu.lab.training import distributed
from rankedu.lab.training.batches import batches
from rankedu.lab.training.checkpoints import Run
from rankedu.lab.training.evaluation import embed, evaluate
from rankedu.lab.training.loading import FileData, RetrievalData, leaves
from rankedu.lab.training.logs import History
from rankedu.lab.training.loop import run_steps
from rankedu.lab.training.recipe import Recipe
from rankedu.lab.training.samplers import ClassBalancedSampler
from rankedu.lab.training.updates import Updates

__all__ = ["History", "Recipe", "RetrievalData", "embed", "evaluate", "train"]


def train(
    net: nn.Module,
    data: RetrievalData | FileData,
    loss: Callable[[Tensor, Tensor], Tensor],
    *,
    steps: int,
    batch_size: int = 128,
    per_class: int = 4,
    lr: float = 1e-3,
    seed: int = 0,
    strength: float = 1.0,
    test: RetrievalData | FileData | None = None,
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
    """Train a network to retrieve the items of a class.

    Parameters
    ----------
    net : Module
        Images (B, C, H, W) to embeddings (B, dim). It is trained in place, on its own device.
    data : RetrievalData or FileData
        Images in memory, augmented as a batch, or pictures on disk. The last column of the labels is the class.
    loss : callable
        ``loss(embeddings, labels)`` returns a scalar, for instance ``OnEmbeddings(RecallLoss(ranker, margin=0.05))``.
        If it is a module with parameters of its own, they are trained too. A memory belongs to the loss.
    steps, batch_size, per_class, lr : int, int, int, float
        Batches; what they hold, see :class:`ClassBalancedSampler` (classes that are too small are left out; where
        several processes train, the batch is that of all together); learning rate, see :class:`Recipe`.
    seed : int
        Of the batches and the augmentation. The network's own start is the caller's: set ``torch.manual_seed`` before
        you make it. The same start, seed and number of threads give the same numbers on the same machine.
    strength : float
        Of the augmentation in memory, see :func:`rankedu.lab.datasets.augment`.
    test, evaluate_every : RetrievalData or FileData, int, optional
        What to evaluate on, after every so many steps. Default: after the last one, if there is ``test``.
    progress : bool
        Show a progress bar.
    sampler : iterable of Tensor of int64, optional
        Other batches than those of ``batch_size`` and ``per_class``; the same ones each time it is iterated.
    recipe : Recipe
        Optimiser, schedule, 16 bits, large batches in chunks, …
    folder : path, optional
        Where to keep ``checkpoint.pt`` and ``log.csv``. Default: nothing is kept.
    resume : bool
        Go on from the folder's checkpoint, if there is one. On a CPU the result is, bit for bit, that of a run that
        never stopped, provided that net and loss are made as they were.
    checkpoint_every : int, optional
        Default: after every tenth of the steps. On Ctrl-C, and at the end, there is always one.
    workers : int
        Processes that load pictures from disk.
    paths : bool, optional
        Give the loss paths (B, L) from root to leaf. Default: if it has a true attribute ``takes_paths``.

    Returns
    -------
    History

    Raises
    ------
    FloatingPointError
        If the loss or a weight becomes NaN or infinite; names the step. The last checkpoint is sound.
    KeyboardInterrupt
        On Ctrl-C, after the step has been finished and a checkpoint written; says where.
    ValueError
        As :class:`ClassBalancedSampler`; for a checkpoint of another run.

    Notes
    -----
    1,200 steps on :class:`~rankedu.lab.datasets.UnicodeGlyphs` take about a minute on two cores. Under ``torchrun``
    (see :mod:`rankedu.lab.training.distributed`) each process embeds its share of the batch, and the loss sees all of
    it: the gradient is that of one process, but for batch norm, whose statistics are then those of a share. Explained
    in chapter 5.

    Examples
    --------
    >>> from rankedu.lab.datasets import UnicodeGlyphs
    >>> from rankedu.lab.models import ConvNet
    >>> data = UnicodeGlyphs("all", characters="ABCDEFGH")
    >>> def together(embeddings, labels):  # 1 - mean cosine of two items of a class
    ...     return 1 - (embeddings @ embeddings.T)[labels[:, None] == labels].mean()
    >>> history = train(ConvNet(8), data, together, steps=3, batch_size=16, progress=False)
    >>> len(history.losses)
    3
    """
    for name, number in {"evaluate_every": evaluate_every, "checkpoint_every": checkpoint_every}.items():
        if number is not None and number < 1:
            raise ValueError(f"{name} must be >= 1, or None, got {number} (it counts steps)")
    paths = bool(getattr(loss, "takes_paths", False)) if paths is None else paths
    shared = {"lr": lr, "seed": seed, "strength": strength, "paths": paths, "items": len(data.labels), **asdict(recipe)}
    if recipe.schedule in ("cosine", "one_cycle"):  # the learning rate depends on it
        shared["steps"] = steps
    if sampler is None:
        shared |= {"batch_size": batch_size, "per_class": per_class}
        sampler = ClassBalancedSampler(leaves(data), batch_size, per_class, batches=steps, seed=seed)
    run = Run(net, loss, Updates(recipe, net, loss, lr), History(), shared)
    path = None if folder is None else Path(folder) / "checkpoint.pt"
    if path is not None and resume:
        run.load(path, steps)
    distributed.broadcast(net, loss)
    net.train()
    draws: dict[str, Any] = {"first": run.step, "seed": seed, "strength": strength, "draws": run.draws}
    made = batches(data, sampler, device=run.device, paths=paths, workers=workers, **draws)
    try:
        with closing(made):
            run_steps(
                run,
                made,
                steps=steps,
                evaluate=None if test is None else partial(evaluate, net, test, strength=strength, workers=workers),
                evaluate_every=evaluate_every or steps,
                path=path,
                checkpoint_every=checkpoint_every or max(1, steps // 10),
                progress=progress,
            )
    finally:
        run.updates.wake()
    return run.history
