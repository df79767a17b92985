"""H-rank as ranks within nested sets, exactly: small n in full, larger n by Hypothesis; and tampered certificates."""

import dataclasses
from fractions import Fraction

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rankedu import reference
from rankedu.metrics import hierarchical_average_precision, hierarchical_rank
from rankedu.proofs.hierarchical import certificate, exhaustive

F = Fraction
PROOF = certificate([F(1, 3), 1, 0, F(1, 3), F(2, 3)], [1, 3, 2, 5, 4])


@pytest.mark.parametrize("n", range(1, 6))
def test_all_rankings(n):
    found = exhaustive(n)
    assert found.holds
    assert found.certified == found.rankings == 4**n - 1
    assert found.binary == found.binary_equal == 3 * (2**n - 1)
    assert found.perfect == found.ordered == (n + 1) * (n + 2) * (n + 3) // 6 - 1  # sorted lists of four values
    assert 0 < found.least <= 1


@pytest.mark.parametrize("values", [[0, 1], [1], [0, 0.1, 0.3, 0.2], [1, 2, 4]])
def test_all_rankings_of_other_values(values):
    found = exhaustive(4, values)
    assert found.holds and found.certified == len(set(values)) ** 4 - (0 in values)


def test_the_least_h_ap_of_one_relevant_item_puts_it_last():
    assert exhaustive(5, [0, 1]).least == F(1, 5)


relevances = st.one_of(
    st.integers(0, 3), st.fractions(min_value=0, max_value=3, max_denominator=9), st.floats(0, 1e6, allow_nan=False)
)


@settings(deadline=None, max_examples=80)
@given(st.lists(relevances, min_size=1, max_size=12).filter(any), st.randoms(use_true_random=False))
def test_certificate_of_any_ranking(listed, random):
    ranks = random.sample(range(1, len(listed) + 1), len(listed))
    proof = certificate(listed, ranks)
    exact = [Fraction(value) for value in listed]
    assert proof.verify()
    assert list(proof.h_ranks) == reference.h_rank([-r for r in ranks], exact)
    assert proof.h_ap == reference.hierarchical_average_precision([-r for r in ranks], exact)
    assert sum(proof.steps) == max(exact)
    scores, rel = -torch.tensor(ranks), torch.tensor([float(value) for value in exact], dtype=torch.float64)
    assert hierarchical_average_precision(scores.double(), rel).item() == pytest.approx(float(proof.h_ap), rel=1e-12)
    expected = [float(h) for h in proof.h_ranks]
    assert hierarchical_rank(scores, rel).tolist() == pytest.approx(expected, rel=1e-12, abs=1e-12 * max(expected))


@pytest.mark.parametrize(("level", "h_rank"), [(2, F(5, 3)), (1, F(4, 3))])
def test_fig_3(level, h_rank):
    """Relevance l/L, that is Eq. 4 with one item a level."""
    proof = certificate([F(level, 3), 1], [1, 2])
    assert proof.h_ranks[1] == h_rank and proof.verify()


def test_equal_relevance_makes_one_set():
    """Levels [2, 2, 1, 0] with Eq. 4 and alpha = 1: levels 1 and 2 are worth 1/2 each."""
    proof = certificate([F(1, 2), F(1, 2), F(1, 2), 0], [1, 2, 3, 4])
    assert proof.thresholds == (F(1, 2),) and proof.h_ap == 1 and proof.verify()


def within(proof, k, t, value):
    rows = [list(row) for row in proof.within]
    rows[k][t] = value
    return {"within": tuple(map(tuple, rows))}


TAMPERED = {
    "relevance": {"relevance": (F(1), *PROOF.relevance[1:])},
    "relevance negative": {"relevance": (F(-1), *PROOF.relevance[1:])},
    "relevance nan": {"relevance": (float("nan"), *PROOF.relevance[1:])},
    "relevance as list": {"relevance": list(PROOF.relevance)},
    "permutation": {"permutation": (2, 1, 3, 4, 5)},
    "permutation with a repeat": {"permutation": (1, 1, 3, 4, 5)},
    "threshold": {"thresholds": (F(1, 4), *PROOF.thresholds[1:])},
    "threshold dropped": {"thresholds": PROOF.thresholds[:-1]},
    "rank within": within(PROOF, 1, 0, 3),
    "rank within of an outsider": within(PROOF, 2, 0, 1),
    "ranks within, same sum": {**within(PROOF, 1, 0, 1), **within(PROOF, 1, 1, 2)},
    "h-rank": {"h_ranks": (PROOF.h_ranks[0] + 1, *PROOF.h_ranks[1:])},
    "h-ranks doubled": {"h_ranks": tuple(2 * h for h in PROOF.h_ranks), "h_ap": 2 * PROOF.h_ap},
    "h-ap": {"h_ap": PROOF.h_ap + F(1, 10**9)},
    "a string": {"relevance": "abcde"},
}


@pytest.mark.parametrize("kind", TAMPERED)
def test_tampering_is_noticed(kind):
    assert PROOF.verify()
    assert not dataclasses.replace(PROOF, **TAMPERED[kind]).verify()


@pytest.mark.parametrize(
    "changes",
    [{"certified": 25}, {"perfect": 10}, {"binary_equal": 0}, {"least": F(0)}, {"rankings": 0, "certified": 0}],
)
def test_a_count_that_is_off_does_not_hold(changes):
    assert exhaustive(3, [0, 1, 2]).holds
    assert not dataclasses.replace(exhaustive(3, [0, 1, 2]), **changes).holds


BAD = {
    "negative": (lambda: certificate([1, -1], [1, 2]), ValueError, r"relevance\[1\] must be >= 0, got -1"),
    "zeros": (lambda: certificate([0, 0], [1, 2]), ValueError, "relevance must have an entry > 0, got 2 times 0"),
    "lengths": (lambda: certificate([1, 2], [1]), ValueError, "permutation must have one rank an item"),
    "n of 0": (lambda: exhaustive(0), ValueError, "n must be >= 1, got 0"),
    "n of 8": (lambda: exhaustive(8), ValueError, r"at most 20,000, got n = 8 and 4 values .*certificate\(\)"),
    "values of 0": (lambda: exhaustive(2, [0]), ValueError, "values must have an entry > 0"),
}


@pytest.mark.parametrize(("call", "error", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()
