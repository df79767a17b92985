"""H-rank and H-AP against every ranking of a few items."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

from rankedu import reference
from rankedu.proofs.exact import exact_relevance, whole_number
from rankedu.proofs.hierarchical import certificate

MOST = 20_000  # rankings that one call of exhaustive() examines


@dataclass(frozen=True)
class Exhaustive:
    """What a check of all rankings of n items found. Made by `exhaustive`."""

    n: int
    values: tuple[Fraction, ...]  #: The relevances that an item can have.
    rankings: int  #: Lists of n relevances, read from rank 1 to n, in which one is > 0.
    certified: int  #: Those whose certificate verifies.
    perfect: int  #: perfect, ordered: those with H-AP = 1, and those sorted by relevance.
    ordered: int
    #: binary, binary_equal: those with one distinct relevance above 0, and among them those whose H-AP is AP.
    binary: int
    binary_equal: int
    least: Fraction  #: The smallest H-AP found.

    @property
    def holds(self) -> bool:
        """Whether all was as stated, for every ranking."""
        whole = self.rankings > 0 and self.certified == self.rankings and self.least > 0
        return whole and self.perfect == self.ordered and self.binary == self.binary_equal


def exhaustive(n: int, values: Iterable[Any] = (0, Fraction(1, 3), Fraction(1, 2), 1)) -> Exhaustive:
    """Certify every ranking of n items whose relevances are taken from a few values.

    Parameters
    ----------
    n : int
        At least 1.
    values : sequence of numbers
        The relevances that an item can have, finite and ≥ 0, one of them > 0.

    Returns
    -------
    Exhaustive

    Raises
    ------
    ValueError or TypeError
        ``n`` is not an int ≥ 1, the values are others, or there are more than 20,000 rankings.

    Notes
    -----
    O(len(values)ⁿ · n² L). Items are named by their rank, so that a list of relevances represents all permutations of
    its items. Explained in chapter 13.

    References
    ----------
    HAPPIER Eq. 1; HAPPIER Eq. 2; HAPPIER Eq. 3

    Examples
    --------
    >>> found = exhaustive(3, [0, 1, 2])
    >>> found.rankings, found.certified, found.perfect, found.holds
    (26, 26, 9, True)
    """
    whole_number(n, "n", least=1)
    allowed = tuple(sorted(set(exact_relevance(values, "values"))))
    if len(allowed) ** n > MOST:
        raise ValueError(
            f"len(values)**n must be at most {MOST:,}, got n = {n} and {len(allowed)} values "
            "(use certificate() on single rankings)"
        )
    ranks = range(1, n + 1)
    scores = [Fraction(-rank) for rank in ranks]  # so that the definitions remain exact
    proofs = [certificate(listed, ranks) for listed in product(allowed, repeat=n) if any(listed)]
    binary = [proof for proof in proofs if len(proof.thresholds) == 1]
    return Exhaustive(
        n,
        allowed,
        rankings=len(proofs),
        certified=sum(proof.verify() for proof in proofs),
        perfect=sum(proof.h_ap == 1 for proof in proofs),
        ordered=sum(all(a >= b for a, b in pairwise(proof.relevance)) for proof in proofs),
        binary=len(binary),
        binary_equal=sum(p.h_ap == reference.average_precision(scores, p.relevance) for p in binary),
        least=min(proof.h_ap for proof in proofs),
    )
