"""Chapter 17: identity's gradient."""

import numpy as np

from rankbook.kit.check.spec import Case, Exercise
from rankedu import reference


def identity_step(scores, incoming):
    """The step of descent, with mean and length taken out."""
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
)  # fmt: skip
