"""The exercise of chapter 19: the matrix of SoftSort."""

import numpy as np

from rankedu import reference
from rankedu_book.kit.check.spec import Case, Exercise, in_numpy

soft_sort = in_numpy(reference.soft_sort)


def _lists() -> list[Case]:
    rng = np.random.default_rng(19)
    return [
        {"scores": rng.normal(size=n).round(2), "temperature": t}
        for n, t in ((2, 1.0), (3, 0.5), (6, 0.2), (4, 0.1), (5, 2.0))
    ]


EXERCISES = (
    Exercise(
        "soft_sort(scores, temperature): the matrix of SoftSort, whose row i is a softmax over the items and says "
        "which items are at place i.",
        soft_sort, _lists, [
            (lambda y, t: soft_sort(y, t).T, "has a column for each place, and the rows for the items"),
            (lambda y, t: soft_sort(y, t)[::-1], "lists the smallest score first"),
            (lambda y, t: soft_sort(y, 1 / t), "multiplies by the temperature and does not divide"),
            (lambda y, t: soft_sort(y, t) / soft_sort(y, t).sum(0), "divides by the sum of each column"),
        ],
    ),
)  # fmt: skip
