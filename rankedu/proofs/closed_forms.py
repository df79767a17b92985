"""The closed forms of Eq. 20, symbolically, and how fast their weights fall. Offered by `recall_weights`, too."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankedu.proofs.exact import import_sympy, whole_number


@dataclass(frozen=True)
class Telescoping:
    """The claim that weights sum to a closed form, in SymPy. Made by `closed_form`, or by hand."""

    k: Any  #: A positive integer.
    weight: Any  #: weight, total: :math:`w_k` and :math:`W(k)`.
    total: Any

    def verify(self) -> bool:
        r"""Check :math:`W(0) = 0` and :math:`e^{w_k} = e^{W(k)} / e^{W(k-1)}` for all k, symbolically.

        Then the product of :math:`e^{w_i}` telescopes, and the sum of the w is W, by induction. False also where SymPy
        cannot decide.
        """
        sympy = import_sympy()
        start = sympy.simplify(self.total.subs(self.k, 0))
        ratio = sympy.exp(self.total - self.total.subs(self.k, self.k - 1))
        difference = sympy.together(sympy.exp(self.weight) - ratio)
        in_logs = sympy.expand_log(difference.replace(sympy.log, lambda x: sympy.log(sympy.together(x))), force=True)
        return bool(start == 0 and sympy.simplify(in_logs) == 0)


def closed_form(weights: str) -> Telescoping:
    """State the closed form of the weights "log" or "loglog".

    Explained in chapter 7. Raises ValueError for another word; ImportError without SymPy.
    Source: RaMBO Eq. 20; RaMBO supp. Prop. 2.

    >>> claim = closed_form("loglog")
    >>> claim.weight, claim.total, claim.verify()
    (log(1 + log(1 + 1/k)/(log(k) + 1)), log(log(k + 1) + 1), True)
    """
    _check_word(weights)
    sympy = import_sympy()
    k, log = sympy.Symbol("k", positive=True, integer=True), sympy.log
    if weights == "log":
        return Telescoping(k, log(1 + 1 / k), log(1 + k))
    return Telescoping(k, log(1 + log(1 + 1 / k) / (1 + log(k))), log(1 + log(1 + k)))


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

    Other weights may be given as a function of K, array to array. Explained in chapter 7.
    Raises ValueError or TypeError for another word, or ``up_to`` that is no int ≥ 1.
    Source: RaMBO Eq. 20.

    >>> found = asymptotics("loglog")
    >>> found.holds, round(found.first, 3), round(found.last, 2)
    (True, 0.527, 0.93)
    """
    _check_word(weights)
    k = np.arange(1.0, whole_number(up_to, "up_to", least=1) + 1)
    w, lower, upper, like = np.log1p(1 / k), 1 / (k + 1), 1 / k, k
    if weights == "loglog":
        w = np.log1p(w / (1 + np.log(k)))
        lower, upper, like = lower / (1 + np.log(k + 1)), upper / (1 + np.log(k)), k * np.log(k)
    if closed_form is not None:
        w = np.asarray(closed_form(k), dtype=float)
    slack = np.minimum(w - lower, upper - w) / np.abs(w)
    return Asymptotics(up_to, float(slack.min()), float(w[0]), float(w[-1] * like[-1]))


def _check_word(weights: str) -> None:
    if weights not in ("log", "loglog"):
        raise ValueError(f"weights must be 'log' or 'loglog', got {weights!r} (for others use Telescoping)")
