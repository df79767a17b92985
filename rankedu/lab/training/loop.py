"""The loop itself, and its step for retrieval: embed a batch, let the loss say how it should move, move the weights."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from rankedu.lab.training import distributed
from rankedu.lab.training.batches import Batch
from rankedu.lab.training.checkpoints import Run
from rankedu.lab.training.interrupts import Interrupts
from rankedu.lab.training.large_batch import embed_for_gradient
from rankedu.lab.training.logs import COLUMNS, Clock, CsvLog

__all__ = ["Step", "one_step", "run_steps"]

#: Takes a step with a batch, and returns at least its "loss"; if that is not finite, the weights are left as they were.
#: The clock gets the marks "scored" and "judged", between which the loss is at work.
Step = Callable[[Run, Any, Clock], dict[str, float]]


def one_step(run: Run, batch: Batch, clock: Clock) -> dict[str, float]:
    """Embed, compute the loss of the batch of all processes and its gradient, update the weights.

    The graph is cut at the embeddings, so that a batch may be embedded in chunks or by several processes while the loss
    sees all of it. It also keeps the scale of a 16-bit gradient away from the loss, where a blackbox ranker would take
    it for another λ.
    """
    recipe = run.updates.recipe
    embeddings, backward = embed_for_gradient(run.net, batch.images, chunk=recipe.chunk, amp=recipe.amp)
    embeddings.requires_grad_()
    clock.mark("scored")
    gathered, labels = distributed.gather(embeddings, batch.labels)
    if gathered.detach().sum().isnan():  # in all processes, so that none waits for another
        return {"loss": math.nan}
    value = run.loss(gathered, labels)
    torch.autograd.backward(value)
    clock.mark("judged")
    if embeddings.grad is not None:
        backward(run.updates.scale(embeddings.grad))
    distributed.average_gradients(run.updates.parameters())
    number = float(value.item())
    if math.isfinite(number):
        run.updates.apply()
    return {"loss": number}


def run_steps(
    run: Run,
    batches: Iterator[Any],
    *,
    steps: int,
    evaluate: Callable[[], dict[str, float]] | None,
    evaluate_every: int,
    path: Path | None,
    checkpoint_every: int,
    progress: bool,
    step_by: Step | None = None,
    columns: Sequence[str] = COLUMNS,
) -> None:
    """Bring a run from ``run.step`` to ``steps``, with evaluations, checkpoints and log lines between the steps."""
    from tqdm import tqdm

    history, clock, step_by = run.history, Clock(run.device), step_by or one_step
    main, shown = distributed.is_main(), {}
    with (
        CsvLog(path.with_name("log.csv") if path and main else None, after=run.step, columns=columns) as log,
        Interrupts() as interrupts,
        tqdm(
            desc="training", unit="step", initial=run.step, total=steps, disable=None if progress and main else True
        ) as bar,
    ):
        for step in range(run.step + 1, steps + 1):
            rate = run.updates.begin(step, steps)
            started = time.perf_counter()
            batch = next(batches, None)
            if batch is None:
                raise ValueError(f"sampler must yield {steps} batches, one for each step, got {step - 1}")
            history.waiting += time.perf_counter() - started
            losses = step_by(run, batch, clock)
            value = losses["loss"]
            if not math.isfinite(value):
                raise FloatingPointError(f"loss must stay finite, got {value} at step {step} (try a smaller lr)")
            history.loss_seconds += clock.between("scored", "judged")
            history.seconds += time.perf_counter() - started
            history.losses.append(value)
            run.step, run.draws = step, batch.draws
            row = {"step": step, **losses, "lr": rate}
            if evaluate is not None and step % evaluate_every == 0:
                started = time.perf_counter()
                run.check()
                distributed.average(run.net.buffers())
                history.evaluations.append({"step": step, **evaluate()})
                history.evaluating += time.perf_counter() - started
                row |= history.evaluations[-1]
                shown = {name: f"{number:.3f}" for name, number in history.evaluations[-1].items() if name != "step"}
            log.write(row)
            bar.set_postfix({"loss": f"{value:.3f}", **shown}, refresh=False)
            bar.update()
            stop = distributed.anywhere(interrupts.asked, run.device)
            if path is not None and (stop or step % checkpoint_every == 0 or step == steps):
                log.flush()
                run.save(path)
            if stop:
                then = f"the same call goes on from {path}" if path else "without a folder nothing is kept"
                raise KeyboardInterrupt(f"stopped after step {step} of {steps}: {then}")
