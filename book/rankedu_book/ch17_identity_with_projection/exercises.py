"""The exercise of chapter 17: the step of identity with std."""

import numpy as np

from rankedu import reference
from rankedu_book.kit.check.spec import Case, Exercise


def identity_step(scores, incoming):
    """Return the step of descent, with mean and length removed."""
    return -np.array(reference.identity_gradient(scores.tolist(), incoming.tolist(), "std"))


def _steps() -> list[Case]:
    rng = np.random.default_rng(17)
    return [
        {"scores": rng.uniform(-1, 1, n).round(2), "incoming": rng.normal(size=n).round(2)} for n in (2, 3, 5, 8, 20)
    ]


def _centred(values):
    return values - values.mean()


EXERCISES = (
    Exercise(
        "identity_step(scores, incoming): the step of descent that identity gives with the projection std, for "
        "the gradient of the ranks that comes in; one entry per score.",
        identity_step, _steps, [
            (lambda y, g: -identity_step(y, g),
             "goes the wrong way: a larger score has a smaller rank, so descent adds the projected gradient"),
            (lambda y, g: _centred(g), "removes the mean and leaves the length"),
            (lambda y, g: (g - (g @ y) / (y @ y) * y) / np.linalg.norm(y), "removes the length and leaves the mean"),
            (lambda y, g: identity_step(y, g) * np.linalg.norm(_centred(y)), "forgets to divide by the length"),
        ],
    ),
)  # fmt: skip
