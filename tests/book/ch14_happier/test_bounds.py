"""Which settings keep the bound: verdicts, against other arithmetic; counter-examples; tampered certificates."""

import dataclasses
import math
import random
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
import torch

from rankbook.ch14_happier.bounds import compare, lower_bound, ratio_lemma, upper_bound
from rankbook.ch14_happier.exact_steps import Interval, Step, sigmoid
from rankedu import reference
from rankedu.rankers import PRESETS, SupremumRanker

JOINED, HAPPIER, INAT = (PRESETS[name] for name in ("joined", "happier", "happier_inat"))
ANGLES, LABELS = (0.0, 40.0, -39.9, 180.0), ((0, 0), (0, 0), (1, 1), (2, 2))


def plain(scores, relevance, **setting):
    """The two losses in floating point, by the definitions."""
    step = lambda x: reference.happier_step(x, **setting)  # noqa: E731
    return 1 - reference.hierarchical_average_precision(scores, relevance), reference.happier_loss(
        scores, relevance, step
    )


@pytest.mark.parametrize("digits", [5, 30, 200])
@pytest.mark.parametrize("x", ["0", "1/3", "-1/3", "5", "-5", "199/10", "-200", "-9999", "1/1000000000", "700"])
def test_sigmoid_lies_between_its_bounds(x, digits):
    x = Fraction(x)
    found = sigmoid(x, digits)
    low, high = found.low, found.high
    with mpmath.workdps(5000):
        true = 1 / (1 + mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator))
        assert mpmath.mpf(low.numerator) / low.denominator <= true <= mpmath.mpf(high.numerator) / high.denominator
    assert (low == high) == (x == 0)
    assert high - low <= 10 * (1 + abs(x)) * Fraction(10) ** -digits * min(high, 1 - low)


def test_sigmoid_far_out_is_between_a_bound_and_its_limit():
    assert sigmoid(Fraction(10**9), 30).high == 1 and sigmoid(Fraction(-(10**9)), 30).low == 0
    assert 0 < 1 - sigmoid(Fraction(10**9), 30).low < Fraction(1, 10**4000)


@pytest.mark.parametrize("name", PRESETS)
def test_step_is_that_of_the_ranker(name):
    x = [-2.0, -0.3, -1e-9, 0.0, 1e-9, 0.01, 0.05, math.nextafter(0.05, 1), 0.3, 2.0]
    step = Step.exact(temperature=0.01, slope=100, delta=0.05, **PRESETS[name])
    expected = SupremumRanker.preset(name).step(torch.tensor(x, dtype=torch.float64)).tolist()
    for value, other in zip(x, expected, strict=True):
        found = step.at(Fraction(value), 30)
        assert float(found.low) == pytest.approx(other, rel=1e-12) and found.high - found.low < Fraction(1, 10**25)


@pytest.mark.parametrize(
    ("name", "holds", "monotone", "places"),
    [
        ("joined", True, True, [0.0]),
        ("happier", True, False, [0.0, 0.05]),
        ("happier_inat", False, True, [0.05]),
        ("roadmap", True, False, [0.0, 0.05]),
        ("roadmap_inat", False, True, [0.05]),
        ("roadmap_2021", True, True, [0.0, 0.05]),
        ("roadmap_inat_2021", False, True, [0.05]),
    ],
)
def test_verdicts_of_the_published_settings(name, holds, monotone, places):
    found = upper_bound(**PRESETS[name])
    assert (found.holds, found.monotone, found.continuous) == (holds, monotone, False)
    assert [float(jump.at) for jump in found.jumps] == places
    assert len(found.counterexamples) == (0 if holds else 2)
    assert found.verify()


def test_every_preset_has_a_verdict():
    parameters = test_verdicts_of_the_published_settings.pytestmark[0].args[1]
    assert {row[0] for row in parameters} == set(PRESETS)


def test_the_default_offset_falls_at_delta():
    at_zero, at_delta = upper_bound(**HAPPIER).jumps
    assert (float(at_zero.left.low), float(at_zero.right.low)) == (0.5, 1.0) and at_zero.up
    assert round(float(at_delta.left.low), 4) == 1.4933 and float(at_delta.right.low) == 1.44 and not at_delta.up
    (at_zero,) = upper_bound(**JOINED).jumps
    assert at_zero.up


