"""The loop itself, and its step for retrieval: embed a batch, let the loss say how it should move, move the weights."""

import math
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from typing import Any

import torch

from rankedu.checks import check_count
from rankedu_lab.training.checkpoints import TrainingState
from rankedu_lab.training.large_batch import embed_for_gradient
from rankedu_lab.training.loading import Batch
from rankedu_lab.training.logs import COLUMNS, Clock, csv_log

#: Takes a step with a batch, and returns at least its "loss"; if that is not finite, the weights are left as they were.
#: The clock gets the marks "loss begins" and "loss ends", between which the loss is computed.
Step = Callable[[TrainingState, Any, Clock], dict[str, float]]


def one_step(run: TrainingState, batch: Batch, clock: Clock) -> dict[str, float]:
    """Embed, compute the loss and its gradient, update the weights."""
    recipe = run.updates.recipe
    embeddings, backward = embed_for_gradient(run.net, batch.images, chunk=recipe.chunk, amp=recipe.amp)
    embeddings.requires_grad_()
    clock.mark("loss begins")
    if embeddings.detach().sum().isnan():
        return {"loss": math.nan}
    items = (batch.items,) if getattr(run.loss, "takes_items", False) else ()
    value = run.loss(embeddings, batch.labels, *items)
    torch.autograd.backward(value)
    clock.mark("loss ends")
    if embeddings.grad is not None:
        backward(run.updates.scale(embeddings.grad))
    number = float(value.item())
    if math.isfinite(number):
        run.updates.apply()
    return {"loss": number}


def run_steps(
    run: TrainingState,
    batches: Generator[Any, None, None],
    *,
    steps: int,
    evaluate: Callable[[], dict[str, float]] | None = None,
    evaluate_every: int | None = None,
    checkpoint_every: int | None = None,
    progress: bool = True,
    step_by: Step | None = None,
    columns: Sequence[str] = COLUMNS,
) -> None:
    """Bring a run to ``steps``; by default it is evaluated at the end, and saved every tenth of the steps."""
    from tqdm import tqdm

    for name, number in {"evaluate_every": evaluate_every, "checkpoint_every": checkpoint_every}.items():
        if number is not None:
            check_count(number, name, hint="it counts steps")
    evaluate_every, checkpoint_every = evaluate_every or steps, checkpoint_every or max(1, steps // 10)
    clock, step_by, path, shown = Clock(run.device), step_by or one_step, run.path, {}
    hidden = None if progress else True  # None: shown on a terminal
    with (
        closing(batches),
        run.updates,
        csv_log(path.with_name("log.csv") if path else None, after=run.step, columns=columns) as (log, file),
        tqdm(desc="training", unit="step", initial=run.step, total=steps, disable=hidden) as bar,
    ):
        for step in range(run.step + 1, steps + 1):
            row = {"step": step, **_timed_step(run, batches, clock, step_by, step, steps)}
            if evaluate is not None and step % evaluate_every == 0:
                started = time.perf_counter()
                run.check()
                measured = evaluate()
                run.history.evaluations.append({"step": step, **measured})
                run.history.evaluating += time.perf_counter() - started
                row |= measured
                shown = {name: f"{number:.3f}" for name, number in measured.items()}
            log.writerow(row)
            bar.set_postfix({"loss": f"{row['loss']:.3f}", **shown}, refresh=False)
            bar.update()
            if path is not None and (step % checkpoint_every == 0 or step == steps):
                file.flush()
                run.save(path)


def _timed_step(
    run: TrainingState, batches: Generator[Any, None, None], clock: Clock, step_by: Step, step: int, steps: int
) -> dict[str, float]:
    """Wait for a batch and take the step; return its losses and its learning rate."""
    rate, started, history = run.updates.begin(step, steps), time.perf_counter(), run.history
    batch = next(batches, None)
    if batch is None:
        raise ValueError(f"sampler must yield {steps} batches, one for each step, got {step - 1}")
    history.waiting += time.perf_counter() - started
    losses = step_by(run, batch, clock)
    if not math.isfinite(losses["loss"]):
        raise FloatingPointError(f"loss must stay finite, got {losses['loss']} at step {step} (try a smaller lr)")
    history.loss_seconds += clock.between("loss begins", "loss ends")
    history.seconds += time.perf_counter() - started
    history.losses.append(losses["loss"])
    run.step, run.draws = step, batch.draws
    return {**losses, "lr": rate}
