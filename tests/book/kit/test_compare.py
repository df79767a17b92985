"""The bench of small experiments tells apart what differs, and hardly ever what does not."""

import numpy as np
import pytest
import torch

from rankbook.kit.compare import LEVEL, Comparison, compare, descend

STRENGTHS, RATES, STARTS, REPEATS = (0.1, 1.0, 10.0), (0.01, 0.1), 12, 200


def experiment(seed, advantage=0.0, starts=STARTS):
    """Two arms on paired starts whose settings differ by noise alone; the second is better by so many deviations."""
    random = np.random.default_rng(seed)
    start = 3 * random.standard_normal(starts)  # what a start has in common for all: more than all that is asked

    def train(arm, strength, rates, starts):
        validation, test = random.standard_normal((2, len(rates), starts))
        return start + validation, start + arm + test

    return compare(train, {"a": 0.0, "b": advantage}, {"untrained": start + random.standard_normal(starts)}, STRENGTHS,
                   rates=RATES, starts=starts)  # fmt: skip


def share(claim):
    return np.mean([claim(seed) for seed in range(REPEATS)])


def test_equal_arms_are_told_apart_no_more_often_than_announced():
    bound = LEVEL + 2.6 * np.sqrt(LEVEL * (1 - LEVEL) / REPEATS)  # of 200 fair draws
    assert share(lambda seed: "no difference" not in experiment(seed).says("b", "a")) <= bound
    assert share(lambda seed: not experiment(seed).below("a")) <= bound / 2, "one of six settings is not luck"


def test_a_known_effect_is_found_in_its_direction():
    assert share(lambda seed: experiment(seed, 2.0).says("b", "a").startswith("better")) > 0.95
    assert share(lambda seed: experiment(seed, 2.0).says("a", "b").startswith("worse")) > 0.95
    assert share(lambda seed: not experiment(seed, 2.0).below("b")) > 0.95


def test_several_comparisons_share_the_level():
    found = experiment(0)
    assert found.difference("a", "b", 5).half > 1.3 * found.difference("a", "b").half


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
