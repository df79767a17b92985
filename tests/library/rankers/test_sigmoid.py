"""The sigmoid's ranks against their definition, and how many pairs give them a gradient."""

import math
from itertools import product

import pytest
import torch
from drawn import random

from rankedu import rank, rank_among
from rankedu._fast.steps import step_then_slope_
from rankedu.rankers import SigmoidRanker, operating_region
from rankedu.rankers._pairwise import PairwiseRanker

TEMPERATURES = [0.005, 0.01, 0.05, 0.1, 1.0]
DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
nan, inf = float("nan"), float("inf")


def coin(*shape, p=0.6, seed=0):
    return torch.rand(shape, generator=torch.Generator().manual_seed(seed)) < p


def sigmoid(x):
    return 1 / (1 + math.exp(-x)) if x > 0 else math.exp(x) / (1 + math.exp(x))


def definition(scores, temperature):
    """1 + Σ_{j ≠ k} σ((y_j − y_k)/τ), in Python."""
    y = scores.tolist()
    pairs = [[sigmoid((y[j] - y[k]) / temperature) for j in range(len(y)) if j != k] for k in range(len(y))]
    return torch.tensor([1 + math.fsum(row) for row in pairs], dtype=torch.float64)


def jacobian(scores, temperature):
    """∂rk_k/∂y_j = σ'((y_j − y_k)/τ)/τ for j ≠ k, and minus the sum of these for j = k."""
    y, n = scores.tolist(), len(scores)
    result = torch.zeros(n, n, dtype=torch.float64)
    for k, j in product(range(n), range(n)):
        if j != k:
            value = sigmoid((y[j] - y[k]) / temperature)
            slope = value * sigmoid((y[k] - y[j]) / temperature) / temperature
            result[k, j] += slope
            result[k, k] -= slope
    return result


