"""The margin: relevant scores are lowered, all others raised, before they are ranked."""

from torch import Tensor

from rankedu.checks import as_relevance, check_floating
from rankedu.losses.base import check_margin
from rankedu.rankers.base import wide


def shift_by_margin(scores: Tensor, relevance: Tensor, margin: float) -> Tensor:
    r"""Lower the relevant scores by α/2 and raise all others by α/2. Explained in chapter 6.

    .. math:: \overleftrightarrow{y}_i = y_i + \tfrac{\alpha}{2} \ (y^*_i = 0), \qquad
              \overleftrightarrow{y}_i = y_i - \tfrac{\alpha}{2} \ (y^*_i = 1)

    Parameters
    ----------
    scores : Tensor, shape (..., n)
        Floating point.
    relevance : Tensor of bool, or of 0 and 1, shape (..., n)
    margin : float
        α ≥ 0, in units of a score.

    Returns
    -------
    Tensor, shape (..., n), float32 for 16-bit scores, in which a small shift would be lost

    Raises
    ------
    ValueError
        For a relevance of another shape or neither 0 nor 1, or a margin that is not a finite number ≥ 0.
    TypeError
        For scores that are not floating point.

    References
    ----------
    RaMBO Eq. 14; RaMBO Eq. 15

    Examples
    --------
    >>> import torch
    >>> shift_by_margin(torch.tensor([0.75, 0.5, 0.25]), torch.tensor([True, False, True]), margin=0.5)
    tensor([0.5000, 0.7500, 0.0000])
    """
    check_floating(scores)
    positive = as_relevance(relevance, scores)
    return wide(scores) + check_margin(margin) * (0.5 - positive.to(wide(scores)))
