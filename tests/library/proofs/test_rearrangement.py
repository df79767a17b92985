"""Theorem 1 and Proposition 1, exactly: small n in full, larger n by Hypothesis; and tampered certificates."""

import dataclasses
from decimal import Decimal
from fractions import Fraction
from itertools import permutations
from math import factorial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rankedu import reference
from rankedu.proofs.rearrangement import Swap, certificate, exhaustive, two_element_lemma

PROOF = certificate([Fraction(1, 2), Fraction(1, 4), 1, Fraction(3, 4)], [1, 2, 4, 3])
TIED = certificate([0.5, 0.5, 0.25], [2, 1, 3])


def ordinal(scores):
    return tuple(reference.rank(scores))


def dot(scores, ranks):
    return sum(Fraction(y) * r for y, r in zip(scores, ranks, strict=True))


def inversions(scores, ranks):
    target = ordinal(scores)
    n = len(scores)
    return sum((ranks[i] < ranks[j]) != (target[i] < target[j]) for i in range(n) for j in range(i))


@pytest.mark.parametrize("n", range(1, 8))
def test_all_permutations_of_distinct_scores(n):
    found = exhaustive(n)
    assert found.holds
    assert found.certified == found.permutations == factorial(n)
    assert found.minimisers == (ordinal(found.scores),)


@pytest.mark.parametrize(
    ("scores", "count"),
    [([1, 1], 2), ([1, 1, 0], 2), ([0, 1, 0, 1], 4), ([2, 2, 2, 2], 24), ([0.1, 0.1, 0.3, 0.1, 0.3], 12)],
)
def test_all_permutations_of_tied_scores(scores, count):
    found = exhaustive(len(scores), scores)
    assert found.holds
    assert len(found.minimisers) == found.expected_minimisers == count
    assert ordinal(scores) in found.minimisers
    least = min(dot(scores, ranks) for ranks in permutations(range(1, len(scores) + 1)))
    assert all(dot(scores, ranks) == least for ranks in found.minimisers)


numbers = st.one_of(
    st.integers(-3, 3), st.fractions(max_denominator=9), st.floats(allow_nan=False, allow_infinity=False)
)


@settings(deadline=None, max_examples=150)
@given(st.lists(numbers, min_size=1, max_size=25), st.randoms(use_true_random=False))
def test_certificate_of_any_scores(scores, random):
    ranks = random.sample(range(1, len(scores) + 1), len(scores))
    proof = certificate(scores, ranks)
    assert proof.verify()
    assert proof.target == ordinal([Fraction(y) for y in scores])
    assert proof.start_value == dot(scores, ranks)
    assert proof.end_value == dot(scores, proof.target)
    assert proof.total_gain == sum((s.gain for s in proof.swaps), Fraction(0)) == proof.start_value - proof.end_value
    assert len(proof.swaps) == inversions([Fraction(y) for y in scores], ranks)
    assert all(s.gain >= 0 for s in proof.swaps)
    if proof.distinct:
        assert all(s.gain > 0 for s in proof.swaps)
        assert (proof.total_gain == 0) == (tuple(ranks) == proof.target)


def test_ties_end_at_the_ordinal_ranks_through_swaps_without_gain():
    assert [s.gain for s in TIED.swaps] == [0]
    assert TIED.target == (1, 2, 3)
    assert TIED.total_gain == 0
    assert TIED.permutation != TIED.target
    assert TIED.verify()


@pytest.mark.parametrize("wrap", [list, tuple, np.array, torch.tensor, lambda x: (v for v in x)])
def test_input_of_any_kind_gives_the_same_certificate(wrap):
    proof = certificate(wrap([0.5, 0.1, 0.75]), wrap([1, 2, 3]))
    assert proof == certificate([0.5, 0.1, 0.75], [1, 2, 3]) or wrap is torch.tensor  # float32: another 0.1
    assert proof.verify()
    assert certificate(torch.tensor([0.1], dtype=torch.float64), [1.0]).scores == (Fraction(0.1),)
    assert certificate([np.float32(0.5), Decimal("0.25")], np.array([2.0, 1.0])).total_gain == Fraction(1, 4)


def swap(proof, k, **changes):
    swaps = list(proof.swaps)
    swaps[k] = dataclasses.replace(swaps[k], **changes)
    return {"swaps": tuple(swaps)}


