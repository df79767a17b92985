"""Chapter 4, interpolated ranking: Algorithm 1 inside autograd, the scale of λ in paper and code, and f_λ."""

from collections.abc import Sequence

import numpy as np

from rankedu import reference
from rankedu_book.ch02_blackbox_differentiation.exercises import WRONG_LAYERS
from rankedu_book.kit.check import autograd
from rankedu_book.kit.check.spec import Case, Exercise


def lam_code(lam_paper, n):
    return lam_paper / n


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
    return [{"scores": np.array(y), "weights": np.array(c), "lam": lam} for y, c, lam in cases]


def _ranks(y):
    import torch

    return torch.tensor(reference.rank(y.tolist()), dtype=y.dtype)


def _order(y):
    return 1.0 + (-y).argsort(stable=True)


def _ranker(backward, forward):
    """A ranker with another backward or forward pass."""
    return lambda scores, lam: autograd.with_backward(forward, lambda y, c: backward(y, c, lam))(scores)


EXERCISES = (
    Exercise(
        "blackbox_rank(scores, lam): the ranks of a vector as a torch tensor of floats, with the backward pass of "
        "Algorithm 1. Two rows are compared: the ranks, and the gradient of weights · ranks with respect to the "
        "scores.",
        lambda scores, weights, lam: [reference.rank(scores), reference.rank_gradient(scores, weights, lam)], _cases, [
            *[(lambda y, lam, layer=layer: layer(_ranks, lam)(y), hint) for layer, hint in WRONG_LAYERS],
            (lambda y, lam: _ranks(y),
             "returns the ranks alone: they are piecewise constant, and autograd finds no gradient"),
            (_ranker(lambda y, c, lam: (_order(y + lam * c) - _order(y)) / lam, _order),
             "takes argsort, the order of the items, for the ranks: one more argsort inverts it"),
            (_ranker(lambda y, c, lam: (_ranks(-y - lam * c) - _ranks(-y)) / lam, lambda y: _ranks(-y)),
             "counts ranks from the bottom: rank 1 is the largest score"),
            (_ranker(lambda y, c, lam: (_ranks(y + lam * c) - _ranks(y)) / lam, lambda y: _ranks(y) - 1),
             "counts ranks from 0: the best rank is 1"),
            (_ranker(lambda y, c, lam: (_ranks(y + lam * c) - _ranks(y)) / lam / len(y), lambda y: _ranks(y) / len(y)),
             "divides the ranks by n, as the released code does"),
        ],
        use=lambda answer, scores, weights, lam: autograd.layer(lambda leaf: answer(leaf, lam), scores, weights),
        arrays=("numpy",),
    ),
    Exercise(
        "lam_code(lam_paper, n): the λ for the released code, whose ranks are divided by n, from that of the paper.",
        lam_code,
        lambda: [{"lam_paper": k, "n": n} for k, n in ((4.0, 20), (0.5, 1), (100.0, 128), (8.0, 4), (0.2, 1000))], [
            (lambda lam, n: lam * n, "goes the wrong way: the code's incoming gradient is larger than the paper's"),
            (lambda lam, n: lam, "uses the same λ: the code's ranks lie in (0, 1], the paper's in 1, …, n"),
            (lambda lam, n: lam / n**2, "uses n twice: the step alone fixes λ, and the factor in front follows"),
            (lambda lam, n: n / lam, "divides the wrong way round"),
        ],
    ),
    Exercise(
        "interpolated_loss(scores, weights, lam): the value of f_λ, the mean of weights · rk over a step of length λ "
        "along the weights, from sorted scores and without any rank.",
        reference.interpolated, _cases, [
            (lambda y, c, lam: np.dot(c, reference.rank(y)), "evaluates the loss itself, the staircase"),
            (lambda y, c, lam: np.dot(c, reference.rank(y + lam * c)), "evaluates the loss after the step"),
            (lambda y, c, lam: lam * reference.interpolated(y, c, lam), "forgets to divide by λ"),
            (lambda y, c, lam: reference.interpolated(y, c, -lam),
             "moves the scores by −λ times the weights instead of +λ"),
            (lambda y, c, k: reference.interpolated(y, c, k) - np.sum(c), "counts ranks from 0: the best rank is 1"),
            (lambda y, c, lam: (np.dot(np.sort(y + lam * c) - np.sort(y), np.arange(1, len(y) + 1))) / lam,
             "sorts in ascending order: m gives rank 1 to the largest score"),
            (lambda y, c, lam: reference.interpolated(y, c / lam, lam), "moves the scores without the factor λ"),
            (lambda y, c, lam: (np.dot(c, reference.rank(y)) + np.dot(c, reference.rank(y + lam * c))) / 2,
             "takes the mean of both ends of the step: the staircase may bend between them"),
        ],
    ),
)  # fmt: skip
