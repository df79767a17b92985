"""FastAP: average precision of a soft histogram of the similarities."""

from torch import Tensor

from rankedu.checks import extremes
from rankedu.losses.base import ScoreLoss, check_lists
from rankedu.rankers.histogram import HistogramRanker, check_bins

#: How far the rounding of 16 bits may carry a cosine beyond 1.
ROUNDING = 0.01


class FastAPLoss(ScoreLoss):
    r"""One minus average precision, with the similarities counted in overlapping bins. Explained in chapter 10.

    .. math:: L = 1 - \frac{1}{N^+} \sum_{l=0}^{L} \frac{h^+_l\, H^+_l}{H_l}, \qquad
              h_l = \sum_j \max\Bigl(0,\ 1 - \Bigl|\frac{d_j}{\Delta} - l\Bigr|\Bigr), \qquad
              H_l = \sum_{l' \le l} h_{l'}

    where :math:`d_j = 2 - 2 y_j` in [0, 4] is the squared distance between vectors of length 1 with the cosine
    :math:`y_j`, and :math:`\Delta = 4/L`. Those with a plus count the :math:`N^+` positives alone. There are ``bins +
    1`` centres, and each item shares itself out between the nearest two. O(n + L) time for each row. The released code
    gives N/2 times this gradient for N queries, whatever comes in.

    The precision :math:`H^+_l/H_l` is taken at the *end* of a bin, so a perfect ranking can have a loss if a bin
    contains irrelevant items too. With all scores on centres it is the AP of scikit-learn.
    :class:`rankedu.rankers.HistogramRanker` has the same :math:`h_l`, and exact ranks where scores are two bin widths
    apart.

    Parameters
    ----------
    bins : int
        L ≥ 1, the number of bins. Fewer are smoother, and blind to differences of similarity well below 2/L.
    reduction : as in :class:`APLoss`

    Raises
    ------
    ValueError, TypeError
        For bins that are no int ≥ 1; on a call, for scores outside [−1, 1]. A score that rounding carries beyond by at
        most 0.01 counts as ±1.

    References
    ----------
    Smooth-AP supp. Tab. S2; RaMBO Tab. 1

    Examples
    --------
    >>> import torch
    >>> from rankedu.losses import OnEmbeddings
    >>> angles = torch.tensor([0.0, 0.01, 0.5, 0.51])
    >>> embeddings = torch.stack([angles.cos(), angles.sin()], dim=1)
    >>> labels = torch.tensor([0, 0, 1, 1])  # a perfect ranking, but not for coarse bins
    >>> [round(OnEmbeddings(FastAPLoss(bins))(embeddings, labels).item(), 3) for bins in (5, 10, 20, 40)]
    [0.581, 0.437, 0.0, 0.0]
    """

    def __init__(self, bins: int = 10, *, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.bins = check_bins(bins)

    def extra_repr(self) -> str:
        return f"bins={self.bins}"

    def check(self, scores: Tensor, relevance: Tensor, where: Tensor | None) -> tuple[Tensor, Tensor, int]:
        found = check_lists(scores, relevance, where)
        values = scores.detach() if where is None else scores.detach().masked_fill(~where, 0.0)
        worst = max(reversed(extremes(values)), key=abs)
        if abs(worst) > 1 + ROUNDING:
            raise ValueError(
                f"scores must be cosine similarities, in [-1, 1], got {worst:g} "
                "(bring the embeddings to length 1, or let OnEmbeddings(FastAPLoss()) do it)"
            )
        return found

    def values(self, scores: Tensor, relevance: Tensor, where: Tensor | None, most: int, queries: Tensor) -> Tensor:
        ranker = HistogramRanker(self.bins)
        relevant, everyone = (ranker.counts(scores, members) for members in (relevance, where))
        seen = everyone.cumsum(-1)
        precision = relevant.cumsum(-1) / seen.masked_fill(seen <= 0, 1.0)
        return 1 - (relevant * precision).sum(-1) / relevance.sum(-1).clamp(min=1)
