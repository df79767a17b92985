"""Differences and their intervals: against the t test, by simulation, and where they tie."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from rankedu_lab.runs import Record, collect_runs, judging
from rankedu_lab.runs.folders import find_records
from rankedu_lab.runs.judging import (
    CONFIRMED,
    REFUTED,
    UNDECIDED,
    Contrast,
    bootstrap,
    contrast,
    judge,
    milder,
    resolution,
)
from rankedu_lab.runs.packing import pack, unpack

ABOUT = {"preset": None, "seconds": 1.0, "machine": {}, "versions": {}, "git": None, "started": ""}
COUNTS = np.array([3, 5, 2])


def record(seed, first, values=(0.5, 0.25, 1.0), counts=COUNTS):
    """A run with ten queries of three base letters, in a tree of three levels."""
    evidence = {"levels": 3, "first": pack(first, "uint8"), "letters": pack([0, 1, 2], "int32")}
    evidence |= {"queries": pack(counts, "uint16"), "means": {"mAP@R": pack(values, "float32")}}
    return Record("lab", f"run{seed}", parameters={"seed": seed}, metrics={}, **ABOUT, evidence=evidence)


def plain(differences, threshold=0.0):
    """A contrast with one query a letter."""
    differences = np.asarray(differences, dtype=float)
    return Contrast(differences, np.ones_like(differences), threshold)


def test_intervals_hold_the_truth_as_often_as_they_say(monkeypatch):
    """Effects of seeds, of letters and of both: 95 % at least, and not all; of 2,000 samples, known to 2 %."""
    monkeypatch.setattr(judging, "bootstrap", partial(bootstrap, samples=2000))
    rng, within = np.random.default_rng(2), 0
    for _ in range(200):
        truth = 0.3 + rng.normal(size=(10, 1)) + rng.normal(size=(1, 25)) + rng.normal(size=(10, 25))
        [found] = judge({"claim": [plain(truth)]}).values()
        within += abs(found.estimate.mean - 0.3) <= found.estimate.half_width
    assert 184 <= within < 200


@given(st.integers(0, 10_000), st.floats(-2, 2))
@settings(max_examples=20, deadline=None)
def test_without_letters_it_is_the_paired_t_test_and_equal_runs_tie(seed, shift):
    one, other = np.random.default_rng(seed).normal(size=(2, 10, 1))
    one += shift
    expected = stats.ttest_rel(one[:, 0], other[:, 0])
    interval = expected.confidence_interval(0.95)
    [found] = judge({"claim": [plain(one - other)]}).values()
    assert found.estimate.mean == pytest.approx((one - other).mean())
    assert found.estimate.half_width == pytest.approx((interval.high - interval.low) / 2, rel=0.05)
    assert np.sign(found.p - 0.05) == np.sign(expected.pvalue - 0.05) or abs(expected.pvalue - 0.05) < 0.02
    [found] = judge({"claim": [plain(np.zeros((10, 3)))]}).values()
    assert (found.verdict, found.estimate.half_width, found.p) == (UNDECIDED, 0.0, 1.0)
    [above] = judge({"claim": [plain(np.zeros((10, 3)), -0.01)]}).values()
    assert above.verdict == CONFIRMED and above.p == 0.0


def test_the_bootstrap_is_the_definition():
    rng = np.random.default_rng(1)
    found = Contrast(rng.normal(size=(4, 3)), rng.integers(1, 5, (4, 3)).astype(float))
    rows, columns = rng.integers(4, size=(20_000, 4)), rng.integers(3, size=(20_000, 3))
    drawn = [(values[rows[:, :, None], columns[:, None]]).sum((1, 2)) for values in (found.sums, found.counts)]
    expected, samples = drawn[0] / drawn[1], bootstrap(found)
    assert samples.shape == (10_000,) and samples.mean() == pytest.approx(expected.mean(), abs=0.01)
    places = [0.025, 0.25, 0.75, 0.975]
    assert np.quantile(samples, places) == pytest.approx(np.quantile(expected, places), abs=0.03)


def test_few_letters_of_unequal_size_are_covered():
    """The 16 letters of the tree, two of which hold half of the queries, as if seeds made no difference."""
    [record] = [one for one in collect_runs(find_records() / "claims_cpu.jsonl")[0] if one.run == "happier-0"]
    counts = unpack(record.evidence["queries"]).astype(float)
    weights = counts / counts.sum()
    factor, freedom = resolution(weights)
    assert len(counts) == 16 and 5 < freedom < 6
    effects = np.random.default_rng(5).normal(size=(100_000, 16))
    mean = effects @ weights
    spread = np.sqrt(np.square(effects - mean[:, None]) @ np.square(weights))
    assert np.square(spread).mean() * factor == pytest.approx(np.square(mean).mean(), rel=0.02)
    for level in (0.05, 0.05 / 9):
        assert (np.abs(mean) > stats.t.isf(level / 2, freedom) * np.sqrt(factor) * spread).mean() <= 1.02 * level
        of_seeds = (np.abs(mean) > stats.t.isf(level / 2, 9) * np.sqrt(10 / 9) * spread).mean()
        assert of_seeds > 1.8 * level, "the degrees of freedom of the seeds would not do"
    values = np.random.default_rng(6).normal(size=(10, 2))
    of_two, of_one = (judge({"claim": [plain(each)]})["claim"].estimate for each in (values, values.mean(1)[:, None]))
    assert of_two.half_width > 3 * of_one.half_width, "two letters leave one degree of freedom"


@given(st.lists(st.floats(-1, 1, width=32), min_size=8, max_size=8), st.sampled_from([0.0, 0.25]))
@settings(max_examples=30, deadline=None)
def test_the_other_sign_gives_the_other_verdict(values, threshold):
    differences = np.array(values).reshape(4, 2)
    sides = (plain(sign * differences, sign * threshold) for sign in (1, -1))
    [found], [turned] = (judge({"claim": [side]}).values() for side in sides)
    opposite = {CONFIRMED: REFUTED, REFUTED: CONFIRMED, UNDECIDED: UNDECIDED}
    assert turned.verdict == opposite[found.verdict] and turned.estimate.mean == pytest.approx(-found.estimate.mean)


def at(p, sign=1):
    """Ten paired differences with this p."""
    spread = np.tile([1.0, -1.0], 5)[:, None]
    return plain(spread + sign * stats.t.isf(p / 2, 9) * stats.sem(spread))


def test_holm_lowers_the_bar_claim_by_claim_and_stops():
    found = judge({"second": [at(0.02)], "first": [at(0.001)], "third": [at(0.04)]})
    assert [found[name].verdict for name in ("first", "second", "third")] == [CONFIRMED] * 3
    assert [1 - found[name].level for name in ("first", "second", "third")] == pytest.approx([0.05 / 3, 0.05 / 2, 0.05])
    found = judge({"a": [at(0.03)], "b": [at(0.04)]})
    assert [each.verdict for each in found.values()] == [UNDECIDED] * 2, "each alone would be confirmed"
    assert {each.level for each in found.values()} == {0.975}
    assert judge({"a": [at(0.03)]}, family=2)["a"].verdict == UNDECIDED, "also if the other has not been tested yet"


def test_all_parts_confirm_and_one_refutes():
    rng = np.random.default_rng(4)
    good, bad, unknown = (plain(rng.normal(size=(10, 1)) * 0.1 + shift) for shift in (1.0, -1.0, 0.01))
    rules = {"both": [good, good], "one": [good, bad], "open": [good, unknown]}
    found = {name: judge({"claim": parts})["claim"] for name, parts in rules.items()}
    assert [found[name].verdict for name in found] == [CONFIRMED, REFUTED, UNDECIDED]
    assert found["one"].level == 0.975 and found["both"].level == 0.95, "one of two is refuted at half the level"
    alone, of_two = (judge({"claim": parts})["claim"] for parts in ([at(0.04, -1)], [good, at(0.04, -1)]))
    assert (alone.verdict, of_two.verdict) == (REFUTED, UNDECIDED), "which a part between the two levels does not reach"
    assert (alone.p, of_two.p) == (pytest.approx(0.04, rel=0.1), pytest.approx(0.08, rel=0.1))
    assert found["one"].estimate.mean == bad.mean and found["open"].estimate.mean == unknown.mean


def test_metrics_come_from_what_is_packed():
    """By hand: of ten queries in letters of three, five and two."""
    first = [3, 3, 0, 1, 2, 3, 3, 3, 0, 3]
    made = [record(seed, first) for seed in (0, 1)]
    none = [record(seed, [2] * 10, values=(0, 0, 0)) for seed in (0, 1)]
    hits = contrast([(1.0, made, "R@1"), (-1.0, none, "R@1")])
    assert hits.sums.tolist() == [[2, 3, 1]] * 2 and hits.mean == 0.6
    assert contrast([(2.0, made, "mAP@R")], 0.1).mean == pytest.approx(2 * (3 * 0.5 + 5 * 0.25 + 2) / 10)
    severity = milder(none, made)  # both err on the third, fourth, fifth and ninth: 2 less 0, 1, 2, 0
    assert severity.counts.tolist() == [[1, 2, 1]] * 2 and severity.mean == 5 / 4
    assert milder(made, none).counts.tolist() == [[1, 2, 1]] * 2 and milder(made, none).mean == -5 / 4


def test_what_cannot_be_compared_is_named(refused):
    made = [record(seed, [3] * 10) for seed in (0, 1)]
    other = [record(seed, [3] * 10, counts=COUNTS[::-1]) for seed in (0, 1)]
    seeds = r"of the same seeds in all terms, got \[\[0, 1\], \[1, 0\]\]"
    queries, metric = "of the same queries, got lab/run1, lab/run1", "must be R@1 or one of mAP@R, got 'AP'"
    rows = (
        (lambda: contrast([(1.0, made, "R@1"), (-1.0, made[::-1], "R@1")]), seeds),
        (lambda: contrast([(1.0, made, "R@1"), (-1.0, other, "R@1")]), queries),
        (lambda: milder(made, other), queries),
        (lambda: contrast([(1.0, made, "AP")]), metric),
    )
    refused((call, ValueError, message) for call, message in rows)
