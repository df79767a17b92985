"""A λ from one batch: what ``lam="auto"`` takes first."""

import copy
import math
from typing import Any

import torch
from torch import Tensor, nn

from rankedu.checks import check_number
from rankedu.rankers.blackbox import SHARE, BlackboxRanker


def suggest_lam(loss: nn.Module, scores: Tensor, relevance: Tensor, *, share: float = SHARE, **options: Any) -> float:
    """Find the λ of a loss's blackbox ranker from a batch.

    Parameters
    ----------
    loss : nn.Module
        Any loss that ranks with a :class:`BlackboxRanker`. It stays as it is, whatever its λ.
    scores, relevance : Tensor
        The arguments of the loss: scores and relevance, or embeddings and labels for
        :class:`~rankedu.losses.OnEmbeddings`.
    share : float
        In (0, 1]: of the pairs in which a relevant item ranks below an irrelevant one, how many the steps reach.
    **options
        Further arguments of the loss, such as ``where``.

    Returns
    -------
    float
        On the scale of the ranker, normalised or not. It fits this batch: the cosines of an untrained network are close
        together, and the best λ falls as they spread. ``lam="auto"`` follows.

    Raises
    ------
    ValueError
        For a loss without a `BlackboxRanker`, a share outside (0, 1], or a batch in which no relevant item ranks below
        an irrelevant one.

    Notes
    -----
    Takes one forward and backward pass. Explained in chapter 4.

    Examples
    --------
    >>> from rankedu.losses import APLoss
    >>> from rankedu.rankers import BlackboxRanker
    >>> scores, relevance = torch.tensor([0.9, 0.8, 0.7]), torch.tensor([False, False, True])
    >>> round(suggest_lam(APLoss(BlackboxRanker(4.0)), scores, relevance), 2)  # a tenth of two pairs is one: 0.1/(1/3²)
    0.9
    """
    check_number(share, "share", above=0, most=1, hint="of the pairs that are to change places")
    trial = copy.deepcopy(loss)
    rankers = [module for module in trial.modules() if isinstance(module, BlackboxRanker)]
    if not rankers:
        raise ValueError(f"loss must have a BlackboxRanker, got {type(loss).__name__} without (others have no lam)")
    for ranker in rankers:
        ranker.auto, ranker.share, ranker.lam = True, share, math.nan
    with torch.enable_grad():
        trial(scores.detach().clone().requires_grad_(), relevance, **options).backward()
    found = [ranker.lam for ranker in rankers if not math.isnan(ranker.lam)]
    if not found:
        raise ValueError(
            "relevance must have a relevant item below an irrelevant one, got a batch that is ranked perfectly or has "
            "no relevant items (take a batch from the beginning of training)"
        )
    return found[0]
