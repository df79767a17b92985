"""The loop itself, and its step for retrieval: embed a batch, let the loss say how it should move, move the weights."""

import math
import time
from collections.abc import Callable, Generator
from contextlib import closing
from typing import Any

import torch

from rankedu.checks import check_count
from rankedu_lab.training.checkpoints import TrainingState
from rankedu_lab.training.large_batch import embed_for_gradient
from rankedu_lab.training.loading import Batch
from rankedu_lab.training.logs import Clock

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
) -> None:
    """Bring a run to ``steps``; by default it is evaluated at the end, and saved every tenth of the steps."""
    from tqdm import tqdm

    for name, number in {"evaluate_every": evaluate_every, "checkpoint_every": checkpoint_every}.items():
        if number is not None:
            check_count(number, name, hint="it counts steps")
    evaluate_every, checkpoint_every = evaluate_every or steps, checkpoint_every or max(1, steps // 10)
    clock, step_by, shown = Clock(run.device), step_by or one_step, dict[str, str]()
    hidden = None if progress else True  # None: shown on a terminal
    with (
        closing(batches),
        run.updates,
        tqdm(desc="training", unit="step", initial=run.step, total=steps, disable=hidden) as bar,
    ):
        for step in range(run.step + 1, steps + 1):
            _timed_step(run, batches, clock, step_by, step, steps)
            if evaluate is not None and step % evaluate_every == 0:
                started = time.perf_counter()
                run.check()
                measured = evaluate()
                run.history.evaluations.append({"step": step, **measured})
                run.history.evaluating += time.perf_counter() - started
                shown = {name: f"{number:.3f}" for name, number in measured.items()}
            bar.set_postfix({"loss": f"{run.history.losses[-1]:.3f}", **shown}, refresh=False)
            bar.update()
            if step % checkpoint_every == 0 or step == steps:
                run.save()


def _timed_step(
    run: TrainingState, batches: Generator[Any, None, None], clock: Clock, step_by: Step, step: int, steps: int
) -> None:
    """Wait for a batch, take the step, and add its losses and its learning rate to the history."""
    rate, started, history = run.updates.begin(step, steps), time.perf_counter(), run.history
    batch = next(batches, None)
    if batch is None:
        raise ValueError(f"sampler must yield {steps} batches, one for each step, got {step - 1}")
    history.waiting += time.perf_counter() - started
    parts = step_by(run, batch, clock)
    loss = parts.pop("loss")
    if not math.isfinite(loss):
        raise FloatingPointError(f"loss must stay finite, got {loss} at step {step} (try a smaller lr)")
    history.loss_seconds += clock.between("loss begins", "loss ends")
    history.seconds += time.perf_counter() - started
    history.add({"loss": loss, "lr": rate, **parts})
    run.step, run.draws = step, batch.draws
