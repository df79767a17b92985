"""What a relevance makes of H-AP, exactly: weighted means of AP, and the order of levels for small counts in full."""

import dataclasses
from fractions import Fraction
from itertools import pairwise, permutations, product

import pytest

from rankbook.ch13_hierarchical_ap.relevance import level_relevance, weighted_ap

F = Fraction


@pytest.mark.parametrize("weights", [[1, 1], [F(1, 3), 2], [0, 1], [1, 0]])
def test_weighted_ap_for_all_levels_and_rankings_of_four_items(weights):
    reached = 0
    for listed in product(range(3), repeat=4):
        if not any(weights[p] for level in listed for p in range(level)):
            continue
        found = weighted_ap(listed, weights, (2, 4, 1, 3))
        pairs = [(w, a) for w, a in zip(weights, found.averages, strict=True) if a is not None]
        assert found.h_ap * sum(w for w, _ in pairs) == sum(w * a for w, a in pairs)
        assert found.verify()
        reached += 1
    assert reached > 60


@pytest.mark.parametrize("ranks", list(permutations(range(1, 5))), ids=str)
def test_weighted_ap_for_every_ranking(ranks):
    assert weighted_ap([3, 0, 1, 2], [F(1, 2), F(1, 3), F(1, 6)], ranks).verify()


def test_one_level_is_ap():
    found = weighted_ap([1, 0, 1], [5], [1, 2, 3])
    assert found.h_ap == found.averages[0] == F(5, 6)


WEIGHTED = weighted_ap([2, 0, 1, 1], [1, 3], [2, 1, 3, 4])


@pytest.mark.parametrize(
    "changes",
    [
        {"h_ap": F(1)},
        {"averages": WEIGHTED.averages[::-1]},
        {"weights": (F(3), F(1))},
        {"relevance": tuple(2 * r for r in WEIGHTED.relevance)},
        {"levels": (2, 0, 1, 0)},
        {"levels": None},
        {"permutation": (1, 2, 3, 4)},
    ],
)
def test_tampering_with_weighted_ap_is_noticed(changes):
    assert WEIGHTED.verify()
    assert not dataclasses.replace(WEIGHTED, **changes).verify()


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
        assert found.verify()
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


LEVELS = level_relevance([2, 10])


@pytest.mark.parametrize(
    "changes",
    [
        {"eq_4": LEVELS.monotone},
        {"monotone": LEVELS.eq_4},
        {"inverted": ()},
        {"fine_first": F(1)},
        {"alpha": 2},
        {"counts": (10, 2)},
        {"counts": None},
    ],
)
def test_tampering_with_levels_is_noticed(changes):
    assert LEVELS.verify()
    assert not dataclasses.replace(LEVELS, **changes).verify()


BAD = {
    "level above": (lambda: weighted_ap([3], [1, 1], [1]), ValueError, r"levels must be from 0 to 2, .*, got \(3,\)"),
    "weights unreached": (lambda: weighted_ap([1], [0, 1], [1]), ValueError, "must reach a level with a weight > 0"),
    "counts negative": (lambda: level_relevance([1, -1]), ValueError, r"counts\[1\] must be >= 0, got -1"),
    "counts zero": (lambda: level_relevance([0, 0]), ValueError, "counts must not all be 0"),
    "alpha 0": (lambda: level_relevance([1], 0), ValueError, "alpha must be >= 1, got 0"),
}


@pytest.mark.parametrize(("call", "error", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()
