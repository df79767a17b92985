r"""Blackbox differentiation: a useful gradient for *any* solver that minimises a linear cost.

A solver maps costs y to :math:`\mathbf{s}(\mathbf{y}) = \operatorname{arg\,min}_{\mathbf{s} \in S} \mathbf{y} \cdot
\mathbf{s}` (RaMBO Eq. 9): a staircase, whose true gradient is zero. Here it gets that of an interpolation.
"""

from collections.abc import Callable

from torch import Tensor

from rankedu.checks import check_floating, check_lam
from rankedu.rankers.blackbox import Algorithm1, Strength

__all__ = ["Solver", "differentiate", "interpolate"]

#: Scores to the solution of a combinatorial problem, both of shape (..., n).
Solver = Callable[[Tensor], Tensor]


def _checked(solver: Solver) -> Solver:
    """The solver, whose solution must have the shape of the scores, in their dtype."""

    def solve(scores: Tensor) -> Tensor:
        solution = solver(scores.detach())
        if not isinstance(solution, Tensor) or solution.shape != scores.shape:
            came = tuple(solution.shape) if isinstance(solution, Tensor) else type(solution).__name__
            raise ValueError(
                f"solver must return a Tensor of the shape of its input, {tuple(scores.shape)}, got {came} "
                "(it maps costs y to the s that minimises y·s, one entry of s for each of y)"
            )
        return solution.detach().to(scores)

    return solve


def differentiate(solver: Solver, lam: Strength) -> Callable[[Tensor], Tensor]:
    r"""Make a solver differentiable: the same values, and Algorithm 1's gradient. Explained in chapter 2.

    With the incoming gradient g = ∂L/∂s, the backward pass calls the solver once more:

    .. math::
        \mathbf{y}_\lambda = \mathbf{y} + \lambda\, \mathbf{g}, \qquad
        \frac{\partial L}{\partial \mathbf{y}} := -\frac{1}{\lambda}
        \bigl(\mathbf{s}(\mathbf{y}) - \mathbf{s}(\mathbf{y}_\lambda)\bigr)

    The gradient is *not* linear in the incoming one: a loss multiplied by a constant acts like a λ multiplied by it.
    The losses of :mod:`rankedu.losses` are safe against that; for a ranker of yours that uses this, set ``linear =
    False``.

    Parameters
    ----------
    solver : callable, Tensor (...) -> Tensor (...)
        Minimises y·s over a discrete set; returns s of the shape of y, in any dtype.
    lam : float, or callable, (scores, gradient) -> float
        Strength λ > 0 of the interpolation, in units of a score per unit of gradient; or what chooses it backward.

    Returns
    -------
    callable, Tensor (...) -> Tensor (...)
        Maps floating-point scores to the solution in their dtype and shape. A call raises ValueError if the solver
        returns another shape, and TypeError if the scores are not floating point.

    Raises
    ------
    ValueError
        For ``lam`` that is not a finite number > 0.

    References
    ----------
    RaMBO Eq. 9; RaMBO Eq. 10; RaMBO Alg. 1

    Examples
    --------
    >>> import torch, rankedu
    >>> scores = torch.tensor([0.9, 0.1, 0.5], requires_grad=True)
    >>> ranks = differentiate(rankedu.rank, lam=1.0)(scores)  # ranking minimises y·s over the permutations
    >>> ranks[2].backward()  # make the rank of the last item smaller
    >>> ranks.detach(), scores.grad
    (tensor([1., 3., 2.]), tensor([ 1.,  0., -1.]))
    """
    lam = lam if callable(lam) else check_lam(lam)
    solve = _checked(solver)

    def differentiable(scores: Tensor) -> Tensor:
        check_floating(scores)
        solution: Tensor = Algorithm1.apply(scores, solve, lam)
        return solution

    return differentiable


def interpolate(solver: Solver, gradient: Tensor, lam: float) -> Callable[[Tensor], Tensor]:
    r"""Build the interpolation f_λ of f(y) = c·s(y), whose gradient Algorithm 1 returns. Explained in chapter 2.

    With the optimal value m(z) = min z·s, which is continuous, concave and piecewise linear,

    .. math::
        f_\lambda(\mathbf{y}) = \frac{m(\mathbf{y} + \lambda \mathbf{c}) - m(\mathbf{y})}{\lambda}
        = \mathbf{c} \cdot \mathbf{s}_\lambda + \frac{1}{\lambda}\, \mathbf{y} \cdot (\mathbf{s}_\lambda - \mathbf{s})

    f_λ(y) ≤ f(y), with equality if and only if s(y) is still a minimiser at y + λc.

    Parameters
    ----------
    solver : callable, Tensor (..., *event) -> Tensor (..., *event)
        Minimises y·s over a discrete set.
    gradient : Tensor, shape event
        c, the gradient of the loss with respect to s. The product y·s is summed over as many of the scores' last
        dimensions: (n,) for ranks, (h, w) for a path on a grid.
    lam : float
        Strength λ > 0 of the interpolation.

    Returns
    -------
    callable, Tensor (..., *event) -> Tensor (...)
        f_λ; autograd gives its gradient (s_λ − s)/λ. A call raises ValueError for scores whose last dimensions are not
        ``event``, or a solver that returns another shape, and TypeError for scores that are not floating point.

    Raises
    ------
    ValueError
        For ``lam`` that is not a finite number > 0.
    TypeError
        For a gradient that is not floating point.

    References
    ----------
    RaMBO Eq. 10; RaMBO Alg. 1; RaMBO Fig. 1; RaMBO Sec. 3.2

    Examples
    --------
    >>> import torch, rankedu
    >>> smooth = interpolate(rankedu.rank, torch.tensor([1.0, 0.0]), lam=1.0)
    >>> smooth(torch.tensor([[2.0, 0.0], [0.5, 0.0], [-0.5, 0.0], [-2.0, 0.0]]))
    tensor([1.0000, 1.0000, 1.5000, 2.0000])
    """
    lam = check_lam(lam)
    check_floating(gradient, name="gradient")
    event, solve = gradient.shape, _checked(solver)

    def interpolation(scores: Tensor) -> Tensor:
        check_floating(scores)
        if not event or scores.shape[-len(event) :] != event:
            raise ValueError(
                f"scores must end in the dimensions of gradient, {tuple(event)}, got {tuple(scores.shape)} "
                "(gradient holds one number for each entry of one solution)"
            )
        slope = gradient.detach().to(scores)
        solution = solve(scores)
        perturbed = solve(scores + lam * slope)
        # The second form of the equation: no difference of two large sums, and exact where the solver is stable.
        products = slope * perturbed + scores * ((perturbed - solution) / lam)
        return products.sum(dim=tuple(range(-len(event), 0)))

    return interpolation
