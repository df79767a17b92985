"""Chapter 15, the baselines: contrastive loss, softmax over proxies, calibration, and CSL in closed form."""

# Plain NumPy, no annotations.
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

import numpy as np

from rankedu.book.exercises.chapter_14 import clustering_loss
from rankedu.book.exercises.spec import Case, Exercise, Mistake


def contrastive_loss(embeddings, labels, margin):
    distance = np.linalg.norm(embeddings[:, None] - embeddings[None, :], axis=2)
    same = labels[:, None] == labels[None, :]
    pulled = distance[same & (distance > 0)]
    pushed = (margin - distance)[~same & (distance < margin)]
    return sum(terms.mean() for terms in (pulled, pushed) if len(terms))


def softmax_over_proxies(embeddings, labels, proxies, temperature):
    return clustering_loss(embeddings, proxies, labels, temperature)


def calibration_loss(scores, relevance, at_least, at_most):
    low = (at_least - scores)[relevance & (scores < at_least)]
    high = (scores - at_most)[~relevance & (scores > at_most)]
    return sum(terms.mean() for terms in (low, high) if len(terms))


def csl_loss(cosines, levels, margins, scale):
    own = cosines[levels == len(margins)]
    total = 0.0
    for level, margin in enumerate(margins, start=1):
        negatives = cosines[levels < level]
        total += np.log(1 + np.exp(scale * (negatives - own + margin)).sum())
    return total


def _contrastive(embeddings, labels, margin, *, square=False, whole=False, one=False, hinge=True):
    distance = np.linalg.norm(embeddings[:, None] - embeddings[None, :], axis=2)
    same, other = labels[:, None] == labels[None, :], ~np.eye(len(labels), dtype=bool)
    pull, push = distance, np.maximum(margin - distance, 0) if hinge else margin - distance
    if square:
        pull, push = pull**2, push**2
    if one:
        terms = np.concatenate([pull[same & other], push[~same]])
        return terms[terms > 0].mean()
    keep = np.ones_like(same) if whole else None
    parts = (pull[same & (other if not whole else keep)], push[~same])
    return sum((part if whole or not hinge else part[part > 0]).mean() for part in parts if (part > 0).any())


def _softmax(embeddings, labels, proxies, temperature, *, unit=True, own_too=True, times=False):
    if unit:
        embeddings = embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True)
        proxies = proxies / np.linalg.norm(proxies, axis=1, keepdims=True)
    logits = embeddings @ proxies.T * (temperature if times else 1 / temperature)
    rows = np.arange(len(labels))
    own = logits[rows, labels].copy()
    if not own_too:
        logits[rows, labels] = -np.inf
    return np.mean(np.log(np.exp(logits).sum(axis=1)) - own)


def _calibration(scores, relevance, at_least, at_most, *, whole=False):
    low, high = np.maximum(at_least - scores, 0)[relevance], np.maximum(scores - at_most, 0)[~relevance]
    return (low.mean() if len(low) else 0) + (high.mean() if len(high) else 0) if whole else low.sum() + high.sum()


def _csl(cosines, levels, margins, scale, *, only=False, reverse=False, hard=False, best=False):
    own, total = cosines[levels == len(margins)], 0.0
    if best:
        own = None
    for level, margin in enumerate(margins[::-1] if reverse else margins, start=1):
        negatives = cosines[levels == level - 1] if only else cosines[levels < level]
        reference = cosines[levels >= level].max() if own is None else own
        terms = scale * (negatives - reference + margin)
        total += max(0.0, terms.max(initial=0.0)) if hard else np.log(1 + np.exp(terms).sum())
    return total


