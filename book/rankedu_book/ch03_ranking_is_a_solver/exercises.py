"""Chapter 3, ranking is a solver: swaps of neighbours, and all that minimises."""

import operator
from fractions import Fraction
from functools import partial
from itertools import permutations

import numpy as np

from rankedu import reference
from rankedu_book.kit.check.compare import numbers
from rankedu_book.kit.check.spec import Case, Exercise, plain


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


def minimisers(scores):
    exact = [Fraction(float(score)) for score in scores]
    least = reference.optimal_value(exact)
    every = permutations(range(1, len(exact) + 1))
    return [list(ranks) for ranks in every if sum(map(operator.mul, exact, ranks)) == least]


@plain
def _judge_swaps(case, answer):
    """Any list of ranks that sorts, without ever making things worse, is right."""
    in_order = [score for _, score in sorted(zip(numbers(case["ranks"]), numbers(case["scores"])))]  # noqa: B905
    try:
        swaps = [r.__index__() for r in answer]
    except (TypeError, AttributeError):
        return "which is not a list of whole numbers: entry r means that the items at ranks r and r + 1 change places"
    for step, r in enumerate(swaps, 1):
        if not 1 <= r < len(in_order):
            return f"where swap {step} is at rank {r}: the upper rank of a swap is from 1 to {len(in_order) - 1} here"
        if in_order[r - 1] > in_order[r]:
            return f"where swap {step}, at rank {r}, raises the objective: the item above already scores more"
        in_order[r - 1], in_order[r] = in_order[r], in_order[r - 1]
    if in_order != sorted(in_order, reverse=True):
        return f"after which the scores read {in_order} from the best rank on: not sorted yet"
    return None


@plain
def _rows(answer, scores):
    """What a reader returned, its rows in one order; as it is where it has no rows of one length."""
    rows = answer(scores)
    try:
        return sorted(numbers(rows, lambda value: value))
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


def _tied_cases() -> list[Case]:
    """Tenths are no exact floats: two minimisers may differ in the last digit of their cost."""
    rng = np.random.default_rng(6)
    listed = [[0.5, 1.0], [0.5, 0.5], [0.7, 0.2, 0.9, 0.4, 0.4], [0.7, 0.2, 0.7, 0.2, 0.5], [0.3, 0.3, 0.3, 0.1]]
    listed += [(rng.integers(1, size, size) / 10).tolist() for size in (4, 4, 4)]
    return [{"scores": np.array(y)} for y in listed]


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
            (partial(sort_by_swaps, ascending=True), "sorts the smallest score to rank 1"),
            (lambda y, ranks: sort_by_swaps(y, ranks)[::-1], "gives the swaps in reverse: from rk(y) to ranks"),
            (lambda y, ranks: sort_by_swaps(y, np.arange(1, len(y) + 1)),
             "sorts the scores in the order of their positions: the starting point is ranks"),
            (lambda y, ranks: sort_by_swaps(y, 1 + np.argsort(ranks)),
             "uses ranks as if it listed the items from best to worst: it gives each item's rank"),
        ],
        judge=_judge_swaps,
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
