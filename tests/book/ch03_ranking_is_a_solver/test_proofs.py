"""All permutations of a few scores, and the algebra of one swap."""

from dataclasses import replace
from fractions import Fraction as F
from itertools import permutations
from math import factorial

import pytest

from rankedu import reference
from rankedu.proofs.rearrangement import certificate
from rankedu_book.ch03_ranking_is_a_solver.all_permutations import exhaustive
from rankedu_book.ch03_ranking_is_a_solver.lemma import two_element_lemma


def dot(scores, ranks):
    return sum(F(y) * r for y, r in zip(scores, ranks, strict=True))


TIES = [([1, 1], 2), ([1, 1, 0], 2), ([0, 1, 0, 1], 4), ([2, 2, 2, 2], 24), ([0.1, 0.1, 0.3, 0.1, 0.3], 12)]


@pytest.mark.parametrize(("scores", "count"), TIES)
def test_all_permutations_of_tied_scores(scores, count):
    found = exhaustive(len(scores), scores)
    assert found.holds and len(found.minimisers) == found.expected_minimisers == count
    assert tuple(reference.rank(scores)) in found.minimisers
    least = min(dot(scores, ranks) for ranks in permutations(range(1, len(scores) + 1)))
    assert all(dot(scores, ranks) == least for ranks in found.minimisers)
    distinct = exhaustive(len(scores))
    assert distinct.holds and distinct.certified == distinct.permutations == factorial(len(scores))
    assert distinct.minimisers == (tuple(reference.rank(distinct.scores)),)


def test_the_value_of_a_certificate_is_both_sums():
    for ranks in permutations((1, 2, 3, 4)):
        proof = certificate([F(7, 10), 1, -1, F(7, 10)], ranks)
        order = [ranks.index(place) for place in (1, 2, 3, 4)]
        by_item = sum(score * rank for score, rank in zip(proof.scores, ranks, strict=True))  # Eq. 12
        by_rank = sum(proof.scores[item] * place for place, item in enumerate(order, 1))  # Eq. 13
        assert proof.start_value == by_item == by_rank
        assert proof.target == tuple(reference.rank(proof.scores)), "the ranks, and not the order"


def test_two_element_lemma():
    lemma = two_element_lemma()
    assert lemma.verify()
    for field in ("before", "after", "gain"):
        assert not replace(lemma, **{field: getattr(lemma, field) + lemma.lower}).verify()
    assert not replace(lemma, before=lemma.after, after=lemma.before, gain=-lemma.gain).verify()
