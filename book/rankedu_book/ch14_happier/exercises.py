"""Chapter 14, HAPPIER: the step, a loss with any step, a bound that breaks, and the clustering loss."""

import functools
import math
from functools import partial

import numpy as np

from rankedu import reference
from rankedu_book.kit.check.compare import numbers
from rankedu_book.kit.check.spec import Case, Exercise, plain, unit


def supremum_step(x, temperature, slope, delta, offset, start):
    return np.array([reference.happier_step(value, temperature, slope, delta, offset, start) for value in x])


def clustering_loss(embeddings, proxies, classes, temperature):
    cosines = unit(embeddings) @ unit(proxies).T
    return np.mean([reference.clustering_loss(*pair, temperature) for pair in zip(cosines, classes, strict=True)])


def _logits(embeddings, proxies, temperature):
    return unit(embeddings) @ unit(proxies).T / temperature


def _softmax_loss(logits, classes):
    own = logits[np.arange(len(classes)), classes]
    return np.mean(np.log(np.exp(logits).sum(axis=1)) - own)


def _without_own(embeddings, proxies, classes, temperature):
    logits = _logits(embeddings, proxies, temperature)
    own = logits[np.arange(len(classes)), classes]
    return np.mean(np.log(np.exp(logits).sum(axis=1) - np.exp(own)) - own)


def _curve(x, temperature):
    return 1 / (1 + np.exp(-x / temperature))


def _step(x, temperature, slope, delta, offset, start, *, above=np.greater, beyond=np.greater):
    """The step part by part; the options make the mistakes."""
    near = np.where(above(x, 0), start, 0) + _curve(x, temperature)
    return np.where(beyond(x, delta), slope * (x - delta) + offset, near)


def _step_cases() -> list[Case]:
    names = ("temperature", "slope", "delta", "offset", "start")
    drawn = np.random.default_rng(14).uniform((0.05, 0, 0.1, 1, 0.2), (0.5, 20, 1, 3, 1), (5, 5)).round(2)
    settings = [dict(zip(names, values, strict=True)) for values in ([0.01, 100, 0.05, 1.44, 0.5], *drawn.tolist())]
    return [{"x": values["delta"] * np.array([-0.4, 0.0, 0.4, 1.0, 5.0]), **values} for values in settings]


def _hap(scores, relevance, step, *, lower=np.less, share=np.minimum):
    """1 − H-AP pair by pair; the options make the mistakes."""
    total = 0.0
    for k in np.flatnonzero(relevance):
        apart, above = scores - scores[k], scores >= scores[k]
        rank = np.where(lower(relevance, relevance[k]) & (apart != 0), step(apart), above).sum()
        total += (share(relevance, relevance[k]) * above).sum() / rank
    return 1 - total / relevance.sum()


@plain
def gentle_sigmoid(x):
    return 1 / (1 + math.exp(-x / 0.2))


@plain
def squared_hinge(x):
    return max(0.0, x + 0.5) ** 2


def _on_arrays(step):
    @functools.wraps(step)
    def on_arrays(x):
        return np.vectorize(step, otypes=[float])(x)

    return on_arrays


def _step_losses() -> list[Case]:
    rng = np.random.default_rng(21)
    cases = [{"scores": np.array([0.9, 0.8, 0.7, 0.1]), "relevance": np.array([0.5, 0, 1, 0]), "step": gentle_sigmoid}]
    for n, step in zip((5, 7, 9, 6, 3), (gentle_sigmoid, squared_hinge) * 3, strict=False):
        relevance = rng.permutation([1.0, 2.0, *rng.integers(0, 3, n - 2)])
        cases.append({"scores": rng.permutation(100)[:n] / 100, "relevance": relevance, "step": step})
    return [case | {"step": _on_arrays(case["step"])} for case in cases]


@plain
def _judge_bound(case, answer):
    """Any ranking without ties whose loss is below 1 − H-AP is right."""
    try:
        scores, relevance = numbers(answer)
        distinct = len(set(scores)) == len(relevance)
    except (TypeError, ValueError, AttributeError):
        return "which is not two lists of one length, scores and relevance"
    if not distinct or min(relevance, default=0) < 0 or not any(relevance):
        return "where scores must differ, and relevances be ≥ 0 and not all 0"
    loss = reference.happier_loss(scores, relevance, lambda x: reference.happier_step(x, **case, offset=1, start=0))
    true = 1 - reference.hierarchical_average_precision(scores, relevance)
    return None if loss < true - 1e-9 else f"whose loss {loss:.4f} is not below 1 − H-AP = {true:.4f}"


def _cluster_cases() -> list[Case]:
    rng = np.random.default_rng(14)
    embeddings, proxies = np.array([[3.0, 0.0], [0.6, 0.8]]), np.array([[1.0, 0.0], [0.0, 2.0], [-1.0, 0.0]])
    cases = [{"embeddings": embeddings, "proxies": proxies, "classes": np.array([0, 1]), "temperature": 0.5}]
    for batch, n, dim, temperature in ((1, 3, 2, 0.25), (4, 3, 3, 0.1), (6, 5, 4, 0.2), (5, 8, 3, 0.3), (9, 4, 6, 0.5)):
        drawn = {"embeddings": rng.normal(size=(batch, dim)), "proxies": rng.normal(size=(n, dim))}
        cases.append(drawn | {"classes": rng.integers(0, n, size=batch), "temperature": temperature})
    return cases


