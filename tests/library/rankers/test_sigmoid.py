"""The sigmoid's ranks against their definition, and how many pairs give them a gradient."""

import pytest
import torch
from drawn import DTYPES, coin, random, value_and_gradients

from rankedu._fast.steps import step_then_slope_
from rankedu.rankers import SigmoidRanker, operating_region

TEMPERATURES = [0.005, 0.01, 0.1, 1.0]
nan, inf = float("nan"), float("inf")


@pytest.mark.parametrize("dtype", DTYPES)
def test_infinite_scores_are_ranked_and_have_no_gradient(dtype):
    """The largest numbers, too, are ranked: a difference of two is finite."""
    y = torch.tensor([inf, 0.5, -inf, inf, nan], dtype=dtype)
    ranks, slope = value_and_gradients(lambda s: SigmoidRanker()(s, where=~y.isnan()), y)
    assert ranks.tolist() == [1.5, 3, 4, 1.5, 0]
    assert torch.equal(slope, torch.zeros_like(y))


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
    _, expected = value_and_gradients(ranker.step, x[:-3])
    torch.testing.assert_close(ranker.slope(x[:-3]), expected, rtol=1e-6, atol=noise)
    assert step[-3] == slope[-3] == 0 and step[-2] == 1 and slope[-2] == 0
    assert not ((step > 0) & (step < 1e-30)).any() and not ((slope > 0) & (slope < 1e-30)).any()


def eq_s1(scores, temperature, threshold=0.005):
    """The share of all m² differences at which the temperature sigmoid has a slope above the threshold."""
    difference = (scores.unsqueeze(-2) - scores.unsqueeze(-1)).double()
    _, slope = value_and_gradients(lambda x: (x / temperature).sigmoid(), difference)
    return (slope.abs() > threshold).double().mean((-2, -1))


@pytest.mark.parametrize("temperature", TEMPERATURES)
def test_operating_region_is_eq_s1(temperature):
    for spread in (0.003, 0.1, 2.0):
        y = spread * random(2, 3, 40, seed=3)
        y[..., 10:20] = y[..., :10]  # ties
        for threshold in (1e-6, 0.005, 0.1, 1.0, 60.0):
            found = operating_region(y, temperature, threshold)
            torch.testing.assert_close(found, eq_s1(y, temperature, threshold), rtol=0, atol=1e-12)
    for dtype in (*DTYPES, torch.int64):
        y = (10 * random(4, 30)).to(dtype)
        found = operating_region(y, 0.5)
        assert found.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
        torch.testing.assert_close(found.double(), eq_s1(y.double(), 0.5), rtol=1e-6, atol=0)


def test_operating_region_counts_who_takes_part():
    y, where = random(5, 12), coin(5, 12, p=0.6, seed=4)
    where[2] = False
    found = operating_region(y.masked_fill(~where, nan), 0.1, where=where)
    alone = [operating_region(y[q][where[q]], 0.1).item() if q != 2 else nan for q in range(5)]
    torch.testing.assert_close(found, torch.tensor(alone, dtype=torch.float64), equal_nan=True)


def test_operating_region_of_infinite_and_of_huge_scores_and_of_an_item_with_itself():
    """Equal ones differ by 0, which is in the region: so it is empty only beyond the largest slope, 1/(4τ)."""
    assert operating_region(torch.tensor([inf, inf, -inf, 0.0]), 0.01).item() == (4 + 1 + 1) / 16
    assert operating_region(torch.tensor([1e30, 1e30, 2e30]), 0.01).item() == pytest.approx(5 / 9)
    apart = torch.arange(8.0)
    assert operating_region(apart, 0.01).item() == 1 / 8
    assert operating_region(apart, 0.01, threshold=25.0).item() == 0
    assert operating_region(torch.zeros(8), 0.01).item() == 1
