"""Chapter 6, ties and margins: the values that meet in a tie, the shift, and the ranks after it."""

# The references are read by people who solve the exercises: plain NumPy, no annotations.
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np

from rankedu.book.exercises.spec import Case, Exercise, Mistake


def all_values_near_a_tie(relevance):
    def average_precision(hits):
        precision = np.cumsum(hits) / np.arange(1, len(hits) + 1)
        return float(precision[hits].mean())

    orders = permutations(np.asarray(relevance, dtype=bool))
    return sorted({round(average_precision(np.array(hits)), 9) for hits in orders})


def shift_by_margin(scores, relevance, margin):
    return np.where(relevance, scores - margin / 2, scores + margin / 2)


def ranks_with_margin(scores, relevance, margin):
    shifted = np.where(relevance, scores - margin / 2, scores + margin / 2)
    return 1 + (shifted[None, :] > shifted[:, None]).sum(axis=1)


def _cases() -> list[Case]:
    rng = np.random.default_rng(6)
    cases: list[tuple[Sequence[float], Sequence[int], float]] = [
        ([0.5, 0.25], [1, 0], 0.5),
        ([0.5, 0.25, 1.0], [1, 0, 0], 0.25),
        ([0.75, 0.5, 0.25, 0.0], [1, 1, 0, 0], 0.625),
        ([0.9, 0.8, 0.3], [0, 1, 1], 0.0),
        ([0.3, 0.3, 0.3, 0.3], [0, 1, 1, 0], 0.2),
    ]
    for size, margin in ((6, 0.215), (8, 0.105), (10, 0.505)):  # no score is a margin away from another
        relevance = rng.permutation(np.arange(size) < size // 3)
        cases.append(((rng.permutation(100)[:size] / 100).tolist(), relevance.tolist(), margin))
    return [{"scores": np.array(y), "relevance": np.array(r, dtype=bool), "margin": m} for y, r, m in cases]


def _rank_cases() -> list[Case]:
    return [case for case in _cases() if len(set(case["scores"].tolist())) > 1]  # proper rankings


def _tie_cases() -> list[Case]:
    rows = ([1, 0], [0, 1, 0], [1, 1, 0, 0], [0, 1, 0, 1, 0], [1, 1, 1, 0, 0, 0], [1, 1])
    return [{"relevance": np.array(row, dtype=bool)} for row in rows]


def _shift(up, down):
    return lambda y, r, m: np.where(r, y + down * m, y + up * m)


def _ranks(y):
    return 1 + (y[None, :] > y[:, None]).sum(axis=1)


def _order(y):
    return 1 + np.argsort(-y, kind="stable")


def _precisions(relevance):
    n, found = len(relevance), int(np.sum(relevance))
    return sorted({k / r for r in range(1, n + 1) for k in range(1, min(r, found) + 1)})


def _listed(relevance):
    every = [
        np.mean((np.cumsum(h) / np.arange(1, len(h) + 1))[np.array(h)])
        for h in permutations(np.asarray(relevance, dtype=bool))
    ]
    return sorted(float(value) for value in every)


_EASIER = "turns the shift around, which makes the task easier instead of harder: relevant scores go down"
_FULL = "shifts each side by the whole margin: together the two shifts make α"

EXERCISES = (
    Exercise(
        "all_values_near_a_tie",
        "all_values_near_a_tie(relevance): all values of AP, in ascending order and each once, that score vectors "
        "without ties take arbitrarily close to the tie of all items.",
        all_values_near_a_tie,
        _tie_cases,
        [
            Mistake(lambda r: all_values_near_a_tie(r)[::-1], "sorts them in descending order"),
            Mistake(lambda r: [1 - v for v in all_values_near_a_tie(r)][::-1], "returns the loss, 1 − AP, not AP"),
            Mistake(lambda r: [all_values_near_a_tie(r)[0], 1.0], "returns only the worst and the best value"),
            Mistake(_precisions, "lists the possible precisions of one item, not their mean over the relevant ones"),
            Mistake(_listed, "lists one value for each ranking: rankings that differ within a class share theirs"),
        ],
    ),
    Exercise(
        "shift_by_margin",
        "shift_by_margin(scores, relevance, margin): the shifted scores of RaMBO's Eq. 14; relevance is bool.",
        shift_by_margin,
        _cases,
        [
            Mistake(_shift(-0.5, 0.5), _EASIER),
            Mistake(_shift(1.0, -1.0), _FULL),
            Mistake(_shift(0.0, -1.0), "lowers the relevant scores by the whole margin and lets the others be"),
            Mistake(_shift(0.0, -0.5), "lowers the relevant scores, but does not raise the others"),
            Mistake(_shift(0.5, 0.0), "raises the irrelevant scores, but does not lower the relevant ones"),
            Mistake(_shift(-0.5, -0.5), "moves all scores alike, which changes no ranking"),
            Mistake(lambda y, r, m: y, "leaves the scores as they are"),
        ],
    ),
    Exercise(
        "ranks_with_margin",
        "ranks_with_margin(scores, relevance, margin): rk_α of RaMBO's Eq. 15; the shifted scores do not tie.",
        ranks_with_margin,
        _rank_cases,
        [
            Mistake(lambda y, r, m: _ranks(y), "ranks the scores as they came, without the shift"),
            Mistake(lambda y, r, m: _ranks(_shift(-0.5, 0.5)(y, r, m)), _EASIER),
            Mistake(lambda y, r, m: _ranks(_shift(1.0, -1.0)(y, r, m)), _FULL),
            Mistake(lambda y, r, m: _order(_shift(0.5, -0.5)(y, r, m)), "takes argsort, the order, for the ranks"),
            Mistake(lambda y, r, m: _ranks(-_shift(0.5, -0.5)(y, r, m)), "gives rank 1 to the smallest score"),
            Mistake(lambda y, r, m: _ranks(_shift(0.5, -0.5)(y, r, m)) - 1, "counts from 0: the best rank is 1"),
            Mistake(lambda y, r, m: _shift(0.5, -0.5)(y, r, m), "returns the shifted scores instead of their ranks"),
        ],
    ),
)
