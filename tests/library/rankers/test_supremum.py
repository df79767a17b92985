"""The steps of HAPPIER and ROADMAP: against their definition, point by point; what they count, and what they refuse."""

import math

import pytest
import torch
from drawn import DEVICES, coin

from rankedu import rank
from rankedu._fast.steps import sum_and_slope_
from rankedu.rankers import PRESETS, InfimumStep, SupremumRanker

nan, inf = float("nan"), float("inf")
TAU, RHO, DELTA = 0.01, 100.0, 0.05
OTHER = {
    "no delta": {"delta": 0.0},
    "flat": {"slope": 0.0, "offset": 1.0},
    "warm": {"temperature": 1.0, "delta": 0.3},
    "low": {"offset": 0.25},
}
SETTINGS = {**PRESETS, **OTHER}


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


def random(*shape, seed=0, spread=0.1):
    return spread * torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("name", SETTINGS)
def test_step_is_the_definition(name):
    x = points()
    expected = torch.tensor([definition(v, **SETTINGS[name]) for v in x.tolist()], dtype=torch.float64)
    torch.testing.assert_close(SupremumRanker(**SETTINGS[name]).step(x), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_what_may_overwrite_its_input_gives_the_same(name, dtype):
    ranker, x = SupremumRanker(**SETTINGS[name]), torch.cat([points(dtype), torch.tensor([-inf, 1e30], dtype=dtype)])
    tolerance = {"rtol": 1e-6, "atol": 1e-5} if dtype == torch.float32 else {"rtol": 1e-13, "atol": 1e-12}
    step, slope = sum_and_slope_(ranker, x.unsqueeze(-1).clone(), learning=True)
    torch.testing.assert_close(step, ranker.step(x), **tolerance)
    torch.testing.assert_close(slope.squeeze(-1), ranker.slope(x), **tolerance)


@pytest.mark.parametrize("name", SETTINGS)
def test_slope_is_the_derivative_of_step(name):
    ranker, x = SupremumRanker(**SETTINGS[name]), points().requires_grad_()
    (expected,) = torch.autograd.grad(ranker.step(x).sum(), x)
    torch.testing.assert_close(ranker.slope(x), expected)
    assert not ranker.slope(x).requires_grad


@pytest.mark.parametrize("name", SETTINGS)
def test_who_is_infinitely_worse_does_not_count(name):
    ranker, far = SupremumRanker(**SETTINGS[name]), torch.tensor([-inf])
    step, slope = sum_and_slope_(ranker, far.clone(), learning=True)
    assert [x.item() for x in (ranker.step(far), step, ranker.slope(far), slope)] == [0.0] * 4


@pytest.mark.parametrize(
    ("name", "just_above_0", "at_delta", "just_beyond"),
    [
        ("joined", 1.0, 1.4933, 1.4933),
        ("happier", 1.0, 1.4933, 1.44),
        ("happier_inat", 0.5, 0.9933, 1.0),
        ("roadmap", 1.0, 1.4933, 1.44),
        ("roadmap_inat", 0.5, 0.9933, 1.0),
        ("roadmap_2021", 1.0, 1.4933, 6.44),  # its affine part is 100 x + 1.44
        ("roadmap_inat_2021", 0.5, 0.9933, 6.0),
    ],
)
def test_presets_are_the_published_settings(name, just_above_0, at_delta, just_beyond):
    x = torch.tensor([0.0, 1e-9, DELTA, DELTA + 1e-9], dtype=torch.float64)
    expected = torch.tensor([0.5, just_above_0, at_delta, just_beyond], dtype=torch.float64)
    torch.testing.assert_close(SupremumRanker.preset(name).step(x), expected, rtol=0, atol=5e-5)


def test_the_affine_part_of_2021_had_no_delta():
    x = torch.linspace(0.051, 2, 50, dtype=torch.float64)
    torch.testing.assert_close(SupremumRanker.preset("roadmap_2021").step(x), 100 * x + 1.44)
    torch.testing.assert_close(SupremumRanker.preset("roadmap_inat_2021").step(x), 100 * x + 1.0)


def test_the_default_is_the_joined_preset():
    assert repr(SupremumRanker()) == repr(SupremumRanker.preset("joined"))
    assert (
        repr(SupremumRanker()) == "SupremumRanker(temperature=0.01, slope=100, delta=0.05, offset=1.49331, start=0.5)"
    )


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("ragged", [False, True])
def test_among_counts_the_members_with_h_of_0_equal_to_1(dtype, ragged):
    scores = (10 * random(3, 4, 9)).round().to(dtype)
    members, where = coin(3, 4, 9, p=0.7), coin(3, 4, 9, p=0.8, seed=2) if ragged else None
    found = SupremumRanker().among(scores.requires_grad_(), members, where=where)
    here = members if where is None else members & where
    at_least = scores.unsqueeze(-2) >= scores.unsqueeze(-1)
    assert found.dtype == (dtype if dtype == torch.float64 else torch.float32) and not found.requires_grad
    assert torch.equal(found.long(), (at_least & here.unsqueeze(-2)).sum(-1) * here)
    assert (found > 1).any()


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("ragged", [False, True])
def test_against_is_the_sum_of_the_steps(name, ragged):
    scores, members, others = random(2, 3, 8), coin(2, 3, 8), coin(2, 3, 8, seed=4)
    others &= ~members
    where = coin(2, 3, 8, p=0.7, seed=5) if ragged else None
    found = SupremumRanker(**SETTINGS[name]).against(scores, members, others, where=where)
    here = torch.ones_like(members) if where is None else where
    for query in torch.cartesian_prod(torch.arange(2), torch.arange(3)).tolist():
        y, m, o, w = (x[tuple(query)].tolist() for x in (scores, members, others, here))
        for k in range(8):
            counted = [definition(y[j] - y[k], **SETTINGS[name]) for j in range(8) if o[j] and w[j]]
            expected = sum(counted) if m[k] and w[k] else 0.0
            assert found[(*query, k)].item() == pytest.approx(expected, rel=1e-12, abs=1e-14)
    assert (found > 0).any()


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("ragged", [False, True])
def test_forward_counts_everybody_by_the_step(name, ragged):
    scores, ranker = random(5), SupremumRanker(**SETTINGS[name])
    where = torch.tensor([True, True, False, True, True]) if ragged else torch.ones(5, dtype=torch.bool)
    found = ranker(scores, where=where if ragged else None)
    for k in range(5):
        others = (j for j in range(5) if j != k and where[j])
        counted = sum(definition((scores[j] - scores[k]).item(), **SETTINGS[name]) for j in others)
        assert found[k].item() == pytest.approx((1 + counted) * where[k].item(), rel=1e-12)


def test_the_limit_of_a_setting_is_the_rank():
    scores = random(4, 50)
    limit = SupremumRanker(temperature=1e-9, slope=0.0, delta=1e-6, offset=1.0, start=0.0)
    torch.testing.assert_close(limit(scores), rank(scores).double())


def test_who_does_not_take_part_has_no_part():
    scores, members, where = random(6), torch.tensor([1, 0, 1, 0, 1, 0]).bool(), torch.tensor([1, 1, 1, 0, 0, 1]).bool()
    ranker = SupremumRanker()
    hidden = scores.masked_fill(~where, nan).requires_grad_()
    found = ranker.against(hidden, members, ~members, where=where)
    kept = members[where]
    assert torch.equal(found[where], ranker.against(scores[where], kept, ~kept))
    found.sum().backward()
    assert (hidden.grad[~where] == 0).all() and hidden.grad[where].isfinite().all() and hidden.grad.any()


def test_infinite_scores_are_very_far():
    scores = torch.tensor([inf, 0.5, -inf, inf, -inf], dtype=torch.float64)
    members = torch.tensor([False, True, False, True, True])
    found = SupremumRanker().against(scores, members, ~members)
    assert found[1] > 1e100 and found[3] == 0.5 and found[4] > 1e100
    assert SupremumRanker().among(scores, members).tolist() == [0, 2, 0, 1, 3]


@pytest.mark.parametrize("device", DEVICES)
def test_every_device_gives_the_same(device):
    scores, members, ranker = random(4, 9), coin(4, 9), SupremumRanker()
    there, its = scores.float().to(device), members.to(device)
    torch.testing.assert_close(
        ranker.against(there, its, ~its).cpu().double(), ranker.against(scores, members, ~members), rtol=1e-5, atol=1e-4
    )
    assert torch.equal(ranker.among(there, its).cpu().double(), ranker.among(scores, members))
    step, slope = sum_and_slope_(ranker, points(torch.float32).to(device).unsqueeze(-1), learning=True)
    for found, reference in ((step, ranker.step), (slope.squeeze(-1), ranker.slope)):
        torch.testing.assert_close(found.cpu(), reference(points(torch.float32)), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize(("below", "above"), [(10.0, 25.0), (0.0, 0.0), (1.0, 1e3)])
def test_infimum_step_lies_below_the_staircase(below, above):
    step, x = InfimumStep(below, above), points().requires_grad_()
    value = step(x)
    expected = [min(above * v + 0.5, 1.0) if v > 0 else below * v for v in x.tolist()]
    torch.testing.assert_close(value, torch.tensor(expected, dtype=torch.float64))
    assert (value <= (x > 0)).all()
    torch.testing.assert_close(step.slope(x.detach()), torch.autograd.grad(value.sum(), x)[0])


y, yes = torch.tensor([0.3, 0.1, 0.2]), torch.tensor([True, True, False])
ranker = SupremumRanker()
BAD = {
    "temperature": (lambda: SupremumRanker(0.0), ValueError, "temperature must be finite and > 0, got 0.0"),
    "slope": (lambda: SupremumRanker(slope=-1), ValueError, "slope must be finite and >= 0, got -1.0"),
    "delta": (lambda: SupremumRanker(delta=inf), ValueError, "delta must be finite and >= 0, got inf"),
    "offset": (lambda: SupremumRanker(offset=nan), ValueError, "offset must be finite and >= 0, got nan .*None joins"),
    "start": (lambda: SupremumRanker(start=-0.5), ValueError, "start must be finite and >= 0, got -0.5"),
    "preset": (lambda: SupremumRanker.preset("sop"), ValueError, "name must be one of 'joined', .* got 'sop'"),
    "below": (lambda: InfimumStep(below=-1), ValueError, "below must be finite and >= 0, got -1.0"),
    "common": (lambda: ranker.against(y, yes, yes), ValueError, "others must have no item in common with members"),
}


@pytest.mark.parametrize(("call", "error", "message"), BAD.values(), ids=BAD)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
