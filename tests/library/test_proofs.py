"""The proofs, exactly: small n in full, larger n by Hypothesis; what is changed in a certificate is noticed."""

import random
import sys
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction as F
from itertools import product

import pytest
import sympy
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rankedu import reference
from rankedu.metrics import hierarchical_average_precision, hierarchical_rank
from rankedu.proofs import hierarchical
from rankedu.proofs.rearrangement import Swap, certificate
from rankedu.proofs.recall_weights import Telescoping, closed_form, lemma_1, proposition_2

# Theorem 1 and Proposition 1


def dot(scores, ranks):
    return sum(F(y) * r for y, r in zip(scores, ranks, strict=True))


reals = st.floats(allow_nan=False, allow_infinity=False)
numbers = st.one_of(st.integers(-3, 3), st.fractions(max_denominator=9), reals)


@settings(max_examples=150)
@given(st.lists(numbers, min_size=1, max_size=25), st.randoms(use_true_random=False))
def test_certificate_of_any_scores(scores, random):
    n = len(scores)
    ranks = random.sample(range(1, n + 1), n)
    proof, target = certificate(scores, ranks), tuple(reference.rank([F(y) for y in scores]))
    assert proof.verify() and proof.target == target
    assert proof.start_value == dot(scores, ranks) and proof.end_value == dot(scores, target)
    assert proof.total_gain == sum((s.gain for s in proof.swaps), F(0)) == proof.start_value - proof.end_value
    inversions = sum((ranks[i] < ranks[j]) != (target[i] < target[j]) for i in range(n) for j in range(i))
    assert len(proof.swaps) == inversions and all(s.gain >= 0 for s in proof.swaps)
    if proof.distinct:
        assert all(s.gain > 0 for s in proof.swaps) and (proof.total_gain == 0) == (tuple(ranks) == target)


# H-rank as ranks within nested sets


relevances = st.one_of(st.integers(0, 3), st.fractions(0, 3, max_denominator=9), st.floats(0, 1e6, allow_nan=False))


@settings(max_examples=80)
@given(st.lists(relevances, min_size=1, max_size=12).filter(any), st.randoms(use_true_random=False))
def test_certificate_of_any_ranking(listed, random):
    ranks = random.sample(range(1, len(listed) + 1), len(listed))
    proof, exact = hierarchical.certificate(listed, ranks), [F(value) for value in listed]
    assert proof.verify() and sum(proof.steps) == max(exact)
    assert list(proof.h_ranks) == reference.h_rank([-r for r in ranks], exact)
    assert proof.h_ap == reference.hierarchical_average_precision([-r for r in ranks], exact)
    scores, rel = -torch.tensor(ranks).double(), torch.tensor([float(value) for value in exact], dtype=torch.float64)
    assert hierarchical_average_precision(scores, rel).item() == pytest.approx(float(proof.h_ap), rel=1e-12)
    expected = [float(h) for h in proof.h_ranks]
    assert hierarchical_rank(scores, rel).tolist() == pytest.approx(expected, rel=1e-12, abs=1e-12 * max(expected))


# Lemma 1, Proposition 2 and Eq. 20

k = sympy.Symbol("k", positive=True, integer=True)
LOG, LOGLOG = closed_form("log"), closed_form("loglog")


def some_weights(seed, n=12):
    rng = random.Random(seed)
    return [F(rng.randrange(20), rng.randrange(1, 20)) for _ in range(n)]


weights = st.fractions(0, 20, max_denominator=20)


@given(st.lists(weights, min_size=12, max_size=12), st.lists(st.integers(0, 14), min_size=1, max_size=8))
def test_lemma_1_on_random_fractions(w, r):
    """The r_i may be 0, where the supplementary calls them positive, and beyond the last weight."""
    proof = lemma_1(w, r)
    assert proof.verify()
    assert proof.by_level == sum(w[level - 1] for r_i in r for level in range(1, min(r_i, 12) + 1))
    assert lemma_1(w, [0, *r]).by_item == proof.by_item


def test_proposition_2_is_eq_19_with_the_printed_definitions():
    for ranking in (r for n in range(1, 7) for r in product((False, True), repeat=n) if any(r)):
        w, y = some_weights(3, len(ranking)), [F(-place) for place in range(len(ranking))]
        loss = sum(weight * reference.loss_at_k(y, ranking, level) for level, weight in enumerate(w, 1))
        proof = proposition_2(w, ranking)
        assert proof.verify() and proof.by_level == loss
        assert proof.by_item == reference.recall_loss(y, ranking, lambda r, w=w: sum(w[:r], F(0)))