@pytest.mark.parametrize("temperature", TEMPERATURES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("ragged", [False, True])
def test_ranks_and_gradient_are_the_definition(temperature, dtype, ragged):
    y = (0.1 * random(2, 3, 7, dtype=dtype)).requires_grad_()
    where = coin(2, 3, 7) if ragged else torch.ones(2, 3, 7, dtype=torch.bool)
    ranks = SigmoidRanker(temperature)(y, where=where if ragged else None)
    assert ranks.dtype == (dtype if dtype in (torch.float32, torch.float64) else torch.float32)
    weights = random(2, 3, 7, seed=1)
    (weights * ranks.double()).sum().backward()
    assert y.grad.dtype == dtype and (y.grad[~where] == 0).all() and (ranks[~where] == 0).all()
    tight = {"rtol": 1e-12, "atol": 1e-12} if dtype == torch.float64 else {"rtol": 1e-5, "atol": 1e-5}
    for row in product(range(2), range(3)):
        here = where[row]
        exact = y.detach()[row][here].double()
        torch.testing.assert_close(ranks.detach()[row][here].double(), definition(exact, temperature), **tight)
        expected = weights[row][here] @ jacobian(exact, temperature)
        rounded = {"rtol": 1e-2, "atol": 1e-2} if dtype in DTYPES[:2] else {**tight, "atol": 20 * tight["atol"]}
        torch.testing.assert_close(y.grad[row][here].double(), expected, **rounded)


@pytest.mark.parametrize("temperature", [0.01, 1.0])
def test_the_readable_ranks_can_be_differentiated_twice(temperature):
    y = (temperature * random(5)).requires_grad_()
    assert torch.autograd.gradgradcheck(SigmoidRanker(temperature), y, eps=1e-6 * temperature, atol=1e-3)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("seed", range(3))
def test_as_the_temperature_falls_the_ranks_become_exact(dtype, seed):
    generator = torch.Generator().manual_seed(seed)
    y = torch.stack([torch.randperm(30, generator=generator) for _ in range(4)]).to(dtype) / 32
    members = coin(4, 30, seed=seed)
    ranker, exact = SigmoidRanker(1e-4), rank(y)
    assert torch.equal(ranker(y), exact.to(ranker(y).dtype))
    assert torch.equal(ranker.among(y, members), rank_among(y, members).to(ranker(y).dtype))
    errors = [(SigmoidRanker(t)(y) - exact).abs().max().item() for t in (1.0, 0.1, 0.01, 1e-3)]
    assert errors == sorted(errors, reverse=True) and errors[0] > 5


@pytest.mark.parametrize("dtype", DTYPES)
def test_infinite_scores_are_ranked_and_have_no_gradient(dtype):
    y = torch.tensor([inf, 0.5, -inf, inf, nan], dtype=dtype, requires_grad=True)
    ranks = SigmoidRanker()(y, where=~y.isnan())
    assert ranks.tolist() == [1.5, 3, 4, 1.5, 0]
    ranks[:4].square().sum().backward()
    assert torch.equal(y.grad, torch.zeros_like(y))


@pytest.mark.parametrize("temperature", [1e-4, *TEMPERATURES])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_what_the_losses_call_is_the_step_to_a_millionth(temperature, dtype):
    """Far down the step is cut off: no denormal number is left, and nobody counts who does not take part."""
    x = torch.cat([torch.linspace(-2, 2, 4001, dtype=dtype), torch.tensor([-inf, inf, 0.0], dtype=dtype)])
    ranker = SigmoidRanker(temperature)
    step, make_slope = step_then_slope_(ranker, x.clone())
    step, slope = step.clone(), make_slope()
    torch.testing.assert_close(step, ranker.step(x), rtol=1e-5 if dtype == torch.float32 else 1e-12, atol=1e-17)
    # σ − σ² is rounded to an eps of 1, whatever it is itself, and then divided by the temperature.
    noise = 4 * torch.finfo(dtype).eps / temperature
    torch.testing.assert_close(slope, ranker.slope(x), rtol=1e-6, atol=noise)
    leaf = x[:-3].clone().requires_grad_()
    ranker.step(leaf).sum().backward()
    torch.testing.assert_close(ranker.slope(x[:-3]), leaf.grad, rtol=1e-6, atol=noise)
    assert step[-3] == slope[-3] == 0 and step[-2] == 1 and slope[-2] == 0
    assert not ((step > 0) & (step < 1e-30)).any() and not ((slope > 0) & (slope < 1e-30)).any()


def test_a_pairwise_ranker_is_its_step():
    class Hard(PairwiseRanker):
        def step(self, differences):
            return (differences > 0).to(differences)

    y = (4 * random(3, 9)).round()
    assert torch.equal(Hard()(y), rank(y, ties="min").double())


# Eq. S1


def eq_s1(scores, temperature, threshold):
    """The share of all m² differences at which the temperature sigmoid has a slope above the threshold."""
    difference = scores.unsqueeze(-2) - scores.unsqueeze(-1)
    leaf = difference.double().requires_grad_()
    (leaf / temperature).sigmoid().sum().backward()
    return (leaf.grad.abs() > threshold).double().mean((-2, -1))


@pytest.mark.parametrize("temperature", TEMPERATURES)
@pytest.mark.parametrize("threshold", [1e-6, 0.005, 0.1, 1.0, 60.0])
@pytest.mark.parametrize("spread", [0.003, 0.1, 2.0])
def test_operating_region_is_eq_s1(temperature, threshold, spread):
    y = spread * random(2, 3, 40, seed=3)
    y[..., 10:20] = y[..., :10]  # ties
    found = operating_region(y, temperature, threshold)
    torch.testing.assert_close(found, eq_s1(y, temperature, threshold), rtol=0, atol=1e-12)


@pytest.mark.parametrize("dtype", [*DTYPES, torch.int64])
def test_operating_region_of_every_dtype(dtype):
    y = (10 * random(4, 30)).to(dtype)
    found = operating_region(y, 0.5)
    assert found.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
    torch.testing.assert_close(found.double(), eq_s1(y.double(), 0.5, 0.005), rtol=1e-6, atol=0)


def test_operating_region_counts_who_takes_part():
    y, where = random(5, 12), coin(5, 12, seed=4)
    where[2] = False
    found = operating_region(y.masked_fill(~where, nan), 0.1, where=where)
    alone = [operating_region(y[q][where[q]], 0.1).item() if q != 2 else nan for q in range(5)]
    torch.testing.assert_close(found, torch.tensor(alone, dtype=torch.float64), equal_nan=True)


def test_operating_region_of_infinite_and_of_huge_scores():
    """Equal ones differ by 0, which is in the region."""
    assert operating_region(torch.tensor([inf, inf, -inf, 0.0]), 0.01).item() == (4 + 1 + 1) / 16
    assert operating_region(torch.tensor([1e30, 1e30, 2e30]), 0.01).item() == pytest.approx(5 / 9)


def test_an_item_is_near_itself_so_the_region_is_never_empty():
    apart = torch.arange(8.0)
    assert operating_region(apart, 0.01).item() == 1 / 8
    assert operating_region(apart, 0.01, threshold=25.0).item() == 0  # 1/(4τ), and nothing is steeper
    assert operating_region(torch.zeros(8), 0.01).item() == 1


y = torch.tensor([0.3, 0.1])
BAD = {
    "temperature 0": (
        lambda: SigmoidRanker(0),
        ValueError,
        r"^temperature must be finite and > 0, got 0.0 .* rank\(\)",
    ),
    "temperature nan": (lambda: operating_region(y, nan), ValueError, "temperature must be finite and > 0, got nan"),
    "threshold 0": (lambda: operating_region(y, 0.1, 0), ValueError, "threshold must be finite and > 0, got 0.0"),
}


@pytest.mark.parametrize(("call", "error", "message"), BAD.values(), ids=BAD)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
