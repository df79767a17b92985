"""The exercise of chapter 18: the weights of the pairs in LambdaRank."""

import math

import numpy as np

from rankedu import reference
from rankedu_book.kit.check.spec import Case, Exercise


def lambda_weights(scores, gains):
    """Return by how much NDCG changes when items i and j change places, for all pairs with G_i > G_j; else 0."""
    gains = np.asarray(gains, float)
    discounts = 1 / np.log2(1 + np.array(reference.rank(scores.tolist())))
    best = sum(gain / math.log2(1 + place) for place, gain in enumerate(sorted(gains, reverse=True), 1))
    change = (gains[:, None] - gains) * np.abs(discounts[:, None] - discounts) / best
    return np.where(gains[:, None] > gains, change, 0.0)


def _lists() -> list[Case]:
    rng = np.random.default_rng(18)
    made = [{"scores": rng.permutation(n) / n, "gains": rng.integers(0, 4, n)} for n in (2, 3, 5, 8, 4)]
    for case in made:
        case["gains"][:2] = 0, 3
    return made


EXERCISES = (
    Exercise(
        "lambda_weights(scores, gains): a matrix with the weight |ΔNDCG| of LambdaRank at [i, j] for items with "
        "G_i > G_j, and 0 elsewhere.",
        lambda_weights, _lists, [
            (lambda y, g: lambda_weights(y, g) + lambda_weights(y, g).T, "counts every pair in both directions"),
            (lambda y, g: lambda_weights(-y, g), "ranks the smallest score first"),
            (lambda y, g: lambda_weights(y, g) * sum(
                gain / math.log2(1 + place) for place, gain in enumerate(sorted(g.tolist(), reverse=True), 1)),
             "forgets to divide by the DCG of the best order"),
        ],
    ),
)  # fmt: skip