EXERCISES = (
    Exercise(
        "supremum_step(x, temperature, slope, delta, offset, start): σ(x/τ) up to 0, start + σ(x/τ) up to δ, and a "
        "line with the slope beyond, which begins at the offset; x has several differences.",
        supremum_step, _step_cases, [
            (lambda x, t, slope, delta, offset, start: supremum_step(x, t, slope, delta, offset + slope * delta, start),
             "lets the line begin at 0 instead of δ, as the code of ROADMAP did until 2022"),
            (lambda *case: _step(*case, above=lambda x, zero: x == x), "adds the start to the left of 0 as well"),
            (lambda x, t, slope, delta, offset, _: supremum_step(x, t, slope, delta, offset, 0.0),
             "leaves the start out: between 0 and δ it lifts the sigmoid"),
            (lambda *case: _step(*case, above=np.greater_equal), "adds the start at 0: a tie counts σ(0) = 1/2"),
            (lambda *x: _step(*x, beyond=np.greater_equal), "gives δ itself to the line: it belongs to the sigmoid"),
            (lambda x, t, slope, delta, offset, start: _step(x, t, slope, delta, start + _curve(delta, t), start),
             "joins the line to the sigmoid: here it begins at the offset"),
            (lambda x, t, *r: _step(x, -t, *r), "turns the sigmoid round: an item above counts more than one below"),
            (lambda x, t, *rest: supremum_step(x, 1 / t, *rest), "multiplies by the temperature: x is divided by it"),
        ],
    ),
    Exercise(
        "hap_loss(scores, relevance, step): 1 − H-AP in which an item of lower relevance counts step(its score − that"
        " of k) in the rank of k, and everything else is counted as it is; step takes one difference, in the notebook "
        "also an array of them, and no two scores are equal.",
        reference.happier_loss, _step_losses, [
            (partial(_hap, lower=np.less_equal), "smooths equals, too: they are counted"),
            (partial(_hap, lower=lambda j, k: j == j),
             "smooths the whole rank: items of higher or equal relevance are counted"),
            (partial(_hap, lower=np.greater),
             "smooths those of higher relevance: the mistakes are the items of lower relevance"),
            (lambda y, rel, step: _hap(y, rel, lambda x: step(-x)), "hands over the difference the wrong way round"),
            (partial(_hap, share=np.maximum), "shares the larger relevance: take the smaller"),
            (partial(_hap, share=lambda j, k: k + 0 * j),
             "counts k's own relevance for everything above: two items share the smaller one"),
            (partial(_hap, share=lambda j, k: j),
             "counts the whole relevance of everything above: two items share the smaller one"),
            (lambda y, rel, step: _hap(y, rel, lambda x: np.where(x > 0, step(x), 0)),
             "gives the step only to the items above k: it adds something below k, too"),
            (lambda y, rel, step: 1 - (1 - _hap(y, rel, step)) * rel.sum() / (rel > 0).sum(),
             "divides by the number of relevant items: it is the sum of their relevances"),
            (lambda y, rel, step: reference.happier_loss(y, rel, lambda x: x > 0), "does not use the step"),
        ],
        arrays=("numpy",),
    ),
    Exercise(
        "clustering_loss(embeddings, proxies, classes, temperature): mean over the batch of minus the logarithm of the "
        "softmax over all proxies, of cosines over the temperature, at each item's own class.",
        clustering_loss, _cluster_cases, [
            (lambda e, p, classes, t: _softmax_loss(e @ p.T / t, classes),
             "takes dot products as they come: bring both to length 1 first"),
            (lambda e, p, classes, t: _softmax_loss(unit(e) @ p.T / t, classes),
             "brings the embeddings to length 1 and leaves the proxies as they are: a cosine needs both"),
            (lambda e, p, classes, t: _softmax_loss(e @ unit(p).T / t, classes),
             "brings the proxies to length 1 and leaves the embeddings as they are: a cosine needs both"),
            (lambda e, p, classes, t: _softmax_loss(_logits(e, p, 1.0) * t, classes),
             "multiplies by the temperature: cosines are divided by it"),
            (_without_own, "leaves the own proxy out of the sum: the softmax is over all of them"),
            (lambda e, p, classes, t: _softmax_loss(_logits(e, p, 1.0), classes), "leaves the temperature out"),
        ],
    ),
    Exercise(
        "broken_bound(temperature, slope, delta): scores and relevance of a few items, two lists, whose loss is "
        "smaller than their 1 − H-AP under the step of the iNaturalist setting, start = 0 and offset = 1; no two "
        "scores are equal.",
        lambda temperature, slope, delta: ([delta / 2, 0.0], [0.0, 1.0]),
        lambda: [
            {"temperature": t, "slope": s, "delta": d}
            for t, s, d in ((0.01, 100, 0.05), (0.1, 2, 0.5), (0.5, 10, 1.0), (0.01, 100, 0.01), (0.05, 50, 0.25))
        ],
        [
            (lambda temperature, slope, delta: ([1.0, 0.0], [1.0, 0.0]),
             "gives a perfect ranking: its 1 − H-AP is 0, and no loss is below that"),
            (lambda temperature, slope, delta: ([2 * delta, 0.0], [0.0, 1.0]),
             "puts the mistake beyond δ, where the line is above 1"),
            (lambda temperature, slope, delta: ([delta / 2, 0.0], [1.0, 1.0]),
             "takes items of equal relevance, which are counted and not smoothed"),
        ],
        judge=_judge_bound, arrays=("numpy",),
    ),
)  # fmt: skip
