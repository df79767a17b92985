"""Recall as a loss: recall at every K at once, each K with its weight."""

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import torch
from torch import Tensor

from rankedu.checks import check_choice, check_k
from rankedu.losses.base import RankLoss
from rankedu.rankers.pairwise import check_temperature
from rankedu.ranks import Relevant


def _loglog(r: Tensor) -> Tensor:
    return torch.log1p(torch.log1p(r))


_CLOSED_FORMS: dict[str, Callable[[Tensor], Tensor]] = {"log": torch.log1p, "loglog": _loglog}


class RecallLoss(RankLoss):
    r"""A weighted sum over K of the shares of relevant items that K or more irrelevant ones outrank.

    Explained in chapter 7.

    .. math:: L_{rec} = \sum_{K=1}^{\infty} w_K\, L@K
              = \mathop{\mathbb{E}}_{i \in \mathrm{rel}} W(r_i), \qquad
              r_i = \mathbf{rk}_\alpha(\mathbf{y})_i - \mathbf{rk}_\alpha(\mathbf{y}^+)_i, \qquad
              W(k) = \sum_{K=1}^{k} w_K

    Parameters
    ----------
    ranker, margin, within_grad, reduction : as in :class:`APLoss`
    weights : {"log", "loglog"} or callable, Tensor -> Tensor of the same shape
        W itself: log(1 + k) for weights like 1/K, log(1 + log(1 + k)) for weights like 1/(K log K), or any elementwise
        function of differentiable torch operations with W(0) = 0 that never falls. :mod:`rankedu.proofs.recall_weights`
        proves which weights w belong to the first two.

    Raises
    ------
    ValueError
        As :class:`APLoss`, and for an unknown word, or a W with W(0) ≠ 0 or that falls.
    TypeError
        As :class:`APLoss`, and for a W that does not map a Tensor to one of its shape.

    References
    ----------
    RaMBO Eq. 15; RaMBO Eq. 16; RaMBO Eq. 17; RaMBO Eq. 18; RaMBO Eq. 19; RaMBO Eq. 20; RaMBO supp. Prop. 2

    Examples
    --------
    >>> from rankedu.rankers import BlackboxRanker
    >>> scores = torch.tensor([0.9, 0.8, 0.7, 0.6], requires_grad=True)
    >>> relevance = torch.tensor([False, True, False, True])  # outranked by 1 and by 2
    >>> loss = RecallLoss(BlackboxRanker(lam=2.0))(scores, relevance)
    >>> loss.backward()
    >>> loss.detach(), scores.grad  # (log 2 + log 3)/2
    (tensor(0.8959), tensor([ 1.0000, -0.5000,  0.5000, -1.0000]))
    """

    def __init__(
        self,
        ranker: Any,
        margin: float = 0.0,
        weights: str | Callable[[Tensor], Tensor] = "log",
        within_grad: bool = False,
        *,
        reduction: str = "mean",
    ) -> None:
        super().__init__(ranker, margin, within_grad, reduction=reduction)
        if isinstance(weights, str):
            check_choice(weights, tuple(_CLOSED_FORMS), name="weights")
            self.closed_form = _CLOSED_FORMS[weights]
        else:
            self.closed_form = check_closed_form(weights)

    def formula(self, ranks: Tensor, within: Tensor) -> Tensor:
        value = self.closed_form(outranked := ranks - within)
        return value if isinstance(value, Tensor) and value.shape == outranked.shape else _refuse(value, outranked)


