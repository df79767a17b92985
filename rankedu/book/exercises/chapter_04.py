"""Chapter 4, interpolated ranking: Algorithm 1's backward pass, and the scale of λ in paper and code."""

# The references are read by people who solve the exercises: plain NumPy, no annotations.
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankedu.book.exercises.spec import Case, Exercise, Mistake


def rank_backward(scores, gradient, lam):
    def ranks(y):
        return 1 + np.argsort(np.argsort(-y, kind="stable"), kind="stable")

    return -(ranks(scores) - ranks(scores + lam * gradient)) / lam


def lam_code(lam_paper, n):
    return lam_paper / n


def normalised_backward(scores, gradient, lam):
    def ranks(y):
        return (1 + np.argsort(np.argsort(-y, kind="stable"), kind="stable")) / len(y)

    return -(ranks(scores) - ranks(scores + lam * gradient)) / lam


def _cases() -> list[Case]:
    rng = np.random.default_rng(5)
    cases: list[tuple[Sequence[float], Sequence[float], float]] = [
        ([0.5, 0.25], [1.0, 2.0], 1.0),
        ([0.5, 0.25, 1.0], [1.0, -1.0, 0.5], 2.0),
        ([0.5, 0.25, 1.0], [1.0, -1.0, 0.5], 0.03125),
        ([0.0, 1.0, 2.0, 3.5], [-0.5, 0.5, 0.5, -0.5], 4.0),
    ]
    for size, lam in ((5, 0.5), (6, 4.0), (8, 0.25), (9, 2.0), (12, 8.0)):
        scores = gradient = np.zeros(size)
        while np.diff(np.sort(scores + lam * gradient)).min() < 1e-3:  # no ties, whatever the rounding
            scores, gradient = rng.permutation(100)[:size] / 100, rng.integers(-8, 9, size) / 8
        cases.append((scores.tolist(), gradient.tolist(), lam))
    return [{"scores": np.array(y), "gradient": np.array(c), "lam": lam} for y, c, lam in cases]


def _lam_cases() -> list[Case]:
    return [{"lam_paper": lam, "n": n} for lam, n in ((4.0, 20), (0.5, 1), (100.0, 128), (8.0, 4), (0.2, 1000))]


_SIGN = "turns the sign around: descent must raise those who rank better after the step"
_MINUS = "moves the scores by −λ times the gradient instead of +λ"
_STAIRS = "differentiates the ranks themselves, which are piecewise constant"
_ORDER = "takes argsort, the order of the items, for the ranks: one more argsort inverts it"


def _order(y):
    return 1 + np.argsort(-y, kind="stable")


EXERCISES = (
    Exercise(
        "rank_backward",
        "rank_backward(scores, gradient, lam): the backward pass of Algorithm 1, from the incoming gradient dL/drk; "
        "scores and gradient are 1-D torch tensors (a function that wants NumPy arrays gets those).",
        rank_backward,
        _cases,
        [
            Mistake(lambda y, c, lam: -rank_backward(y, c, lam), _SIGN),
            Mistake(lambda y, c, lam: lam * rank_backward(y, c, lam), "forgets to divide by λ"),
            Mistake(lambda y, c, lam: rank_backward(y, -c, lam), _MINUS),
            Mistake(lambda y, c, lam: rank_backward(y, c / lam, lam), "moves the scores without the factor λ"),
            Mistake(lambda y, c, lam: 0.0 * y, _STAIRS),
            Mistake(lambda y, c, lam: (_order(y + lam * c) - _order(y)) / lam, _ORDER),
            Mistake(lambda y, c, lam: c * rank_backward(y, c, lam), "multiplies by the incoming gradient once more"),
            Mistake(lambda y, c, lam: rank_backward(y, c, lam) / len(y), "divides the ranks by n, as the code does"),
        ],
        arrays=("torch", "numpy"),
    ),
    Exercise(
        "lam_code",
        "lam_code(lam_paper, n): the λ for the released code, whose ranks are divided by n, from that of the paper.",
        lam_code,
        _lam_cases,
        [
            Mistake(
                lambda lam, n: lam * n,
                "goes the wrong way: the code's incoming gradient is larger than the paper's",
            ),
            Mistake(lambda lam, n: lam, "uses the same λ: the code's ranks lie in (0, 1], the paper's in 1, …, n"),
            Mistake(
                lambda lam, n: lam / n**2,
                "uses n twice: the step alone fixes λ, and the factor in front follows",
            ),
            Mistake(lambda lam, n: n / lam, "divides the wrong way round"),
        ],
    ),
    Exercise(
        "normalised_backward",
        "normalised_backward(scores, gradient, lam): the backward pass where the layer returns rk(y)/n, λ is the "
        "code's and gradient is that with respect to rk(y)/n; torch tensors, or NumPy arrays if it wants those.",
        normalised_backward,
        _cases,
        [
            Mistake(rank_backward, "takes the difference of whole ranks: the layer's output is divided by n"),
            Mistake(lambda y, c, lam: -normalised_backward(y, c, lam), _SIGN),
            Mistake(lambda y, c, lam: normalised_backward(y, -c, lam), _MINUS),
            Mistake(lambda y, c, lam: 0.0 * y, _STAIRS),
            Mistake(lambda y, c, lam: lam * normalised_backward(y, c, lam), "forgets to divide by λ"),
            Mistake(
                lambda y, c, lam: normalised_backward(y, c / len(y), lam),
                "moves the scores by λ/n times the gradient: it already is the gradient of the divided ranks",
            ),
            Mistake(
                lambda y, c, lam: normalised_backward(y, c * len(y), lam),
                "moves the scores by n·λ times the gradient: it already is the gradient of the divided ranks",
            ),
            Mistake(lambda y, c, lam: rank_backward(y, c, lam) * len(y), "multiplies by n instead of dividing"),
        ],
        arrays=("torch", "numpy"),
    ),
)
