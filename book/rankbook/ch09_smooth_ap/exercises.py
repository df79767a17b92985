"""Chapter 9, Smooth-AP: the value, its gradient pair by pair, and who still has one."""

# Plain NumPy, no annotations.
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

import numpy as np

from rankbook.kit.check.spec import Case, Exercise, Mistake
from rankedu import reference


def sigmoid_rank(scores, temperature):
    return np.array(reference.sigmoid_rank(scores, temperature))


def smooth_ap(scores, relevance, temperature):
    return reference.smooth_ap(scores, relevance, temperature)


def _gradient(scores, relevance, temperature, step=1e-6):
    """Central differences of the reference."""
    moves = step * np.eye(len(scores))
    ends = ([1 - smooth_ap(scores + sign * move, relevance, temperature) for move in moves] for sign in (1, -1))
    return np.subtract(*map(np.array, ends)) / (2 * step)


def _by_pairs(scores, relevance, temperature, *, within=True, own=True):
    """The gradient pair by pair; the options make the mistakes."""
    counts = _counts(scores, temperature) * (1 - np.eye(len(scores)))
    ranks, inside = 1 + counts.sum(axis=1), 1 + counts @ relevance
    push = (inside / ranks**2)[:, None] - within * np.where(relevance, 1 / ranks[:, None], 0)
    push = relevance[:, None] * push * counts * (1 - counts) / temperature / relevance.sum()
    return push.sum(axis=0) - own * push.sum(axis=1)


def operating_width(temperature, threshold):
    return 2 * temperature * np.arccosh(np.sqrt(1 / (4 * temperature * threshold)))


def _counts(scores, temperature):
    return 1 / (1 + np.exp((scores[:, None] - scores[None, :]) / temperature))


def _lists() -> list[tuple[list[float], float]]:
    rng = np.random.default_rng(9)
    lists: list[tuple[list[float], float]] = [([0.9, 0.8, 0.5], 0.1), ([0.2, 0.7], 1.0), ([0.5, 0.5, 0.1], 0.2)]
    lists += [(rng.uniform(-1, 1, n).tolist(), t) for n, t in ((5, 0.05), (8, 0.1), (12, 0.3), (20, 1.0))]
    return lists


def _ap_cases() -> list[Case]:
    rng = np.random.default_rng(10)
    cases = []
    for scores, temperature in _lists():
        relevance = rng.random(len(scores)) < 0.4
        relevance[rng.integers(len(scores))] = True
        cases.append({"scores": np.array(scores), "relevance": relevance, "temperature": temperature})
    return cases


def _width_cases() -> list[Case]:
    return [
        {"temperature": t, "threshold": s}
        for t, s in ((0.01, 0.005), (1.0, 0.1), (0.1, 0.5), (0.05, 0.005), (0.002, 1.0), (0.2, 0.01))
    ]


EXERCISES = (
    Exercise(
        "smooth_ap",
        "smooth_ap(scores, relevance, temperature): the mean, over the relevant items, of the sigmoid rank among the "
        "relevant items divided by the sigmoid rank among all; relevance is boolean.",
        smooth_ap,
        _ap_cases,
        [
            Mistake(
                lambda scores, relevance, temperature: 1 - smooth_ap(scores, relevance, temperature), "returns the loss"
            ),
            Mistake(
                lambda scores, relevance, temperature: np.mean(
                    (relevance * sigmoid_rank(scores, temperature) / sigmoid_rank(scores, temperature))[relevance]
                ),
                "masks the rank among all instead of ranking among the relevant items: the quotient is always 1, and "
                "that is the printed pseudo-code",
            ),
            Mistake(
                lambda scores, relevance, temperature: smooth_ap(scores, relevance, temperature) * relevance.mean(),
                "divides by the number of all items: the mean is over the relevant ones",
            ),
            Mistake(
                lambda scores, relevance, temperature: (
                    sigmoid_rank(scores[relevance], temperature).sum()
                    / sigmoid_rank(scores, temperature)[relevance].sum()
                ),
                "divides sums: the mean is over quotients",
            ),
            Mistake(
                lambda scores, relevance, temperature: np.mean(
                    np.arange(1, relevance.sum() + 1) / np.sort(sigmoid_rank(scores, temperature)[relevance])
                ),
                "counts the relevant items above exactly: they are counted by sigmoids too",
            ),
            Mistake(
                lambda scores, relevance, temperature: np.mean(
                    (sigmoid_rank(scores[relevance], temperature) + 0.5)
                    / (sigmoid_rank(scores, temperature)[relevance] + 0.5)
                ),
                "compares each item with itself as well: that adds σ(0) = ½ to every rank",
            ),
        ],
    ),
    Exercise(
        "smooth_ap_gradient",
        "smooth_ap_gradient(scores, relevance, temperature): the gradient of the loss, one minus smooth AP, with "
        "respect to the scores, by formula and without autograd; one entry for each score, relevance is boolean.",
        _gradient,
        _ap_cases,
        [
            Mistake(
                lambda y, rel, t: -_gradient(y, rel, t),
                "differentiates smooth AP: the loss is one minus it",
            ),
            Mistake(
                lambda y, rel, t: t * _gradient(y, rel, t),
                "leaves out the inner derivative: σ(x/τ) has a factor 1/τ",
            ),
            Mistake(lambda y, rel, t: rel.sum() * _gradient(y, rel, t), "forgets that the loss is a mean"),
            Mistake(
                lambda y, rel, t: _by_pairs(y, rel, t, within=False),
                "holds the ranks among the relevant items fixed: their sigmoids have a slope as well",
            ),
            Mistake(
                lambda y, rel, t: _by_pairs(y, rel, t, own=False),
                "leaves out what a pair does to the relevant item itself: the opposite of what it does to the other",
            ),
            Mistake(lambda y, rel, t: np.where(rel, 0, _gradient(y, rel, t)), "moves the irrelevant items alone"),
            Mistake(lambda y, rel, t: np.where(rel, _gradient(y, rel, t), 0), "moves the relevant items alone"),
        ],
    ),
    Exercise(
        "operating_width",
        "operating_width(temperature, threshold): the difference of two scores at which the slope of the sigmoid "
        "σ(x/τ) falls to the threshold, which is less than the largest slope.",
        operating_width,
        _width_cases,
        [
            Mistake(
                lambda temperature, threshold: 2 * temperature * np.arccosh(np.sqrt(1 / (4 * threshold))),
                "leaves out the inner derivative: d/dx σ(x/τ) has a factor 1/τ",
            ),
            Mistake(
                lambda temperature, threshold: 2 * np.arccosh(np.sqrt(1 / (4 * temperature * threshold))),
                "measures in units of τ: multiply by the temperature",
            ),
            Mistake(
                lambda temperature, threshold: 2 * operating_width(temperature, threshold),
                "gives the whole width of the region: from 0 to its edge it is half of that",
            ),
            Mistake(
                lambda temperature, threshold: temperature * np.log(1 / (temperature * threshold)),
                "takes the tail for the whole: exp(−x/τ)/τ is the slope far from 0 only",
            ),
        ],
    ),
)
