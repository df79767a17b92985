"""Chapter 3, ranking is a solver: swaps of neighbours, and what it means to minimise."""

# Plain NumPy, no annotations.
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from rankedu.book.exercises.spec import Case, Exercise, Mistake


def swap_gain(scores, ranks, r):
    upper = scores[ranks == r][0]
    lower = scores[ranks == r + 1][0]
    return lower - upper


def sort_by_swaps(scores, ranks):
    in_order = list(scores[np.argsort(ranks)])  # best rank first
    swaps = []
    for _ in in_order:
        for r in range(1, len(in_order)):
            if in_order[r - 1] < in_order[r]:
                in_order[r - 1], in_order[r] = in_order[r], in_order[r - 1]
                swaps.append(r)
    return swaps


def is_minimiser(scores, ranks):
    in_order = scores[np.argsort(ranks)]
    return bool(np.all(in_order[:-1] >= in_order[1:]))


def _judge_swaps(case: Case, answer: Any) -> str | None:
    """Any list of ranks that sorts, without ever making things worse, is right."""
    in_order = [float(score) for score in case["scores"][np.argsort(case["ranks"])]]
    try:
        swaps = [_whole(r) for r in answer]
    except (TypeError, ValueError):
        return "which is not a list of whole numbers: entry r means that the items at ranks r and r + 1 change places"
    for step, r in enumerate(swaps, 1):
        if not 1 <= r < len(in_order):
            return f"where swap {step} is at rank {r}: the upper rank of a swap is from 1 to {len(in_order) - 1} here"
        if in_order[r - 1] > in_order[r]:
            return f"where swap {step}, at rank {r}, raises the objective: the item above already scores more"
        in_order[r - 1], in_order[r] = in_order[r], in_order[r - 1]
    if any(above < below for above, below in pairwise(in_order)):
        return f"after which the scores read {in_order} from the best rank on: not sorted yet"
    return None


def _whole(value: Any) -> int:
    number = float(value)
    if number != int(number):
        raise ValueError
    return int(number)


def _judge_bool(case: Case, answer: Any) -> str | None:
    value = answer.item() if hasattr(answer, "item") and np.size(answer) == 1 else answer
    if not isinstance(value, (bool, int, float)) or value not in (0, 1):
        return "where True or False was expected"
    return None if bool(value) == is_minimiser(**case) else "which is not so"


def _pairs() -> list[tuple[list[float], list[int]]]:
    rng = np.random.default_rng(4)
    pairs = [
        ([0.5, 1.0], [1, 2]),
        ([0.5, 0.25, 1.0], [1, 2, 3]),
        ([0.5, 0.25, 1.0], [2, 3, 1]),
        ([0.5, 0.5, 0.25], [2, 1, 3]),
        ([0.5, 0.5, 0.25], [1, 2, 3]),
        ([0.25, 0.5, 0.5, 1.0], [3, 1, 4, 2]),
        ([1.0, 1.0, 1.0], [3, 1, 2]),
        ([1.0, 0.75, 0.75, 0.5], [1, 3, 2, 4]),
    ]
    for size in (4, 5, 6, 7):
        scores = rng.integers(0, 2 * size, size) / 4
        pairs.append((scores.tolist(), (1 + rng.permutation(size)).tolist()))
    return pairs


def _cases() -> list[Case]:
    return [{"scores": np.array(y), "ranks": np.array(ranks)} for y, ranks in _pairs()]


def _gain_cases() -> list[Case]:
    return [case | {"r": r} for case in _cases() for r in range(1, len(case["ranks"]))]


def _pass(scores, ranks, passes=1, ascending=False):
    """Bubble sort, stopped after some passes."""
    in_order, swaps = list(scores[np.argsort(ranks)]), []
    for _ in range(passes):
        for r in range(1, len(in_order)):
            wrong = in_order[r - 1] > in_order[r] if ascending else in_order[r - 1] < in_order[r]
            if wrong:
                in_order[r - 1], in_order[r] = in_order[r], in_order[r - 1]
                swaps.append(r)
    return swaps


