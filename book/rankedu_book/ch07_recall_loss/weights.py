"""The weights of RaMBO's Equation 20, and how fast they fall."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rankedu.checks import check_choice


class Asymptotics(NamedTuple):
    """What a check of the bounds found for K = 1, …, ``up_to``. Made by `asymptotics`."""

    up_to: int
    slack: float  #: The smallest distance of a weight from its bounds, divided by the weight. Rounding is below 1e-14.
    #: first, last: :math:`w_1`, and :math:`w_K / \\frac1K` or :math:`w_K / \\frac{1}{K \\log K}` at the last K.
    first: float
    last: float

    @property
    def holds(self) -> bool:
        """Whether every weight lies between its bounds, by more than rounding can explain."""
        return self.slack > 1e-12


def asymptotics(
    weights: str, up_to: int = 10**6, closed_form: Callable[[np.ndarray[Any, Any]], Any] | None = None
) -> Asymptotics:
    r"""Check the bounds of the weights "log" or "loglog" of Eq. 20, or of a closed form, for all K up to a million.

    By :math:`x/(1+x) \le \log(1+x) \le x`, once or twice:

    .. math:: \frac{1}{K+1} \le w_K \le \frac1K, \qquad
              \frac{1}{(K+1)(1 + \log(K+1))} \le w_K \le \frac{1}{K (1 + \log K)}.

    Source: RaMBO Eq. 20

    >>> found = asymptotics("loglog")
    >>> found.holds, round(found.first, 3), round(found.last, 2)
    (True, 0.527, 0.93)
    """
    check_choice(weights, ("log", "loglog"), name="weights")
    k = np.arange(1.0, up_to + 1)
    w, lower, upper, like = np.log1p(1 / k), 1 / (k + 1), 1 / k, k
    if weights == "loglog":
        w = np.log1p(w / (1 + np.log(k)))
        lower, upper, like = lower / (1 + np.log(k + 1)), upper / (1 + np.log(k)), k * np.log(k)
    if closed_form is not None:
        w = np.asarray(closed_form(k), dtype=float)
    slack = np.minimum(w - lower, upper - w) / np.abs(w)
    return Asymptotics(up_to, float(slack.min()), float(w[0]), float(w[-1] * like[-1]))
