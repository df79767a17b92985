r"""From the weights :math:`w_K` of recall at K to one function :math:`W` of the rank, and back.

Everything is one double sum, read by rows or by columns. An item that :math:`r_i` irrelevant ones outrank fails at the
levels :math:`K = 1, \dots, r_i` and pays :math:`w_K` at each, in all :math:`W(r_i) = \sum_{K \le r_i} w_K`; level K has
:math:`|\{i : r_i \ge K\}|` items that fail. That is Lemma 1. Proposition 2 divides by the number of relevant items.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from typing import Any

from rankedu import reference
from rankedu.proofs.closed_forms import Asymptotics, Telescoping, asymptotics, closed_form
from rankedu.proofs.exact import exact_numbers, import_sympy, verdict, whole_number, whole_numbers

__all__ = [
    "Asymptotics",
    "DoubleSum",
    "Telescoping",
    "asymptotics",
    "closed_form",
    "closed_form_to_weights",
    "exhaustive",
    "lemma_1",
    "proposition_2",
    "weights_to_closed_form",
]


@dataclass(frozen=True)
class DoubleSum:
    """One sum in two orders. Made by `lemma_1` and `proposition_2`."""

    weights: tuple[Fraction, ...]  #: :math:`w_1, w_2, …`; all that follow are 0.
    outranked: tuple[int, ...]  #: :math:`r_i`: how many irrelevant items outrank each relevant one.
    failing: tuple[int, ...]  #: :math:`|\{i : r_i \ge K\}|` for K = 1, …, the largest r.
    divisor: int  #: 1 for the lemma, the number of relevant items for the proposition.
    #: by_level, by_item: the sum over K of what fails there, and the sum over i of :math:`W(r_i)`, both divided.
    by_level: Fraction
    by_item: Fraction

    @verdict
    def verify(self) -> bool:
        """Compute both sums again from ``weights`` and ``outranked``, and demand that they are equal."""
        fresh = _double_sum(self.weights, self.outranked, self.divisor)
        return self.divisor in (1, len(self.outranked)) and self == fresh and self.by_level == self.by_item


def lemma_1(weights: Iterable[Any], outranked: Iterable[int]) -> DoubleSum:
    r"""Prove :math:`\sum_K w_K\, |\{i : r_i \ge K\}| = \sum_i W(r_i)` for these numbers.

    The weights :math:`w_1, w_2, …` are finite and ≥ 0, those that follow are 0; ``outranked`` holds one or more ints
    :math:`r_i` ≥ 0; else ValueError or TypeError. O(items · largest r) exact operations. Explained in chapter 7.
    Source: RaMBO supp. Lemma 1; RaMBO supp. Eq. 1; RaMBO supp. Eq. 2.

    >>> proof = lemma_1([1, Fraction(1, 2), Fraction(1, 3)], [3, 1, 0])
    >>> proof.failing, proof.by_level, proof.by_item
    ((2, 1, 1), Fraction(17, 6), Fraction(17, 6))
    """
    return _double_sum(weights, outranked, 1)


def proposition_2(weights: Iterable[Any], ranking: Sequence[bool]) -> DoubleSum:
    r"""Prove :math:`L_{rec} = \sum_K w_K L@K` to be the mean of :math:`W(r_i)`, for this ranking.

    The weights are as for `lemma_1`; a ranking lists the relevance of the items from the best to the worst, with at
    least one True, else ValueError. ``by_level`` is the loss as Eq. 19 has it, ``by_item`` the mean; L@K is the share
    of relevant items with r ≥ K (Eq. 16). Explained in chapter 7.
    Source: RaMBO supp. Prop. 2; RaMBO supp. Eq. 3; RaMBO supp. Eq. 4; RaMBO supp. Eq. 5; RaMBO Eq. 16; RaMBO Eq. 18;
    RaMBO Eq. 19.

    >>> proof = proposition_2([1, 1, 1], [False, True, False, True])
    >>> proof.outranked, proof.by_level
    ((1, 2), Fraction(3, 2))
    """
    if not any(ranking):
        raise ValueError(f"ranking must have a relevant item, got {list(ranking)} (the mean over none is not defined)")
    negatives = reference.outranking_negatives(range(len(ranking), 0, -1), ranking)
    outranked = [r for r, relevant in zip(negatives, ranking, strict=True) if relevant]
    return _double_sum(weights, outranked, len(outranked))


def _double_sum(weights: Iterable[Any], outranked: Iterable[int], divisor: int) -> DoubleSum:
    w, r = exact_numbers(weights, "weights", least=0), whole_numbers(outranked, "outranked")
    failing = tuple(sum(count >= level for count in r) for level in range(1, max(r) + 1))
    by_level = sum((weight * count for weight, count in zip(w, failing, strict=False)), Fraction(0))
    by_item = sum((sum(w[:count], Fraction(0)) for count in r), Fraction(0))
    return DoubleSum(w, r, failing, divisor, by_level / divisor, by_item / divisor)


def exhaustive(weights: Iterable[Any], n: int) -> tuple[int, int]:
    """Check Lemma 1 for all multisets of r_1, …, r_n ≤ n, and Proposition 2 for all rankings of n items, n from 1 to 8.

    How many cases of each were proved: all, (2n choose n) and 2ⁿ − 1, unless a statement is false.
    Explained in chapter 7. Raises as `lemma_1`, or for n out of range.
    Source: RaMBO supp. Lemma 1; RaMBO supp. Prop. 2.

    >>> exhaustive([1, Fraction(1, 2), Fraction(1, 3)], 4)
    (70, 15)
    """
    if whole_number(n, "n", least=1) > 8:
        raise ValueError(f"n must be at most 8, got {n} (the cases multiply: use lemma_1() on single ones)")
    w = exact_numbers(weights, "weights", least=0)
    lemma = sum(lemma_1(w, r).verify() for r in combinations_with_replacement(range(n + 1), n))
    rankings = [ranking for ranking in product((False, True), repeat=n) if any(ranking)]
    return lemma, sum(proposition_2(w, ranking).verify() for ranking in rankings)


def weights_to_closed_form(weights: Any) -> Any:
    r"""Sum weights: :math:`W(k) = \sum_{K=1}^{k} w_K`.

    Of a sequence :math:`w_1, w_2, …`, followed by 0, or a callable int -> number: W is a callable, of a sequence exact.
    Of a sympy.Expr in one symbol: W is an expression in it, closed where SymPy or `closed_form` knows how, else a sum.
    O(k) for the first W(k), and remembered. Explained in chapter 7.
    Raises ValueError for a weight below 0 (of a function, when W is called), or an expression of several symbols.
    Source: RaMBO supp. Prop. 2; RaMBO supp. Lemma 1.

    >>> W = weights_to_closed_form([1, Fraction(1, 2)])
    >>> W(0), W(1), W(5)
    (Fraction(0, 1), Fraction(1, 1), Fraction(3, 2))
    >>> import sympy
    >>> k = sympy.Symbol("k", positive=True, integer=True)
    >>> weights_to_closed_form(sympy.log(1 + 1 / k)), weights_to_closed_form(k)
    (log(k + 1), k**2/2 + k/2)
    """
    if hasattr(weights, "free_symbols"):
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


def _sum_symbolically(weight: Any) -> Any:
    sympy = import_sympy()
    k = _only_symbol(weight, "weights")
    level, last = sympy.symbols("i k", positive=True, integer=True)
    for name in ("log", "loglog"):
        known = closed_form(name)
        if sympy.simplify(known.weight.subs(known.k, last) - weight.subs(k, last)) == 0:
            return known.total.subs(known.k, k)
    return sympy.summation(weight.subs(k, level), (level, 1, last)).subs(last, k)


def closed_form_to_weights(closed_form: Any) -> Any:
    """Take differences: :math:`w_K = W(K) - W(K-1)`, the inverse of `weights_to_closed_form`.

    W is a callable, or an expression in one symbol, and so is w. Explained in chapter 7.
    Raises ValueError for W(0) ≠ 0, a W that falls (up to K = 100 at once, later on a call), or several symbols.
    Source: RaMBO supp. Prop. 2; RaMBO supp. Lemma 1.

    >>> w = closed_form_to_weights(lambda k: Fraction(k, k + 1))
    >>> w(1), w(2)
    (Fraction(1, 2), Fraction(1, 6))
    """
    symbolic = hasattr(closed_form, "free_symbols")
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


def _only_symbol(expression: Any, name: str) -> Any:
    symbols = expression.free_symbols
    if len(symbols) > 1:
        raise ValueError(f"{name} must have one symbol, got {sorted(map(str, symbols))}")
    return next(iter(symbols)) if symbols else import_sympy().Symbol("k", positive=True, integer=True)
