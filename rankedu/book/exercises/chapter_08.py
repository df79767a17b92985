"""Chapter 8, the average precision loss: from ranks to AP, its gradient, and all classes in one list."""

# Plain NumPy, no annotations.
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

import numpy as np

from rankedu import reference
from rankedu.book.exercises.spec import Case, Exercise, Mistake


def ap_from_ranks(ranks):
    listed = np.arange(1, ranks.max() + 1)
    return reference.average_precision(-listed.astype(float), np.isin(listed, ranks))


def ap_gradient_wrt_ranks(ranks):
    within = 1 + (ranks[None, :] < ranks[:, None]).sum(axis=1)
    return within / (len(ranks) * ranks**2)


def class_agnostic_ap(scores, relevance):
    return 1 - reference.class_agnostic_loss(scores, relevance)


def _within(ranks):
    return 1 + (ranks[None, :] < ranks[:, None]).sum(axis=1)


def _by_class(scores, relevance):
    return 1 - reference.mean_average_precision_loss(scores, relevance)


def _by_item(scores, relevance):
    return _by_class(scores.T, relevance.T)


def _rank_cases() -> list[Case]:
    rng = np.random.default_rng(8)
    cases = [[2, 4], [3], [6, 1, 4], [1, 2, 3], [9, 2, 5, 3]]
    cases += [(1 + rng.permutation(n)[:p]).tolist() for n, p in ((12, 5), (20, 3), (30, 8), (100, 10))]
    return [{"ranks": np.array(ranks)} for ranks in cases]


def _matrix_cases() -> list[Case]:
    rng = np.random.default_rng(9)
    cases: list[tuple[list[list[float]], list[list[int]]]] = [
        ([[0.9, 0.2], [0.5, 0.4], [0.3, 0.1]], [[1, 0], [0, 1], [1, 1]]),
        ([[0.9, 0.3], [0.6, 0.1]], [[1, 1], [0, 0]]),
    ]
    for items, classes in ((4, 3), (6, 2), (5, 4), (9, 3), (12, 5)):
        scores = rng.permutation(items * classes).reshape(items, classes) / 100
        relevance = rng.random((items, classes)) < 0.4
        relevance[rng.permutation(items)[:2], :] = True  # every class has positives
        cases.append((scores.tolist(), relevance.astype(int).tolist()))
    return [{"scores": np.array(y), "relevance": np.array(rel, dtype=bool)} for y, rel in cases]


EXERCISES = (
    Exercise(
        "ap_from_ranks",
        "ap_from_ranks(ranks): average precision, from the ranks of the relevant items among all, in any order.",
        ap_from_ranks,
        _rank_cases,
        [
            Mistake(
                lambda ranks: np.mean(np.arange(1, len(ranks) + 1) / ranks),
                "takes the ranks as they come: the k-th relevant item is the one with the k-th smallest rank",
            ),
            Mistake(lambda ranks: np.mean(1 / ranks), "leaves out the rank within the relevant items"),
            Mistake(lambda ranks: 1 - ap_from_ranks(ranks), "returns the loss, which is one minus AP"),
            Mistake(lambda ranks: ap_from_ranks(ranks) * len(ranks), "adds the precisions up instead of averaging"),
            Mistake(lambda ranks: _within(ranks).sum() / ranks.sum(), "divides sums: the mean is over quotients"),
            Mistake(lambda ranks: len(ranks) / ranks.max(), "takes the precision at the last relevant item only"),
        ],
    ),
    Exercise(
        "ap_gradient_wrt_ranks",
        "ap_gradient_wrt_ranks(ranks): the gradient of the loss 1 − AP with respect to the ranks of the relevant items "
        "among all, with their ranks among each other held fixed; one entry for each, in the order given.",
        ap_gradient_wrt_ranks,
        _rank_cases,
        [
            Mistake(
                lambda ranks: -ap_gradient_wrt_ranks(ranks),
                "differentiates AP: the loss is one minus it, and grows with the ranks",
            ),
            Mistake(lambda ranks: len(ranks) * ap_gradient_wrt_ranks(ranks), "forgets that the loss is a mean"),
            Mistake(lambda ranks: 1 / (len(ranks) * ranks**2), "leaves out the rank within the relevant items"),
            Mistake(
                lambda ranks: _within(ranks) / (len(ranks) * ranks),
                "stops at the quotient: differentiate it",
            ),
            Mistake(
                lambda ranks: ap_gradient_wrt_ranks(np.sort(ranks)),
                "lists the relevant items from the best to the worst: keep the order given",
            ),
            Mistake(
                lambda ranks: (_within(ranks) - ranks) / (len(ranks) * ranks**2),
                "differentiates the rank within the relevant items as well",
            ),
            Mistake(
                lambda ranks: np.arange(1, len(ranks) + 1) / (len(ranks) * ranks**2),
                "takes the ranks as sorted: find the rank within the relevant items first",
            ),
        ],
    ),
    Exercise(
        "class_agnostic_ap",
        "class_agnostic_ap(scores, relevance): AP of all classes in one list; a row for each item, a column for each "
        "class, no ties.",
        class_agnostic_ap,
        _matrix_cases,
        [
            Mistake(_by_class, "averages over the classes: that is mAP"),
            Mistake(_by_item, "ranks the classes of each item: the list holds every score of the matrix"),
            Mistake(lambda y, rel: 1 - class_agnostic_ap(y, rel), "returns the loss, which is one minus AP"),
            Mistake(lambda y, rel: class_agnostic_ap(y.T, rel), "flattens scores and relevance in different orders"),
            Mistake(lambda y, rel: class_agnostic_ap(-y, rel), "puts the smallest score first"),
            Mistake(
                lambda y, rel: class_agnostic_ap(y - y.max(axis=0), rel),
                "brings the classes to one scale first: that is what APC wants the model to do",
            ),
        ],
    ),
)
