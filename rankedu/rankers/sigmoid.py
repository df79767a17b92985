"""The ranker of Smooth-AP: the staircase of each comparison is smoothed into a sigmoid."""

import math

import torch
from torch import Tensor

from rankedu.checks import check_mask, check_not_nan, check_number, check_values
from rankedu.rankers.pairwise import PairwiseRanker, check_temperature


class SigmoidRanker(PairwiseRanker):
    r"""Rank by a sum of sigmoids of the differences of the scores. Explained in chapter 9.

    .. math:: \mathbf{rk}_\tau(\mathbf{y})_k = 1 + \sum_{j \ne k} \sigma\!\Bigl(\frac{y_j - y_k}{\tau}\Bigr), \qquad
              \sigma(x) = \frac{1}{1 + e^{-x}}

    Equal scores share the mean of their ranks, and each row of ranks has the sum n(n + 1)/2. O(n²) time for each row;
    in a loss O(p n) for p relevant items. Pairs are compared in chunks, so memory is O(n).

    Parameters
    ----------
    temperature : float
        τ > 0, in units of a score. As τ → 0 the ranks of distinct scores become exact, and fewer pairs have a gradient:
        see :func:`operating_region`.

    Raises
    ------
    ValueError
        For a temperature that is not a finite number > 0.

    References
    ----------
    Smooth-AP supp. Tab. S1

    Examples
    --------
    >>> scores = torch.tensor([0.9, 0.1, 0.5], requires_grad=True)
    >>> ranks = SigmoidRanker(temperature=0.1)(scores)
    >>> ranks[1].backward()  # make the rank of the second item smaller
    >>> ranks.detach(), scores.grad
    (tensor([1.0183, 2.9817, 2.0000]), tensor([ 0.0034, -0.1800,  0.1766]))
    """

    def __init__(self, temperature: float = 0.01) -> None:
        super().__init__()
        self.temperature = check_temperature(temperature)

    def extra_repr(self) -> str:
        return f"temperature={self.temperature:g}"

    def step(self, differences: Tensor) -> Tensor:
        return sigmoid(differences / self.temperature)

    def slope(self, differences: Tensor, steps: Tensor | None = None) -> Tensor:
        steps = self.step(differences.detach()) if steps is None else steps
        return torch.addcmul(steps, steps, steps, value=-1).mul_(1 / self.temperature)


def sigmoid(x: Tensor) -> Tensor:
    """The logistic function; 0 below −40, where it is nothing beside a rank and denormal numbers are slow."""
    return torch.threshold(x, -40.0, -math.inf).sigmoid()


def operating_region(
    scores: Tensor, temperature: float, threshold: float = 0.005, *, where: Tensor | None = None
) -> Tensor:
    r"""Measure the share of pairs of scores that are near enough for the sigmoid to have a gradient.

    Explained in chapter 9.

    .. math:: P = \frac{1}{n^2} \sum_{i, j}
              \Bigl[\, \Bigl|\frac{d\mathcal{G}(D_{ij})}{d D_{ij}}\Bigr| > t \Bigr], \qquad
              D_{ij} = y_j - y_i, \quad \mathcal{G}(x) = \sigma\!\Bigl(\frac{x}{\tau}\Bigr)

    The pairs i = j are in the sum, as printed. Sorted scores are counted by binary search.

    Parameters
    ----------
    scores, where : as for :func:`rankedu.rank`
    temperature : float
        τ > 0.
    threshold : float
        t > 0: how large a gradient must be to count. The largest one, at a difference of 0, is 1/(4τ).

    Returns
    -------
    Tensor, shape (...)
        P of each row, float64 for float64 scores and float32 otherwise; nan if no item takes part.

    Raises
    ------
    ValueError, TypeError
        As :func:`rankedu.rank`, and for a temperature or threshold that is not a finite number > 0.

    References
    ----------
    Smooth-AP supp. Eq. 1; Smooth-AP supp. Fig. S7

    Examples
    --------
    >>> scores = torch.tensor([0.5, 0.45, 0.1])  # at τ = 0.01, those nearer than 0.099: two, and each one to itself
    >>> operating_region(scores, temperature=0.01)
    tensor(0.5556)
    """
    check_values(scores)
    if where is None:
        where = torch.ones_like(scores, dtype=torch.bool)
    check_mask(where, scores, name="where")
    check_not_nan(scores, where)
    threshold = check_number(threshold, "threshold", above=0, hint="a sigmoid is flat nowhere: try 0.005")
    temperature = check_temperature(temperature)
    # The slope is 1 / (4 τ cosh²(x / 2τ)), and the region has no width if it is flat everywhere.
    width = 2 * temperature * math.acosh(max(1.0, 0.5 / math.sqrt(threshold * temperature)))
    largest = torch.finfo(torch.float64).max / 4  # two infinite scores are tied; who does not take part stands behind
    values = scores.detach().double().clamp(-largest, largest).masked_fill(~where, math.inf).sort(-1).values
    low, high = torch.searchsorted(values, values - width, right=True), torch.searchsorted(values, values + width)
    first, last = torch.searchsorted(values, values), torch.searchsorted(values, values, right=True)
    inside = torch.maximum(high, last) - torch.minimum(low, first)
    count = where.sum(-1, keepdim=True)
    inside.masked_fill_(torch.arange(values.shape[-1], device=values.device) >= count, 0)
    dtype = torch.float64 if scores.dtype == torch.float64 else torch.float32
    return (inside.sum(-1) * (width > 0) / count.squeeze(-1).double().square()).to(dtype)
