"""Chapter 6, ties and margins: the values that meet in a tie, and a margin that prevents a collapse."""

from functools import partial
from itertools import permutations
from typing import Any

import numpy as np

from rankedu import reference
from rankedu_book.kit.check.spec import Case, Exercise, as_array


def all_values_near_a_tie(relevance):
    orders = permutations(np.asarray(relevance, dtype=bool))
    falling = -np.arange(float(len(relevance)))
    return sorted({round(float(reference.average_precision(falling, hits)), 9) for hits in orders})


def margin_gradient(scores, relevance, lam, margin, sign=1):
    shifted = reference.shift_by_margin(scores, relevance, margin)
    return np.array(reference.rank_gradient(shifted, sign * relevance.astype(float), lam))


def _train(gradient, seed, lam, margin, steps, rate=0.02):
    """The given loop: weights of a linear scorer after so many batches, in which the first feature tells a little."""
    rng, weights = np.random.default_rng(seed), np.full(4, 0.3)
    for _ in range(steps):
        items = rng.normal(size=(16, 4))
        relevance = items[:, 0] + rng.normal(0, 0.5, 16) > 0.7
        if relevance.any():
            slope = gradient(items @ weights, relevance, lam, margin)
            weights = weights - rate / 16 * items.T @ as_array(slope)
    return weights


def _judge_weights(case: Case, weights: Any) -> str | None:
    """Weights need not be those of the reference, for rounding may break a tie, but as long and as good."""
    wanted = _train(margin_gradient, **case)
    if case["steps"] == 1:
        return None if np.allclose(weights, wanted) else "which is off after the very first batch"
    length, right = np.linalg.norm(weights), np.linalg.norm(wanted)
    if length < 0.75 * right:
        return "which is too short: without a margin, or with too small a one, the scores draw together"
    if weights[0] < 0.9 * length:
        return "which does not rank by the first feature, the one that tells"
    return "which is too long: the margin is larger than it should be" if length > 1.25 * right else None


def _runs() -> list[Case]:
    settings = ((0, 1.0, 0.3), (1, 1.0, 0.3), (2, 0.5, 0.2), (3, 2.0, 0.5), (4, 1.0, 0.4))
    runs = [{"seed": seed, "lam": lam, "margin": margin, "steps": 500} for seed, lam, margin in settings]
    return [*runs, {"seed": 5, "lam": 4.0, "margin": 0.3, "steps": 1}]  # no length tells of a factor, one step does


def _tie_cases() -> list[Case]:
    rows = ([1, 0], [0, 1, 0], [1, 1, 0, 0], [0, 1, 0, 1, 0], [1, 1, 1, 0, 0, 0], [1, 1])
    return [{"relevance": np.array(row, dtype=bool)} for row in rows]


def _precisions(relevance):
    n, found = len(relevance), int(np.sum(relevance))
    return sorted({k / r for r in range(1, n + 1) for k in range(1, min(r, found) + 1)})


def _listed(relevance):
    every = [
        np.mean((np.cumsum(h) / np.arange(1, len(h) + 1))[np.array(h)])
        for h in permutations(np.asarray(relevance, dtype=bool))
    ]
    return sorted(float(value) for value in every)


EXERCISES = (
    Exercise(
        "all_values_near_a_tie(relevance): all values of AP, in ascending order and each once, that score vectors "
        "without ties take arbitrarily close to the tie of all items.",
        all_values_near_a_tie, _tie_cases, [
            (lambda r: [1 - v for v in all_values_near_a_tie(r)][::-1], "returns the loss, 1 − AP, not AP"),
            (lambda r: [all_values_near_a_tie(r)[0], 1.0], "returns only the worst and the best value"),
            (_precisions, "lists the possible precisions of one item, not their mean over the relevant ones"),
            (_listed, "lists one value for each ranking: rankings that differ within a class share theirs"),
        ],
    ),
    Exercise(
        "margin_gradient(scores, relevance, lam, margin): the gradient, by Algorithm 1, of the sum of the relevant "
        "items' ranks, with a margin. A loop trains the weights of a linear scorer by it, on 500 noisy batches of 16 "
        "items; without a margin the weights, which are what is judged, shrink and the scores collapse.",
        lambda seed, lam, margin, steps: _train(margin_gradient, seed, lam, margin, steps), _runs, [
            (lambda y, r, lam, m: margin_gradient(y, r, lam, -m),
             "turns the shift around, which makes the task easier instead of harder: relevant scores go down"),
            (lambda y, r, lam, m: margin_gradient(y, r, lam, m / 2), "shifts one side only, by half the margin"),
            (lambda y, r, lam, m: -margin_gradient(y, r, lam, m),
             "turns the sign of the gradient around, or ranks from the bottom: rank 1 is the largest score"),
            (partial(margin_gradient, sign=-1),
             "moves the scores against the incoming gradient: Algorithm 1 adds λ times it"),
            (lambda y, r, lam, m: lam * margin_gradient(y, r, lam, m), "forgets to divide by λ"),
            (lambda y, r, lam, m: margin_gradient(y, ~r, lam, m), "takes relevant for irrelevant"),
        ],
        judge=_judge_weights, use=_train,
    ),
)  # fmt: skip
