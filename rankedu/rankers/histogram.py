"""The ranker behind FastAP: scores are counted in overlapping bins, and a rank is read off the counts."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from rankedu.checks import check_count, check_not_nan
from rankedu.rankers.base import Ranker, clip, wide


class HistogramRanker(Ranker):
    r"""Rank by a soft histogram: each score shares itself out between the two nearest of ``bins + 1`` centres.

    .. math:: m_l(y) = \max\Bigl(0,\ 1 - \Bigl|\frac{y_{\max} - y}{\Delta} - l\Bigr|\Bigr), \qquad
              h_l = \sum_j m_l(y_j), \qquad H_l = \sum_{l' \le l} h_{l'}

    .. math:: \mathbf{rk}(\mathbf{y})_k = \frac12 + \sum_{l=0}^{L} m_l(y_k) \Bigl(H_{l-1} + \frac{h_l}{2}\Bigr)

    with L bins of width :math:`\Delta = (y_{\max} - y_{\min})/L`; centre 0 is the highest score. It never inverts an
    order, equal scores have equal ranks, and each row of ranks has the sum n(n + 1)/2. A rank is exact if all other
    scores are at least two bin widths away. At a centre the slope is the one towards lower scores (at the last centre,
    the other one). :class:`rankedu.losses.FastAPLoss` counts in the same bins. O(n + L) time and memory for each row.
    Explained in chapter 10.

    Parameters
    ----------
    bins : int
        L ≥ 1. With one bin ranks are linear in the scores; with many they are the ranks themselves.
    score_range : (float, float)
        Least and largest score, by default of a cosine. Scores outside count as the nearer end, and have no gradient.

    Raises
    ------
    ValueError, TypeError
        For bins that are no int ≥ 1, or a range that is not two finite, increasing numbers.

    References
    ----------
    RaMBO supp. Fig. 2d

    Examples
    --------
    >>> scores = torch.tensor([0.75, 0.25, -0.25], requires_grad=True)
    >>> ranks = HistogramRanker(bins=4)(scores)  # the centres are 1, 0.5, 0, -0.5, -1
    >>> ranks[1].backward()  # make the rank of the second item smaller
    >>> ranks.detach(), scores.grad
    (tensor([1.1250, 2.0000, 2.8750]), tensor([ 0.5000, -1.0000,  0.5000]))
    """

    def __init__(self, bins: int = 10, score_range: Sequence[float] = (-1.0, 1.0)) -> None:
        super().__init__()
        self.bins = check_bins(bins)
        self.score_range = _check_range(score_range)

    def extra_repr(self) -> str:
        low, high = self.score_range
        return f"bins={self.bins}, score_range=({low:g}, {high:g})"

    def _ranks(self, scores: Tensor, members: Tensor | None, where: Tensor | None) -> Tensor:
        upper, share = self._place(scores, members)
        histogram = _count(upper, share, members, self.bins)
        middle = 0.5 + histogram.cumsum(-1) - histogram / 2  # the mean rank of those in a bin, and half one more
        ranks = torch.lerp(middle.gather(-1, upper), middle.gather(-1, upper + 1), share)
        return ranks if members is None else ranks.masked_fill(~members, 0.0)

    def histogram(self, scores: Tensor, *, where: Tensor | None = None) -> Tensor:
        """Count the items softly: :math:`h_l`, (..., bins + 1), from the highest centre down; as :meth:`forward`."""
        self._check(scores, where)
        check_not_nan(scores, where)
        return self.counts(scores, where)

    def counts(self, scores: Tensor, where: Tensor | None) -> Tensor:
        """The histogram of checked scores."""
        return _count(*self._place(scores, where), where, self.bins)

    def _place(self, scores: Tensor, members: Tensor | None) -> tuple[Tensor, Tensor]:
        """The centre above each score, the next one being below; and the share of the one below, in [0, 1]."""
        low, high = self.score_range
        values = wide(scores) if members is None else wide(scores).masked_fill(~members, high)
        position = (high - clip(values, low, high)) * (self.bins / (high - low))
        upper = position.detach().floor().clamp_(0, self.bins - 1)
        return upper.long(), clip(position - upper, high=1.0)


def _count(upper: Tensor, share: Tensor, members: Tensor | None, bins: int) -> Tensor:
    """Share the members out between their two centres."""
    below, above = share, 1 - share
    if members is not None:
        below, above = below.masked_fill(~members, 0.0), above.masked_fill(~members, 0.0)
    empty = below.new_zeros((*below.shape[:-1], bins + 1))
    return empty.scatter_add(-1, upper, above).scatter_add(-1, upper + 1, below)


def check_bins(bins: int) -> int:
    """The number of bins: an integer >= 1."""
    return check_count(bins, "bins", hint="one bin makes ranks linear in the scores; try 10")


def _check_range(score_range: Sequence[float]) -> tuple[float, float]:
    try:
        low, high = map(float, score_range)
    except (TypeError, ValueError):
        raise TypeError(f"score_range must be two numbers (least, largest), got {score_range!r}") from None
    if not (-math.inf < low < high < math.inf):
        raise ValueError(
            f"score_range must be finite and increasing, got ({low}, {high}) "
            "(the least and the largest score that may come: (-1.0, 1.0) for cosine similarities)"
        )
    return low, high
