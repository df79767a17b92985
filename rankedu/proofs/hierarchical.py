r"""H-rank is a weighted sum of ordinary ranks within nested sets, proved term by term in exact arithmetic.

With the distinct relevances :math:`r_1 < \dots < r_L` above :math:`r_0 = 0`, the smaller of two of them is the sum of
the steps that both reach: :math:`\min(\mathrm{rel}_k, \mathrm{rel}_j) = \sum_t (r_t - r_{t-1})\,
[\mathrm{rel}_k \ge r_t]\, [\mathrm{rel}_j \ge r_t]`. Summed over the items j ranked at or above k, the left side is
HAPPIER's Eq. 2; on the right, each step is multiplied by the rank of k among the items that reach :math:`r_t`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

from rankedu import reference
from rankedu.proofs.exact import checked_permutation, exact_relevance, verdict

__all__ = ["Certificate", "certificate"]


@dataclass(frozen=True)
class Certificate:
    """A proof, term by term, of what H-rank and H-AP are for one ranking. Made by `certificate`."""

    relevance: tuple[Fraction, ...]
    permutation: tuple[int, ...]  #: The rank of each item; 1 is best.
    thresholds: tuple[Fraction, ...]  #: The distinct relevances above 0, ascending.
    within: tuple[tuple[int, ...], ...]  #: Rank of each item among those that reach each threshold, or 0.
    h_ranks: tuple[Fraction, ...]
    h_ap: Fraction

    @property
    def steps(self) -> tuple[Fraction, ...]:
        """How much each threshold exceeds the one before it, which are the weights of the ranks."""
        return tuple(b - a for a, b in pairwise((Fraction(0), *self.thresholds)))

    @verdict
    def verify(self) -> bool:
        """Recompute everything from ``relevance`` and ``permutation``, O(n² L) exact operations.

        For every pair of items the smaller relevance must be the sum of the steps that both reach. ``h_ranks`` must be
        Eq. 2's and the sums of steps times ranks; ``h_ap`` must be 1 less the sum over inversions, 1 exactly if the
        ranking is sorted by relevance, and AP if there is one threshold.
        """
        rel, steps = self.relevance, self.steps
        if exact_relevance(rel) != rel or self != certificate(rel, self.permutation):
            return False
        for a, b in product(rel, repeat=2):
            if min(a, b) != sum(s for s, t in zip(steps, self.thresholds, strict=True) if a >= t and b >= t):
                return False
        y = _scores(self.permutation)
        summed = [sum(s * r for s, r in zip(steps, row, strict=True)) for row in self.within]
        if not list(self.h_ranks) == reference.h_rank(y, rel) == summed:
            return False
        ranked = [rel[i] for i in reference.order(y)]
        wrong = [sum((max(own - other, 0) for other in ranked[:k]), Fraction(0)) for k, own in enumerate(ranked)]
        short = sum(amount / place for place, amount in enumerate(wrong, 1)) / sum(rel)
        if self.h_ap != 1 - short or (self.h_ap == 1) != (ranked == sorted(rel, reverse=True)):
            return False
        return self.h_ap >= 0 and (len(self.thresholds) > 1 or self.h_ap == reference.average_precision(y, rel))


def certificate(relevance: Iterable[Any], permutation: Iterable[Any]) -> Certificate:
    """Take H-rank apart into ranks within nested sets, for these relevances and ranks. Explained in chapter 13.

    Parameters
    ----------
    relevance : sequence of numbers
        Exact numbers ≥ 0, one of them > 0.
    permutation : sequence of whole numbers
        The rank of each item, as for :func:`rankedu.proofs.rearrangement.certificate`.

    Returns
    -------
    Certificate, after O(n L) exact operations

    Raises
    ------
    ValueError, TypeError
        For other relevances or ranks.

    References
    ----------
    HAPPIER Eq. 2; HAPPIER Eq. 3; HAPPIER Fig. 3

    Examples
    --------
    >>> certificate([Fraction(2, 3), 1], [1, 2]).h_ranks[1]  # in Fig. 3 an item of level 2 ranks above one of level 3
    Fraction(5, 3)
    """
    exact = exact_relevance(relevance)
    ranks = checked_permutation(permutation, len(exact))
    y = _scores(ranks)
    thresholds = tuple(sorted(set(exact) - {0}))
    within = [reference.rank_among(y, [value >= t for value in exact]) for t in thresholds]
    h_ranks = tuple(reference.h_rank_nested(y, exact))
    h_ap = sum((h / r for h, r in zip(h_ranks, ranks, strict=True)), Fraction(0)) / sum(exact)
    return Certificate(exact, ranks, thresholds, tuple(zip(*within, strict=True)), h_ranks, h_ap)


def _scores(ranks: Iterable[int]) -> list[Fraction]:
    """Scores that have these ranks; fractions, so that the definitions stay exact."""
    return [Fraction(-rank) for rank in ranks]
