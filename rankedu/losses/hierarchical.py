"""Hierarchical average precision as a loss of any ranker."""

import copy
from typing import Any

import torch
from torch import Tensor

from rankedu.checks import as_graded, check_finite, check_floating, check_values
from rankedu.losses.average_precision import APLoss
from rankedu.losses.base import find_relevant, most_relevant
from rankedu.rankers.supremum import SupremumRanker
from rankedu.ranks import Relevant


class HAPLoss(APLoss):
    r"""One minus hierarchical average precision, of any ranker. Explained in chapter 14.

    .. math:: L = 1 - \frac{1}{\sum_k \mathrm{rel}(k)} \sum_{k:\ \mathrm{rel}(k) > 0}
              \frac{\mathcal{H}\text{-}\mathrm{rank}(k)}{\mathrm{rank}(k)}

    H-rank is a weighted sum of ordinary ranks within nested sets, which any ranker can compute. With a
    :class:`~rankedu.rankers.SupremumRanker`, the default, it is HAPPIER: items are counted exactly, without a gradient,
    but in the denominator the ranker's step counts the items of lower relevance. It needs no margin, and is the one to
    begin with. ``HAPLoss(BlackboxRanker("auto"), margin=0.1)`` is blackbox H-AP. With a pairwise ranker O(p n) time for
    p relevant items, otherwise one sort of n items and one of p for each grade.

    Only the ratios of the relevances within a query matter, and those that differ by rounding are one grade. Ties are
    broken as the ranker does: with a `SupremumRanker` tied items of equal relevance count each other, H(0) = 1, and of
    two tied items the more relevant one ranks above. In the released code it counts as 1 in the numerator but as 1/2 in
    the denominator. That code compares levels, and this loss relevances: they differ where Eq. 4 inverts two levels.

    Parameters
    ----------
    ranker, within_grad, reduction : as in :class:`APLoss`
        By default, ``SupremumRanker()``, which needs ``within_grad=False``.
    margin : float
        α ≥ 0: before they are ranked, scores are raised by α/2 at relevance 0, lowered by α/2 at the largest relevance
        of the query, and shifted by equal steps in between. For one grade this is Eq. 14 of RaMBO.
    lower : callable, optional
        For a `SupremumRanker` only: a step below the Heaviside function that counts, in H-rank, the items of strictly
        higher relevance; ``InfimumStep()`` in the paper. By default, they are counted exactly.

    Raises
    ------
    ValueError, TypeError
        As :class:`APLoss`, and for ``within_grad`` with a `SupremumRanker`, or a ``lower`` without one or not callable.

    References
    ----------
    HAPPIER Eq. 2; HAPPIER Eq. 3; HAPPIER Eq. 5

    Examples
    --------
    >>> scores = torch.tensor([0.9, 0.8, 0.7, 0.1], requires_grad=True)
    >>> loss = HAPLoss()(scores, torch.tensor([0.5, 0.0, 1.0, 0.0]))
    >>> loss.backward()  # the third item should pass the first two
    >>> loss.detach(), scores.grad.sign()
    (tensor(0.6250), tensor([ 1.,  1., -1.,  0.]))
    """

    graded = True  # OnEmbeddings makes the relevance of Eq. 4 from label paths

    def __init__(
        self,
        ranker: Any = None,
        margin: float = 0.0,
        within_grad: bool = False,
        lower: Any = None,
        *,
        reduction: str = "mean",
    ) -> None:
        super().__init__(SupremumRanker() if ranker is None else ranker, margin, within_grad, reduction=reduction)
        self.lower: Any = lower
        supremum = isinstance(self.ranker, SupremumRanker)
        if supremum and self.within_grad:
            raise ValueError(
                "within_grad must be False for a SupremumRanker, whose ranks within a set have no gradient, got True "
                "(for a gradient through H-rank use lower=InfimumStep())"
            )
        if lower is None:
            return
        if not supremum:
            raise ValueError(
                f"lower must be None unless the ranker is a SupremumRanker, got {lower!r} with "
                f"{type(self.ranker).__name__} (for a gradient through H-rank use within_grad=True)"
            )
        if not callable(lower):
            raise TypeError(f"lower must be a step, got {lower!r} (e.g. InfimumStep())")
        self.ranker = copy.copy(self.ranker)
        self.ranker.lower = lower

    def extra_repr(self) -> str:
        return super().extra_repr() + ("" if self.lower is None else f", lower={self.lower!r}")

    def check(self, scores: Tensor, relevance: Tensor, where: Tensor | None) -> tuple[Tensor, Tensor, int]:
        check_values(scores)
        check_floating(scores)
        value = as_graded(relevance, scores, where)
        count = (value > 0).sum(-1)
        most = most_relevant(scores, count, where)
        if self.lower is not None:
            check_finite(scores, where, "lower falls without bound, and the loss would be infinite: clamp them")
        return shares(value), count, most

    def relevant(self, relevance: Tensor, most: int, dtype: torch.dtype) -> Relevant:
        return graded_items(relevance, most, dtype)


def shares(value: Tensor) -> Tensor:
    """Checked relevance, which is overwritten, with a sum of 1 in each row that has any."""
    largest = value.amax(-1, keepdim=True)
    value /= largest.masked_fill_(largest == 0, 1.0)
    value /= value.sum(-1, keepdim=True).clamp(min=1.0)
    return value


def graded_items(share: Tensor, most: int, dtype: torch.dtype) -> Relevant:
    """List the relevant items of each row of shares ≥ 0, (q, n), with their grades.

    Relevances that are equal in exact arithmetic may differ by rounding, and are one grade.
    """
    members = share > 0
    item, real = find_relevant(members, most)
    ordered = share.gather(-1, item).masked_fill(~real, 0.0).sort(-1, descending=True).values
    rounding = 1e-12 if share.dtype == torch.float64 else 1e-6
    place = torch.zeros_like(ordered, dtype=torch.int64)
    torch.cumsum(ordered[:, 1:] < ordered[:, :-1] * (1 - rounding), dim=-1, out=place[:, 1:])
    groups = 1 + int(place.masked_fill(ordered == 0, -1).max())
    value = share.new_zeros(len(share), groups + 1).scatter_reduce_(-1, place, ordered, "amax")
    grade = groups - torch.searchsorted(value.flip(-1), share.contiguous())
    drop = (value[:, :-1] - value[:, 1:]).to(dtype)
    own = value.gather(-1, grade.gather(-1, item)).masked_fill(~real, 0.0).to(dtype)
    return Relevant(item, real, own, members, grade.to(torch.int16 if groups < 1 << 14 else torch.int32), drop)
