r"""From the weights :math:`w_K` of recall at K to one function :math:`W` of the rank, and its closed forms.

Both statements are one double sum, read by rows or by columns. An item that :math:`r_i` irrelevant items outrank is
missed at the levels :math:`K = 1, \dots, r_i` and costs :math:`w_K` at each, in all
:math:`W(r_i) = \sum_{K \le r_i} w_K`. At level K, :math:`|\{i : r_i \ge K\}|` items are missed. That is Lemma 1.
Proposition 2 divides by the number of relevant items.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rankedu import reference
from rankedu.extras import needed
from rankedu.proofs.exact import exact_numbers, verdict, whole_numbers

__all__ = ["DoubleSum", "Telescoping", "closed_form", "lemma_1", "proposition_2"]


@dataclass(frozen=True)
class DoubleSum:
    """One sum in two orders. Made by `lemma_1` and `proposition_2`."""

    weights: tuple[Fraction, ...]  #: :math:`w_1, w_2, …`; all that follow are 0.
    outranked: tuple[int, ...]  #: :math:`r_i`: how many irrelevant items outrank each relevant one.
    failing: tuple[int, ...]  #: :math:`|\{i : r_i \ge K\}|` for K = 1, …, the largest r.
    divisor: int  #: 1 for the lemma, the number of relevant items for the proposition.
    #: by_level, by_item: the sum over K of what is missed there, and the sum over i of :math:`W(r_i)`, both divided.
    by_level: Fraction
    by_item: Fraction

    @verdict
    def verify(self) -> bool:
        """Compute both sums again from ``weights`` and ``outranked``, and check that they are equal."""
        fresh = _double_sum(self.weights, self.outranked, self.divisor)
        return self.divisor in (1, len(self.outranked)) and self == fresh and self.by_level == self.by_item


def lemma_1(weights: Iterable[Any], outranked: Iterable[int]) -> DoubleSum:
    r"""Prove :math:`\sum_K w_K\, |\{i : r_i \ge K\}| = \sum_i W(r_i)` for these numbers. Explained in chapter 7.

    Parameters
    ----------
    weights : sequence of numbers
        :math:`w_1, w_2, …`, finite and ≥ 0; all that follow are 0.
    outranked : sequence of int
        One or more :math:`r_i` ≥ 0.

    Returns
    -------
    DoubleSum, after O(items · largest r) exact operations

    Raises
    ------
    ValueError, TypeError
        For other weights or counts.

    References
    ----------
    RaMBO supp. Lemma 1; RaMBO supp. Eq. 1; RaMBO supp. Eq. 2

    Examples
    --------
    >>> proof = lemma_1([1, Fraction(1, 2), Fraction(1, 3)], [3, 1, 0])
    >>> proof.failing, proof.by_level, proof.by_item
    ((2, 1, 1), Fraction(17, 6), Fraction(17, 6))
    """
    return _double_sum(weights, outranked, 1)


def proposition_2(weights: Iterable[Any], ranking: Sequence[bool]) -> DoubleSum:
    r"""Prove :math:`L_{rec} = \sum_K w_K L@K` to be the mean of :math:`W(r_i)`, for this ranking.

    L@K is the share of relevant items with r ≥ K (Eq. 16). Explained in chapter 7.

    Parameters
    ----------
    weights : sequence of numbers
        As for `lemma_1`.
    ranking : sequence of bool
        The relevance of the items from the best to the worst, at least one True.

    Returns
    -------
    DoubleSum
        ``by_level`` is the loss as Eq. 19 has it, ``by_item`` the mean.

    Raises
    ------
    ValueError
        If there is no relevant item.

    References
    ----------
    RaMBO supp. Prop. 2; RaMBO supp. Eq. 3; RaMBO supp. Eq. 4; RaMBO supp. Eq. 5; RaMBO Eq. 16; RaMBO Eq. 18; RaMBO Eq.
    19

    Examples
    --------
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
        sympy = needed("sympy", "this proof needs SymPy")
        start = sympy.simplify(self.total.subs(self.k, 0))
        ratio = sympy.exp(self.total - self.total.subs(self.k, self.k - 1))
        difference = sympy.together(sympy.exp(self.weight) - ratio)
        in_logs = sympy.expand_log(difference.replace(sympy.log, lambda x: sympy.log(sympy.together(x))), force=True)
        return bool(start == 0 and sympy.simplify(in_logs) == 0)


def closed_form(weights: str) -> Telescoping:
    """State the closed form of the weights "log" or "loglog". Explained in chapter 7.

    Parameters
    ----------
    weights : {"log", "loglog"}

    Returns
    -------
    Telescoping

    Raises
    ------
    ValueError, ImportError
        For another word, or without SymPy.

    References
    ----------
    RaMBO Eq. 20; RaMBO supp. Prop. 2

    Examples
    --------
    >>> claim = closed_form("loglog")
    >>> claim.weight, claim.total, claim.verify()
    (log(1 + log(1 + 1/k)/(log(k) + 1)), log(log(k + 1) + 1), True)
    """
    if weights not in ("log", "loglog"):
        raise ValueError(f"weights must be 'log' or 'loglog', got {weights!r} (for others use Telescoping)")
    sympy = needed("sympy", "this proof needs SymPy")
    k, log = sympy.Symbol("k", positive=True, integer=True), sympy.log
    if weights == "log":
        return Telescoping(k, log(1 + 1 / k), log(1 + k))
    return Telescoping(k, log(1 + log(1 + 1 / k) / (1 + log(k))), log(1 + log(1 + k)))
