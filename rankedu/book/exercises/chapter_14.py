"""Chapter 14, HAPPIER: the step, the offset that joins its parts, and the clustering loss."""

# Plain NumPy, no annotations.
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

import numpy as np

from rankedu import reference
from rankedu.book.exercises.spec import Case, Exercise, Mistake


def supremum_step(x, temperature, slope, delta, offset, start):
    return np.array([reference.happier_step(value, temperature, slope, delta, offset, start) for value in x])


def continuous_offset(temperature, delta, start):
    return start + reference.sigmoid(delta / temperature)


def clustering_loss(embeddings, proxies, classes, temperature):
    cosines = _unit(embeddings) @ _unit(proxies).T
    return np.mean([reference.clustering_loss(*pair, temperature) for pair in zip(cosines, classes, strict=True)])


def _unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _logits(embeddings, proxies, temperature):
    return _unit(embeddings) @ _unit(proxies).T / temperature


def _softmax_loss(logits, classes):
    own = logits[np.arange(len(classes)), classes]
    return np.mean(np.log(np.exp(logits).sum(axis=1)) - own)


def _without_own(embeddings, proxies, classes, temperature):
    logits = _logits(embeddings, proxies, temperature)
    own = logits[np.arange(len(classes)), classes]
    return np.mean(np.log(np.exp(logits).sum(axis=1) - np.exp(own)) - own)


def _curve(x, temperature):
    return 1 / (1 + np.exp(-x / temperature))


def _step_cases() -> list[Case]:
    settings: list[tuple[list[float], float, float, float, float, float]] = [
        ([-0.02, 0.0, 0.02, 0.05, 0.25], 0.01, 100, 0.05, 1.44, 0.5),
        ([-0.3, -0.01, 0.01, 0.04, 0.1], 0.01, 100, 0.05, 1.0, 0.0),
        ([0.0, 0.25, 0.5, 0.75, 1.0], 0.25, 2, 0.5, 3.0, 0.75),
        ([-1.0, -0.5, 0.0, 0.5, 2.0], 0.5, 10, 1.0, 2.0, 0.5),
        ([-0.1, 0.0, 0.1, 0.2, 0.4], 0.1, 0, 0.2, 1.5, 0.25),
        ([0.125, 0.25, -0.125, 0.375, 0.0], 0.05, 50, 0.25, 1.25, 1.0),
    ]
    names = ("temperature", "slope", "delta", "offset", "start")
    return [{"x": np.array(x), **dict(zip(names, values, strict=True))} for x, *values in settings]


def _offset_cases() -> list[Case]:
    settings = [
        (0.01, 0.05, 0.5),
        (0.01, 0.05, 0.0),
        (0.5, 0.25, 0.5),
        (0.1, 0.2, 0.75),
        (1.0, 0.5, 0.25),
        (0.3, 0, 0.6),
    ]
    return [{"temperature": t, "delta": d, "start": s} for t, d, s in settings]


def _cluster_cases() -> list[Case]:
    rng = np.random.default_rng(14)
    cases: list[Case] = [
        {
            "embeddings": np.array([[3.0, 0.0], [0.6, 0.8]]),
            "proxies": np.array([[1.0, 0.0], [0.0, 2.0], [-1.0, 0.0]]),
            "classes": np.array([0, 1]),
            "temperature": 0.5,
        }
    ]
    for batch, classes, dim, temperature in (
        (1, 3, 2, 0.25),
        (4, 3, 3, 0.1),
        (6, 5, 4, 0.2),
        (5, 8, 3, 0.3),
        (9, 4, 6, 0.5),
    ):
        cases.append(
            {
                "embeddings": rng.normal(size=(batch, dim)),
                "proxies": rng.normal(size=(classes, dim)),
                "classes": rng.integers(0, classes, size=batch),
                "temperature": temperature,
            }
        )
    return cases