def test_without_sympy_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sympy", None)
    with pytest.raises(ImportError, match=r"rankedu\[lab\]"):
        closed_form("log")


def test_closed_forms_of_eq_20_telescope():
    """And a wrong one does not."""
    for claim, W in ((LOG, reference.W_log), (LOGLOG, reference.W_loglog)):
        assert claim.verify()
        assert [float(claim.total.subs(claim.k, n)) for n in range(9)] == pytest.approx([W(n) for n in range(9)])
    for weight, total in [
        (LOG.weight, sympy.log(k)),  # W(0) is not 0
        (LOG.weight, sympy.log(1 + 2 * k)),
        (1 / k, sympy.log(1 + k)),
        (LOGLOG.weight, LOG.total),
        (sympy.log(1 + sympy.log(1 + 1 / k)), LOGLOG.total),
    ]:
        assert not Telescoping(k, weight, total).verify(), total
    assert Telescoping(k, sympy.log(1 + 2 / k), sympy.log((k + 1) * (k + 2) / 2)).verify()


# A certificate in which anything is changed does not verify, whatever is put there

H_AP = hierarchical.certificate([F(1, 3), 1, 0, F(1, 3), F(2, 3)], [1, 3, 2, 5, 4])
SORTED = certificate([F(1, 2), F(1, 4), 1, F(3, 4)], [1, 2, 4, 3])
TIED = certificate([0.5, 0.5, 0.25], [2, 1, 3])  # ends at the ordinal ranks, through a swap without gain
SUM = proposition_2([1, 3], [True, False, False, True])


def variations(value):
    """What is like a value, but not it: in one place there is another number, no number, one entry less, or a text."""
    if is_dataclass(value):
        for field in fields(value):
            yield from (replace(value, **{field.name: other}) for other in variations(getattr(value, field.name)))
    elif isinstance(value, tuple):
        yield from (value[:-1], (), "abcd")
        for i, entry in enumerate(value):
            yield from ((*value[:i], other, *value[i + 1 :]) for other in variations(entry))
    else:
        yield from (value + 1, value - 1, -1 - value, value + F(1, 10**9), float("nan"), None, "a")


def test_any_change_is_noticed():
    for proof in (H_AP, SORTED, TIED, SUM):
        assert proof.verify()
        for other in variations(proof):
            assert other == proof or not other.verify(), other


def test_changes_that_fit_each_other_are_noticed():
    even, more = SORTED.total_gain / len(SORTED.swaps), SORTED.total_gain + 1
    first = replace(SORTED.swaps[0], gain=float(SORTED.swaps[0].gain))
    for proof, changes in [
        (H_AP, {"relevance": list(H_AP.relevance)}),
        (H_AP, {"permutation": (2, 1, 3, 4, 5)}),
        (H_AP, {"h_ranks": tuple(2 * h for h in H_AP.h_ranks), "h_ap": 2 * H_AP.h_ap}),
        (SORTED, {"swaps": tuple(replace(s, gain=even) for s in SORTED.swaps)}),
        (SORTED, {"swaps": (first, *SORTED.swaps[1:])}),
        (SORTED, {"swaps": (*SORTED.swaps, Swap(1, 2, 3, F(-1, 4)), Swap(1, 3, 2, F(1, 4)))}),  # there and back
        (SORTED, {"start_value": SORTED.start_value + 1, "total_gain": more}),
        (SORTED, {"end_value": SORTED.end_value - 1, "total_gain": more}),
        (SORTED, {"target": (4, 3, 2, 1)}),
        (SORTED, {"permutation": (True, 2, 4, 3)}),
        (TIED, {"swaps": (), "target": (2, 1, 3)}),  # sorted by value, but not rk(y)
        (TIED, {"swaps": (*TIED.swaps, Swap(1, 0, 1, F(0)))}),  # a tie turned back
        (TIED, {"swaps": TIED.swaps * 3}),
        (SUM, {"by_level": F(1), "by_item": F(1)}),
        (SUM, {"weights": (F(1), F(2))}),
    ]:
        assert not replace(proof, **changes).verify(), changes
    # the swaps at ranks 1 and 3 do not touch each other: their order does not matter
    apart = certificate([1, 2, -2, -1], [1, 2, 3, 4])
    assert [s.rank for s in apart.swaps] == [1, 3] and replace(apart, swaps=apart.swaps[::-1]).verify()
