"""The exercise of chapter 20: similarities with items that do not exist (SiMix)."""

import numpy as np

from rankedu_book.kit.check.spec import Case, Exercise


def virtual_similarities(similarity, pairs, weights):
    """Return the similarities of all items with each mixture, one column per mixture."""
    first, second = similarity[:, pairs[:, 0]], similarity[:, pairs[:, 1]]
    return weights * first + (1 - weights) * second


def _batches() -> list[Case]:
    rng, made = np.random.default_rng(20), []
    for n, m in ((3, 1), (4, 2), (6, 5), (5, 3), (8, 6)):
        points = rng.normal(size=(n, 3)).round(1)
        pairs = np.array([rng.choice(n, 2, replace=False) for _ in range(m)])
        made.append({"similarity": points @ points.T, "pairs": pairs, "weights": rng.uniform(size=m).round(2)})
    return made


EXERCISES = (
    Exercise(
        "virtual_similarities(similarity, pairs, weights): one column per pair (i, j) and weight a, with the dot "
        "product of each item and the mixture a x_i + (1 - a) x_j.",
        virtual_similarities, _batches, [
            (lambda s, p, a: virtual_similarities(s, p, 1 - a), "gives the weight a to the second item of the pair"),
            (lambda s, p, a: virtual_similarities(s, p, a).T, "has a row per mixture"),
            (lambda s, p, a: virtual_similarities(s, p, np.full(len(a), 0.5)), "ignores the weights"),
        ],
    ),
)  # fmt: skip
