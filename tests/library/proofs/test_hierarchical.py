"""H-rank as ranks within nested sets, exactly: small n in full, larger n by Hypothesis."""

from fractions import Fraction as F

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rankedu import reference
from rankedu.metrics import hierarchical_average_precision, hierarchical_rank
from rankedu.proofs.hierarchical import certificate, exhaustive


def test_all_rankings():
    for n in range(1, 5):
        found = exhaustive(n)
        assert found.holds
        assert found.certified == found.rankings == 4**n - 1
        assert found.binary == found.binary_equal == 3 * (2**n - 1)
        assert found.perfect == found.ordered == (n + 1) * (n + 2) * (n + 3) // 6 - 1  # sorted lists of four values
        assert 0 < found.least <= 1
    for values in ([0, 1], [1], [0, 0.1, 0.3, 0.2], [1, 2, 4]):
        found = exhaustive(4, values)
        assert found.holds and found.certified == len(set(values)) ** 4 - (0 in values)
    assert exhaustive(5, [0, 1]).least == F(1, 5)  # the one relevant item stands last


relevances = st.one_of(
    st.integers(0, 3), st.fractions(min_value=0, max_value=3, max_denominator=9), st.floats(0, 1e6, allow_nan=False)
)


@settings(max_examples=80)
@given(st.lists(relevances, min_size=1, max_size=12).filter(any), st.randoms(use_true_random=False))
def test_certificate_of_any_ranking(listed, random):
    ranks = random.sample(range(1, len(listed) + 1), len(listed))
    proof = certificate(listed, ranks)
    exact = [F(value) for value in listed]
    assert proof.verify()
    assert list(proof.h_ranks) == reference.h_rank([-r for r in ranks], exact)
    assert proof.h_ap == reference.hierarchical_average_precision([-r for r in ranks], exact)
    assert sum(proof.steps) == max(exact)
    scores, rel = -torch.tensor(ranks), torch.tensor([float(value) for value in exact], dtype=torch.float64)
    assert hierarchical_average_precision(scores.double(), rel).item() == pytest.approx(float(proof.h_ap), rel=1e-12)
    expected = [float(h) for h in proof.h_ranks]
    assert hierarchical_rank(scores, rel).tolist() == pytest.approx(expected, rel=1e-12, abs=1e-12 * max(expected))


def test_equal_relevance_makes_one_set():
    """Levels [2, 2, 1, 0] with Eq. 4 and alpha = 1: levels 1 and 2 are worth 1/2 each."""
    proof = certificate([F(1, 2), F(1, 2), F(1, 2), 0], [1, 2, 3, 4])
    assert proof.thresholds == (F(1, 2),) and proof.h_ap == 1 and proof.verify()
