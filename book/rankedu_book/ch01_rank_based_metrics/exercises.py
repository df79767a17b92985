"""Chapter 1, rank-based metrics: ranks by counting, average precision, ties, a whole evaluation."""

from functools import partial

import numpy as np

from rankedu import reference
from rankedu_book.kit.check.spec import Case, Exercise, in_numpy, unit

rank_min = in_numpy(partial(reference.rank, ties="min"))


def evaluate(embeddings, labels, *, itself=False, cosines=True, lonely=None, metric=reference.map_at_r, sign=1):
    """R@1 and mAP@R; the options make the mistakes."""
    rows = unit(embeddings) if cosines else embeddings
    found = []
    for query, label in enumerate(labels):
        others = itself | (np.arange(len(labels)) != query)
        scores, relevant = sign * rows[others] @ rows[query], labels[others] == label
        if relevant.any():
            found.append((reference.recall_at_k(scores, relevant, 1), metric(scores, relevant)))
        elif lonely is not None:
            found.append((lonely, lonely))
    return np.mean(found, axis=0)


def _ap(scores, relevance, first=None):
    """AP of a ranking; of tied items those marked ``first`` come first, then by position."""
    order = np.lexsort((np.arange(len(scores)), ~first if first is not None else 0 * scores, -scores))
    ranks = 1 + np.flatnonzero(relevance[order])
    return np.mean(np.arange(1, len(ranks) + 1) / ranks)


def _as_printed(scores, relevance, ranks=None, numerator=np.greater_equal):
    ranks = rank_min(scores) if ranks is None else ranks
    return np.array([(relevance & numerator(scores, scores[i])).sum() / ranks[i] for i in np.flatnonzero(relevance)])


def _score_cases() -> list[Case]:
    rng = np.random.default_rng(1)
    plain = [[0.9, 0.1, 0.5], [0.5, 0.5, 0.1], [0.2], [1.0, 1.0, 1.0, 1.0], [-1.0, 0.0, -3.0, 2.0]]
    drawn = [rng.integers(-3, 4, size=size) / 2 for size in (5, 6, 8, 12)]
    return [{"scores": np.array(scores, dtype=float)} for scores in (*plain, *drawn)]


def _distinct_cases() -> list[Case]:
    rng = np.random.default_rng(2)
    cases = [([0.9, 0.1, 0.5], [0, 1, 1]), ([0.4, 0.8], [1, 0]), ([0.3, 0.7, 0.2, 0.1], [1, 0, 1, 0]), ([0.6], [1])]
    cases += [([-0.5, -0.1, -0.9, 0.3, 0.0], [1, 0, 0, 0, 1])]
    for size in (5, 6, 8, 10):
        relevance = rng.permutation(np.arange(size) < rng.integers(1, size))
        cases.append(((rng.permutation(20)[:size] / 20).tolist(), relevance.astype(int).tolist()))
    return [{"scores": np.array(s, dtype=float), "relevance": np.array(r, dtype=bool)} for s, r in cases]


def _tied_cases() -> list[Case]:
    cases = [
        ([0.5, 0.5], [1, 0]),
        ([0.5, 0.5], [0, 1]),
        ([0.5, 0.5, 0.5], [0, 1, 1]),
        ([0.9, 0.5, 0.5, 0.1], [0, 1, 0, 1]),
        ([0.2, 0.8, 0.2, 0.8, 0.2], [1, 0, 0, 1, 1]),
        ([0.0, 0.0, 0.0, 0.0, 1.0, 1.0], [1, 0, 0, 0, 0, 1]),
        ([0.1, 0.2, 0.3], [1, 0, 1]),
    ]
    return [{"scores": np.array(s, dtype=float), "relevance": np.array(r, dtype=bool)} for s, r in cases]


def _test_sets() -> list[Case]:
    rng = np.random.default_rng(3)
    first = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 2.0], [3.0, 1.0]])
    cases = [{"embeddings": first, "labels": np.array([0, 0, 1, 1])}]
    for labels in ([0, 0, 0, 1, 1], [0, 0, 1, 1, 2], [0, 1, 0, 1, 0, 1], [2, 2, 2, 0, 0, 1, 0, 0]):
        cases.append({"embeddings": rng.normal(size=(len(labels), 3)).round(2), "labels": np.array(labels)})
    return cases


