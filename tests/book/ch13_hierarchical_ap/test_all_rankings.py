"""H-rank and H-AP, certified for every ranking of a few items."""

from dataclasses import replace
from fractions import Fraction as F

from drawn import refused

from rankbook.ch13_hierarchical_ap.all_rankings import exhaustive


def test_all_rankings():
    for n in range(1, 5):
        found = exhaustive(n)
        assert found.holds and found.certified == found.rankings == 4**n - 1
        assert found.binary == found.binary_equal == 3 * (2**n - 1)
        assert found.perfect == found.ordered == (n + 1) * (n + 2) * (n + 3) // 6 - 1  # sorted lists of four values
        assert 0 < found.least <= 1
    for values in ([0, 1], [1], [0, 0.1, 0.3, 0.2], [1, 2, 4]):
        found = exhaustive(4, values)
        assert found.holds and found.certified == len(set(values)) ** 4 - (0 in values)
    assert exhaustive(5, [0, 1]).least == F(1, 5)  # the one relevant item stands last
    found = exhaustive(3, [0, 1, 2])
    off = [{"certified": 25}, {"perfect": 10}, {"binary_equal": 0}, {"least": F(0)}, {"rankings": 0, "certified": 0}]
    assert not any(replace(found, **changes).holds for changes in off)


def test_too_many_rankings_are_refused():
    refused(
        (lambda: exhaustive(8), ValueError, r".* 20,000, got n = 8 and 4 values .*certificate\(\)"),
    )