def _ordinal(scores):
    return 1 + np.argsort(np.argsort(-scores, kind="stable"), kind="stable")


def _objective_change(scores, ranks, r):
    after = np.where(ranks == r, r + 1, np.where(ranks == r + 1, r, ranks))
    return scores @ after - scores @ ranks


EXERCISES = (
    Exercise(
        "swap_gain",
        "swap_gain(scores, ranks, r): by how much y · ranks falls when the items at ranks r and r + 1 change places.",
        swap_gain,
        _gain_cases,
        [
            Mistake(_objective_change, "returns the change of the objective: a gain is how much it falls"),
            Mistake(
                lambda y, ranks, r: y[r] - y[r - 1], "takes the items at positions r and r + 1, not at those ranks"
            ),
            Mistake(
                lambda y, ranks, r: y[ranks[r] - 1] - y[ranks[r - 1] - 1],
                "uses ranks as if it listed the items from best to worst: it gives each item's rank",
            ),
            Mistake(lambda y, ranks, r: abs(swap_gain(y, ranks, r)), "takes the absolute value: a bad swap loses"),
            Mistake(
                lambda y, ranks, r: y[ranks == r + 1][0] * (r + 1) - y[ranks == r][0] * r,
                "compares only how much each item contributed before the swap",
            ),
            Mistake(lambda y, ranks, r: r * swap_gain(y, ranks, r), "multiplies by the rank: the ranks differ by one"),
        ],
    ),
    Exercise(
        "sort_by_swaps",
        "sort_by_swaps(scores, ranks): a list of upper ranks r, each a swap of the items at ranks r and r + 1, that "
        "leads from ranks to a minimiser of y · ranks without ever raising it.",
        sort_by_swaps,
        _cases,
        [
            Mistake(lambda y, ranks: [], "makes no swap at all"),
            Mistake(lambda y, ranks: _pass(y, ranks), "passes over the ranking only once"),
            Mistake(
                lambda y, ranks: [r - 1 for r in _pass(y, ranks, len(y))], "counts ranks from 0: the best rank is 1"
            ),
            Mistake(lambda y, ranks: [r + 1 for r in _pass(y, ranks, len(y))], "gives the lower rank of each swap"),
            Mistake(lambda y, ranks: _pass(y, ranks, len(y), True), "sorts the smallest score to rank 1"),
            Mistake(lambda y, ranks: _pass(y, ranks, len(y))[::-1], "gives the swaps in reverse: from rk(y) to ranks"),
            Mistake(
                lambda y, ranks: _pass(y, np.arange(1, len(y) + 1), len(y)),
                "sorts the scores in the order of their positions: the starting point is ranks",
            ),
        ],
        judge=_judge_swaps,
    ),
    Exercise(
        "is_minimiser",
        "is_minimiser(scores, ranks): whether no permutation has a smaller y · ranks; scores may tie.",
        is_minimiser,
        _cases,
        [
            Mistake(
                lambda y, ranks: bool((ranks == _ordinal(y)).all()),
                "compares with rk(y) alone: tied items may stand in any order",
            ),
            Mistake(
                lambda y, ranks: bool((np.diff(y[np.argsort(ranks)]) < 0).all()),
                "demands strictly falling scores: tied neighbours are fine",
            ),
            Mistake(lambda y, ranks: is_minimiser(-y, ranks), "checks for the maximum: the largest score gets rank 1"),
            Mistake(
                lambda y, ranks: bool((np.diff(y[ranks - 1]) <= 0).all()),
                "uses ranks as if it listed the items from best to worst",
            ),
            Mistake(
                lambda y, ranks: bool((np.diff(y) <= 0).all()), "looks at the positions: ranks says who stands where"
            ),
            Mistake(lambda y, ranks: True, "answers True to everything"),
            Mistake(lambda y, ranks: False, "answers False to everything"),
        ],
        judge=_judge_bool,
    ),
)
