"""Blackbox differentiation against Algorithm 1, finite differences, and solvers that try everything."""

import itertools

import pytest
import torch
from drawn import random

from rankedu.blackbox import differentiate, interpolate
from rankedu.solvers import assignment, ranking, shortest_path

SOLVERS = [(ranking, (6,)), (shortest_path, (3, 4)), (assignment, (4, 4))]
LAMS = [0.1, 1.0, 20.0]


def test_ranking_minimises_over_all_permutations():
    """RaMBO Eq. 11."""
    for n in range(1, 7):
        scores, every = random(20, n), torch.tensor(list(itertools.permutations(range(1, n + 1)))).double()
        assert torch.equal(ranking(scores), every[(scores @ every.T).argmin(-1)])


@pytest.mark.parametrize(("solver", "event"), SOLVERS)
@pytest.mark.parametrize("lam", LAMS)
def test_backward_is_algorithm_1(solver, event, lam):
    y, g = random(5, *event).requires_grad_(), random(5, *event, seed=1)
    s = differentiate(solver, lam)(y)
    s.backward(g)
    s_lam = solver(y.detach() + lam * g)
    assert torch.equal(s, solver(y.detach()))
    assert torch.equal(y.grad, -(s - s_lam) / lam)


@pytest.mark.parametrize(("solver", "event"), SOLVERS)
@pytest.mark.parametrize("lam", LAMS)
def test_interpolation_is_a_difference_quotient_of_the_optimal_value(solver, event, lam):
    """Its gradient is Algorithm 1's, and it is exact where the solver is stable."""
    y, c = random(50, *event).requires_grad_(), 4 * random(*event, seed=1)

    def m(z):
        return (z * solver(z)).flatten(1).sum(1)

    value, f = interpolate(solver, c, lam)(y), (c * differentiate(solver, lam)(y)).flatten(1).sum(1)
    torch.testing.assert_close(value, (m(y + lam * c) - m(y)) / lam)
    (of_interpolation,), (of_algorithm,) = (torch.autograd.grad(x.sum(), y) for x in (value, f))
    torch.testing.assert_close(of_interpolation, of_algorithm, rtol=0, atol=1e-12)
    assert of_algorithm.any()
    stable = (solver(y) == solver(y + lam * c)).flatten(1).all(1)
    assert stable.any() or lam > 0.1
    torch.testing.assert_close(value[stable], f[stable], rtol=0, atol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_the_solution_has_the_scores_dtype(dtype):
    y = random(4).to(dtype).requires_grad_()
    s = differentiate(lambda scores: ranking(scores).long(), 1.0)(y)
    s.sum().backward()
    assert s.dtype == y.grad.dtype == dtype


def test_an_overflow_in_the_gradient_is_passed_on():
    y = random(4).requires_grad_()
    differentiate(ranking, 1.0)(y).backward(torch.tensor([1.0, torch.nan, 0.0, 0.0], dtype=torch.float64))
    assert y.grad.isnan().all()


def test_there_is_no_second_derivative():
    y = random(4).requires_grad_()
    (first,) = torch.autograd.grad((differentiate(ranking, 1.0)(y) ** 2).sum(), y, create_graph=True)
    with pytest.raises(RuntimeError, match="differentiate twice"):
        first.sum().backward()