TAMPERED = {
    "gains moved between swaps": {
        "swaps": tuple(dataclasses.replace(s, gain=PROOF.total_gain / len(PROOF.swaps)) for s in PROOF.swaps)
    },
    "gain as float": swap(PROOF, 0, gain=float(PROOF.swaps[0].gain)),
    "all swaps dropped": {"swaps": ()},
    "there and back": {"swaps": (*PROOF.swaps, Swap(1, 2, 3, Fraction(-1, 4)), Swap(1, 3, 2, Fraction(1, 4)))},
    "other rank": swap(PROOF, 0, rank=1),
    "rank zero": swap(PROOF, 0, rank=0),
    "item out of range": swap(PROOF, 0, up=9),
    "score": {"scores": (Fraction(2), *PROOF.scores[1:])},
    "score nan": {"scores": (float("nan"), *PROOF.scores[1:])},
    "start value": {"start_value": PROOF.start_value + 1, "total_gain": PROOF.total_gain + 1},
    "end value": {"end_value": PROOF.end_value - 1, "total_gain": PROOF.total_gain + 1},
    "total gain": {"total_gain": PROOF.total_gain + 1},
    "target": {"target": (4, 3, 2, 1)},
    "permutation": {"permutation": (2, 1, 4, 3)},
    "permutation with a repeat": {"permutation": (1, 1, 4, 3)},
    "permutation of booleans": {"permutation": (True, 2, 4, 3)},
    "a string": {"scores": "abcd"},
}


@pytest.mark.parametrize("kind", TAMPERED)
def test_tampering_is_noticed(kind):
    assert PROOF.verify()
    assert not dataclasses.replace(PROOF, **TAMPERED[kind]).verify()


@pytest.mark.parametrize(
    "changes",
    [
        {"swaps": ()},
        {"swaps": (), "target": (2, 1, 3)},  # sorted by value, but not rk(y)
        {"swaps": (*TIED.swaps, Swap(1, 0, 1, Fraction(0)))},  # a tie turned back
        {"swaps": TIED.swaps * 3},
    ],
)
def test_tampering_with_ties_is_noticed(changes):
    assert not dataclasses.replace(TIED, **changes).verify()


def test_another_order_of_swaps_is_another_proof():
    # 4 3 | 2 1 reversed pairs: the two swaps at ranks 1 and 3 do not touch each other
    proof = certificate([1, 2, -2, -1], [1, 2, 3, 4])
    assert [s.rank for s in proof.swaps] == [1, 3]
    assert dataclasses.replace(proof, swaps=proof.swaps[::-1]).verify()


@pytest.mark.parametrize("field", ["before", "after", "gain"])
def test_two_element_lemma(field):
    lemma = two_element_lemma()
    assert lemma.verify()
    assert not dataclasses.replace(lemma, **{field: getattr(lemma, field) + lemma.lower}).verify()


def test_two_element_lemma_rejects_a_wrong_sign():
    lemma = two_element_lemma()
    turned = dataclasses.replace(lemma, before=lemma.after, after=lemma.before, gain=-lemma.gain)
    assert not turned.verify()


def test_without_sympy(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "sympy", None)
    with pytest.raises(ImportError, match=r"rankedu\[lab\]"):
        two_element_lemma()


@pytest.mark.parametrize(
    ("scores", "ranks", "error", "message"),
    [
        ([1.0, float("nan")], [1, 2], ValueError, r"scores\[1\] must be finite, got nan"),
        (torch.tensor([float("inf")]), [1], ValueError, r"scores\[0\] must be finite, got inf"),
        ([1, 2], [1], ValueError, r"permutation must have one rank an item, expected 2, got 1"),
        ([1, 2], [0, 1], ValueError, r"ranks start at 1"),
        ([1, 2, 3], [1, 1, 3], ValueError, r"got \[1, 1, 3\]: 2 is missing"),
        ([1, 2], [1.5, 2], ValueError, r"1 is missing"),
        ([1, 2], ["1", "2"], TypeError, r"permutation\[0\] must be a whole number, got '1'"),
        ([], [], ValueError, r"scores must have at least one entry"),
        ([[1, 2], [3, 4]], [1, 2], TypeError, r"scores\[0\] must be a real number, got \[1, 2\] \(list\)"),
        (3.0, [1], TypeError, r"one-dimensional"),
        ("12", [1, 2], TypeError, r"got the text '12'"),
    ],
)
def test_bad_input_is_named(scores, ranks, error, message):
    with pytest.raises(error, match=message):
        certificate(scores, ranks)


@pytest.mark.parametrize(
    ("args", "error", "message"),
    [
        ((10,), ValueError, "n must be at most 9, got 10 .*use certificate"),
        ((True,), TypeError, "n must be an int"),
        ((3, [1, 2]), ValueError, "scores must have n = 3 entries, got 2"),
    ],
)
def test_exhaustive_rejects(args, error, message):
    with pytest.raises(error, match=message):
        exhaustive(*args)


def test_linear_time_on_sorted_scores():
    n = 20_000
    proof = certificate(range(n, 0, -1), range(1, n + 1))
    assert proof.swaps == () and proof.verify()