@pytest.mark.parametrize("delta", [0, 0.05, 1])
@pytest.mark.parametrize("start", [0, 0.25, Fraction(1, 2), 0.75])
@pytest.mark.parametrize("offset", [None, 0, 0.5, 0.9, 1, 1.44, 6])
@pytest.mark.parametrize("slope", [0, 100])
def test_verdict_is_that_of_a_fine_grid(delta, start, offset, slope):
    """The theorem: the bound holds if and only if the step is at least 1 for x > 0; and then it is not continuous."""
    setting = {"delta": delta, "start": start, "offset": offset, "slope": slope}
    found = upper_bound(**setting)
    step = SupremumRanker(**{name: None if value is None else float(value) for name, value in setting.items()}).step
    x = torch.cat([torch.logspace(-12, 1, 500, dtype=torch.float64), delta + torch.logspace(-12, 0, 300).double()])
    assert found.holds == bool((step(x) >= 1 - 1e-9).all())
    assert found.verify()
    assert not (found.holds and found.continuous)
    grid = torch.linspace(-0.3, 1.3, 16_001, dtype=torch.float64)
    assert found.monotone == bool((step(grid).diff() >= -1e-12).all())
    for example in found.counterexamples:
        hard, soft = plain(*([float(v) for v in w] for w in (example.scores, example.relevance)), **setting)
        assert float(example.hard) == pytest.approx(hard) and float(example.surrogate.high) == pytest.approx(soft)
        assert soft < hard


def test_the_counterexample_of_the_errata():
    """Angles 0°, 40°, −39.9°, 180°: 1 − H-AP 0.04167, surrogate 0.02611; each item is a query and finds itself."""
    radians = np.deg2rad(ANGLES)
    losses = []
    for query, own in zip(radians, LABELS, strict=True):
        relevance = [float(label == own) for label in LABELS]  # Eq. 4 up to a factor: the levels are 0 and 2
        losses.append(compare(np.cos(radians - query), relevance, **INAT))
    assert sum(loss.hard for loss in losses) / 4 == Fraction(1, 24)
    assert round(float(sum(loss.surrogate.low for loss in losses) / 4), 5) == 0.02611
    assert round(float(sum(loss.surrogate.high for loss in losses) / 4), 5) == 0.02611
    assert [loss.holds for loss in losses] == [False, True, True, True] and losses[0].verify()


@pytest.mark.parametrize("name", ["joined", "happier", "roadmap_2021", "happier_inat"])
def test_rankings_without_ties(name):
    """Random exact rankings: the two losses are those of plain floating point; no violation where the bound holds."""
    draw, violations = random.Random(0), 0
    for _ in range(150):
        n = draw.randint(2, 6)
        scores = [Fraction(s, 1000) for s in draw.sample(range(draw.choice([12, 80, 2000])), n)]
        relevance = [draw.choice([0, 0, 1, 2, Fraction(5, 2)]) for _ in range(n - 1)] + [1]
        found = compare(scores, relevance, **PRESETS[name])
        hard, soft = plain([float(s) for s in scores], [float(r) for r in relevance], **PRESETS[name])
        assert float(found.hard) == pytest.approx(hard, abs=1e-12)
        assert float(found.surrogate.low) == pytest.approx(soft, abs=1e-12)
        violations += not found.holds
    assert (violations > 0) == (not upper_bound(**PRESETS[name]).holds)


@pytest.mark.parametrize("name", ["joined", "happier"])
def test_ties_between_levels_never_matter_if_the_higher_stands_first(name):
    """All rankings of three items on a coarse grid, less those where items of one level tie."""
    seen = 0
    for scores, relevance in product(product([0, 0.004, 0.3], repeat=3), product([0, 1, 2], repeat=3)):
        pairs = list(zip(scores, relevance, strict=True))
        if any(relevance) and len({p for p in pairs if p[1]}) == sum(map(bool, relevance)):
            seen += len(set(scores)) < 3
            assert compare(scores, relevance, **PRESETS[name]).holds
    assert seen > 100


@pytest.mark.parametrize("name", PRESETS)
def test_ties_break_every_setting(name):
    with_irrelevant, within_level = upper_bound(**PRESETS[name]).tied
    assert with_irrelevant.hard == Fraction(1, 2) and float(with_irrelevant.surrogate.low) == pytest.approx(1 / 3)
    assert with_irrelevant.ties == "pessimistic" and len(set(with_irrelevant.scores)) == 1
    assert within_level.hard == Fraction(5, 12) and not within_level.holds  # 1 − (1/2 + 2/3)/2
    assert within_level.scores[1] == within_level.scores[2]


