"""How far a step of Algorithm 1 reaches: the λ at which two items change places, and a λ that is taken from these."""

import copy
import math
from typing import Any

import torch
from torch import Tensor, nn

from rankedu._fast.switch import readable
from rankedu.checks import check_number

#: Pairs that are looked at, at most: some milliseconds, and a median that is known to about a hundredth.
MOST = 1 << 17


class NoStepWarning(UserWarning):
    """No step of a blackbox ranker reaches the next item, so the whole gradient is 0 and nothing is learnt."""


class LongStepWarning(UserWarning):
    """The steps of a blackbox ranker are longer than all distances: the gradient no longer depends on the scores."""


def crossings(scores: Tensor, gradient: Tensor, members: Tensor | None = None) -> tuple[Tensor, Tensor]:
    r"""The λ at which pairs of items change places, and how far these are apart.

    Algorithm 1 ranks :math:`\mathbf{y} + \lambda \mathbf{g}` again. An item i that the gradient raises passes an item j
    above it that the gradient does not raise at :math:`\lambda_{ij} = (y_j - y_i) / (g_i - g_j)`.

    Parameters
    ----------
    scores, gradient : Tensor, shape (..., n)
        What is ranked, with any margin, and the gradient by the ranks.
    members : Tensor of bool, shape (..., n), optional
        Items that are ranked. Default: all.

    Returns
    -------
    tuple of Tensor, shape (k,) each
        λ > 0 and y_j − y_i > 0, of all such pairs, or, of more than 2¹⁷ pairs of items, of every so manieth.

    Notes
    -----
    O(p n) for p items with a gradient, and at most some milliseconds. Explained in chapter 4.
    Source: RaMBO Alg. 1.

    >>> crossings(torch.tensor([0.9, 0.5, 0.1]), torch.tensor([0.0, 0.0, 2.0]))[0]
    tensor([0.4000, 0.2000])
    """
    y, g = (x.detach().reshape(-1, x.shape[-1]) for x in (scores, gradient))
    here = None if members is None else members.reshape(y.shape)
    row, item = (g if here is None else g.masked_fill(~here, 0.0)).nonzero(as_tuple=True)
    columns = slice(None, None, -(-y.shape[-1] // MOST))
    width = len(range(y.shape[-1])[columns])
    some = slice(None, None, max(1, -(-len(row) * width // MOST)))
    row, item = row[some], item[some]
    ahead = y[row, columns] - y[row, item, None]
    slower = g[row, item, None] - g[row, columns]
    pairs = (ahead * slower > 0) & ahead.isfinite() & (g[row, columns] * g[row, item, None] <= 0)
    if here is not None:
        pairs &= here[row, columns]
    return ahead[pairs] / slower[pairs], ahead[pairs].abs()


def suggest_lam(loss: nn.Module, scores: Tensor, relevance: Tensor, *, share: float = 0.5, **options: Any) -> float:
    """Find the λ of a loss's blackbox ranker from a batch: what ``lam="auto"`` takes first.

    Parameters
    ----------
    loss : nn.Module
        Any loss that ranks with a :class:`BlackboxRanker`, whatever its λ, which stays as it is.
    scores, relevance
        What the loss takes: scores and relevance, or of :class:`~rankedu.losses.OnEmbeddings` embeddings and labels.
    share : float
        Of the pairs in which a relevant item stands under an irrelevant one, how many the steps reach, in (0, 1].
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
    >>> round(suggest_lam(APLoss(BlackboxRanker(4.0)), scores, relevance), 2)  # 0.1/(1/3²) and 0.2/(1/3²)
    1.35
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
