"""Spearman's correlation as a loss, of any ranker."""

from typing import Any

from torch import Tensor, nn

from rankedu.checks import check_floating, warn_caller
from rankedu.losses.base import at_unit_weight, check_ranker, eager, zeros
from rankedu.metrics import UndefinedMetricWarning
from rankedu.metrics.graded import check_target
from rankedu.rankers.base import wide
from rankedu.ranks import rank


class SpearmanLoss(nn.Module):
    r"""One minus Spearman's correlation, as the squared distance of two rankings.

    .. math:: L = \frac{6}{n (n^2 - 1)} \sum_{i=1}^{n}
              \bigl(\mathbf{rk}(\mathbf{y})_i - \mathbf{rk}(\mathbf{t})_i\bigr)^2

    Parameters
    ----------
    ranker : Ranker
        Maps scores to ranks: ``BlackboxRanker(lam=4.0)``, or any other of :mod:`rankedu.rankers`.

    Notes
    -----
    L = 1 − ρ, in [0, 2], for exact ranks of distinct scores and targets. Equal targets share the mean of their ranks,
    as in :func:`rankedu.metrics.spearman`; the loss is 0 only if the ranker gives them equal ranks. Normalised ranks
    are multiplied by n. O(n log n), besides what the ranker takes. Explained in chapter 11.
    Raises TypeError for a ranker that is none.

    >>> import torch
    >>> from rankedu.rankers import BlackboxRanker
    >>> scores = torch.tensor([0.1, 0.5, 0.9], requires_grad=True)
    >>> loss = SpearmanLoss(BlackboxRanker(lam=1.0))(scores, torch.tensor([1, 3, 2]))
    >>> round(loss.item(), 4)  # 1 − ρ
    0.5
    >>> loss.backward()  # the second should be first
    >>> scores.grad
    tensor([ 0., -1.,  1.])
    """

    def __init__(self, ranker: Any) -> None:
        super().__init__()
        self.ranker = check_ranker(ranker)

    @eager
    def forward(self, scores: Tensor, target: Tensor, *, where: Tensor | None = None) -> Tensor:
        """Compute the loss of a batch of queries; the mean is over those that have two distinct targets.

        If no query has: 0 with a zero gradient, and one `UndefinedMetricWarning`. The target has the scores' shape and
        any dtype, is what they should be ordered like, and gets no gradient. All else as
        :meth:`rankedu.losses.APLoss.forward`.
        """
        check_floating(scores)
        check_target(scores, target, where)
        least, most = (rank(target, where=where, ties=ties) for ties in ("min", "max"))
        goal = (least + most).double() / 2  # ties share
        count = (goal > 0).sum(-1, keepdim=True).double()
        ordered = goal.amax(-1) > (count.squeeze(-1) + 1) / 2  # not all have the mean rank
        if not ordered.any():
            warn_caller(
                f"target must have two distinct values in some query, got none in shape {tuple(scores.shape)}: "
                "the loss and its gradient are 0 (each query needs two items that differ)",
                UndefinedMetricWarning,
            )
            return zeros(scores).sum()
        scale = 6 / (count * (count.square() - 1))[ordered] / ordered.sum()

        def distance(scores: Tensor) -> Tensor:
            ranks = self.ranker(scores, where=where)
            if getattr(self.ranker, "normalized", False):
                ranks = ranks * count.to(ranks.dtype)
            wrong: Tensor = (ranks - goal.to(ranks.dtype)).masked_fill(goal == 0, 0.0)[ordered]
            return (wrong.square() * scale.to(ranks.dtype)).sum().view(1)

        scores = wide(scores)
        if self.ranker.linear:
            return distance(scores).sum()
        rows, one = scores.reshape(1, -1), scores.new_ones(1)
        here = None if where is None else where.reshape(1, -1)
        return at_unit_weight(lambda flat: distance(flat.view_as(scores)), rows, one, 1.0, here).sum()
