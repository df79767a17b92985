"""What a relevance makes of H-AP, exactly: weighted means of AP, and the order of levels for small counts in full."""

from fractions import Fraction
from itertools import pairwise, product

import pytest

from rankbook.ch13_hierarchical_ap.study import level_relevance
from rankedu import reference
from rankedu.proofs.hierarchical import certificate

F = Fraction


@pytest.mark.parametrize("weights", [[1, 1], [F(1, 3), 2], [0, 1], [1, 0]])
def test_h_ap_is_the_weighted_mean_of_aps_for_all_levels_of_four_items(weights):
    ranks, reached = (2, 4, 1, 3), 0
    for levels in product(range(3), repeat=4):
        if not any(weights[p] for level in levels for p in range(level)):
            continue
        relevance = reference.weighted_ap_relevance(levels, list(map(F, weights)))
        members = [[level >= depth for level in levels] for depth in (1, 2)]
        aps = {
            depth: reference.average_precision([F(-r) for r in ranks], m) for depth, m in enumerate(members) if any(m)
        }
        mean = sum(weights[p] * ap for p, ap in aps.items()) / sum(weights[p] for p in aps)
        assert certificate(relevance, ranks).h_ap == mean
        reached += 1
    assert reached > 60


def test_eq_4_inverts_ten_fine_and_two_coarse_items():
    found = level_relevance([2, 10])
    assert found.eq_4 == (F(1, 4), F(1, 10)) and found.inverted == ((1, 2),)
    assert found.coarse_first == 1
    assert found.fine_first == (1 + F(1, 11) * (F(5, 4)) + F(1, 12) * (F(3, 2))) / F(3, 2)
    assert round(float(found.fine_first), 3) == 0.826
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
        wrong = {
            (m, f)
            for m in (1, 2, 3)
            for f in range(m + 1, 4)
            if counts[f - 1] * m**alpha > counts[m - 1] * f**alpha > 0
        }
        assert set(found.inverted) == wrong
        inverted += bool(wrong)
    assert (inverted > 0) == (alpha < 5)  # (3/2)**5 > 4, so that these counts cannot


def test_one_level_is_never_inverted():
    found = level_relevance([7])
    assert found.eq_4 == found.monotone == (F(1, 7),) and not found.inverted
