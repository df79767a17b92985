"""Chapter 15, the baselines: contrastive loss, calibration, CSL, the pulls of any loss, and what no threshold fits."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from rankbook.kit.check.compare import as_array
from rankbook.kit.check.spec import Case, Exercise
from rankedu import reference


def contrastive_loss(embeddings, labels, margin, *, square="", whole=False, zeros=False, one=False, hinge=True):
    """The loss; the options make the mistakes."""
    distance = np.linalg.norm(embeddings[:, None] - embeddings[None, :], axis=2)
    if square == "distances":
        distance = distance**2
    same, other = labels[:, None] == labels[None, :], ~np.eye(len(labels), dtype=bool)
    pull, push = distance, np.maximum(margin - distance, 0) if hinge else margin - distance
    if square == "terms":
        pull, push = pull**2, push**2
    parts = pull[same if whole else same & other], push[~same]
    if one:
        terms = np.concatenate(parts)
        return terms[terms > 0].mean()
    everything = whole or zeros or not hinge
    return sum((part if everything else part[part > 0]).mean() for part in parts if (part > 0).any())


def calibration_loss(scores, relevance, at_least, at_most):
    low = (at_least - scores)[relevance & (scores < at_least)]
    high = (scores - at_most)[~relevance & (scores > at_most)]
    return sum(terms.mean() for terms in (low, high) if len(terms))


def csl_loss(cosines, levels, margins, scale, *, only=False, reverse=False, hard=False, best=False):
    """The loss; the options make the mistakes."""
    own, total = cosines[levels == len(margins)], 0.0
    for level, margin in enumerate(margins[::-1] if reverse else margins, start=1):
        negatives = cosines[levels == level - 1] if only else cosines[levels < level]
        terms = scale * (negatives - (cosines[levels >= level].max() if best else own) + margin)
        total += max(0.0, terms.max(initial=0.0)) if hard else np.log(1 + np.exp(terms).sum())
    return total


def pulls(embeddings, gradient, tiny=0.01):
    n, dim = embeddings.shape
    marked = np.concatenate([embeddings, tiny * np.eye(n)], axis=1)
    return -gradient(marked)[:, dim:] / tiny


def no_threshold(gap):
    angles = [0.0, 110.0, 230.5, 231.5, 238.5, 239.5]
    return angles, [2, 2, 0, 0, 1, 1]


def _calibration(scores, relevance, at_least, at_most, *, whole=False, one=False):
    low, high = np.maximum(at_least - scores, 0)[relevance], np.maximum(scores - at_most, 0)[~relevance]
    if one:
        terms = np.concatenate([low, high])
        return terms[terms > 0].mean() if terms.any() else 0
    return (low.mean() if len(low) else 0) + (high.mean() if len(high) else 0) if whole else low.sum() + high.sum()


def _others(labels):
    """For each query the other items, and which of them are of its class."""
    for query, label in enumerate(labels):
        others = np.array([item for item in range(len(labels)) if item != query])
        yield query, others, labels[others] == label


def _by_ranks(cosines, labels):
    """How the mean rank of the positives falls with each cosine, query by query, by Algorithm 1."""
    slopes = np.zeros_like(cosines)
    for query, others, same in _others(labels):
        slopes[query, others] = reference.rank_gradient(cosines[query, others].tolist(), same.astype(float), lam=0.5)
    return slopes


def _by_softmax(cosines, labels):
    """The same for a softmax over the other items, which asks for the items of one's own class."""
    slopes = np.zeros_like(cosines)
    for query, others, same in _others(labels):
        share = np.exp(cosines[query, others])
        slopes[query, others] = share / share.sum() - same / max(1, same.sum())
    return slopes


def _gradient(slopes: Callable[..., Any], labels: Any) -> Callable[..., Any]:
    def gradient(embeddings):
        table = slopes(embeddings @ embeddings.T, labels)
        return (table + table.T) @ embeddings

    return gradient