def _unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _embedding_cases() -> list[Case]:
    rng = np.random.default_rng(15)
    first = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
    cases = [{"embeddings": first, "labels": np.array([0, 0, 1]), "margin": 1.0}]
    for n, dim, margin in ((4, 2, 1.0), (6, 3, 1.2), (8, 4, 1.3), (12, 8, 1.4)):
        cases.append(
            {"embeddings": _unit(rng.standard_normal((n, dim))), "labels": np.arange(n) // 2, "margin": margin}
        )
    return cases


def _proxy_cases() -> list[Case]:
    rng = np.random.default_rng(16)
    one = {"embeddings": np.array([[2.0, 0.0]]), "labels": np.array([0]), "proxies": np.array([[1.0, 0.0], [0.0, 3.0]])}
    cases = [{**one, "temperature": 0.5}]
    for n, classes, dim, temperature in ((3, 2, 2, 0.5), (4, 3, 3, 0.25), (6, 5, 4, 0.1), (8, 4, 6, 0.05)):
        drawn = {"embeddings": rng.standard_normal((n, dim)), "labels": rng.integers(0, classes, n)}
        cases.append({**drawn, "proxies": rng.standard_normal((classes, dim)), "temperature": temperature})
    return cases


def _score_cases() -> list[Case]:
    rng = np.random.default_rng(17)
    cases: list[tuple[list[float], list[int]]] = [
        ([0.95, 0.5, 0.75, 0.25], [1, 1, 0, 0]),
        ([0.96, 0.8, 0.7, 0.5, 0.1], [0, 1, 0, 1, 0]),
        ([0.95, 0.2], [1, 0]),
    ]
    for n in (6, 9, 15):
        cases.append((rng.uniform(-1, 1, n).round(2).tolist(), (rng.random(n) < 0.4).astype(int).tolist()))
    bounds = {"at_least": 0.9, "at_most": 0.6}
    return [{"scores": np.array(y), "relevance": np.array(rel, dtype=bool), **bounds} for y, rel in cases]


def _level_cases() -> list[Case]:
    rng = np.random.default_rng(18)
    cases = [{"cosines": np.array([0.9, 0.6, 0.2]), "levels": np.array([2, 1, 0]), "margins": np.array([0.45, 0.25])}]
    for n, depth in ((4, 2), (6, 2), (7, 3), (9, 3)):
        levels = np.concatenate([[depth], np.arange(depth), rng.integers(0, depth, n - depth - 1)])
        margins = np.linspace(0.45, 0.25, depth)
        cases.append({"cosines": rng.uniform(-0.5, 1, n), "levels": rng.permutation(levels), "margins": margins})
    return [{**case, "scale": 8.0} for case in cases]


EXERCISES = (
    Exercise(
        "contrastive_loss",
        "contrastive_loss(embeddings, labels, margin): the mean distance of the pairs of one class plus the mean of "
        "margin − distance over the pairs of two classes that are nearer than the margin; embeddings have length 1, no "
        "item is paired with itself.",
        contrastive_loss,
        _embedding_cases,
        [
            Mistake(
                lambda e, labels, margin: _contrastive(e, labels, margin, square=True),
                "squares distances and hinges: so it was published, but not here",
            ),
            Mistake(
                lambda e, labels, margin: _contrastive(e, labels, margin, whole=True),
                "averages over terms that are zero, those of items with themselves among them",
            ),
            Mistake(
                lambda e, labels, margin: _contrastive(e, labels, margin, one=True),
                "takes one mean over all terms: pulls and pushes have a mean each",
            ),
            Mistake(
                lambda e, labels, margin: _contrastive(e, labels, margin, hinge=False),
                "lets pairs beyond the margin count, with a negative term",
            ),
        ],
    ),
    Exercise(
        "softmax_over_proxies",
        "softmax_over_proxies(embeddings, labels, proxies, temperature): the mean of −log of the softmax over cosines "
        "divided by the temperature, at the proxy of the item's class.",
        softmax_over_proxies,
        _proxy_cases,
        [
            Mistake(
                lambda e, labels, p, t: _softmax(e, labels, p, t, unit=False),
                "takes dot products: bring embeddings and proxies to length 1 first",
            ),
            Mistake(
                lambda e, labels, p, t: _softmax(_unit(e), labels, p, t, unit=False),
                "brings the embeddings to length 1 and leaves the proxies as they are: a cosine needs both",
            ),
            Mistake(
                lambda e, labels, p, t: _softmax(e, labels, p, t, own_too=False),
                "leaves the own proxy out of the denominator, as ProxyNCA did before the two plus signs",
            ),
            Mistake(
                lambda e, labels, p, t: _softmax(e, labels, p, t, times=True),
                "multiplies by the temperature instead of dividing",
            ),
            Mistake(
                lambda e, labels, p, t: softmax_over_proxies(e, labels, p, t) * len(labels), "adds up, forgets the mean"
            ),
            Mistake(
                lambda e, labels, p, t: -softmax_over_proxies(e, labels, p, t), "forgets the minus before the logarithm"
            ),
        ],
    ),
    Exercise(
        "calibration_loss",
        "calibration_loss(scores, relevance, at_least, at_most): the mean of at_least − score over the relevant items "
        "below at_least, plus the mean of score − at_most over the others above at_most.",
        calibration_loss,
        _score_cases,
        [
            Mistake(
                lambda y, rel, a, b: _calibration(y, rel, a, b, whole=True),
                "averages over items that are right too: only terms that are not zero count",
            ),
            Mistake(lambda y, rel, a, b: _calibration(y, rel, a, b), "adds up, forgets the means"),
            Mistake(lambda y, rel, a, b: calibration_loss(y, ~rel, a, b), "takes relevant for irrelevant"),
            Mistake(lambda y, rel, a, b: calibration_loss(y, rel, b, a), "mixes up the two bounds"),
        ],
    ),
    Exercise(
        "csl_loss",
        "csl_loss(cosines, levels, margins, scale): of one item, given its cosines with all proxies and the level that "
        "it shares with each (the number of levels for its own): the sum over levels l = 1, 2, … of log(1 + Σ exp("
        "scale · (s_n − s_own + margin_l))) over the proxies n of a level below l.",
        csl_loss,
        _level_cases,
        [
            Mistake(
                lambda s, levels, m, scale: _csl(s, levels, m, scale, only=True),
                "takes the proxies of level l − 1 alone: all below l are negatives",
            ),
            Mistake(
                lambda s, levels, m, scale: _csl(s, levels, m, scale, reverse=True),
                "gives the margins in the wrong order: the first belongs to the coarsest level",
            ),
            Mistake(
                lambda s, levels, m, scale: _csl(s, levels, m, scale, hard=True),
                "takes the largest term: the sum is inside of the logarithm",
            ),
            Mistake(
                lambda s, levels, m, scale: _csl(s, levels, m, scale, best=True),
                "refers each level to its best positive: the reference is the own fine proxy at all levels",
            ),
        ],
    ),
)
