"""The times that the papers print, and RaMBO's losses by Algorithm 1 as printed, for a batch of lists (..., n).

The losses share no code with `rankedu.losses`; tests compare them, and the lab times them.
"""

from typing import Any

import torch
from torch import Tensor

#: Seconds that RaMBO prints for AP, by device and length.
PRINTED = {
    "cpu": {10**5: 0.033, 10**6: 0.331, 10**7: 3.86, 10**8: 36.4},
    "cuda": {10**5: 0.0013, 10**6: 0.007, 10**7: 0.061, 10**8: 0.62},
}
#: Milliseconds that Smooth-AP's Table S2 prints for a batch of 112.
PRINTED_MS = {"backbone": 705.0, "Blackbox AP": 3.7, "FastAP": 4.2, "Smooth-AP": 6.6}


def by_argsort(scores: Tensor) -> Tensor:
    """Rank every row: sort the places in the sorted list once more."""
    return scores.argsort(-1, descending=True).argsort(-1).to(scores) + 1


class BlackboxRanks(torch.autograd.Function):
    """Rank forward; backward, rank once more where the scores are moved by λ times the gradient.

    Source: RaMBO Alg. 1.
    """

    @staticmethod
    def forward(ctx: Any, scores: Tensor, lam: float) -> Tensor:
        """Save y and rk(y)."""
        ranks = by_argsort(scores)
        ctx.save_for_backward(scores, ranks)
        ctx.lam = lam
        return ranks

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        """Return −(rk(y) − rk(y + λ dL/drk)) / λ."""
        scores, ranks = ctx.saved_tensors
        return (by_argsort(scores + ctx.lam * gradient) - ranks) / ctx.lam, None


def _ranks(scores: Tensor, relevance: Tensor, lam: float, margin: float) -> tuple[Tensor, Tensor]:
    """Return rk_α(y), and rk_α(y⁺) without a gradient: all other items are lowered to below every member."""
    shifted = scores + margin / 2 - margin * relevance.to(scores)
    own = shifted.detach()
    within = by_argsort(own.masked_fill(~relevance, -torch.inf))
    ranks: Tensor = BlackboxRanks.apply(shifted, lam)
    return ranks, within


def _mean(terms: Tensor, relevance: Tensor) -> Tensor:
    """Take the mean over the relevant items of a list, then over the lists that have any."""
    count = relevance.sum(-1)
    return (terms.masked_fill(~relevance, 0.0).sum(-1) / count.clamp(min=1)).sum() / (count > 0).sum()


def published_ap(scores: Tensor, relevance: Tensor, lam: float, margin: float = 0.0) -> Tensor:
    r"""Return :math:`1 - \mathrm{mean}\; \mathbf{rk}(\mathbf{y}^+)_i / \mathbf{rk}(\mathbf{y})_i`, over relevant items.

    Source: RaMBO Eq. 15; RaMBO Eq. 21.
    """
    ranks, within = _ranks(scores, relevance, lam, margin)
    return _mean(1 - within / ranks, relevance)


def published_recall(scores: Tensor, relevance: Tensor, lam: float, margin: float = 0.0) -> Tensor:
    r"""Return the mean of :math:`\log(1 + r_i)` over relevant items, r_i the irrelevant ones ahead.

    Source: RaMBO Eq. 17; RaMBO Eq. 20.
    """
    ranks, within = _ranks(scores, relevance, lam, margin)
    return _mean(torch.log1p((ranks - within).clamp(min=0)), relevance)
