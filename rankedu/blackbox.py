r"""Blackbox differentiation: a useful gradient for *any* solver that minimises a linear cost.

A solver maps costs y to :math:`\mathbf{s}(\mathbf{y}) = \operatorname{arg\,min}_{\mathbf{s} \in S} \mathbf{y} \cdot
\mathbf{s}` (RaMBO Eq. 9): a staircase, whose true gradient is zero. Here it gets that of an interpolation.
"""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from rankedu._fast.gradient import once
from rankedu.checks import check_floating, check_lam, extremes

__all__ = ["Solver", "differentiate", "interpolate"]

#: Scores to the solution of a combinatorial problem, both of shape (..., n).
Solver = Callable[[Tensor], Tensor]
#: λ, or what chooses it from the scores and the gradient that comes in.
Strength = float | Callable[[Tensor, Tensor], float]
#: Hears of the scores, the gradient that came in and the one that goes out.
Told = Callable[[Tensor, Tensor, Tensor], None]


def _solve(solver: Solver, scores: Tensor) -> Tensor:
    solution = solver(scores.detach())
    if not isinstance(solution, Tensor) or solution.shape != scores.shape:
        came = tuple(solution.shape) if isinstance(solution, Tensor) else type(solution).__name__
        raise ValueError(
            f"solver must return a Tensor of the shape of its input, {tuple(scores.shape)}, got {came} "
            "(it maps costs y to the s that minimises y·s, one entry of s for each of y)"
        )
    return solution.detach().to(scores)


class _Blackbox(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, solver: Solver, lam: Strength, told: Told | None) -> Tensor:
        solution = _solve(solver, scores)
        ctx.save_for_backward(scores, solution)
        ctx.solver, ctx.lam, ctx.told = solver, lam, told
        return solution

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None, None]:
        scores, solution = ctx.saved_tensors
        with torch.no_grad():
            lam = ctx.lam(scores, gradient) if callable(ctx.lam) else ctx.lam
            perturbed = scores + lam * gradient
            if math.isnan(extremes(perturbed)[0]):  # an overflow on its way to a gradient scaler, which skips the step
                found = torch.full_like(scores, torch.nan)
            else:
                found = (_solve(ctx.solver, perturbed) - solution) / lam
            if ctx.told is not None:
                ctx.told(scores, gradient, found)
        return once(found), None, None, None


def differentiate(solver: Solver, lam: Strength, *, told: Told | None = None) -> Callable[[Tensor], Tensor]:
    r"""Make a solver differentiable: the same values, and Algorithm 1's gradient.

    With the incoming gradient g = ∂L/∂s, the backward pass calls the solver once more:

    .. math::
        \mathbf{y}_\lambda = \mathbf{y} + \lambda\, \mathbf{g}, \qquad
        \frac{\partial L}{\partial \mathbf{y}} := -\frac{1}{\lambda}
        \bigl(\mathbf{s}(\mathbf{y}) - \mathbf{s}(\mathbf{y}_\lambda)\bigr)

    Parameters
    ----------
    solver : callable, Tensor (...) -> Tensor (...)
        Minimises y·s over a discrete set; returns s of the shape of y, in any dtype.
    lam : float, or callable, (scores, gradient) -> float
        Strength λ > 0 of the interpolation, in units of a score per unit of gradient; or what chooses it, backward.
    told : callable, (scores, gradient, result) -> None, optional
        Hears, backward, what came in and what goes out.

    Notes
    -----
    Returns a callable that maps floating-point scores to the solution in their dtype and shape. Two calls of the
    solver, one in each direction. The gradient is *not* linear in the incoming one: a loss multiplied by a constant
    acts like a λ multiplied by it. The losses of :mod:`rankedu.losses` are safe against that; for a ranker of yours
    that uses this, set ``linear = False``. Explained in chapter 2.
    Raises ValueError for ``lam`` that is not a finite number > 0; on a call, for a solver that returns another shape;
    TypeError on a call, for scores that are not floating point.
    Source: RaMBO Eq. 9; RaMBO Eq. 10; RaMBO Alg. 1.

    >>> from rankedu.solvers import ranking
    >>> scores = torch.tensor([0.9, 0.1, 0.5], requires_grad=True)
    >>> ranks = differentiate(ranking, lam=1.0)(scores)
    >>> ranks.detach()
    tensor([1., 3., 2.])
    >>> ranks[2].backward()  # make the rank of the last item smaller
    >>> scores.grad
    tensor([ 1.,  0., -1.])
    """
    lam = lam if callable(lam) else check_lam(lam)

    def differentiable(scores: Tensor) -> Tensor:
        check_floating(scores)
        solution: Tensor = _Blackbox.apply(scores, solver, lam, told)
        return solution

    return differentiable


def interpolate(solver: Solver, gradient: Tensor, lam: float) -> Callable[[Tensor], Tensor]:
    r"""Build the interpolation f_λ of f(y) = c·s(y), whose gradient Algorithm 1 returns.

    With the optimal value m(z) = min z·s, which is continuous, concave and piecewise linear,

    .. math::
        f_\lambda(\mathbf{y}) = \frac{m(\mathbf{y} + \lambda \mathbf{c}) - m(\mathbf{y})}{\lambda}
        = \mathbf{c} \cdot \mathbf{s}_\lambda + \frac{1}{\lambda}\, \mathbf{y} \cdot (\mathbf{s}_\lambda - \mathbf{s})

    Parameters
    ----------
    solver : callable, Tensor (..., *event) -> Tensor (..., *event)
        Minimises y·s over a discrete set.
    gradient : Tensor, shape event
        c, the gradient of the loss with respect to s. Its number of dimensions says over how many of the scores' last
        dimensions y·s is summed: (n,) for ranks, (h, w) for a path on a grid.
    lam : float
        Strength λ > 0 of the interpolation.

    Notes
    -----
    Returns f_λ, a callable, scores to Tensor (...); autograd gives its gradient (s_λ − s)/λ. Two calls of the solver.
    f_λ(y) ≤ f(y), with equality if and only if s(y) is still a minimiser at y + λc. Explained in chapter 2.
    Raises ValueError for ``lam`` that is not a finite number > 0; on a call, for scores whose last dimensions are not
    ``event``, or a solver that returns another shape; TypeError for a gradient, or scores, that are not floating point.
    Source: RaMBO Eq. 10; RaMBO Alg. 1; RaMBO Fig. 1; RaMBO Sec. 3.2.

    >>> from rankedu.solvers import ranking
    >>> smooth = interpolate(ranking, torch.tensor([1.0, 0.0]), lam=1.0)
    >>> smooth(torch.tensor([[2.0, 0.0], [0.5, 0.0], [-0.5, 0.0], [-2.0, 0.0]]))
    tensor([1.0000, 1.0000, 1.5000, 2.0000])
    """
    lam = check_lam(lam)
    check_floating(gradient, name="gradient")
    event = gradient.shape

    def interpolation(scores: Tensor) -> Tensor:
        check_floating(scores)
        if not event or scores.shape[-len(event) :] != event:
            raise ValueError(
                f"scores must end in the dimensions of gradient, {tuple(event)}, got {tuple(scores.shape)} "
                "(gradient holds one number for each entry of one solution)"
            )
        slope = gradient.detach().to(scores)
        solution = _solve(solver, scores)
        perturbed = _solve(solver, scores + lam * slope)
        # The second form of the equation: no difference of two large sums, and exact where the solver is stable.
        products = slope * perturbed + scores * ((perturbed - solution) / lam)
        return products.sum(dim=tuple(range(-len(event), 0)))

    return interpolation
