"""Smooth-AP: average precision of the ranks that a sigmoid counts."""

from rankedu.losses.average_precision import APLoss
from rankedu.rankers.sigmoid import SigmoidRanker


class SmoothAPLoss(APLoss):
    r"""One minus the average precision of ranks in which every comparison is a sigmoid.

    .. math:: L = 1 - \frac{1}{|\mathrm{rel}|} \sum_{k \in \mathrm{rel}}
              \frac{1 + \sum_{j \in \mathrm{rel},\, j \ne k} \sigma\bigl(\frac{y_j - y_k}{\tau}\bigr)}
              {1 + \sum_{j \ne k} \sigma\bigl(\frac{y_j - y_k}{\tau}\bigr)}

    It is ``APLoss(SigmoidRanker(temperature), within_grad=True)`` under the name by which it is known; the temperature
    τ is > 0, in units of a score, else ValueError. ``reduction`` as in :class:`APLoss`. O(p n) time for the p positives
    of all queries and their n candidates each; memory as for the scores. Tied items share the mean of their ranks. The
    released code counts the query as its own positive: that is ``OnEmbeddings(SmoothAPLoss(), exclude_self=False)``.
    Explained in chapter 9.
    Source: Smooth-AP supp. Tab. S1.

    >>> import torch
    >>> scores = torch.tensor([0.5, 0.49, 0.0], requires_grad=True)
    >>> loss = SmoothAPLoss(temperature=0.01)(scores, torch.tensor([False, True, False]))
    >>> round(loss.item(), 4)  # its rank is 1 + σ(1)
    0.4223
    >>> loss.backward()
    >>> scores.grad
    tensor([ 6.5613, -6.5613,  0.0000])
    """

    def __init__(self, temperature: float = 0.01, *, reduction: str = "mean") -> None:
        super().__init__(SigmoidRanker(temperature), within_grad=True, reduction=reduction)
