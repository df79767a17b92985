"""The margin: relevant scores are lowered, all others raised, before they are ranked."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from rankedu._validation import as_relevance, check_floating

__all__ = ["shift_by_margin"]


def shift_by_margin(scores: Tensor, relevance: Tensor, margin: float) -> Tensor:
    r"""Lower the relevant scores by α/2 and raise all others by α/2.

    .. math:: \overleftrightarrow{y}_i = y_i + \tfrac{\alpha}{2} \ (y^*_i = 0), \qquad
              \overleftrightarrow{y}_i = y_i - \tfrac{\alpha}{2} \ (y^*_i = 1)

    Parameters
    ----------
    scores : Tensor, shape (..., n)
        Floating point; larger is better.
    relevance : Tensor of bool, shape (..., n)
        Numbers that are exactly 0 or 1 will do.
    margin : float
        α ≥ 0, in units of a score.

    Returns
    -------
    Tensor, shape (..., n)
        In the scores' dtype, in float32 for the 16-bit ones (a shift by a small margin would be lost in them).

    Raises
    ------
    ValueError
        For a relevance of another shape or neither 0 nor 1, or a margin that is not a finite number ≥ 0.
    TypeError
        For scores that are not floating point.

    Source
    ------
    RaMBO Eq. 14; RaMBO Eq. 15.

    Notes
    -----
    O(n). Deterministic: the same margin for every item and every call. Explained in chapter 6.

    Examples
    --------
    >>> shift_by_margin(torch.tensor([0.75, 0.5, 0.25]), torch.tensor([True, False, True]), margin=0.5)
    tensor([0.5000, 0.7500, 0.0000])
    """
    check_floating(scores)
    return shift(wide(scores), as_relevance(relevance, scores), check_margin(margin))


def wide(scores: Tensor) -> Tensor:
    """16-bit scores as float32: the ranks are counted there, and shifts are not rounded away."""
    return scores.float() if scores.dtype in (torch.float16, torch.bfloat16) else scores


def shift(scores: Tensor, positive: Tensor, margin: float) -> Tensor:
    """Shift checked scores."""
    if margin == 0:
        return scores
    return torch.where(positive, scores - margin / 2, scores + margin / 2)


def check_margin(margin: float) -> float:
    """The margin α: a finite number >= 0."""
    try:
        margin = float(margin)
    except (TypeError, ValueError):
        raise TypeError(f"margin must be a number >= 0, got {margin!r}") from None
    if not 0 <= margin < math.inf:
        raise ValueError(f"margin must be finite and >= 0, got {margin} (in units of a score: try 0.02, or 0 for none)")
    return margin
