"""The algebra of one swap of two neighbours, in SymPy."""

from dataclasses import dataclass
from typing import Any

import sympy


@dataclass(frozen=True)
class TwoElementLemma:
    """The algebra of one swap, as SymPy expressions. Made by `two_element_lemma`."""

    higher: Any  #: higher, lower, rank: the two scores, :math:`a \\ge b`, and the upper of the two ranks.
    lower: Any
    rank: Any
    before: Any  #: before, after: the two items' share of the objective before and after the swap.
    after: Any
    gain: Any  #: What the swap is claimed to save.

    def verify(self) -> bool:
        """Check ``before − after = gain`` for all reals, and that ``gain`` is ≥ 0 for a ≥ b and > 0 for a > b."""
        a, b, r = self.higher, self.lower, self.rank
        zero = self.before - a * (r + 1) - b * r, self.after - a * r - b * (r + 1), self.before - self.after - self.gain
        slack, strict = sympy.Symbol("d", nonnegative=True), sympy.Symbol("d", positive=True)
        weak, strong = (sympy.expand(self.gain.subs(a, b + d)) for d in (slack, strict))
        return all(sympy.expand(term) == 0 for term in zero) and bool(weak.is_nonnegative and strong.is_positive)


def two_element_lemma() -> TwoElementLemma:
    """State the two-element case for any neighbouring ranks: the higher score belongs on the better rank.

    The general theorem applies this lemma once per swap; see `rankedu.proofs.rearrangement`.
    Source: RaMBO Thm. 1

    >>> lemma = two_element_lemma()
    >>> lemma.before, lemma.after, lemma.gain
    (a*(r + 1) + b*r, a*r + b*(r + 1), a - b)
    """
    a, b, r = sympy.symbols("a b r", real=True)
    return TwoElementLemma(a, b, r, before=a * (r + 1) + b * r, after=a * r + b * (r + 1), gain=a - b)
