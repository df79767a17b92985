"""The weights of RaMBO's Equation 20, and how fast they fall."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankedu.checks import check_choice
from rankedu.proofs.exact import whole_number


@dataclass(frozen=True)
class Asymptotics:
    """What a check of the bounds found for K = 1, …, ``up_to``. Made by `asymptotics`."""

    up_to: int
    slack: float  #: The smallest distance of a weight from its bounds, divided by the weight. Rounding is below 1e-14.
    #: first, last: :math:`w_1`, and :math:`w_K / \frac1K` or :math:`w_K / \frac{1}{K \log K}` at the last K.
    first: float
    last: float

    @property
    def holds(self) -> bool:
        """Whether every weight lies between its bounds, by more than rounding can explain."""
        return self.slack > 1e-12


def asymptotics(
    weights: str, up_to: int = 10**6, closed_form: Callable[[np.ndarray[Any, Any]], Any] | None = None
) -> Asymptotics:
    r"""Check the bounds of the weights "log" or "loglog" of Eq. 20 for all K up to a million.

    By :math:`x/(1+x) \le \log(1+x) \le x`, once or twice:

    .. math:: \frac{1}{K+1} \le w_K \le \frac1K, \qquad
              \frac{1}{(K+1)(1 + \log(K+1))} \le w_K \le \frac{1}{K (1 + \log K)}.

    Parameters
    ----------
    weights : {"log", "loglog"}
        The bounds to check.
    up_to : int
        The largest K, at least 1.
    closed_form : callable, optional
        Weights to check in place of those of Eq. 20, a function of an array of K.

    Returns
    -------
    Asymptotics

    Raises
    ------
    ValueError or TypeError
        For other words, or ``up_to`` that is not an int ≥ 1.

    References
    ----------
    RaMBO Eq. 20

    Examples
    --------
    >>> found = asymptotics("loglog")
    >>> found.holds, round(found.first, 3), round(found.last, 2)
    (True, 0.527, 0.93)
    """
    check_choice(weights, ("log", "loglog"), name="weights")
    k = np.arange(1.0, whole_number(up_to, "up_to", least=1) + 1)
    w, lower, upper, like = np.log1p(1 / k), 1 / (k + 1), 1 / k, k
    if weights == "loglog":
        w = np.log1p(w / (1 + np.log(k)))
        lower, upper, like = lower / (1 + np.log(k + 1)), upper / (1 + np.log(k)), k * np.log(k)
    if closed_form is not None:
        w = np.asarray(closed_form(k), dtype=float)
    slack = np.minimum(w - lower, upper - w) / np.abs(w)
    return Asymptotics(up_to, float(slack.min()), float(w[0]), float(w[-1] * like[-1]))
