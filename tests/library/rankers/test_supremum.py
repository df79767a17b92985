"""The steps of HAPPIER and ROADMAP: against their definition, point by point; what they count, and what they refuse."""

import math

import pytest
import torch
from drawn import DTYPES, coin, random, value_and_gradients

from rankedu._fast.steps import sum_and_slope_
from rankedu.rankers import PRESETS, InfimumStep, SupremumRanker

nan, inf = float("nan"), float("inf")
TAU, RHO, DELTA = 0.01, 100.0, 0.05
SETTINGS = PRESETS | {
    "no delta": {"delta": 0.0},
    "flat": {"slope": 0.0, "offset": 1.0},
    "warm": {"temperature": 1.0, "delta": 0.3},
    "low": {"offset": 0.25},
}


def definition(x, temperature=TAU, slope=RHO, delta=DELTA, offset=None, start=0.5):
    def sigmoid(t):
        return 1 / (1 + math.exp(-t)) if t > -700 else 0.0

    if offset is None:
        offset = start + sigmoid(delta / temperature)
    if x <= 0:
        return sigmoid(x / temperature)
    return start + sigmoid(x / temperature) if x <= delta else slope * (x - delta) + offset


def points(dtype=torch.float64):
    edges = torch.tensor([0.0, DELTA, 0.3, -0.3, 1e-12, -1e-12, 1.0, -1.0, 2.0, -2.0], dtype=dtype)
    around = torch.nextafter(edges[:4, None], torch.tensor([inf, -inf], dtype=dtype)).flatten()
    return torch.cat([edges, around, torch.linspace(-0.2, 0.2, 401, dtype=dtype)])


@pytest.mark.parametrize("name", SETTINGS)
def test_step_is_the_definition(name):
    """Its slope is the derivative; what may overwrite its input gives the same; who is infinitely worse is nothing."""
    ranker, x = SupremumRanker(**SETTINGS[name]), points()
    expected = torch.tensor([definition(v, **SETTINGS[name]) for v in x.tolist()], dtype=torch.float64)
    step, slope = value_and_gradients(ranker.step, x)
    torch.testing.assert_close(step, expected, rtol=1e-12, atol=1e-15)
    torch.testing.assert_close(ranker.slope(x), slope)
    assert not ranker.slope(x.requires_grad_()).requires_grad
    far = torch.tensor([-inf])
    assert ranker.step(far).item() == ranker.slope(far).item() == 0
    for dtype, rtol, atol in ((torch.float32, 1e-6, 1e-5), (torch.float64, 1e-13, 1e-12)):
        x = torch.cat([points(dtype), torch.tensor([-inf, 1e30], dtype=dtype)])
        step, slope = sum_and_slope_(ranker, x.unsqueeze(-1).clone(), learning=True)
        torch.testing.assert_close((step, slope.squeeze(-1)), (ranker.step(x), ranker.slope(x)), rtol=rtol, atol=atol)


#: The step just above 0, at δ, and just beyond.
PUBLISHED = {
    "joined": (1.0, 1.4933, 1.4933),
    "happier": (1.0, 1.4933, 1.44),
    "happier_inat": (0.5, 0.9933, 1.0),
    "roadmap": (1.0, 1.4933, 1.44),
    "roadmap_inat": (0.5, 0.9933, 1.0),
    "roadmap_2021": (1.0, 1.4933, 6.44),  # its affine part is 100 x + 1.44
    "roadmap_inat_2021": (0.5, 0.9933, 6.0),
}


def test_presets_are_the_published_settings():
    x = torch.tensor([0.0, 1e-9, DELTA, DELTA + 1e-9], dtype=torch.float64)
    for name, values in PUBLISHED.items():
        expected = torch.tensor([0.5, *values], dtype=torch.float64)
        torch.testing.assert_close(SupremumRanker.preset(name).step(x), expected, rtol=0, atol=5e-5)
    assert set(PUBLISHED) == set(PRESETS) and repr(SupremumRanker()) == repr(SupremumRanker.preset("joined"))


@pytest.mark.parametrize("dtype", DTYPES)
def test_among_counts_the_members_with_h_of_0_equal_to_1(dtype):
    scores, members = random(3, 4, 9).round().to(dtype), coin(3, 4, 9, p=0.7)
    for where in (None, coin(3, 4, 9, p=0.8, seed=2)):
        found = SupremumRanker().among(scores.requires_grad_(), members, where=where)
        here = members if where is None else members & where
        at_least = scores.unsqueeze(-2) >= scores.unsqueeze(-1)
        assert found.dtype == (dtype if dtype == torch.float64 else torch.float32) and not found.requires_grad
        assert torch.equal(found.long(), (at_least & here.unsqueeze(-2)).sum(-1) * here)
        assert (found > 1).any()


@pytest.mark.parametrize("name", SETTINGS)
def test_against_and_forward_are_sums_of_the_steps(name):
    y, members, others, where = 0.1 * random(6, 8), coin(6, 8), coin(6, 8, seed=4), coin(6, 8, p=0.7, seed=5)
    others &= ~members
    ranker, diagonal = SupremumRanker(**SETTINGS[name]), torch.eye(8, dtype=torch.bool)
    steps = ranker.step(y.unsqueeze(-2) - y.unsqueeze(-1)).masked_fill(diagonal, 0.0)
    for here in (torch.ones_like(where), where):
        counted = (steps * (others & here).unsqueeze(-2)).sum(-1) * (members & here)
        torch.testing.assert_close(ranker.against(y, members, others, where=here), counted, rtol=1e-12, atol=1e-14)
        ranks = (1 + (steps * here.unsqueeze(-2)).sum(-1)) * here
        torch.testing.assert_close(ranker(y, where=here), ranks, rtol=1e-12, atol=1e-14)


def test_who_does_not_take_part_has_no_part():
    scores, members, where = random(6), torch.tensor([1, 0, 1, 0, 1, 0]).bool(), torch.tensor([1, 1, 1, 0, 0, 1]).bool()
    ranker, kept, hidden = SupremumRanker(), members[where], scores.masked_fill(~where, nan)
    found, slope = value_and_gradients(lambda s: ranker.against(s, members, ~members, where=where), hidden)
    assert torch.equal(found[where], ranker.against(scores[where], kept, ~kept))
    assert (slope[~where] == 0).all() and slope[where].isfinite().all() and slope.any()


def test_infimum_step_lies_below_the_staircase():
    for below, above in ((10.0, 25.0), (0.0, 0.0), (1.0, 1e3)):
        step, x = InfimumStep(below, above), points()
        value, slope = value_and_gradients(step, x)
        expected = [min(above * v + 0.5, 1.0) if v > 0 else below * v for v in x.tolist()]
        torch.testing.assert_close(value, torch.tensor(expected, dtype=torch.float64))
        assert (value <= (x > 0)).all()
        torch.testing.assert_close(step.slope(x), slope)