def _pull_cases() -> list[Case]:
    rng = np.random.default_rng(19)
    first = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0], [-0.8, 0.6]])
    cases = [{"embeddings": first, "gradient": _gradient(_by_softmax, np.array([0, 0, 1, 1]))}]
    for n, dim, slopes in ((4, 2, _by_ranks), (5, 2, _by_softmax), (6, 3, _by_ranks), (8, 4, _by_softmax)):
        cases.append(
            {"embeddings": _unit(rng.standard_normal((n, dim))), "gradient": _gradient(slopes, np.arange(n) // 2)}
        )
    return cases


def _solved(embeddings, gradient):
    """The smallest numbers that explain the step: in a plane they are not the only ones."""
    return -gradient(embeddings) @ np.linalg.pinv(embeddings)


def _judge_threshold(case: Case, answer: Any) -> str | None:
    """Any batch is right in which every query ranks perfectly, and no threshold fits by the gap."""
    try:
        angles, labels = (as_array(part) for part in answer)
        pairs = list(zip(angles.tolist(), labels.tolist(), strict=True))
    except (TypeError, ValueError, AttributeError):
        return "which is not two lists of one length, angles and classes"
    sizes = [labels.tolist().count(label) for label in set(labels.tolist())]
    if len(sizes) < 2 or min(sizes) < 2 or not np.isfinite(angles).all():
        return "where there must be two classes or more, each with two items or more"
    turned = np.deg2rad(angles[:, None] - angles)
    for query, others, same in _others(labels):
        cosines = np.cos(turned[query, others])
        if reference.average_precision(cosines.tolist(), same.tolist(), "pessimistic") < 1:
            return f"where item {query} does not rank all of its class before the others"
    same_class = {(a, b): labels[a] == labels[b] for a, b in itertools.combinations(range(len(pairs)), 2)}
    positive = min(np.cos(turned[pair]) for pair, same in same_class.items() if same)
    negative = max(np.cos(turned[pair]) for pair, same in same_class.items() if not same)
    if negative - positive > case["gap"] + 1e-9:
        return None
    return f"where the most similar negative pair has {negative:.3f} and the least similar positive pair {positive:.3f}"


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
        "contrastive_loss(embeddings, labels, margin): the mean distance of the pairs of one class plus the mean of "
        "margin − distance over the pairs of two classes that are nearer than the margin; embeddings have length 1, no "
        "item is paired with itself.",
        contrastive_loss, _embedding_cases, [
            (lambda e, labels, margin: contrastive_loss(e, labels, margin, square="terms"),
             "squares distances and hinges: so it was published, but not here"),
            (lambda e, labels, margin: contrastive_loss(e, labels, margin, square="distances"),
             "takes squared distances throughout: the distance is their root"),
            (lambda e, labels, margin: contrastive_loss(e, labels, margin, zeros=True),
             "averages over pairs beyond the margin too: only terms that are not zero count"),
            (lambda e, labels, margin: contrastive_loss(e, labels, margin, whole=True),
             "averages over terms that are zero, those of items with themselves among them"),
            (lambda e, labels, margin: contrastive_loss(e, labels, margin, one=True),
             "takes one mean over all terms: pulls and pushes have a mean each"),
            (lambda e, labels, margin: contrastive_loss(e, labels, margin, hinge=False),
             "lets pairs beyond the margin count, with a negative term"),
        ],
    ),
    Exercise(
        "calibration_loss(scores, relevance, at_least, at_most): the mean of at_least − score over the relevant items "
        "below at_least, plus the mean of score − at_most over the others above at_most.",
        calibration_loss, _score_cases, [
            (lambda y, rel, a, b: _calibration(y, rel, a, b, whole=True),
             "averages over items that are right too: only terms that are not zero count"),
            (lambda y, rel, a, b: _calibration(y, rel, a, b), "adds up, forgets the means"),
            (lambda y, rel, a, b: _calibration(y, rel, a, b, one=True),
             "takes one mean over all terms: the relevant items and the others have a mean each"),
            (lambda y, rel, a, b: calibration_loss(y, ~rel, a, b), "takes relevant for irrelevant"),
            (lambda y, rel, a, b: calibration_loss(y, rel, b, a), "mixes up the two bounds"),
        ],
    ),
    Exercise(
        "csl_loss(cosines, levels, margins, scale): of one item, given its cosines with all proxies and the level that "
        "it shares with each (the number of levels for its own): the sum over levels l = 1, 2, … of log(1 + Σ exp("
        "scale · (s_n − s_own + margin_l))) over the proxies n of a level below l.",
        csl_loss, _level_cases, [
            (lambda s, levels, m, scale: csl_loss(s, levels, m, scale, only=True),
             "takes the proxies of level l − 1 alone: all below l are negatives"),
            (lambda s, levels, m, scale: csl_loss(s, levels, m, scale, reverse=True),
             "gives the margins in the wrong order: the first belongs to the coarsest level"),
            (lambda s, levels, m, scale: csl_loss(s, levels, -m, scale),
             "subtracts the margin: it makes the task harder, so it is added to what the negative is ahead"),
            (lambda s, levels, m, scale: csl_loss(s, levels, m, scale, hard=True),
             "takes the largest term: the sum is inside of the logarithm"),
            (lambda s, levels, m, scale: csl_loss(s, levels, m, scale, best=True),
             "refers each level to its best positive: the reference is the own fine proxy at all levels"),
        ],
    ),
    Exercise(
        "pulls(embeddings, gradient): the table of what a loss does to each pair, −∂L/∂s_ij in row i and column j, of "
        "a loss that is known by its gradient alone: gradient(x) returns ∂L/∂x for embeddings x of shape (n, any "
        "dimension); it depends on x only through the products s_ij = x_i · x_j of different items.",
        pulls, _pull_cases, [
            (lambda x, gradient: pulls(x, gradient) * 0.01,
             "reads the numbers off and does not divide by the small component that every item was given"),
            (_solved,
             "solves for the numbers in the space as it is, where many tables explain the same step: give every "
             "item a dimension of its own first"),
            (lambda x, gradient: -gradient(x) @ x.T,
             "takes the products of the steps with the embeddings, which are not at right angles to each other"),
            (lambda x, gradient: pulls(x, gradient).T / 2, "counts each pair half: s_ij is s_ji as well"),
        ],
        arrays=("numpy",),
    ),
    Exercise(
        "no_threshold(gap): the angles of some items in the plane, in degrees, and their classes, two lists: every "
        "query ranks all of its class before all others, and yet some pair of two classes is more similar than some "
        "pair of one class, by more than the gap in cosine; two classes or more, each of two items or more.",
        no_threshold, lambda: [{"gap": gap} for gap in (0.0, 0.1, 0.3, 0.6, 0.9, 1.2)], [
            (lambda gap: ([0.0, 1.0, 90.0, 91.0], [0, 0, 1, 1]),
             "gathers each class at a place of its own: one threshold fits all"),
            (lambda gap: ([0.0, 60.0, 61.0, 62.0], [0, 0, 1, 1]),
             "makes a class wide and puts the other one beside its end: that end now has a negative nearer than "
             "its own class"),
            (lambda gap: ([0.0, 170.0, 200.0, 201.0], [0, 0, 1, 1]),
             "makes a class so wide that the other one is nearer to it than itself"),
        ],
        judge=_judge_threshold, arrays=("numpy",),
    ),
)  # fmt: skip