EXERCISES = (
    Exercise(
        "rank_min(scores): the rank of each item by RaMBO's Eq. 2, one plus the number of items with a larger score.",
        rank_min, _score_cases, [
            (lambda y: (y[None, :] >= y[:, None]).sum(axis=1), "counts >= instead of >, items and their ties"),
            (lambda y: 1 + (y[None, :] >= y[:, None]).sum(axis=1), "counts >= (each item itself) and adds 1"),
            (lambda y: 1 + (y[None, :] < y[:, None]).sum(axis=1), "counts smaller scores: the largest is best"),
            (lambda y: 1 + np.argsort(np.argsort(-y, kind="stable"), kind="stable"),
             "breaks ties by position; by Eq. 2 tied items share a rank"),
            (lambda y: 1 + np.argsort(-y, kind="stable"), "takes argsort, the order of the items, for the ranks"),
        ],
    ),
    Exercise(
        "average_precision(scores, relevance): AP by RaMBO's Eqs. 4 and 5; scores are distinct, relevance is boolean.",
        reference.average_precision, _distinct_cases, [
            (lambda y, rel: np.mean([(rel & (y >= s)).sum() / (y >= s).sum() for s in y]),
             "averages the precision over all ranks, not over those of the positives"),
            (lambda y, rel: np.sum([(rel & (y >= s)).sum() / (y >= s).sum() for s in y]) / rel.sum(),
             "sums the precisions at all ranks: the sum runs over the positives only"),
            (lambda y, rel: np.mean(_as_printed(y, rel, numerator=np.greater)),
             "counts > in the numerator: an item counts itself, so it needs >="),
            (lambda y, rel: reference.average_precision(-y, rel), "sorts from the smallest score: the largest is best"),
            (lambda y, rel: np.mean(1 / rank_min(y)[rel]), "puts 1 in the numerator: a mean reciprocal rank"),
            (lambda y, r: reference.average_precision(y, ~r) if (~r).any() else 0.0, "swaps relevant and irrelevant"),
        ],
    ),
    Exercise(
        "expected_ap(scores, relevance): the mean of AP over all ways to break the ties at random (n ≤ 6).",
        reference.expected_average_precision, _tied_cases, [
            (lambda y, rel: _as_printed(y, rel).mean(), "uses Eqs. 4 and 5 as printed, >= over >, despite ties"),
            (_ap, "breaks ties by position once, instead of averaging over all ways"),
            (lambda y, rel: _ap(y, rel, ~rel), "always puts tied negatives first: the pessimistic value"),
            (lambda y, rel: _ap(y, rel, rel), "always puts tied positives first: the optimistic value"),
            (lambda y, rel: (_ap(y, rel, rel) + _ap(y, rel, ~rel)) / 2,
             "averages the best and the worst case instead of all ways"),
            (lambda y, rel: _as_printed(y, rel, (y[None, :] >= y[:, None]).sum(axis=1)).mean(),
             "counts >= in the rank as well, so that whole groups of ties count at once"),
        ],
    ),
    Exercise(
        "evaluate(embeddings, labels): R@1 and mAP@R of a test set, two numbers. Every item is a query, scores are "
        "cosines, a query takes no part in its own list, and one without another item of its class is left out.",
        evaluate, _test_sets, [
            (partial(evaluate, itself=True), "lets a query find itself"),
            (partial(evaluate, cosines=False), "takes dot products: divide by both lengths"),
            (partial(evaluate, lonely=0.0), "counts a query that has nothing to find as a failure: it has no value"),
            (partial(evaluate, metric=reference.average_precision), "reads the list to its end: AP@R stops at rank R"),
            (partial(evaluate, metric=lambda y, r: reference.precision_at_k(y, r, sum(r))),
             "takes the share of relevant items among the first R: AP@R adds precisions up"),
            (partial(evaluate, sign=-1), "puts the most distant item first"),
        ],
    ),
)  # fmt: skip
