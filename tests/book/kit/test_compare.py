"""The bench of small experiments tells apart what differs, and hardly ever what does not."""

import numpy as np
import pytest
import torch
from scipy import stats

from rankbook.kit.compare import LEVEL, Comparison, compare, descend


def test_an_arm_is_told_from_another_by_the_paired_t_test_whose_level_several_comparisons_share():
    """Arms whose settings differ by noise alone, of which "b" is better; a start moves all of it more than that."""
    random = np.random.default_rng(0)
    start = 3 * random.standard_normal(12)

    def train(arm, strength, rates, starts):
        validation, test = random.standard_normal((2, len(rates), starts))
        return start + validation, start + arm + test

    untrained = {"untrained": start + random.standard_normal(12)}
    found = compare(train, {"a": 0, "b": 2, "c": 0, "d": -4}, untrained, (0.1, 1.0, 10.0), rates=(0.01, 0.1))
    paired = stats.ttest_rel(found.values("b"), found.values("a"))
    for comparisons in (1, 5):
        low, high = paired.confidence_interval(1 - LEVEL / comparisons)
        difference = found.difference("b", "a", comparisons)
        assert (difference.mean - difference.half, difference.mean + difference.half) == pytest.approx((low, high))
    assert found.says("b", "a").startswith("better (+") and found.says("a", "b").startswith("worse (-")
    assert found.says("c", "a").startswith("no difference seen") and "not above untrained" in found.says("c", "a")
    assert [bool(found.below(arm)) for arm in "abcd"] == [True, False, True, True], "one of six settings is not luck"


def by_hand(**options):
    """Two strengths, two rates and two starts: the first start does best at (10, 0.1), the second at (1, 0.1)."""
    validation = {"arm": np.array([[[1.0, 2.0], [3.0, 9.0]], [[4.0, 5.0], [6.0, 7.0]]])}
    test = {"arm": -validation["arm"]}
    return Comparison({"arm": (1.0, 10.0)}, (0.01, 0.1), validation, test, {"chance": np.array([0.0, 1.0])}, **options)


def test_each_start_chooses_by_validation_and_reports_the_test():
    found = by_hand()
    assert found.values("arm").tolist() == [-6.0, -9.0] and found.values("chance").tolist() == [0.0, 1.0]
    assert [chosen.tolist() for chosen in found.chosen("arm")] == [[10.0, 1.0], [0.1, 0.1]]
    assert found.curve("arm").tolist() == [[-3.0, -9.0], [-6.0, -7.0]]
    assert found.at_an_edge("arm") == (False, True), "each end of the strengths was chosen once, the larger rate twice"
    assert found.at_an_end_of_rates("arm").all()
    assert "5.5       0.1*" in found.table("arm") and "not above chance" in found.table("arm")
    assert not by_hand(ceilings=frozenset({"chance"})).below("arm")


def test_a_comparison_has_a_baseline_from_the_same_starts():
    for baselines in ({}, {"optimum": np.zeros(3)}, {"chance": np.zeros(2)}):
        with pytest.raises(ValueError, match=r"baselines must have .*got"):
            compare(lambda *_: None, {"arm": 0}, baselines, (1.0,), starts=3, ceilings=("optimum",))


def test_rates_train_beside_each_other_as_each_alone():
    start, batches = torch.randn(3, 4, generator=torch.Generator().manual_seed(0)), torch.arange(5.0)

    def loss(parameters, batch):
        return (parameters - batch).square().sum()

    together = list(descend(start, (0.01, 0.1), batches, loss))
    for at, rate in enumerate((0.01, 0.1)):
        (alone,) = list(descend(start, (rate,), batches, loss))[-1]
        assert len(together) == 5 and torch.equal(together[-1][at], alone) and not torch.equal(alone, start)
