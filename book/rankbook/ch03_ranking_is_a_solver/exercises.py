"""Chapter 3, ranking is a solver: swaps of neighbours, proofs made of them, and all that minimises."""

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, permutations
from typing import Any

import numpy as np

from rankbook.kit.check.compare import difference
from rankbook.kit.check.spec import Case, Exercise
from rankedu import reference


def sort_by_swaps(scores, ranks, passes=None, ascending=False):
    """Bubble sort, stopped after some passes."""
    in_order, swaps = list(scores[np.argsort(ranks)]), []  # best rank first
    for _ in in_order[:passes]:
        for r in range(1, len(in_order)):
            wrong = in_order[r - 1] > in_order[r] if ascending else in_order[r - 1] < in_order[r]
            if wrong:
                in_order[r - 1], in_order[r] = in_order[r], in_order[r - 1]
                swaps.append(r)
    return swaps


def audit(scores, ranks, swaps):
    line = list(scores[np.argsort(ranks)])
    for r in swaps:
        if not 1 <= r < len(line) or line[r - 1] > line[r]:
            return math.nan
        line[r - 1], line[r] = line[r], line[r - 1]
    falls = all(above >= below for above, below in pairwise(line))
    return float(scores @ ranks - reference.optimal_value(list(scores))) if falls else math.nan


def minimisers(scores):
    exact = [Fraction(float(score)) for score in scores]
    least = reference.optimal_value(exact)
    every = permutations(range(1, len(exact) + 1))
    return [list(ranks) for ranks in every if sum(map(operator.mul, exact, ranks)) == least]


def _judge_swaps(case: Case, answer: Any) -> str | None:
    """Any list of ranks that sorts, without ever making things worse, is right."""
    in_order = [float(score) for score in case["scores"][np.argsort(case["ranks"])]]
    try:
        swaps = [operator.index(r) for r in answer]
    except TypeError:
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


def _judge_audit(case: Case, answer: Any) -> str | None:
    """As other numbers are judged, but nan is an answer here."""
    saved = audit(**case)
    problem = difference(saved, answer)
    if problem and math.isnan(saved) and np.ndim(answer) == 0:
        return "though these swaps prove nothing"
    return "though these swaps are a proof" if problem and "not a number" in problem else problem


def _rows(answer: Callable[[Any], Any], scores: Any) -> Any:
    """What a reader returned, its rows in one order; as it is where it has no rows of one length."""
    rows = answer(scores)
    try:
        return sorted(np.asarray(rows).tolist())
    except (TypeError, ValueError):
        return rows


def _pairs() -> list[tuple[list[float], list[int]]]:
    rng = np.random.default_rng(4)
    pairs = [([0.5, 1.0], [1, 2]), ([0.5, 0.25, 1.0], [1, 2, 3]), ([0.5, 0.25, 1.0], [2, 3, 1])]
    pairs += [([0.5, 0.5, 0.25], [2, 1, 3]), ([1.0, 0.75, 0.75, 0.5], [1, 3, 2, 4])]
    for size in (3, 4, 4, 4, 5, 6, 7):
        scores = rng.integers(0, 2 * size, size) / 4
        pairs.append((scores.tolist(), (1 + rng.permutation(size)).tolist()))
    return pairs


def _cases() -> list[Case]:
    return [{"scores": np.array(y), "ranks": np.array(ranks)} for y, ranks in _pairs()]


def _audit_cases() -> list[Case]:
    """Proofs, and lists of swaps that are none: too short, uphill, or beyond the ends of the ranking."""
    listed = [
        ([0.5, 1.0], [1, 2], [1]),
        ([0.5, 0.25, 1.0], [1, 2, 3], [2, 1]),
        ([0.5, 0.25, 1.0], [1, 2, 3], [2]),
        ([1.0, 0.5], [1, 2], []),
        ([1.0, 0.5, 0.25], [1, 2, 3], [1, 1]),
        ([0.5, 0.5, 1.0], [2, 1, 3], [1, 2, 1]),
        ([0.25, 0.5, 1.0], [3, 1, 2], [1]),
        ([0.25, 0.5, 1.0], [3, 1, 2], [2]),
        ([0.25, 0.5, 1.0], [3, 1, 2], [1, 2, 1]),
        ([1.0, 0.25, 0.5], [1, 2, 3], [0, 2, 1]),
        ([0.25, 1.0], [1, 2], [2, 1]),
    ]
    listed += [(y, ranks, sort_by_swaps(np.array(y), np.array(ranks))) for y, ranks in _pairs()]
    return [{"scores": np.array(y), "ranks": np.array(ranks), "swaps": list(swaps)} for y, ranks, swaps in listed]


def _tied_cases() -> list[Case]:
    """Tenths are no exact floats: two minimisers may differ in the last digit of their cost."""
    rng = np.random.default_rng(6)
    listed = [[0.5, 1.0], [0.5, 0.5], [0.7, 0.2, 0.9, 0.4, 0.4], [0.7, 0.2, 0.7, 0.2, 0.5], [0.3, 0.3, 0.3, 0.1]]
    listed += [(rng.integers(1, size, size) / 10).tolist() for size in (4, 5, 6)]
    return [{"scores": np.array(y)} for y in listed]


