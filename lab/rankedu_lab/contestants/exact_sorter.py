"""SoDeep's hand-made sorter, `sorter_exact` in the released code: a sigmoid rank before Smooth-AP."""

import torch
from torch import Tensor

from rankedu.checks import check_floating, check_not_nan, check_values
from rankedu.rankers.base import wide

#: The constant of the released code.
STEEPNESS = 6.8


def exact_sorter(scores: Tensor) -> Tensor:
    r"""Rank by sigmoids whose temperature is read off the scores, shape (..., n), floating point.

    .. math:: \mathbf{rk}(\mathbf{y})_k = 1 + \sum_{j \ne k} \sigma\!\Bigl(\frac{y_j - y_k}{\tau(\mathbf{y})}\Bigr)

    Ranks are in the scores' dtype, float32 for the 16-bit ones; the released code divides them by n. O(n²). They are
    those of :class:`~rankedu.rankers.SigmoidRanker` at the temperature of :func:`exact_sorter_temperature`, which has
    no gradient. The released code gives nan where all scores are equal, this one (n + 1)/2. Explained in chapter 11.
    Raises ValueError or TypeError for NaN, n = 0, or integer scores.

    >>> exact_sorter(torch.tensor([0.9, 0.1, 0.5]))
    tensor([1.0003, 2.9997, 2.0000])
    """
    check_values(scores)
    check_floating(scores)
    check_not_nan(scores, None)
    values = wide(scores)
    temperature = exact_sorter_temperature(values).unsqueeze(-1).unsqueeze(-1)
    differences = values.unsqueeze(-2) - values.unsqueeze(-1)  # [..., k, j]: y_j - y_k
    return (differences / temperature).sigmoid().sum(-1) + 0.5  # j = k adds ½


def exact_sorter_temperature(scores: Tensor) -> Tensor:
    r"""Compute the temperature of :func:`exact_sorter`: a standard deviation divided by 6.8, one a row.

    .. math:: \tau(\mathbf{y}) = \frac{1}{6.8} \operatorname{std} M, \qquad
              M_{ij} = \begin{cases} y_j - y_i & i < j \\ 0 & \text{else} \end{cases}

    In the scores' dtype, float32 for all but float64; without a gradient, and > 0. It depends on the order of the
    items, because half of M is filled with zeros, and they count. O(n): the squares of M sum to
    :math:`n \sum_i y_i^2 - (\sum_i y_i)^2`, its entries to :math:`\sum_i (2i - n - 1) y_i`. Explained in chapter 11.
    Raises ValueError or TypeError for NaN, n = 0, or scores that are no numbers.

    >>> exact_sorter_temperature(torch.tensor([[0.9, 0.1, 0.5], [0.1, 0.5, 0.9]]))
    tensor([0.0490, 0.0427])
    """
    check_values(scores)
    check_not_nan(scores, None)
    n = scores.shape[-1]
    y = scores.detach().double()
    y = y - y.mean(-1, keepdim=True)  # changes no difference; the sums keep their digits
    place = torch.arange(1, n + 1, device=y.device, dtype=torch.float64)
    squares, total = n * y.square().sum(-1), ((2 * place - n - 1) * y).sum(-1)
    variance = (squares - (total / n).square()) / max(n * n - 1, 1)  # unbiased, as torch.std is
    dtype = torch.float64 if scores.dtype == torch.float64 else torch.float32
    return (variance.clamp(min=0).sqrt() / STEEPNESS).to(dtype).clamp(min=torch.finfo(dtype).tiny)
