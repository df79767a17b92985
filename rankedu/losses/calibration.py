"""Losses that fix the scale of the scores, which no ranking does: calibration, and ROADMAP which adds it to AP."""

from torch import Tensor, nn

from rankedu.checks import check_number
from rankedu.losses.average_precision import SupAPLoss
from rankedu.losses.base import check_lists, eager, no_positives
from rankedu.rankers.base import wide


class CalibrationLoss(nn.Module):
    r"""Ask relevant scores to be at least a, ``at_least``, and all others at most b, ``at_most``.

    Explained in chapter 15.

    .. math:: L = \mathop{\mathrm{mean}}_{> 0}\, [a - s^+]_+ \; + \; \mathop{\mathrm{mean}}_{> 0}\, [s^- - b]_+

    Each mean is over the terms of the whole batch that are not zero, and 0 if there are none. A list without a relevant
    item takes part too. Published with ROADMAP (Ramzi et al., NeurIPS 2021, Eq. 9).

    Parameters
    ----------
    at_least, at_most : float
        The bounds a and b, in the unit of the scores. The default is for cosines.

    Raises
    ------
    ValueError, TypeError
        For a bound that is not a finite number.

    Examples
    --------
    >>> import torch
    >>> scores = torch.tensor([0.95, 0.5, 0.75, 0.25])
    >>> CalibrationLoss(0.9, 0.6)(scores, torch.tensor([True, True, False, False]))  # 0.4 and 0.15
    tensor(0.5500)
    """

    def __init__(self, at_least: float = 0.9, at_most: float = 0.6) -> None:
        super().__init__()
        hint = "cosine similarities are in [-1, 1]"
        self.at_least = check_number(at_least, "at_least", hint=hint)
        self.at_most = check_number(at_most, "at_most", hint=hint)

    def extra_repr(self) -> str:
        return f"at_least={self.at_least:g}, at_most={self.at_most:g}"

    @eager
    def forward(self, scores: Tensor, relevance: Tensor, *, where: Tensor | None = None) -> Tensor:
        """Compute the loss of a batch of queries; as :meth:`APLoss.forward`, but for lists without a relevant item."""
        return self.mean(scores, check_lists(scores, relevance, where)[0], where)

    def mean(self, scores: Tensor, relevant: Tensor, where: Tensor | None) -> Tensor:
        """Compute the loss of checked input."""
        scores, others = wide(scores), ~relevant if where is None else ~relevant & where
        return _mean_of_wrong(self.at_least - scores, relevant) + _mean_of_wrong(scores - self.at_most, others)


def _mean_of_wrong(excess: Tensor, mask: Tensor) -> Tensor:
    """Average what exceeds 0 among the masked; 0, with a zero gradient, if nothing does."""
    wrong = mask & (excess > 0)
    return excess.masked_fill(~wrong, 0.0).sum() / wrong.sum().clamp(min=1)


class ROADMAPLoss(nn.Module):
    r"""Average precision that bounds the true one, and a calibration that carries it from one batch to the next.

    .. math:: L = (1 - \lambda)\, L_{SupAP} + \lambda\, L_{calibration}

    Ramzi et al., NeurIPS 2021, Eq. 10. Explained in chapter 15.

    Parameters
    ----------
    weight : float
        λ in [0, 1]. The released code adds both losses with weight 1, which is twice the loss of the default.
    at_least, at_most : as in :class:`CalibrationLoss`
    temperature, slope, delta, offset, start : as in :class:`SupAPLoss`

    Raises
    ------
    ValueError, TypeError
        For a weight outside [0, 1]; otherwise as :class:`CalibrationLoss` and :class:`SupAPLoss`.

    Examples
    --------
    >>> import torch
    >>> scores, relevance = torch.tensor([0.95, 0.5, 0.75, 0.25]), torch.tensor([True, True, False, False])
    >>> supremum, calibration = SupAPLoss()(scores, relevance), CalibrationLoss()(scores, relevance)
    >>> torch.equal(ROADMAPLoss()(scores, relevance), (supremum + calibration) / 2)
    True
    """

    def __init__(
        self,
        weight: float = 0.5,
        at_least: float = 0.9,
        at_most: float = 0.6,
        temperature: float = 0.01,
        slope: float = 100.0,
        delta: float = 0.05,
        offset: float | None = None,
        start: float = 0.5,
    ) -> None:
        super().__init__()
        hint = "the share of the calibration; 0.5 is published"
        self.weight = check_number(weight, "weight", least=0, most=1, hint=hint)
        self.supremum = SupAPLoss(temperature, slope, delta, offset, start)
        self.calibration = CalibrationLoss(at_least, at_most)

    def extra_repr(self) -> str:
        return f"weight={self.weight:g}"

    @eager
    def forward(self, scores: Tensor, relevance: Tensor, *, where: Tensor | None = None) -> Tensor:
        """As :meth:`APLoss.forward`; if no query has a relevant item, the calibration of the others alone."""
        positive, count, most = check_lists(scores, relevance, where)
        scores = wide(scores)  # once, so that both gradients are added before they are rounded to 16 bits
        if most:
            supremum = self.supremum.checked(scores, positive, count, most, where, None)
        else:
            supremum = no_positives(scores, left="only the calibration of the others is left")
        calibration = self.calibration.mean(scores, positive, where)
        return (1 - self.weight) * supremum + self.weight * calibration  # lerp would make inf - inf