class RecallAtKSurrogateLoss(RankLoss):
    r"""One minus recall at k, of any ranker, with a sigmoid for "within the first k"; the mean over several k.

    .. math:: L = 1 - \frac{1}{|\mathcal{K}|} \sum_{k \in \mathcal{K}} \frac{1}{\min(k, p)}
              \min\Bigl(\min(k, p),\ \sum_{i \in \mathrm{rel}}
              \sigma\Bigl(\frac{k - \mathbf{rk}(\mathbf{y})_i}{T}\Bigr)\Bigr)

    for p relevant items. With ``SigmoidRanker(0.01)`` both steps are sigmoids, as Patel et al. published it in 2022. As
    in their released code, no more than min(k, p) items count, so that the loss is never negative. It is not a bound,
    because an item at rank k + 1 counts in part. A query that is left in its own list takes rank 1 from the relevant
    items. Explained in chapter 18.

    Parameters
    ----------
    ranker, margin, reduction : as in :class:`APLoss`
    k : int, or several
        Each ≥ 1.
    temperature : float
        T > 0, in units of a rank: how far beyond k an item still has a gradient. As T → 0 an item at rank k counts ½.

    Raises
    ------
    ValueError, TypeError
        As :class:`APLoss`, and for k < 1, no k, or a temperature that is not a finite number > 0.

    Examples
    --------
    >>> from rankedu.rankers import BlackboxRanker
    >>> scores = torch.tensor([0.9, 0.8, 0.7], requires_grad=True)
    >>> loss = RecallAtKSurrogateLoss(BlackboxRanker(lam=4.0), k=1)(scores, torch.tensor([False, True, False]))
    >>> loss.backward()
    >>> loss.detach(), scores.grad  # 1 − σ(1 − 2)
    (tensor(0.7311), tensor([ 0.2500, -0.2500,  0.0000]))
    """

    def __init__(
        self,
        ranker: Any,
        k: int | Sequence[int] = (1, 2, 4, 8, 16),
        temperature: float = 1.0,
        margin: float = 0.0,
        *,
        reduction: str = "mean",
    ) -> None:
        super().__init__(ranker, margin, reduction=reduction)
        self.k = tuple(map(check_k, k if isinstance(k, Sequence) else (k,)))
        if not self.k:
            raise ValueError("k must be an int or several, got none (try k=(1, 2, 4, 8))")
        self.temperature = check_temperature(temperature, hint="in units of a rank: try 1.0")

    def extra_repr(self) -> str:
        return f"k={self.k}, temperature={self.temperature:g}, margin={self.margin:g}"

    def of_query(self, ranks: Tensor, within: Tensor, relevant: Relevant) -> Tensor:
        found, count = [], relevant.real.sum(-1).to(ranks)
        for k in self.k:
            inside = ((k - ranks) / self.temperature).sigmoid().masked_fill(~relevant.real, 0.0).sum(-1)
            possible = count.clamp(1, k)
            found.append(torch.minimum(inside, possible) / possible)
        return 1 - torch.stack(found).mean(0)


def _refuse(value: Any, r: Tensor) -> NoReturn:
    came = tuple(value.shape) if isinstance(value, Tensor) else type(value).__name__
    raise TypeError(
        f"weights must map a Tensor of shape {tuple(r.shape)} to one of the same shape, got {came} "
        "(W works on all r_i at once, by torch operations: weights=torch.log1p)"
    )


def check_closed_form(closed_form: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """Check up to 1000 that W(0) = 0 and that W never falls: otherwise a weight w_K = W(K) − W(K − 1) is negative."""
    if not callable(closed_form):
        raise TypeError(f"weights must be 'log', 'loglog' or a callable W, got {closed_form!r} (e.g. torch.log1p)")
    with torch.no_grad():
        values = closed_form(r := torch.arange(1001.0, device="cpu"))
    if not isinstance(values, Tensor) or values.shape != r.shape:
        _refuse(values, r)
    if not abs(float(values[0])) < 1e-6:
        raise ValueError(f"weights must have W(0) = 0, got {float(values[0]):g} (a sum of no weights: subtract W(0))")
    falls = values.isnan()[1:] | (values.diff() < -1e-6 * values[1:].abs())  # by more than float32 may round
    if falls.any():
        k = int(falls.nonzero()[0]) + 1
        raise ValueError(
            f"weights must be a W that never falls, got W({k - 1}) = {float(values[k - 1]) + 0.0:g} and "
            f"W({k}) = {float(values[k]):g} (the difference is the weight w_{k} of the loss at {k}, which must be >= 0)"
        )
    return closed_form
