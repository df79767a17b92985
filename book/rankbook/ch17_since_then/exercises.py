"""Chapter 17: identity's gradient, and the surrogate of recall at k."""

import numpy as np

from rankbook.kit.check.spec import Case, Exercise
from rankedu import reference


def identity_step(scores, incoming):
    """The step of descent, with mean and length taken out."""
    return -np.array(reference.identity_gradient(scores.tolist(), incoming.tolist(), "std"))


def recall_surrogate(scores, relevance, k, temperature):
    return reference.recall_at_k_surrogate(scores.tolist(), relevance.tolist(), k, temperature)


def _steps() -> list[Case]:
    rng = np.random.default_rng(17)
    return [
        {"scores": rng.uniform(-1, 1, n).round(2), "incoming": rng.normal(size=n).round(2)} for n in (2, 3, 5, 8, 20)
    ]


def _lists() -> list[Case]:
    rng, cases = np.random.default_rng(18), []
    for n, k, temperature in ((3, 1, 1.0), (4, 2, 0.5), (6, 3, 1.0), (8, 2, 2.0), (10, 20, 1.0)):
        relevance = rng.random(n) < 0.5
        relevance[rng.integers(n)] = True
        scores = rng.permutation(100)[:n] / 100
        cases.append({"scores": scores, "relevance": relevance, "k": k, "temperature": temperature})
    return cases


def _centred(values):
    return values - values.mean()


EXERCISES = (
    Exercise(
        "identity_step(scores, incoming): the step of descent that identity with mean and length taken out gives, for "
        "the gradient by the ranks that comes in; one entry for each score.",
        identity_step, _steps, [
            (lambda y, g: -identity_step(y, g),
             "goes the wrong way: descent adds the projected gradient, for a larger score has a smaller rank"),
            (lambda y, g: _centred(g), "takes the mean out and leaves the length in"),
            (lambda y, g: (g - (g @ y) / (y @ y) * y) / np.linalg.norm(y),
             "takes the length out and leaves the mean in"),
            (lambda y, g: identity_step(y, g) * np.linalg.norm(_centred(y)), "forgets to divide by the length"),
        ],
    ),
    Exercise(
        "recall_surrogate(scores, relevance, k, temperature): the sum, over the relevant items, of a sigmoid of (k - "
        "rank) / temperature, divided by the smaller of k and their number; ranks are exact, and no two scores equal.",
        recall_surrogate, _lists, [
            (lambda y, rel, k, t: recall_surrogate(y, rel, k, t) * min(k, rel.sum()) / rel.sum(),
             "divides by the number of relevant items: of more than k only k have room"),
            (lambda y, rel, k, t: recall_surrogate(y, rel, k, t) * min(k, rel.sum()) / k,
             "divides by k: fewer than k relevant items are all there are"),
            (lambda y, rel, k, t: recall_surrogate(y, rel, k + 1, t) * min(k + 1, rel.sum()) / min(k, rel.sum()),
             "counts ranks from 0: the best item has rank 1"),
            (lambda y, rel, k, t: recall_surrogate(y, rel, k, 1 / t), "multiplies by the temperature"),
        ],
    ),
)  # fmt: skip
