"""Theorem 1 and Proposition 1, exactly: small n in full, larger n by Hypothesis."""

import sys
from dataclasses import replace
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
from rankedu.proofs.rearrangement import certificate, exhaustive, two_element_lemma


def ordinal(scores):
    return tuple(reference.rank(scores))


def dot(scores, ranks):
    return sum(Fraction(y) * r for y, r in zip(scores, ranks, strict=True))


def test_all_permutations_of_distinct_scores():
    for n in range(1, 7):
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


@settings(max_examples=150)
@given(st.lists(numbers, min_size=1, max_size=25), st.randoms(use_true_random=False))
def test_certificate_of_any_scores(scores, random):
    n = len(scores)
    ranks = random.sample(range(1, n + 1), n)
    proof, target = certificate(scores, ranks), ordinal([Fraction(y) for y in scores])
    assert proof.verify()
    assert proof.target == target
    assert proof.start_value == dot(scores, ranks)
    assert proof.end_value == dot(scores, proof.target)
    assert proof.total_gain == sum((s.gain for s in proof.swaps), Fraction(0)) == proof.start_value - proof.end_value
    inversions = sum((ranks[i] < ranks[j]) != (target[i] < target[j]) for i in range(n) for j in range(i))
    assert len(proof.swaps) == inversions
    assert all(s.gain >= 0 for s in proof.swaps)
    if proof.distinct:
        assert all(s.gain > 0 for s in proof.swaps)
        assert (proof.total_gain == 0) == (tuple(ranks) == proof.target)


def test_ties_end_at_the_ordinal_ranks_through_swaps_without_gain():
    tied = certificate([0.5, 0.5, 0.25], [2, 1, 3])
    assert [s.gain for s in tied.swaps] == [0]
    assert tied.target == (1, 2, 3) != tied.permutation
    assert tied.total_gain == 0 and tied.verify()


def test_input_of_any_kind_gives_the_same_certificate():
    for wrap in (tuple, np.array, torch.tensor, iter):
        proof = certificate(wrap([0.5, 0.125, 0.75]), wrap([1, 2, 3]))
        assert proof == certificate([0.5, 0.125, 0.75], [1, 2, 3]) and proof.verify()
    assert certificate(torch.tensor([0.1], dtype=torch.float64), [1.0]).scores == (Fraction(0.1),)
    assert certificate([np.float32(0.5), Decimal("0.25")], np.array([2.0, 1.0])).total_gain == Fraction(1, 4)


def test_two_element_lemma(monkeypatch):
    lemma = two_element_lemma()
    assert lemma.verify()
    for field in ("before", "after", "gain"):
        assert not replace(lemma, **{field: getattr(lemma, field) + lemma.lower}).verify()
    assert not replace(lemma, before=lemma.after, after=lemma.before, gain=-lemma.gain).verify()
    monkeypatch.setitem(sys.modules, "sympy", None)
    with pytest.raises(ImportError, match=r"rankedu\[lab\]"):
        two_element_lemma()
