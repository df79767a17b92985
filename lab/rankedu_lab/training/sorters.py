"""Teach a network to sort, as SoDeep does: made-up lists, their true ranks, the absolute error."""

import hashlib
import json
import math
import os
import time
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from rankedu.checks import check_count
from rankedu.ranks import rank
from rankedu_lab.contestants.lstm import ARCHITECTURES, LSTMRanker
from rankedu_lab.datasets.cache import cached_arrays
from rankedu_lab.training.logs import History
from rankedu_lab.training.sorter_data import DISTRIBUTIONS, draw_scores

#: Highest learning rate of Adam, and the steps that take about a minute on one core for lists of 20.
LEARNING_RATE = {"lstm": 2e-2, "gru": 2e-2, "conv": 5e-3, "mlp": 2e-3}
STEPS = {"lstm": 6000, "gru": 4000, "conv": 7000, "mlp": 20000}
#: Lists per step; share of the steps in which the learning rate rises; bound of the gradient's norm.
BATCH, RISE, CLIP = 64, 0.05, 1.0
#: A part of the names of the cached files, which changes when the same settings train another sorter.
VERSION = 1


def train_sorter(
    n: int,
    *,
    architecture: str = "lstm",
    steps: int | None = None,
    seed: int = 0,
    hidden: int | None = None,
    layers: int | None = None,
    progress: bool = True,
) -> LSTMRanker:
    """Make a network that sorts lists of n scores, and freeze it; torch's global generator is left as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        ranker = LSTMRanker(n, architecture, hidden=hidden, layers=layers)
    fit_sorter(ranker, steps=steps, seed=seed, progress=progress)
    return ranker.requires_grad_(False)


def trained_sorter(
    n: int = 20,
    *,
    architecture: str = "lstm",
    steps: int | None = None,
    seed: int = 0,
    root: str | os.PathLike[str] | None = None,
    progress: bool = True,
) -> LSTMRanker:
    """Read a trained sorter from ``root`` (default: ``$RANKEDU_DATA``, or the user's cache), else train it."""
    ranker = LSTMRanker(n, architecture)  # which checks the arguments
    steps = STEPS[architecture] if steps is None else steps
    shaping = [VERSION, ARCHITECTURES[architecture], LEARNING_RATE[architecture], BATCH, RISE, CLIP, steps, seed]
    key = hashlib.sha256(json.dumps(shaping).encode()).hexdigest()[:10]

    def weights() -> dict[str, Any]:
        trained = train_sorter(n, architecture=architecture, steps=steps, seed=seed, progress=progress)
        return {name: value.numpy() for name, value in trained.state_dict().items()}

    kept = cached_arrays(f"sorter-{architecture}-{n}-{key}.npz", weights, root)
    ranker.load_state_dict({name: torch.from_numpy(value) for name, value in kept.items()})
    return ranker.requires_grad_(False)


def fit_sorter(
    ranker: LSTMRanker, *, steps: int | None = None, seed: int = 0, lr: float | None = None, progress: bool = True
) -> History:
    r"""Train a sorter in place: Adam on the mean absolute error of the ranks of random lists.

    .. math:: L(\theta) = \mathop{\mathbb{E}}_{\mathbf{y}} \frac{1}{n} \sum_i
              \bigl| \mathbf{rk}_\theta(\mathbf{y})_i - \mathbf{rk}(\mathbf{y})_i \bigr|

    A step has 64 lists. The learning rate rises in the first twentieth of the steps, then falls to 0 along a cosine.
    """
    from tqdm import tqdm

    steps = STEPS[ranker.architecture] if steps is None else steps
    check_count(steps, "steps", least=0)
    if not all(parameter.requires_grad for parameter in ranker.parameters()):
        raise ValueError("ranker must not be frozen, to be trained (thaw it with ranker.requires_grad_())")

    def rise_and_fall(step: int) -> float:
        rising = min(1.0, (step + 1) / max(1.0, RISE * steps))
        return rising * 0.5 * (1 + math.cos(math.pi * step / max(1, steps)))

    top = LEARNING_RATE[ranker.architecture] if lr is None else lr
    optimizer = torch.optim.Adam(ranker.parameters(), lr=top, fused=True)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rise_and_fall)
    generator = torch.Generator().manual_seed(seed)
    history, started = History(), time.perf_counter()
    for step in (bar := tqdm(range(1, steps + 1), desc="sorter", unit="step", disable=None if progress else True)):
        scores = draw_scores(ranker.n, BATCH, generator=generator).to(ranker.head.weight)
        error = (ranker(scores) - rank(scores)).abs().mean()
        optimizer.zero_grad()
        torch.autograd.backward(error / ranker.n)
        nn.utils.clip_grad_norm_(ranker.parameters(), CLIP)
        optimizer.step()
        schedule.step()
        history.add({"loss": error.item()})
        if not math.isfinite(history.losses[-1]):
            raise FloatingPointError(f"the error must stay finite, got {error.item()} at step {step} (smaller lr)")
        if step % 100 == 0:
            bar.set_postfix(error=f"{np.mean(history.losses[-100:]):.2f} ranks")
    history.seconds = time.perf_counter() - started
    return history


@torch.no_grad()
def rank_error(ranker: nn.Module, scores: Tensor) -> float:
    """Measure the mean absolute difference between a ranker's ranks and the true ones; always the middle: about n/4."""
    return float((ranker(scores).double() - rank(scores)).abs().mean())


def sorter_errors(ranker: LSTMRanker, *, lists: int = 2000, seed: int = 1) -> dict[str, float]:
    """Measure :func:`rank_error` on each of the distributions that sorters are trained on."""
    weight, errors = ranker.head.weight, {}
    for name in DISTRIBUTIONS:
        generator = torch.Generator().manual_seed(seed)
        errors[name] = rank_error(ranker, draw_scores(ranker.n, lists, name, generator=generator).to(weight))
    return errors
