"""Does the order in which the items are given matter to a ranker?"""

import torch
from torch import Tensor, nn

from rankedu.checks import check_count, check_values


@torch.no_grad()
def equivariance_error(ranker: nn.Module, scores: Tensor, *, draws: int = 8, seed: int = 0) -> float:
    r"""Measure how much the order of the items matters to a ranker, in ranks.

    .. math:: \mathop{\mathbb{E}}_{\pi, i} \bigl| \mathbf{rk}(\mathbf{y} \circ \pi)_i
              - (\mathbf{rk}(\mathbf{y}) \circ \pi)_i \bigr|

    The mean is over ``draws`` random permutations π, each applied to all lists (..., n), and over items: 0 for the
    rankers that compare or sort. Where scores tie, a ranker that breaks ties by position is not equivariant. Calls the
    ranker ``draws + 1`` times. Explained in chapter 11.

    >>> from ranklab.contestants import LSTMRanker
    >>> from rankedu.rankers import BlackboxRanker
    >>> scores = torch.tensor([[0.9, 0.1, 0.5, -0.3]])
    >>> equivariance_error(BlackboxRanker(lam=1.0), scores)
    0.0
    >>> equivariance_error(LSTMRanker(4), scores) > 0
    True
    """
    check_values(scores)
    draws = check_count(draws, "draws")
    generator = torch.Generator().manual_seed(seed)
    ranks, total = ranker(scores), 0.0
    for _ in range(draws):
        permutation = torch.randperm(scores.shape[-1], generator=generator).to(scores.device)
        difference = ranker(scores[..., permutation]) - ranks[..., permutation]
        total += difference.double().abs().mean().item()
    return total / draws
