"""Weights of recall at K: to a closed form W and back, against all small cases, and how fast those of Eq. 20 fall."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import sympy

from rankedu.checks import check_choice
from rankedu.proofs.exact import exact_numbers, whole_number
from rankedu.proofs.recall_weights import closed_form, lemma_1, proposition_2


def weights_to_closed_form(weights: Any) -> Any:
    r"""Sum weights: :math:`W(k) = \sum_{K=1}^{k} w_K`.

    Parameters
    ----------
    weights : sequence, callable or sympy.Expr
        The weights :math:`w_1, w_2, …`, followed by 0; a function int -> number; or an expression in one symbol.

    Returns
    -------
    callable or sympy.Expr
        W, int -> number, which remembers its sums; of an expression an expression, closed where SymPy or `closed_form`
        finds a closed form.

    Raises
    ------
    ValueError
        A weight is below 0 (of a function, when W is called), or the expression has several symbols.

    References
    ----------
    RaMBO supp. Prop. 2; RaMBO supp. Lemma 1

    Examples
    --------
    >>> W = weights_to_closed_form([1, Fraction(1, 2)])
    >>> W(0), W(1), W(5)
    (Fraction(0, 1), Fraction(1, 1), Fraction(3, 2))
    >>> k = sympy.Symbol("k", positive=True, integer=True)
    >>> weights_to_closed_form(sympy.log(1 + 1 / k)), weights_to_closed_form(k)
    (log(k + 1), k**2/2 + k/2)
    """
    if isinstance(weights, sympy.Expr):
        return _sum_symbolically(weights)
    if callable(weights):
        return _sums(weights)
    exact = exact_numbers(weights, "weights", least=0)
    return _sums(lambda level: exact[level - 1] if level <= len(exact) else Fraction(0))


def _sums(weight: Callable[[int], Any]) -> Callable[[int], Any]:
    """W of a function w; the sums so far are remembered."""
    totals: list[Any] = [Fraction(0)]

    def total(k: int) -> Any:
        for level in range(len(totals), whole_number(k, "k", least=0) + 1):
            value = weight(level)
            if not value >= 0:
                raise ValueError(f"weights must be >= 0, got w_{level} = {value} (worse recall would be rewarded)")
            totals.append(value + totals[-1] if level > 1 else value)
        return totals[k]

    return total


def _sum_symbolically(weight: sympy.Expr) -> sympy.Expr:
    k = _only_symbol(weight, "weights")
    level, last = sympy.symbols("i k", positive=True, integer=True)
    for name in ("log", "loglog"):
        known = closed_form(name)
        if sympy.simplify(known.weight.subs(known.k, last) - weight.subs(k, last)) == 0:
            return known.total.subs(known.k, k)
    return sympy.summation(weight.subs(k, level), (level, 1, last)).subs(last, k)


def closed_form_to_weights(closed_form: Any) -> Any:
    """Take differences: :math:`w_K = W(K) - W(K-1)`, the inverse of `weights_to_closed_form`.

    Parameters
    ----------
    closed_form : callable or sympy.Expr
        W, a function int -> number, or an expression in one symbol.

    Returns
    -------
    callable or sympy.Expr
        w, of the kind of W.

    Raises
    ------
    ValueError
        W(0) is not 0, W falls (up to K = 100 at once, later on a call), or the expression has several symbols.
    TypeError
        W is neither callable nor an expression.

    References
    ----------
    RaMBO supp. Prop. 2; RaMBO supp. Lemma 1

    Examples
    --------
    >>> w = closed_form_to_weights(lambda k: Fraction(k, k + 1))
    >>> w(1), w(2)
    (Fraction(1, 2), Fraction(1, 6))
    """
    symbolic = isinstance(closed_form, sympy.Expr)
    if symbolic:
        k = _only_symbol(closed_form, "closed_form")
        total = cache(lambda level: closed_form.subs(k, level))
    elif callable(closed_form):
        total = closed_form
    else:
        raise TypeError(f"closed_form must be a callable or a SymPy expression, got {closed_form!r}")
    if not abs(total(0)) <= 1e-12:
        raise ValueError(f"closed_form must have W(0) = 0, got {total(0)} (a sum of no weights: subtract W(0))")

    def weight(level: int) -> Any:
        step = total(whole_number(level, "K", least=1)) - total(level - 1)
        if not float(step) >= -1e-12:
            raise ValueError(f"closed_form must not fall, got w_{level} = W({level}) - W({level - 1}) = {step}")
        return step

    for level in range(1, 101):
        weight(level)
    return closed_form - closed_form.subs(k, k - 1) if symbolic else weight


def _only_symbol(expression: sympy.Expr, name: str) -> sympy.Symbol:
    symbols = expression.free_symbols
    if len(symbols) > 1:
        raise ValueError(f"{name} must have one symbol, got {sorted(map(str, symbols))}")
    return next(iter(symbols)) if symbols else sympy.Symbol("k", positive=True, integer=True)


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


def exhaustive(weights: Iterable[Any], n: int) -> tuple[int, int]:
    """Check Lemma 1 for all multisets of r_1, …, r_n ≤ n, and Proposition 2 for all rankings of n items.

    Parameters
    ----------
    weights : sequence of numbers
        As for `lemma_1`.
    n : int
        From 1 to 8.

    Returns
    -------
    lemma, proposition : int
        How many cases of each were proved: all, (2n choose n) and 2ⁿ − 1, unless a statement is false.

    Raises
    ------
    ValueError or TypeError
        ``n`` is out of range, or the weights are others.

    Notes
    -----
    Explained in chapter 7.

    References
    ----------
    RaMBO supp. Lemma 1; RaMBO supp. Prop. 2

    Examples
    --------
    >>> exhaustive([1, Fraction(1, 2), Fraction(1, 3)], 4)
    (70, 15)
    """
    if whole_number(n, "n", least=1) > 8:
        raise ValueError(f"n must be at most 8, got {n} (the cases multiply: use lemma_1() on single ones)")
    w = exact_numbers(weights, "weights", least=0)
    lemma = sum(lemma_1(w, r).verify() for r in combinations_with_replacement(range(n + 1), n))
    rankings = [ranking for ranking in product((False, True), repeat=n) if any(ranking)]
    return lemma, sum(proposition_2(w, ranking).verify() for ranking in rankings)
