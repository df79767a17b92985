"""The margin: relevant scores are lowered, all others raised, before they are ranked."""

from torch import Tensor

from rankedu.checks import as_relevance, check_floating, check_number
from rankedu.rankers.base import shift, wide


def shift_by_margin(scores: Tensor, relevance: Tensor, margin: float) -> Tensor:
    r"""Lower the relevant scores by α/2 and raise all others by α/2.

    .. math:: \overleftrightarrow{y}_i = y_i + \tfrac{\alpha}{2} \ (y^*_i = 0), \qquad
              \overleftrightarrow{y}_i = y_i - \tfrac{\alpha}{2} \ (y^*_i = 1)

    Scores (..., n) are floating point, and 16-bit ones come back as float32, for a small shift would be lost in them;
    relevance (..., n) is bool, or 0 and 1; the margin α ≥ 0 is in units of a score. O(n). Explained in chapter 6.
    Raises ValueError for a relevance of another shape or neither 0 nor 1, or a margin that is not a finite number ≥ 0;
    TypeError for scores that are not floating point.
    Source: RaMBO Eq. 14; RaMBO Eq. 15.

    >>> import torch
    >>> shift_by_margin(torch.tensor([0.75, 0.5, 0.25]), torch.tensor([True, False, True]), margin=0.5)
    tensor([0.5000, 0.7500, 0.0000])
    """
    check_floating(scores)
    return shift(wide(scores), as_relevance(relevance, scores), check_margin(margin))


def check_margin(margin: float) -> float:
    """The margin α: a finite number >= 0."""
    return check_number(margin, "margin", least=0, hint="in units of a score: try 0.02, or 0 for none")
