"""Chapter 9, Smooth-AP: the value, and its gradient pair by pair."""

from functools import partial

import numpy as np

from rankedu import reference
from rankedu.reference import smooth_ap
from rankedu_book.kit.check.spec import Case, Exercise, in_numpy

sigmoid_rank = in_numpy(reference.sigmoid_rank)


def _gradient(scores, relevance, temperature, step=1e-6):
    """Central differences of the reference."""
    moves = step * np.eye(len(scores))
    ends = ([1 - smooth_ap(scores + sign * move, relevance, temperature) for move in moves] for sign in (1, -1))
    return np.subtract(*map(np.array, ends)) / (2 * step)


def _by_pairs(scores, relevance, temperature, *, within=True, own=True):
    """The gradient pair by pair; the options make the mistakes."""
    counts = (1 - np.eye(len(scores))) / (1 + np.exp((scores[:, None] - scores) / temperature))
    ranks, inside = 1 + counts.sum(axis=1), 1 + counts @ relevance
    push = (inside / ranks**2)[:, None] - within * np.where(relevance, 1 / ranks[:, None], 0)
    push = relevance[:, None] * push * counts * (1 - counts) / temperature / relevance.sum()
    return push.sum(axis=0) - own * push.sum(axis=1)


def _ap_cases() -> list[Case]:
    rng = np.random.default_rng(9)
    cases = []
    for n, temperature in ((3, 0.1), (2, 1.0), (4, 0.2), (5, 0.05), (8, 0.1), (12, 0.3), (20, 1.0)):
        relevance = rng.random(n) < 0.4
        relevance[rng.integers(n)] = True
        cases.append({"scores": rng.uniform(-1, 1, n).round(2), "relevance": relevance, "temperature": temperature})
    return cases


EXERCISES = (
    Exercise(
        "smooth_ap(scores, relevance, temperature): the mean, over the relevant items, of the sigmoid rank among the "
        "relevant items divided by the sigmoid rank among all; relevance is boolean.",
        smooth_ap, _ap_cases, [
            (lambda y, rel, t: np.mean((rel * sigmoid_rank(y, t) / sigmoid_rank(y, t))[rel]),
             "masks the rank among all instead of ranking among the relevant items: the quotient is always 1, "
             "and that is the printed pseudo-code"),
            (lambda y, rel, t: sigmoid_rank(y[rel], t).sum() / sigmoid_rank(y, t)[rel].sum(),
             "divides sums: the mean is over quotients"),
            (lambda y, rel, t: np.mean(np.arange(1, rel.sum() + 1) / np.sort(sigmoid_rank(y, t)[rel])),
             "counts the relevant items above exactly: they are counted by sigmoids too"),
            (lambda y, rel, t: np.mean((sigmoid_rank(y[rel], t) + 0.5) / (sigmoid_rank(y, t)[rel] + 0.5)),
             "compares each item with itself as well: that adds σ(0) = ½ to every rank"),
        ],
    ),
    Exercise(
        "smooth_ap_gradient(scores, relevance, temperature): the gradient of the loss, one minus smooth AP, with "
        "respect to the scores, by formula and without autograd; one entry for each score, relevance is boolean.",
        _gradient, _ap_cases, [
            (lambda y, rel, t: t * _gradient(y, rel, t), "leaves out the inner derivative: σ(x/τ) has a factor 1/τ"),
            (partial(_by_pairs, within=False),
             "holds the ranks among the relevant items fixed: their sigmoids have a slope as well"),
            (partial(_by_pairs, own=False),
             "leaves out what a pair does to the relevant item itself: the opposite of what it does to the other"),
            (lambda y, rel, t: np.where(rel, 0, _gradient(y, rel, t)), "moves the irrelevant items alone"),
            (lambda y, rel, t: np.where(rel, _gradient(y, rel, t), 0), "moves the relevant items alone"),
        ],
    ),
)  # fmt: skip
