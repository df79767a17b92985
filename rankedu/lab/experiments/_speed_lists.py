"""One long list, as in RaMBO's Table 6: the losses, forward and backward, and the work that nobody can avoid."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rankedu.lab.experiments._footprint import peak_of
from rankedu.lab.experiments._published import published_ap, published_recall
from rankedu.lab.experiments._stopwatch import Limits, Name, Row, Work, one_thread, race
from rankedu.losses import APLoss, RecallLoss
from rankedu.rankers import BlackboxRanker

__all__ = ["LAM", "MARGIN", "PRINTED", "bytes_a_score", "long_lists"]

#: λ for each item of the list, on the paper's scale, and the margin: what a training might have.
LAM, MARGIN = 0.4, 0.02
#: Seconds that the paper prints for AP, by device and length.
PRINTED = {
    "cpu": {10**5: 0.033, 10**6: 0.331, 10**7: 3.86, 10**8: 36.4},
    "cuda": {10**5: 0.0013, 10**6: 0.007, 10**7: 0.061, 10**8: 0.62},
}
LOSSES: dict[Name, Callable[[float], Callable[[Tensor, Tensor], Tensor]]] = {
    ("AP", "ours"): lambda lam: APLoss(BlackboxRanker(lam), MARGIN),
    ("AP", "transcription"): lambda lam: lambda scores, relevance: published_ap(scores, relevance, lam, MARGIN),
    ("recall", "ours"): lambda lam: RecallLoss(BlackboxRanker(lam), MARGIN),
    ("recall", "transcription"): lambda lam: lambda scores, relevance: published_recall(scores, relevance, lam, MARGIN),
}


def make_list(n: int, share: float, seed: int, device: str) -> tuple[Tensor, Tensor]:
    """Normal scores, and about so large a share of relevant ones, one at least."""
    generator = torch.Generator(device).manual_seed(seed)
    scores = torch.randn(n, generator=generator, device=device).requires_grad_()
    relevance = torch.rand(n, generator=generator, device=device) < share
    relevance[0] = True
    return scores, relevance


def loss_works(scores: Tensor, relevance: Tensor) -> dict[Name, Work]:
    """Each loss forward and backward; the gradient is given up at once, so that all can share the list."""

    def step(loss: Callable[[Tensor, Tensor], Tensor]) -> Work:
        def forward_and_backward() -> None:
            loss(scores, relevance).backward()
            scores.grad = None

        return forward_and_backward

    return {name: step(make(LAM * len(scores))) for name, make in LOSSES.items()}


def limit_works(scores: Tensor) -> dict[Name, Work]:
    """What bounds any ranking loss from below, or nearly: one sort of the scores, a copy of them; and two argsorts."""
    values, room = scores.detach(), torch.empty_like(scores, requires_grad=False)
    works: dict[Name, Work] = {
        ("limit", "one copy"): lambda: room.copy_(values),
        ("limit", "one torch.sort"): lambda: values.sort(),
    }
    if values.device.type == "cpu":
        array = values.numpy()
        works["limit", "one np.sort"] = lambda: np.sort(array)
        works["limit", "two np.argsort"] = lambda: (np.argsort(array), np.argsort(array))
    else:
        works["limit", "two torch.argsort"] = lambda: (values.argsort(), values.argsort())
    return works


def long_lists(parameters: Mapping[str, Any], limits: Limits, device: str) -> list[Row]:
    """Time the losses and the limits at every length.

    Parameters
    ----------
    parameters : mapping
        Of the lab: ``lengths``, ``share``, ``memory_length`` and ``seed`` are used.
    limits : Limits
    device : {"cpu", "cuda"}

    Returns
    -------
    list of dict
        As of :func:`rankedu.lab.experiments._stopwatch.race`; also a row for the memory of each loss, with ``bytes a
        score``.
    """
    share, seed = parameters["share"], parameters["seed"]

    def works(n: int) -> dict[Name, Work]:
        scores, relevance = make_list(n, share, seed, device)
        return loss_works(scores, relevance) | limit_works(scores)

    rows = race(parameters["lengths"], works, limits, device=device)
    if (n := parameters["memory_length"]) and limits.left() > 0:
        for name, found in bytes_a_score(n, share, seed, device).items():
            note = "" if found is not None else "not measured: the system does not tell"
            rows.append({"work": name[0], "contender": name[1], "size": n, "bytes a score": found, "note": note})
    return rows


def bytes_a_score(n: int, share: float, seed: int, device: str = "cpu") -> dict[Name, float | None]:
    """Tell how many bytes each loss takes for a score at its peak, beyond scores and labels, the gradient included.

    Parameters
    ----------
    n, share, seed
        Of the list.
    device : {"cpu", "cuda"}
        On a CPU a process of its own is measured, which keeps no memory from one loss to the next.

    Returns
    -------
    dict
        (what, who) → bytes; None where the system does not tell.

    Raises
    ------
    subprocess.CalledProcessError
        If that process fails.
    """
    if device == "cuda":
        return _peaks(n, share, seed, device)
    command = [sys.executable, "-m", __name__, str(n), str(share), str(seed)]
    own = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536"}  # glibc then gives larger blocks back at once
    said = subprocess.run(command, env=own, check=True, capture_output=True, text=True, timeout=600).stdout
    return dict(zip(LOSSES, json.loads(said), strict=True))


def _peaks(n: int, share: float, seed: int, device: str) -> dict[Name, float | None]:
    """Of one call each, after small ones that load the libraries and take what a sort needs."""
    found: dict[Name, float | None] = {}
    with one_thread():
        for length in (min(n, 10_000), min(n, 400_000), n):
            for name, work in loss_works(*make_list(length, share, seed, device)).items():
                peak = peak_of(work, device)[1]
                found[name] = None if peak is None else peak / n
    return found


if __name__ == "__main__":  # for bytes_a_score
    print(json.dumps(list(_peaks(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]), "cpu").values())))