EXERCISES = (
    Exercise(
        "supremum_step",
        "supremum_step(x, temperature, slope, delta, offset, start): σ(x/τ) up to 0, start + σ(x/τ) up to δ, and a "
        "line with the slope beyond, which begins at the offset; for an array x.",
        supremum_step,
        _step_cases,
        [
            Mistake(
                lambda x, temperature, slope, delta, offset, start: np.where(
                    x > delta, slope * x + offset, np.where(x > 0, start, 0) + _curve(x, temperature)
                ),
                "lets the line begin at 0 instead of δ, as the code of ROADMAP did until 2022",
            ),
            Mistake(
                lambda x, temperature, slope, delta, offset, start: np.where(
                    x > delta, slope * (x - delta) + offset, start + _curve(x, temperature)
                ),
                "adds the start to the left of 0 as well",
            ),
            Mistake(
                lambda x, temperature, slope, delta, offset, start: np.where(
                    x > delta, slope * (x - delta) + offset, _curve(x, temperature)
                ),
                "leaves the start out: between 0 and δ it lifts the sigmoid",
            ),
            Mistake(
                lambda x, temperature, slope, delta, offset, start: np.where(
                    x > delta, slope * (x - delta) + offset, np.where(x >= 0, start, 0) + _curve(x, temperature)
                ),
                "adds the start at 0: a tie counts σ(0) = 1/2",
            ),
            Mistake(
                lambda x, temperature, slope, delta, offset, start: np.where(
                    x >= delta, slope * (x - delta) + offset, np.where(x > 0, start, 0) + _curve(x, temperature)
                ),
                "gives δ itself to the line: it belongs to the sigmoid",
            ),
            Mistake(
                lambda x, temperature, slope, delta, offset, start: np.where(
                    x > delta,
                    slope * (x - delta) + start + _curve(delta, temperature),
                    np.where(x > 0, start, 0) + _curve(x, temperature),
                ),
                "joins the line to the sigmoid: here it begins at the offset",
            ),
            Mistake(
                lambda x, temperature, slope, delta, offset, start: np.where(
                    x > delta, slope * (x - delta) + offset, np.where(x > 0, start, 0) + _curve(-x, temperature)
                ),
                "turns the sigmoid round: an item above counts more than one below",
            ),
            Mistake(
                lambda x, temperature, slope, delta, offset, start: np.where(
                    x > delta, slope * (x - delta) + offset, np.where(x > 0, start, 0) + _curve(x, 1 / temperature)
                ),
                "multiplies by the temperature: x is divided by it",
            ),
        ],
    ),
    Exercise(
        "continuous_offset",
        "continuous_offset(temperature, delta, start): the offset for which the step has no jump at δ.",
        continuous_offset,
        _offset_cases,
        [
            Mistake(
                lambda temperature, delta, start: _curve(delta, temperature),
                "forgets the start, which lifts the sigmoid",
            ),
            Mistake(lambda temperature, delta, start: start + 1, "takes the sigmoid's limit, not its value at δ"),
            Mistake(lambda temperature, delta, start: start + 0.5, "takes the sigmoid's value at 0, not at δ"),
            Mistake(
                lambda temperature, delta, start: start + _curve(delta, 1 / temperature),
                "multiplies by the temperature: δ is divided by it",
            ),
            Mistake(
                lambda temperature, delta, start: 1.44, "takes the published number, which falls short of the sigmoid"
            ),
            Mistake(
                lambda temperature, delta, start: start - _curve(delta, temperature),
                "subtracts: the line begins higher",
            ),
        ],
    ),
    Exercise(
        "clustering_loss",
        "clustering_loss(embeddings, proxies, classes, temperature): mean over the batch of minus the logarithm of the "
        "softmax over all proxies, of cosines over the temperature, at each item's own class.",
        clustering_loss,
        _cluster_cases,
        [
            Mistake(
                lambda embeddings, proxies, classes, temperature: _softmax_loss(
                    embeddings @ proxies.T / temperature, classes
                ),
                "takes dot products as they come: bring both to length 1 first",
            ),
            Mistake(
                lambda embeddings, proxies, classes, temperature: _softmax_loss(
                    _unit(embeddings) @ proxies.T / temperature, classes
                ),
                "brings the embeddings to length 1 and leaves the proxies as they are: a cosine needs both",
            ),
            Mistake(
                lambda embeddings, proxies, classes, temperature: _softmax_loss(
                    embeddings @ _unit(proxies).T / temperature, classes
                ),
                "brings the proxies to length 1 and leaves the embeddings as they are: a cosine needs both",
            ),
            Mistake(
                lambda embeddings, proxies, classes, temperature: _softmax_loss(
                    _logits(embeddings, proxies, 1.0) * temperature, classes
                ),
                "multiplies by the temperature: cosines are divided by it",
            ),
            Mistake(
                lambda embeddings, proxies, classes, temperature: (
                    clustering_loss(embeddings, proxies, classes, temperature) * len(classes)
                ),
                "adds up over the batch: it is a mean",
            ),
            Mistake(
                lambda embeddings, proxies, classes, temperature: (
                    -clustering_loss(embeddings, proxies, classes, temperature)
                ),
                "forgets the minus: a loss falls as the own proxy's share grows",
            ),
            Mistake(_without_own, "leaves the own proxy out of the sum: the softmax is over all of them"),
            Mistake(
                lambda embeddings, proxies, classes, temperature: _softmax_loss(
                    _logits(embeddings, proxies, 1.0), classes
                ),
                "leaves the temperature out",
            ),
        ],
    ),
)
