"""How far a step of Algorithm 1 reaches: a λ from the data, and what is told if it reaches nobody, or everybody."""

import copy
import math
from typing import Any

import torch
from torch import Tensor, nn

from rankedu._fast.gradient import crossings as crossings
from rankedu._fast.switch import readable
from rankedu.checks import check_number

#: Of the pairs that are to change places, how many the steps of lam="auto" reach.
SHARE = 0.1


class NoStepWarning(UserWarning):
    """No step of a blackbox ranker reaches the next item, so the whole gradient is 0 and nothing is learnt."""


class LongStepWarning(UserWarning):
    """The steps of a blackbox ranker are longer than all distances: the gradient no longer depends on the scores."""


def suggest_lam(loss: nn.Module, scores: Tensor, relevance: Tensor, *, share: float = SHARE, **options: Any) -> float:
    """Find the λ of a loss's blackbox ranker from a batch: what ``lam="auto"`` takes first.

    Parameters
    ----------
    loss : nn.Module
        Any loss that ranks with a :class:`BlackboxRanker`, whatever its λ, which stays as it is.
    scores, relevance
        What the loss takes: scores and relevance, or of :class:`~rankedu.losses.OnEmbeddings` embeddings and labels.
    share : float
        Of the pairs in which a relevant item stands under an irrelevant one, how many the steps reach, in (0, 1].
        Default: a tenth.
    **options
        What the loss takes besides, as ``where``.

    Returns
    -------
    float
        On the scale of the ranker, normalised or not. It fits this batch: a random network's cosines are close
        together, and as they spread the best λ falls; ``lam="auto"`` follows.

    Notes
    -----
    The time of one readable forward and backward pass. Explained in chapter 4. Raises ValueError for a loss without a
    `BlackboxRanker`, a share outside (0, 1], or a batch in which no relevant item stands under an irrelevant one.

    >>> from rankedu.losses import APLoss
    >>> from rankedu.rankers import BlackboxRanker
    >>> scores, relevance = torch.tensor([0.9, 0.8, 0.7]), torch.tensor([False, False, True])
    >>> round(suggest_lam(APLoss(BlackboxRanker(4.0)), scores, relevance), 2)  # a tenth of two pairs is one: 0.1/(1/3²)
    0.9
    """
    from rankedu.rankers.blackbox import BlackboxRanker

    check_number(share, "share", above=0, most=1, hint="of the pairs that are to change places")
    trial = copy.deepcopy(loss)
    rankers = [module for module in trial.modules() if isinstance(module, BlackboxRanker)]
    if not rankers:
        raise ValueError(f"loss must have a BlackboxRanker, got {type(loss).__name__} without (others have no lam)")
    for ranker in rankers:
        ranker.auto, ranker.share, ranker.lam = True, share, math.nan
    with readable(), torch.enable_grad():
        trial(scores.detach().clone().requires_grad_(), relevance, **options).backward()
    found = [ranker.lam for ranker in rankers if not math.isnan(ranker.lam)]
    if not found:
        raise ValueError(
            "relevance must have a relevant item under an irrelevant one, got a batch that is ranked perfectly or has "
            "no positives (take a batch from the beginning of training)"
        )
    return found[0]
