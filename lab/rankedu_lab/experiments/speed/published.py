"""What the papers print of speed: seconds, and the losses, symbol by symbol and with nothing made faster.

Each loss is a transcription of formulas, for a batch of lists (..., n): sums over pairs lay out all pairs, Algorithm 1
sorts where it says Ranker. They share no code with `rankedu.losses`; tests compare them, and the lab times them.
"""

from collections.abc import Callable
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
    """Ranks of every row: the places in the sorted list, sorted once more."""
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
    """rk_α(y), and rk_α(y⁺) without a gradient: all others are lowered, to below every member."""
    shifted = scores + margin / 2 - margin * relevance.to(scores)
    own = shifted.detach()
    within = by_argsort(own.masked_fill(~relevance, -torch.inf))
    ranks: Tensor = BlackboxRanks.apply(shifted, lam)
    return ranks, within


def _mean(terms: Tensor, relevance: Tensor) -> Tensor:
    """The mean over the relevant items of a list, then over the lists that have any."""
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


def _differences(scores: Tensor) -> Tensor:
    """D[..., i, j] = s_j − s_i, all of them."""
    return scores.unsqueeze(-2) - scores.unsqueeze(-1)


def published_smooth_ap(
    scores: Tensor, relevance: Tensor, where: Tensor | None = None, temperature: float = 0.01
) -> Tensor:
    """Return one minus AP with a sigmoid in place of every comparison; the pseudo-code, with its ranks put right.

    Source: Smooth-AP supp. Tab. S1.
    """  # as printed, the rank among the positives is the product `gt.T * R`, which has no gradient; here it is counted
    others = 1 - torch.eye(scores.shape[-1]).to(scores)
    if where is not None:
        others = others * where.unsqueeze(-2)
    steps = 1 / (1 + torch.exp(-_differences(scores) / temperature)) * others
    positive = relevance if where is None else relevance & where
    ranks = 1 + steps.sum(-1)
    within = 1 + (steps * positive.unsqueeze(-2)).sum(-1)
    return _mean(1 - within / ranks, positive)


def published_fast_ap(scores: Tensor, relevance: Tensor, where: Tensor, bins: int = 10) -> Tensor:
    r"""Return one minus AP of a histogram of distances, to which every item adds by linear pulses around the centres.

    .. math:: \mathrm{FastAP} = \frac{1}{N^+} \sum_{l} \frac{H^+_l\, h^+_l}{H_l}, \qquad
              h_l = \sum_j \max(0, 1 - |z_j - c_l| / \Delta)
    """
    centres = torch.linspace(0, 4, bins + 1).to(scores)
    pulses = (1 - (2 - 2 * scores.unsqueeze(-1) - centres).abs() * bins / 4).clamp(min=0)
    histogram = (pulses * where.unsqueeze(-1)).sum(-2)
    of_positives = (pulses * (relevance & where).unsqueeze(-1)).sum(-2)
    cumulated, above = histogram.cumsum(-1), of_positives.cumsum(-1)
    precision = torch.where(cumulated > 0, above / cumulated.clamp(min=1e-12), 0.0)
    count = (relevance & where).sum(-1)
    return 1 - ((of_positives * precision).sum(-1) / count.clamp(min=1)).sum() / (count > 0).sum()


def published_h_ap(scores: Tensor, relevance: Tensor, where: Tensor, step: Callable[[Tensor], Tensor]) -> Tensor:
    """Return one minus H-AP; the items of lower relevance count with a step in the rank, all others with H.

    Source: HAPPIER Eq. 2; HAPPIER Eq. 3; HAPPIER Eq. 5.
    """
    x = _differences(scores)
    of_k, of_j, counted = relevance.unsqueeze(-1), relevance.unsqueeze(-2), where.unsqueeze(-2)
    hard = (x >= 0).to(x)
    ranks = (torch.where(of_j < of_k, step(x), hard) * counted).sum(-1)
    h_ranks = (torch.minimum(of_k, of_j) * hard * counted).sum(-1)
    ratio = torch.where((relevance > 0) & where, h_ranks / ranks.clamp(min=0.5), 0.0)
    total = (relevance * where).sum(-1)
    return 1 - (ratio.sum(-1)[total > 0] / total[total > 0]).mean()


def published_sup_ap(scores: Tensor, relevance: Tensor, where: Tensor, step: Callable[[Tensor], Tensor]) -> Tensor:
    """Return one minus an AP whose ranks count the irrelevant items by a step, and the relevant ones by H.

    Source: HAPPIER Sec. 3.2.
    """
    x = _differences(scores)
    others, positives = ~relevance & where, relevance & where
    against = step(x).masked_fill(~others.unsqueeze(-2), 0.0).sum(-1)
    within = ((x >= 0) & positives.unsqueeze(-2)).sum(-1)
    return _mean(1 - within / (within + against).clamp(min=0.5), positives)
