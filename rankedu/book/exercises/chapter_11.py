"""Chapter 11, learned sorters: what a sorter is judged by, and what a sum of ranks is not."""

# Plain NumPy, no annotations.
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

import numpy as np

from rankedu import reference
from rankedu.book.exercises.spec import Case, Exercise, Mistake


def mean_rank_error(answers, scores):
    true = np.array([reference.rank(row) for row in scores])
    return np.abs(answers - true).mean()


def spearman_loss(ranks, target_ranks):
    n = len(ranks)
    return 6 * np.sum((ranks - target_ranks) ** 2) / (n * (n**2 - 1))


def _lists() -> list[Case]:
    rng = np.random.default_rng(11)
    cases: list[Case] = [
        {"answers": np.array([[1.2, 2.9, 2.1]]), "scores": np.array([[0.9, 0.1, 0.5]])},
        {"answers": np.array([[2.0, 2.0], [1.0, 2.0]]), "scores": np.array([[0.1, 0.7], [0.3, 0.2]])},
    ]
    for lists, n in ((1, 4), (3, 5), (4, 8), (2, 12)):
        scores = rng.permuted(np.tile(np.arange(n) / n, (lists, 1)), axis=1)
        cases.append({"answers": rng.uniform(1, n, (lists, n)), "scores": scores})
    return cases


def _rankings() -> list[Case]:
    rng = np.random.default_rng(12)
    cases: list[Case] = [{"ranks": np.array([1.0, 2.0, 3.0]), "target_ranks": np.array([3.0, 2.0, 1.0])}]
    for n in (3, 4, 6, 10):
        cases.append({"ranks": 1.0 + rng.permutation(n), "target_ranks": 1.0 + rng.permutation(n)})
    cases.append({"ranks": rng.uniform(1, 5, 5), "target_ranks": 1.0 + rng.permutation(5)})
    return cases


EXERCISES = (
    Exercise(
        "mean_rank_error",
        "mean_rank_error(answers, scores): the mean absolute difference between a sorter's answers and the true ranks, "
        "over all items of all lists; both are matrices with a row for each list, no ties.",
        mean_rank_error,
        _lists,
        [
            Mistake(
                lambda answers, scores: np.abs(answers - 1 - scores.argsort(axis=-1).argsort(axis=-1)).mean(),
                "ranks the smallest score first: rank 1 belongs to the largest",
            ),
            Mistake(
                lambda answers, scores: np.abs(answers - 1 - (-scores).argsort(axis=-1)).mean(),
                "takes the order for the ranks: an argsort tells who stands at a place, not the place of each",
            ),
            Mistake(
                lambda answers, scores: np.sqrt(
                    ((answers - 1 - (-scores).argsort(axis=-1).argsort(axis=-1)) ** 2).mean()
                ),
                "takes the root of the mean square",
            ),
            Mistake(
                lambda answers, scores: np.abs(answers - (-scores).argsort(axis=-1).argsort(axis=-1)).mean(),
                "counts ranks from 0",
            ),
            Mistake(
                lambda answers, scores: (answers - 1 - (-scores).argsort(axis=-1).argsort(axis=-1)).mean(),
                "lets errors of opposite signs cancel: a distance has none",
            ),
            Mistake(
                lambda answers, scores: mean_rank_error(answers, scores) * scores.shape[-1],
                "adds up over a list: the mean is over its items too",
            ),
        ],
    ),
    Exercise(
        "spearman_loss",
        "spearman_loss(ranks, target_ranks): one minus Spearman's correlation of two rankings without ties, by the sum "
        "of squared differences of ranks; it must also take ranks that are not whole numbers.",
        spearman_loss,
        _rankings,
        [
            Mistake(lambda ranks, target_ranks: 1 - spearman_loss(ranks, target_ranks), "returns the correlation"),
            Mistake(
                lambda ranks, target_ranks: np.mean((ranks - target_ranks) ** 2),
                "leaves out the scale: reversed lists must have the loss 2, whatever their length",
            ),
            Mistake(
                lambda ranks, target_ranks: spearman_loss(ranks, target_ranks) / 2,
                "divides by the largest loss: one minus a correlation goes up to 2",
            ),
            Mistake(
                lambda ranks, target_ranks: 6 * np.sum((ranks - target_ranks) ** 2) / len(ranks) ** 3,
                "takes n³ for n(n² − 1)",
            ),
            Mistake(
                lambda ranks, target_ranks: (
                    6 * np.sum(np.abs(ranks - target_ranks)) / (len(ranks) * (len(ranks) ** 2 - 1))
                ),
                "takes absolute differences: they are squared",
            ),
        ],
    ),
)
