"""What the rows of RaMBO's Table 1 cost: seconds for forward and backward on one list."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rankedu.losses import APLoss, FastAPLoss, SmoothAPLoss
from rankedu.rankers import BlackboxRanker
from rankedu_lab.contestants import APSVMLoss, ErrorDrivenAPLoss, LSTMRanker

_LONG: list[int] = np.geomspace(10_000, 100_000, 5).astype(int).tolist()
_SHORT, _LONGEST = [n // 10 for n in _LONG], [10 * n for n in _LONG]


def _sorter_loss(n: int) -> Callable[[Tensor, Tensor], Tensor]:
    sorter = LSTMRanker(n, hidden=n, layers=1).requires_grad_(False)  # h = n
    return lambda scores, relevance: sorter(scores)[relevance].mean()


#: Name → a loss for lists of n items, and the lengths at which it is timed.
ROWS: dict[str, tuple[Callable[[int], Callable[..., Any]], Sequence[int]]] = {
    "RaMBO": (lambda n: APLoss(BlackboxRanker(0.4 * n)), _LONGEST),
    "Mohapatra": (lambda n: APSVMLoss("mohapatra"), _LONG),
    "error-driven": (lambda n: ErrorDrivenAPLoss(0.1), _SHORT),
    "Yue": (lambda n: APSVMLoss("yue"), _SHORT),
    "FastAP": (lambda n: FastAPLoss(20), _LONGEST),
    "SoDeep": (_sorter_loss, (64, 96, 128, 160, 192)),
    "Smooth-AP": (lambda n: SmoothAPLoss(0.01), _SHORT),
}


def seconds(loss: Callable[..., Any], n: int, turns: int = 3) -> float:
    """Time forward and backward on a list of n scores of which a tenth is relevant; the fastest turn counts."""
    scores = (2 * torch.rand(n, generator=torch.Generator().manual_seed(0)) - 1).requires_grad_()
    relevance, taken = torch.arange(n) < n // 10, []
    for _ in range(turns):
        start = time.process_time()  # other programs do not count
        loss(scores, relevance).backward()
        taken.append(time.process_time() - start)
    return min(taken)


def measured() -> dict[str, dict[int, float]]:
    """Time every row of the table: name → length → seconds."""
    return {name: {n: seconds(make(n), n) for n in lengths} for name, (make, lengths) in ROWS.items()}
