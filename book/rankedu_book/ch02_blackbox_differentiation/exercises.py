"""Chapter 2, blackbox differentiation: a layer with the gradient of Eq. 10, and the function it belongs to."""

import functools

import numpy as np

from rankedu import reference
from rankedu_book.kit.check import autograd
from rankedu_book.kit.check.compare import numbers
from rankedu_book.kit.check.spec import Case, Exercise, plain


def blackbox_gradient(solver, y, gradient, lam):
    s = solver(y)
    s_lam = solver(y + lam * gradient)
    return -(s - s_lam) / lam


def interpolated_value(solver, y, gradient, lam):
    shifted = y + lam * gradient
    least = y @ solver(y)
    least_shifted = shifted @ solver(shifted)
    return (least_shifted - least) / lam


@plain
def ranking(y):
    """Minimise y·s over permutations."""
    return [float(rank) for rank in reference.rank(y)]


@plain
def cheapest(y):
    """Minimise y·s over one-hot vectors."""
    return [float(rank == 1) for rank in reference.rank([-cost for cost in y])]


@plain
def cheapest_two(y):
    """Minimise y·s over the indicator vectors of two items."""
    return [float(rank <= 2) for rank in reference.rank([-cost for cost in y])]


def _on_arrays(solver):
    @functools.wraps(solver)
    def on_arrays(y):
        return np.array(solver(numbers(y)))

    return on_arrays


def _cases() -> list[Case]:
    rng = np.random.default_rng(3)
    cases = [
        (cheapest, [1.0, 2.0], [3.0, -1.0], 1.0),
        (ranking, [0.5, 0.25, 1.0], [1.0, -1.0, 0.5], 2.0),
        (ranking, [0.5, 0.25, 1.0], [1.0, -1.0, 0.5], 0.125),
        (cheapest_two, [1.0, 2.0, 3.0, 4.0], [2.0, 0.0, -1.0, -1.0], 4.0),
    ]
    for solver, size, lam in ((ranking, 5, 0.5), (cheapest_two, 6, 3.0), (cheapest, 4, 0.25), (ranking, 8, 10.0)):
        cases.append((solver, (rng.permutation(24)[:size] / 8).tolist(), (rng.integers(-8, 9, size) / 4).tolist(), lam))
    return [{"solver": _on_arrays(f), "y": np.array(y), "gradient": np.array(c), "lam": lam} for f, y, c, lam in cases]


def _on_tensors(solver):
    import torch

    return lambda y: torch.from_numpy(solver(y.detach().numpy()))


def _layer(backward):
    """A layer with another backward pass."""
    return lambda solver, lam: autograd.with_backward(solver, lambda y, c: backward(solver, y, c, lam))


#: Layers, made of a solver and λ, that go wrong on the way back.
WRONG_LAYERS = (
    (_layer(lambda f, y, c, lam: -(f(y + lam * c) - f(y)) / lam),
     "turns the sign around: a step against the gradient must lead towards the perturbed solution"),
    (_layer(lambda f, y, c, lam: f(y + lam * c) - f(y)), "forgets to divide by λ"),
    (_layer(lambda f, y, c, lam: (f(y - lam * c) - f(y)) / lam), "moves y by −λ times the gradient instead of +λ"),
    (_layer(lambda f, y, c, lam: (f(y + c) - f(y)) / lam), "moves y by the gradient without the factor λ"),
    (_layer(lambda f, y, c, lam: c * (f(y + lam * c) - f(y)) / lam),
     "multiplies by the incoming gradient once more: it has done its work inside the solver"),
    (_layer(lambda f, y, c, lam: c), "lets the incoming gradient pass through as it is"),
)  # fmt: skip

EXERCISES = (
    Exercise(
        "blackbox_layer(solver, lam): a function of a torch tensor y that returns solver(y) and hands back the "
        "gradient of Eq. 10. Two rows are compared: the solution, and the gradient of weights · solution.",
        lambda solver, y, weights, lam: [solver(y), blackbox_gradient(solver, y, weights, lam)],
        lambda: [dict(zip(("solver", "y", "weights", "lam"), case.values(), strict=True)) for case in _cases()],
        [
            *WRONG_LAYERS,
            (lambda solver, lam: solver,
             "returns the solution alone: autograd then finds no gradient, as the solver has none"),
            (_layer(lambda f, y, c, lam: lam * (f(y + lam * c) - f(y))), "multiplies by λ instead of dividing"),
            (_layer(lambda f, y, c, lam: f(y + lam * c) / lam), "leaves out the unperturbed solution"),
        ],
        use=lambda answer, solver, y, weights, lam: autograd.layer(answer(_on_tensors(solver), lam), y, weights),
        arrays=("numpy",),
    ),
    Exercise(
        "interpolated_value(solver, y, gradient, lam): f_λ(y) for the linear loss L(s) = gradient · s, as the "
        "difference quotient of the solver's least value m(z) = z · solver(z).",
        interpolated_value, _cases, [
            (lambda f, y, c, lam: c @ f(y), "evaluates the loss itself, c·s(y): the staircase"),
            (lambda f, y, c, lam: c @ f(y + lam * c), "evaluates the loss at the perturbed output, c·s_λ"),
            (lambda f, y, c, lam: lam * interpolated_value(f, y, c, lam), "forgets to divide by λ"),
            (lambda f, y, c, lam: interpolated_value(f, y, c, -lam),
             "moves y by −λ times the gradient instead of +λ: the arrow points backwards"),
            (lambda f, y, c, lam: y @ (f(y + lam * c) - f(y)) / lam,
             "weighs s_λ with y: the least value at a point weighs with that point"),
            (lambda f, y, c, lam: c @ (f(y) + f(y + lam * c)) / 2,
             "averages the loss at s and at s_λ: f_λ lies between the two, seldom in the middle"),
            (lambda f, y, c, k: ((y + c) @ f(y + c) - y @ f(y)) / k, "moves y by the gradient without the factor λ"),
        ],
        arrays=("numpy",),
    ),
)  # fmt: skip
