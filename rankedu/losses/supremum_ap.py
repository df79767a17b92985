"""Average precision with the step of HAPPIER and ROADMAP against the irrelevant items."""

from rankedu.losses.average_precision import APLoss
from rankedu.rankers.supremum import SupremumRanker


class SupAPLoss(APLoss):
    r"""One minus an average precision whose ranks count irrelevant items by the step of `SupremumRanker`.

    .. math:: L = 1 - \frac{1}{|\Omega^+|} \sum_{k \in \Omega^+} \frac{\mathrm{rank}^{+}(k)}
              {\mathrm{rank}^{+}(k) + \sum_{j \in \Omega^-} \mathrm{step}(s_j - s_k)}

    The ranks among the relevant items are exact and have no gradient. With a setting that keeps the bound, and without
    ties, L is at least the true 1 − AP. It is ``APLoss(SupremumRanker())``, with the parameters, ties and errors of
    :class:`~rankedu.rankers.SupremumRanker`; ``SupAPLoss(**PRESETS["roadmap"])`` is the published one. O(p n) time;
    ``reduction`` as in :class:`APLoss`. Explained in chapter 14.
    Source: HAPPIER Sec. 3.2.

    >>> import torch
    >>> loss = SupAPLoss()
    >>> scores = torch.tensor([0.75, 0.5, 0.25], requires_grad=True)
    >>> value = loss(scores, torch.tensor([False, True, False]))
    >>> round(value.item(), 4)  # 1 − 1/22.49
    0.9555
    """

    ranker: SupremumRanker

    def __init__(
        self,
        temperature: float = 0.01,
        slope: float = 100.0,
        delta: float = 0.05,
        offset: float | None = None,
        start: float = 0.5,
        *,
        reduction: str = "mean",
    ) -> None:
        super().__init__(SupremumRanker(temperature, slope, delta, offset, start), reduction=reduction)
