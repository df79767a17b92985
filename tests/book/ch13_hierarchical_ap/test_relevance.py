"""What a relevance makes of H-AP, exactly: weighted means of AP, and the order of levels for small counts in full."""

from fractions import Fraction
from itertools import pairwise, product

import pytest

from rankbook.ch13_hierarchical_ap.study import level_relevance
from rankedu import reference
from rankedu.proofs.hierarchical import certificate

F = Fraction


@pytest.mark.parametrize("weights", [[F(1, 3), 2], [0, 1]])
def test_h_ap_is_the_weighted_mean_of_aps_for_all_levels_of_four_items(weights):
    ranks, reached = (2, 4, 1, 3), 0
    for levels in product(range(3), repeat=4):
        if not any(weights[p] for level in levels for p in range(level)):
            continue
        members = [[level >= depth for level in levels] for depth in (1, 2)]
        aps = [reference.average_precision([F(-r) for r in ranks], m) if any(m) else None for m in members]
        both = [(weight, ap) for weight, ap in zip(weights, aps, strict=True) if ap is not None]
        mean = sum(weight * ap for weight, ap in both) / sum(weight for weight, _ in both)
        assert certificate(reference.weighted_ap_relevance(levels, list(map(F, weights))), ranks).h_ap == mean
        reached += 1
    assert reached > 60


def test_eq_4_inverts_ten_fine_and_two_coarse_items():
    found = level_relevance([2, 10])
    assert found.eq_4 == (F(1, 4), F(1, 10)) and found.inverted == ((1, 2),)
    assert found.coarse_first == 1
    assert found.fine_first == (1 + F(1, 11) * (F(5, 4)) + F(1, 12) * (F(3, 2))) / F(3, 2)
    assert found.monotone == (F(1, 24), F(1, 10))


@pytest.mark.parametrize("alpha", [1, 2, 5])
def test_all_small_counts(alpha):
    inverted = 0
    for counts in product(range(5), repeat=3):
        if not any(counts):
            continue
        found = level_relevance(counts, alpha)
        assert (found.fine_first < 1) == bool(found.inverted)
        rising = [value for value, count in zip(found.monotone, counts, strict=True) if count]
        assert all(a < b for a, b in pairwise(rising))
        assert all(m <= e for m, e in zip(found.monotone, found.eq_4, strict=True))
        assert found.monotone[2] == found.eq_4[2]
        pairs = ((m, f) for m in (1, 2, 3) for f in range(m + 1, 4))
        assert set(found.inverted) == {
            (m, f) for m, f in pairs if counts[f - 1] * m**alpha > counts[m - 1] * f**alpha > 0
        }
        inverted += bool(found.inverted)
    assert (inverted > 0) == (alpha < 5)  # (3/2)**5 > 4, so that these counts cannot
