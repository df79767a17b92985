"""Chapter 7, the recall loss: who outranks whom, weights to closed form, and back."""

# Plain NumPy, no annotations.
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

import numpy as np

from rankedu import reference
from rankedu.book.exercises.spec import Case, Exercise, Mistake


def outranking(scores, relevance):
    return np.array(reference.outranking_negatives(scores, relevance))[relevance]


def closed_form(weights, outranked):
    return np.mean([sum(weights[:r]) for r in outranked])


def weights_from_W(W):
    return W[1:] - W[:-1]


def _rankings() -> list[Case]:
    rng = np.random.default_rng(7)
    cases: list[tuple[list[float], list[int]]] = [
        ([0.9, 0.7, 0.6, 0.4, 0.3], [0, 1, 0, 0, 1]),
        ([0.2, 0.9, 0.5, 0.7], [1, 0, 0, 1]),
        ([0.1, 0.3, 0.2], [1, 0, 1]),
        ([0.5, 0.4, 0.3], [1, 1, 0]),
    ]
    for size in (6, 8, 10):
        relevant = np.zeros(size, int)
        relevant[rng.permutation(size)[: size // 2]] = 1
        cases.append(((rng.permutation(100)[:size] / 100).tolist(), relevant.tolist()))
    return [{"scores": np.array(y), "relevance": np.array(rel).astype(bool)} for y, rel in cases]


def _sums() -> list[Case]:
    cases = [
        ([1.0, 0.5, 0.25], [1, 3]),
        ([1.0, 0.5, 0.25], [0, 2, 2]),
        ([1.0, 1.0, 1.0, 1.0], [4, 0, 1]),
        ([0.5, 0.0, 2.0, 0.25, 1.0], [3, 3, 1, 4]),
        ([0.7, 0.4, 0.3, 0.2, 0.1, 0.05], [5, 0, 0, 2]),
        ([0.2, 0.4, 0.1], [0, 0]),
    ]
    return [{"weights": np.array(w), "outranked": np.array(r)} for w, r in cases]


def _totals() -> list[Case]:
    r = np.arange(6.0)
    lists = ([0, 1, 1.5, 1.75], [0.0, 2.0], np.log1p(r), np.log1p(np.log1p(r)), r / (1 + r), np.sqrt(r), r**2)
    return [{"W": np.array(values, dtype=float)} for values in lists]


_ABOVE = "counts everybody ahead, rk(y) − 1: the relevant ones among them do not outrank it, subtract their rank"
_ONE_MORE = "sums one weight too many: an item with r = 0 pays nothing, W(0) = 0"

EXERCISES = (
    Exercise(
        "outranking",
        "outranking(scores, relevance): the numbers r_i of irrelevant items with a larger score, one for each relevant "
        "item, in the order of the items; two 1-D arrays, the second bool, no ties.",
        outranking,
        _rankings,
        [
            Mistake(lambda y, rel: [sum(z > x for z in y) for x in y[rel]], _ABOVE),
            Mistake(
                lambda y, rel: [sum(z > x for z in y) + 1 for x in y[rel]],
                "returns the ranks themselves: subtract the rank among the relevant items",
            ),
            Mistake(
                lambda y, rel: [sum(z > x for z in y[rel]) for x in y[rel]],
                "counts the relevant items ahead instead of the irrelevant ones",
            ),
            Mistake(
                lambda y, rel: [sum(z < x for z in y[~rel]) for x in y[rel]],
                "counts the irrelevant items behind: larger scores stand ahead",
            ),
            Mistake(
                lambda y, rel: [sum(z > x for z in y[~rel]) for x in -np.sort(-y[rel])],
                "lists the relevant items from the best to the worst: keep their own order",
            ),
            Mistake(
                lambda y, rel: [sum(z > x for z in y[rel]) for x in y[~rel]],
                "counts, for each irrelevant item, the relevant ones ahead: the two have changed places",
            ),
            Mistake(
                lambda y, rel: [sum(z > x for z in y[~rel]) if r else 0 for x, r in zip(y, rel, strict=True)],
                "returns a number for every item: only the relevant ones are asked for",
            ),
        ],
    ),
    Exercise(
        "closed_form",
        "closed_form(weights, outranked): the loss of a query, the mean of W(r_i), from the weights w_1, w_2, … (an "
        "array, so that w_1 is weights[0]; it is long enough) and the array of all r_i.",
        closed_form,
        _sums,
        [
            Mistake(lambda w, r: sum(sum(w[:k]) for k in r), "adds the W(r_i) up: Proposition 2 takes their mean"),
            Mistake(lambda w, r: np.mean([sum(w[: k + 1]) for k in r]), _ONE_MORE),
            Mistake(
                lambda w, r: np.mean([sum(w[1 : k + 1]) for k in r]),
                "starts from w_2: the array begins with w_1, at index 0",
            ),
            Mistake(
                lambda w, r: np.mean([w[k - 1] if k else 0.0 for k in r]),
                "takes the one weight at K = r_i: an item fails at every K up to r_i, so sum them",
            ),
            Mistake(
                lambda w, r: np.mean([sum(w[k:]) for k in r]),
                "sums the weights beyond r_i: those are the levels at which the item has been found",
            ),
            Mistake(
                lambda w, r: np.mean([np.mean(w[:k]) if k else 0.0 for k in r]),
                "averages over levels: W is the sum of the weights, not their mean",
            ),
            Mistake(
                lambda w, r: sum(w[: min(r)]),
                "looks at the best relevant item alone, as r@K does: all of them count",
            ),
        ],
    ),
    Exercise(
        "weights_from_W",
        "weights_from_W(W): the weights w_1, …, w_n that belong to a closed form, from the array of W(0), …, W(n).",
        weights_from_W,
        _totals,
        [
            Mistake(lambda W: np.diff(W, prepend=0.0), "has a weight too many: the first weight is that of K = 1"),
            Mistake(lambda W: W[:-1] - W[1:], "subtracts the wrong way round, so that all weights are negative"),
            Mistake(lambda W: np.cumsum(W)[1:], "sums once more: W is the sum already, take its steps"),
            Mistake(lambda W: W[1:] / np.arange(1, len(W)), "divides W(K) by K, which gives the mean weight up to K"),
            Mistake(
                lambda W: np.gradient(W)[1:],
                "takes central differences: w_K is the one step from K − 1 to K",
            ),
            Mistake(lambda W: W[1:], "returns W itself without W(0)"),
        ],
    ),
)
