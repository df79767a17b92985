"""FastAP: average precision of a soft histogram of the similarities."""

import torch
from torch import Tensor
from torch.nn.functional import pad

from rankedu._fast.gradient import wanted, with_gradient
from rankedu._fast.switch import READABLE
from rankedu._fast.tiles import tile_size
from rankedu.checks import extremes
from rankedu.losses.base import ScoreLoss, answerable
from rankedu.rankers.base import wide
from rankedu.rankers.histogram import HistogramRanker, check_bins

#: A tile has a few temporaries in float64: it must be so much smaller than a tile of pairs.
SMALLER = 4

#: How far the rounding of 16 bits may carry a cosine beyond 1.
ROUNDING = 0.01


class FastAPLoss(ScoreLoss):
    r"""One minus average precision, with the similarities counted in overlapping bins.

    .. math:: L = 1 - \frac{1}{N^+} \sum_{l=0}^{L} \frac{h^+_l\, H^+_l}{H_l}, \qquad
              h_l = \sum_j \max\Bigl(0,\ 1 - \Bigl|\frac{d_j}{\Delta} - l\Bigr|\Bigr), \qquad
              H_l = \sum_{l' \le l} h_{l'}

    where :math:`d_j = 2 - 2 y_j` in [0, 4] is the squared distance between vectors of length 1 with the cosine
    :math:`y_j`, and :math:`\Delta = 4/L`. Those with a plus count the positives alone, of which there are
    :math:`N^+`. There are ``bins + 1`` centres, and each item shares itself out between the nearest two.

    Parameters
    ----------
    bins : int
        L ≥ 1, the number of bins: fewer are smoother, and blind to all differences of similarity well below 2/L.
    reduction : {"mean", "sum", "none"}
        As in :class:`APLoss`.

    Notes
    -----
    O(n + L) time for each row. The gradient, the true one, is found together with the value and kept, and has none
    itself. The released code gives N/2 times this gradient for N queries, whatever comes in.

    The precision :math:`H^+_l/H_l` is that at the *end* of a bin. With all scores on centres this is the AP of
    scikit-learn. Elsewhere a perfect ranking can have a loss if a bin holds negatives too, and even where every two
    scores are two bin widths apart a positive may lack up to 0.086 of its precision.
    :class:`rankedu.rankers.HistogramRanker` has the same :math:`h_l`, and exact ranks then.

    At a centre itself the slope is that towards lower similarities (at the last centre, the other one); autograd
    through the formula has the slope 0 there. An empty bin adds 0. Explained in chapter 10.
    Raises ValueError for fewer bins than one; when called, also for scores outside [−1, 1]. What rounding carries
    beyond, by at most 0.01, counts as ±1; TypeError for bins that are no int.
    Source: Smooth-AP supp. Tab. S2; RaMBO Tab. 1.

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

    def check_scores(self, scores: Tensor, where: Tensor | None) -> None:
        _check_cosine(scores, where)

    def mean(self, scores: Tensor, positive: Tensor, where: Tensor | None) -> Tensor:
        scores = wide(scores)
        if READABLE.get():
            return self._definition(scores, positive, where)
        learning = wanted(scores)
        with torch.no_grad():
            value, gradient = _loss_and_gradient(scores, positive, where, self.bins, learning)
        return with_gradient(value, scores, gradient, where)

    def _definition(self, scores: Tensor, positive: Tensor, where: Tensor | None) -> Tensor:
        ranker = HistogramRanker(self.bins)
        relevant, everyone = ranker.histogram(scores, where=positive), ranker.histogram(scores, where=where)
        seen = everyone.cumsum(-1)
        precision = relevant.cumsum(-1) / seen.masked_fill(seen <= 0, 1.0)
        answered = positive.any(-1)
        ap = (relevant * precision).sum(-1)[answered] / positive.sum(-1)[answered]
        return 1 - ap.mean()


def _loss_and_gradient(
    scores: Tensor, positive: Tensor, where: Tensor | None, bins: int, learning: bool
) -> tuple[Tensor, Tensor | None]:
    """Look at some rows at a time; a row without a positive adds nothing."""
    n, queries = scores.shape[-1], answerable(positive).sum()
    y, positive = scores.reshape(-1, n), positive.reshape(-1, n)
    hidden = None if where is None else ~where.reshape(-1, n)
    ap, gradient = y.new_zeros(()), torch.empty_like(y) if learning else None
    size = max(1, tile_size(scores.device) // SMALLER // max(n, 2 * bins))
    for start in range(0, len(y), size):
        tile = slice(start, start + size)
        kind, share = _place(y[tile], positive[tile], None if hidden is None else hidden[tile], bins)
        found, slopes = _average_precision(_cumulate(kind, share, bins))
        ap += found.sum()
        if gradient is not None:  # y moves H_l alone, l being the piece it lies on, and by L/2
            torch.gather((slopes * (-bins / 2) / queries).to(y.dtype), 1, kind, out=gradient[tile])
    return 1 - ap / queries, gradient


def _place(scores: Tensor, positive: Tensor, hidden: Tensor | None, bins: int) -> tuple[Tensor, Tensor]:
    """Between which two centres each score lies, the positives after all others; and how far along, in [0, 1]."""
    position = (1 - scores) * (bins / 2)
    piece = position.clamp(0, bins - 1).long()
    share = position.sub_(piece).clamp_(0, 1)
    if hidden is not None:
        piece.masked_fill_(hidden, bins)  # one place more, for those who are not counted
    return piece.add_(positive, alpha=bins + 1), share


def _cumulate(kind: Tensor, share: Tensor, bins: int) -> Tensor:
    """H_l of the negatives and of the positives: float64, (rows, 2, bins + 1)."""
    empty, share = share.new_zeros(len(kind), 2 * (bins + 1), dtype=torch.float64), share.double()
    count = empty.scatter_add(1, kind, torch.ones_like(share)).view(len(kind), 2, -1)
    cumulated = count.cumsum(-1) - empty.scatter_add_(1, kind, share).view(len(kind), 2, -1)
    cumulated[..., -1] = count[..., :-1].sum(-1)  # all but those who are not counted
    return cumulated


def _average_precision(cumulated: Tensor) -> tuple[Tensor, Tensor]:
    r"""AP of every row, and its derivatives by H_l as a negative and as a positive moves it; (rows,), (rows, 2(L + 1)).

    With the precision p_l = H⁺_l / H_l and AP = Σ_l (H⁺_l − H⁺_{l−1}) p_l / N⁺ they are −h⁺_l p_l / (H_l N⁺), and this
    plus (p_l − p_{l+1} + h⁺_l / H_l) / N⁺.
    """
    above, all_above = cumulated[:, 1], cumulated.sum(1)
    nobody = all_above <= 0
    per_item = all_above.masked_fill(nobody, 1.0).reciprocal()  # where nobody is, above is 0 too
    precision = above * per_item
    count = above[:, -1:].clamp(min=1)
    share = (above - pad(above[:, :-1], (1, 0))) / count
    ap = (share * precision).sum(-1)
    negative = -share * precision * per_item
    positive = negative + share * per_item + (precision - pad(precision[:, 1:], (0, 1))) / count
    return ap, torch.cat([negative, positive], dim=1)


def _check_cosine(scores: Tensor, where: Tensor | None) -> None:
    """What takes part is in [−1, 1]; NaN has been dealt with."""
    if max(map(abs, extremes(scores))) <= 1 + ROUNDING:
        return
    values = scores.detach()
    if where is not None:
        values = values.masked_fill(~where, 0.0)
    worst = values.flatten()[values.abs().argmax()].item()
    if abs(worst) > 1 + ROUNDING:
        raise ValueError(
            f"scores must be cosine similarities, in [-1, 1], got {worst:g} "
            "(bring the embeddings to length 1, or let OnEmbeddings(FastAPLoss()) do it)"
        )