def _audit(gain=lambda r, a, b: a - b, start=lambda y, ranks: y[np.argsort(ranks)], uphill=False, first=1,
           free=True, end=operator.ge):  # fmt: skip
    """An auditor who gets one thing wrong."""

    def wrong(scores, ranks, swaps):
        line, total = list(start(scores, ranks)), 0.0
        for r in swaps:
            if not first <= r < len(line):
                return math.nan
            upper, lower = line[r - 1], line[r]
            if not uphill and (upper > lower or (upper == lower and not free)):
                return math.nan
            total += gain(r, lower, upper)
            line[r - 1], line[r] = lower, upper
        return total if all(end(above, below) for above, below in pairwise(line)) else math.nan

    return wrong


def _cheapest(scores, sign=1):
    """Try every permutation, with costs in floating point."""
    costs = {}
    for ranks in permutations(range(1, len(scores) + 1)):
        cost = 0.0
        for score, rank in zip(scores.tolist(), ranks, strict=True):
            cost += sign * score * rank
        costs[ranks] = cost
    return [list(ranks) for ranks, cost in costs.items() if cost == min(costs.values())]


EXERCISES = (
    Exercise(
        "sort_by_swaps(scores, ranks): a list of upper ranks r, each a swap of the items at ranks r and r + 1, that "
        "leads from ranks to a minimiser of y · ranks without ever raising it.",
        sort_by_swaps, _cases, [
            (lambda y, ranks: sort_by_swaps(y, ranks, 1), "passes over the ranking only once"),
            (lambda y, ranks: sort_by_swaps(y, ranks, ascending=True), "sorts the smallest score to rank 1"),
            (lambda y, ranks: sort_by_swaps(y, ranks)[::-1], "gives the swaps in reverse: from rk(y) to ranks"),
            (lambda y, ranks: sort_by_swaps(y, np.arange(1, len(y) + 1)),
             "sorts the scores in the order of their positions: the starting point is ranks"),
            (lambda y, ranks: sort_by_swaps(y, 1 + np.argsort(ranks)),
             "uses ranks as if it listed the items from best to worst: it gives each item's rank"),
        ],
        judge=_judge_swaps,
    ),
    Exercise(
        "audit(scores, ranks, swaps): what the swaps save of y · ranks in all, if they prove that no permutation costs "
        "less than the one that they end at; else nan. Entry r of the list swaps the items at ranks r and r + 1.",
        audit, _audit_cases, [
            (_audit(uphill=True), "lets a swap through that raises the objective"),
            (_audit(end=lambda above, below: True), "never looks at the end: are there still neighbours to swap?"),
            (lambda y, ranks, swaps: audit(y, ranks, [r for r in swaps if 1 <= r < len(y)]),
             "passes over a swap that is out of range: such a list proves nothing"),
            (_audit(first=0), "lets r = 0 through: index −1 is the last item, and there is no rank 0"),
            (_audit(free=False), "refuses a swap of tied neighbours: it is free, and does no harm"),
            (_audit(end=operator.gt), "demands strictly falling scores at the end: tied neighbours are fine"),
            (_audit(start=lambda y, ranks: y[ranks - 1]),
             "uses ranks as if it listed the items from best to worst: it gives each item's rank"),
            (_audit(start=lambda y, ranks: y), "starts from the positions: ranks says who stands where"),
            (_audit(gain=lambda r, a, b: r * (a - b)), "multiplies by the rank: the two ranks differ by one"),
            (_audit(gain=lambda r, a, b: 1), "counts the swaps: each has a price"),
            (lambda y, ranks, swaps: float(y @ ranks - reference.optimal_value(list(y))),
             "computes what should be saved, and does not look at the swaps"),
        ],
        judge=_judge_audit, arrays=("numpy",),
    ),
    Exercise(
        "minimisers(scores): all permutations with the least y · π, as a list of lists of ranks; scores may tie.",
        minimisers, _tied_cases, [
            (lambda y: [reference.rank(y.tolist())], "returns rk(y) alone: tied items may stand in any order"),
            (lambda y: [reference.rank(y.tolist(), "min")],
             "gives tied items one rank: that is no permutation, and not among the candidates"),
            (_cheapest, "compares costs in floating point: equal costs can differ in their last digit"),
            (lambda y: minimisers(-y), "sorts the smallest score to rank 1"),
            (lambda y: _cheapest(y, -1), "looks for the maximum: the largest score gets rank 1"),
            (lambda y: [[1 + row.index(k) for k in range(1, len(y) + 1)] for row in minimisers(y)],
             "lists the items from best to worst: the ranks are the inverse of that"),
            (lambda y: [list(row) for row in permutations(range(1, len(y) + 1))], "returns every permutation there is"),
        ],
        use=_rows, arrays=("numpy",),
    ),
)  # fmt: skip
