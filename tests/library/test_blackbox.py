"""Blackbox differentiation of a solver, against Algorithm 1 and against the interpolation that it differentiates."""

import pytest
import torch
from drawn import DTYPES, random

from rankedu import rank
from rankedu.blackbox import differentiate, interpolate

LAMS = [0.1, 1.0, 20.0]


def cheapest(costs):
    """Choose the cell of a matrix that costs least; ties go by position."""
    chosen = torch.zeros_like(costs).flatten(-2)
    return chosen.scatter(-1, costs.flatten(-2).argmin(-1, keepdim=True), 1).reshape(costs.shape)


SOLVERS = [(rank, (6,)), (cheapest, (3, 4))]


@pytest.mark.parametrize(("solver", "event"), SOLVERS)
def test_backward_is_algorithm_1(solver, event):
    for lam in LAMS:
        y, g = random(5, *event).requires_grad_(), random(5, *event, seed=1)
        s = differentiate(solver, lam)(y)
        s.backward(g)
        assert torch.equal(s, solver(y.detach()).to(s))
        assert torch.equal(y.grad, -(s - solver(y.detach() + lam * g)) / lam)


@pytest.mark.parametrize(("solver", "event"), SOLVERS)
def test_interpolation_is_a_difference_quotient_of_the_optimal_value(solver, event):
    """Its gradient is Algorithm 1's, and it is exact where the solver is stable."""
    y, c = random(50, *event).requires_grad_(), 4 * random(*event, seed=1)

    def m(z):
        return (z * solver(z)).flatten(1).sum(1)

    for lam in LAMS:
        value, f = interpolate(solver, c, lam)(y), (c * differentiate(solver, lam)(y)).flatten(1).sum(1)
        torch.testing.assert_close(value, (m(y + lam * c) - m(y)) / lam)
        (of_interpolation,), (of_algorithm,) = (torch.autograd.grad(x.sum(), y) for x in (value, f))
        torch.testing.assert_close(of_interpolation, of_algorithm, rtol=0, atol=1e-12)
        assert of_algorithm.any()
        stable = (solver(y) == solver(y + lam * c)).flatten(1).all(1)
        assert stable.any() or lam > 0.1
        torch.testing.assert_close(value[stable], f[stable], rtol=0, atol=1e-12)


def test_dtypes_overflow_and_a_second_derivative():
    """The solution has the scores' dtype; an overflow is passed on; there is no second derivative."""
    for dtype in DTYPES:
        y = random(4).to(dtype).requires_grad_()
        s = differentiate(rank, 1.0)(y)
        s.sum().backward()
        assert s.dtype == y.grad.dtype == dtype
    y = random(4).requires_grad_()
    differentiate(rank, 1.0)(y).backward(torch.tensor([1.0, torch.nan, 0.0, 0.0], dtype=torch.float64))
    assert y.grad.isnan().all()
    (first,) = torch.autograd.grad((differentiate(rank, 1.0)(y) ** 2).sum(), y, create_graph=True)
    with pytest.raises(RuntimeError, match="differentiate twice"):
        first.sum().backward()
