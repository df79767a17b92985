"""Chapter 14, HAPPIER: the step, a loss with any step, a bound that breaks, and the clustering loss."""

# Plain NumPy, no annotations.
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from rankbook.kit.check.compare import as_array
from rankbook.kit.check.spec import Case, Exercise, Mistake
from rankedu import reference


def supremum_step(x, temperature, slope, delta, offset, start):
    return np.array([reference.happier_step(value, temperature, slope, delta, offset, start) for value in x])


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


def _hap(scores, relevance, step, *, lower=np.less, share=np.minimum):
    """1 − H-AP pair by pair; the options make the mistakes."""
    total = 0.0
    for k in np.flatnonzero(relevance):
        apart, above = scores - scores[k], scores >= scores[k]
        rank = np.where(lower(relevance, relevance[k]) & (apart != 0), step(apart), above).sum()
        total += (share(relevance, relevance[k]) * above).sum() / rank
    return 1 - total / relevance.sum()


def published_step(x):
    return np.vectorize(reference.happier_step, otypes=[float])(x, offset=1.44)


def gentle_sigmoid(x):
    return 1 / (1 + np.exp(-np.asarray(x) / 0.2))


def squared_hinge(x):
    return np.maximum(0, np.asarray(x) + 0.5) ** 2


def _step_losses() -> list[Case]:
    rng = np.random.default_rng(21)
    cases = [([0.9, 0.8, 0.7, 0.1], [0.5, 0.0, 1.0, 0.0], gentle_sigmoid), ([0.1, 0.4, 0.6], [2, 2, 1], squared_hinge)]
    for n, step in ((5, published_step), (7, gentle_sigmoid), (9, squared_hinge), (6, published_step)):
        relevance = rng.permutation([1, 2, *rng.integers(0, 3, n - 2)]).tolist()
        cases.append(((rng.permutation(100)[:n] / 100).tolist(), relevance, step))
    return [{"scores": np.array(y), "relevance": np.array(rel, dtype=float), "step": step} for y, rel, step in cases]


def _judge_bound(case: Case, answer: Any) -> str | None:
    """Any ranking without ties whose loss is below 1 − H-AP is right."""
    try:
        scores, relevance = (as_array(part).tolist() for part in answer)
        pairs = list(zip(scores, relevance, strict=True))
    except (TypeError, ValueError, AttributeError):
        return "which is not two lists of one length, scores and relevance"
    if len(set(scores)) < len(pairs) or min(relevance, default=0) < 0 or not any(relevance):
        return "where scores must differ, and relevances be ≥ 0 and not all 0"
    step = functools.partial(reference.happier_step, **case, offset=1.0, start=0.0)
    loss, true = (
        reference.happier_loss(scores, relevance, step),
        1 - reference.hierarchical_average_precision(scores, relevance),
    )
    return None if loss < true - 1e-9 else f"whose loss {loss:.4f} is not below 1 − H-AP = {true:.4f}"


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
        "hap_loss",
        "hap_loss(scores, relevance, step): 1 − H-AP in which an item of lower relevance counts step(its score − that"
        " of k) in the rank of k, and everything else is counted as it is; step takes arrays, and no two scores are "
        "equal.",
        reference.happier_loss,
        _step_losses,
        [
            Mistake(
                lambda y, rel, step: _hap(y, rel, step, lower=np.less_equal), "smooths equals, too: they are counted"
            ),
            Mistake(
                lambda y, rel, step: _hap(y, rel, step, lower=lambda j, k: j == j),
                "smooths the whole rank: items of higher or equal relevance are counted",
            ),
            Mistake(
                lambda y, rel, step: _hap(y, rel, step, lower=np.greater),
                "smooths those of higher relevance: the mistakes are the items of lower relevance",
            ),
            Mistake(
                lambda y, rel, step: _hap(y, rel, lambda x: step(-x)), "hands over the difference the wrong way round"
            ),
            Mistake(
                lambda y, rel, step: _hap(y, rel, step, share=np.maximum),
                "shares the larger relevance: take the smaller",
            ),
            Mistake(
                lambda y, rel, step: _hap(y, rel, step, share=lambda j, k: k + 0 * j),
                "counts k's own relevance for everything above: two items share the smaller one",
            ),
            Mistake(
                lambda y, rel, step: _hap(y, rel, step, share=lambda j, k: j),
                "counts the whole relevance of everything above: two items share the smaller one",
            ),
            Mistake(
                lambda y, rel, step: _hap(y, rel, lambda x: np.where(x > 0, step(x), 0)),
                "gives the step to the items above k alone: below k it adds something, too",
            ),
            Mistake(lambda y, rel, step: 1 - _hap(y, rel, step), "returns H-AP: the loss is one minus it"),
            Mistake(
                lambda y, rel, step: 1 - (1 - _hap(y, rel, step)) * rel.sum() / (rel > 0).sum(),
                "divides by the number of relevant items: it is the sum of their relevances",
            ),
            Mistake(lambda y, rel, step: reference.happier_loss(y, rel, lambda x: x > 0), "does not use the step"),
        ],
        arrays=("numpy",),
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
    Exercise(
        "broken_bound",
        "broken_bound(temperature, slope, delta): scores and relevance of a few items, two lists, whose loss is "
        "smaller than their 1 − H-AP under the step of the iNaturalist setting, start = 0 and offset = 1; no two "
        "scores are equal.",
        lambda temperature, slope, delta: ([delta / 2, 0.0], [0.0, 1.0]),
        lambda: [
            {"temperature": t, "slope": s, "delta": d}
            for t, s, d in ((0.01, 100, 0.05), (0.1, 2, 0.5), (0.5, 10, 1.0), (0.01, 100, 0.01), (0.05, 50, 0.25))
        ],
        [
            Mistake(
                lambda temperature, slope, delta: ([1.0, 0.0], [1.0, 0.0]),
                "gives a perfect ranking: its 1 − H-AP is 0, and no loss is below that",
            ),
            Mistake(
                lambda temperature, slope, delta: ([2 * delta, 0.0], [0.0, 1.0]),
                "puts the mistake beyond δ, where the line lies above the staircase",
            ),
            Mistake(
                lambda temperature, slope, delta: ([delta / 2, 0.0], [1.0, 1.0]),
                "takes items of equal relevance, which are counted and not smoothed",
            ),
        ],
        judge=_judge_bound,
        arrays=("numpy",),
    ),
)
