"""The order of levels that a relevance makes, exactly, for small counts in full."""

from itertools import pairwise, product

import pytest

from rankedu_book.ch13_hierarchical_ap.study import level_relevance


@pytest.mark.parametrize("alpha", [1, 2, 5])
def test_all_small_counts(alpha):
    inverted = 0
    for counts in filter(any, product(range(5), repeat=3)):
        found = level_relevance(counts, alpha)
        assert (found.fine_first < 1) == bool(found.inverted)
        rising = [value for value, count in zip(found.monotone, counts, strict=True) if count]
        assert all(a < b for a, b in pairwise(rising)) and found.monotone[2] == found.eq_4[2]
        assert all(m <= e for m, e in zip(found.monotone, found.eq_4, strict=True))
        pairs = ((m, f) for m in (1, 2, 3) for f in range(m + 1, 4))
        wrong = {(m, f) for m, f in pairs if counts[f - 1] * m**alpha > counts[m - 1] * f**alpha > 0}
        assert set(found.inverted) == wrong
        inverted += bool(wrong)
    assert (inverted > 0) == (alpha < 5)  # (3/2)**5 > 4, so that these counts cannot