@pytest.mark.parametrize(("below", "above"), [(10, 25), (0, 0), (0.5, 1000), (Fraction(1, 3), 0)])
def test_the_step_below_the_staircase(below, above):
    found = lower_bound(below, above)
    assert found.holds and found.verify()
    assert [(float(j.at), float(j.left.low), float(j.right.low)) for j in found.jumps] == [(0.0, 0.0, 0.5)]
    assert (found.above_one is None) == (below == 0)
    if below:
        assert found.above_one.surrogate.low > 1 >= found.above_one.hard


@pytest.mark.parametrize("name", ["joined", "happier"])
def test_the_step_in_the_numerator_keeps_the_bound(name):
    draw, larger = random.Random(1), 0
    for _ in range(100):
        scores = [Fraction(s, 1000) for s in draw.sample(range(draw.choice([12, 80, 2000])), 5)]
        relevance = [draw.choice([0, 1, 2, 3]) for _ in range(4)] + [1]
        found = compare(scores, relevance, **PRESETS[name], below=10, above=25)
        assert found.holds
        larger += found.surrogate.low > compare(scores, relevance, **PRESETS[name]).surrogate.high
    assert larger > 20


@pytest.mark.parametrize(
    "changes",
    [
        {"hard": Fraction(1, 3)},
        {"hard": 0.5},
        {"surrogate": Interval(Fraction(1), Fraction(2))},
        {"surrogate": Interval(Fraction(0), Fraction(1))},
        {"scores": (Fraction(1), Fraction(0))},
        {"scores": ()},
        {"relevance": (Fraction(1), Fraction(1))},
        {"step": Step.exact(temperature=0.01, slope=100, delta=0.05, offset=1.44, start=0.5)},
        {"step": None},
        {"ties": "pessimistic", "scores": (Fraction(0), Fraction(0))},
    ],
)
def test_tampered_comparisons_are_noticed(changes):
    example = upper_bound(**INAT).counterexamples[0]
    assert example.verify()
    assert not dataclasses.replace(example, **changes).verify()


def test_tampered_certificates_are_noticed():
    good, bad = upper_bound(**JOINED), upper_bound(**INAT)
    piece = dataclasses.replace(bad.pieces[1], witness=None)
    for tampered in (
        dataclasses.replace(bad, pieces=(bad.pieces[0], piece, bad.pieces[2])),
        dataclasses.replace(bad, pieces=good.pieces, counterexamples=()),
        dataclasses.replace(bad, counterexamples=bad.counterexamples[:1]),
        dataclasses.replace(good, step=bad.step),
        dataclasses.replace(good, jumps=()),
        dataclasses.replace(good, tied=()),
        dataclasses.replace(good, step=None),
        dataclasses.replace(lower_bound(), above_one=None),
        dataclasses.replace(lower_bound(), lower=None),
        dataclasses.replace(ratio_lemma(), surrogate=ratio_lemma().hard),
        dataclasses.replace(ratio_lemma(), gap=-ratio_lemma().gap, hard=ratio_lemma().surrogate),
    ):
        assert not tampered.verify()


@pytest.mark.parametrize("wrap", [list, tuple, np.array, lambda x: torch.tensor(x, dtype=torch.float64)])
def test_input_of_any_kind(wrap):
    assert compare(wrap([0.75, 0.5]), wrap([0.0, 1.0])) == compare([0.75, Fraction(1, 2)], [False, 1])


BAD = {
    "temperature": (lambda: upper_bound(temperature=0), ValueError, "temperature must be finite and > 0, got 0"),
    "slope": (lambda: upper_bound(slope=-1), ValueError, "slope must be >= 0, got -1"),
    "offset": (lambda: upper_bound(offset=math.nan), ValueError, "offset must be finite, got nan"),
    "start": (lambda: upper_bound(start="0.5"), TypeError, "start must be a real number, got '0.5'"),
    "delta": (lambda: upper_bound(delta=11), ValueError, "delta must be at most 1000 temperatures, got 11 with 0.01"),
    "lengths": (lambda: compare([1, 2], [1]), ValueError, "relevance must have one entry a score, expected 2, got 1"),
    "no positive": (lambda: compare([1, 2], [0, 0]), ValueError, "relevance must have an entry > 0, got 2 times 0"),
    "ties": (lambda: compare([1, 2], [1, 0], ties="min"), ValueError, "ties must be one of .* got 'min'"),
    "one of two": (lambda: compare([1, 2], [1, 0], below=1), ValueError, "below and above must be given together"),
    "equal": (
        lambda: compare([0.5, 0.25, 0], [0, 1, 0], delta=1, start=0),
        ArithmeticError,
        "scores must give losses that differ",
    ),
}


@pytest.mark.parametrize(("call", "error", "message"), BAD.values(), ids=BAD)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
