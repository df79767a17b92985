"""Chapter 15, the baselines: contrastive loss, calibration, CSL, the pulls of any loss, and what no threshold fits."""

import math
from functools import partial

import numpy as np

from rankedu_book.kit.check.compare import numbers
from rankedu_book.kit.check.spec import Case, Exercise, plain, unit


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


def calibration_loss(scores, relevance, at_least, at_most, *, mean=np.mean, whole=False, one=False):
    """The loss; the options make the mistakes."""
    parts = [np.maximum(at_least - scores, 0)[relevance], np.maximum(scores - at_most, 0)[~relevance]]
    if one:
        parts = [np.concatenate(parts)]
    return sum(mean(part if whole else part[part > 0]) for part in parts if part.any())


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


def _gradient(labels):
    """The gradient of cross entropy, for each item, of a softmax over the others' products at those of its class."""
    apart = ~np.eye(len(labels), dtype=bool)
    same = (labels[:, None] == labels) & apart

    def gradient(embeddings):
        share = np.exp(embeddings @ embeddings.T) * apart
        table = share / share.sum(axis=1, keepdims=True) - same / np.maximum(1, same.sum(axis=1, keepdims=True))
        return (table + table.T) @ embeddings

    return gradient


def _pull_cases() -> list[Case]:
    rng = np.random.default_rng(19)
    drawn = [unit(rng.standard_normal(shape)) for shape in ((4, 2), (5, 2), (6, 3), (8, 4))]
    first = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0], [-0.8, 0.6]])
    return [{"embeddings": x, "gradient": _gradient(np.arange(len(x)) // 2)} for x in (first, *drawn)]


def _solved(embeddings, gradient):
    """The smallest numbers that explain the step: in a plane they are not the only ones."""
    return -gradient(embeddings) @ np.linalg.pinv(embeddings)


@plain
def _judge_threshold(case, answer):
    """Any batch is right in which every query ranks perfectly, and no threshold fits by the gap."""
    try:
        angles, labels = numbers(answer)
        items = range(len(angles))
        enough = len(set(labels)) > 1 and min(labels.count(one) for one in labels) > 1
    except (TypeError, ValueError, AttributeError):
        return "which is not two lists of one length, angles and classes"
    if not enough or not all(math.isfinite(angle) for angle in angles):
        return "where there must be two classes or more, each with two items or more"
    low, high = 1.0, -1.0
    for i in items:
        cosines = [math.cos(math.radians(angles[i] - angle)) for angle in angles]
        positive = min(cosines[j] for j in items if j != i and labels[j] == labels[i])
        negative = max(cosines[j] for j in items if labels[j] != labels[i])
        if positive <= negative:
            return f"where item {i} does not rank all of its class before the others"
        low, high = min(low, positive), max(high, negative)
    if high - low > case["gap"] + 1e-9:
        return None
    return f"where the most similar negative pair has {high:.3f} and the least similar positive pair {low:.3f}"


def _embedding_cases() -> list[Case]:
    rng = np.random.default_rng(15)
    cases = [(np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]]), 1.0)]
    for n, dim, margin in ((4, 2, 1.0), (6, 3, 1.2), (8, 4, 1.3), (12, 8, 1.4)):
        cases.append((unit(rng.standard_normal((n, dim))), margin))
    return [{"embeddings": x, "labels": np.arange(len(x)) // 2, "margin": margin} for x, margin in cases]


def _score_cases() -> list[Case]:
    rng = np.random.default_rng(17)
    cases = [(np.array([0.95, 0.5, 0.75, 0.25]), np.array([True, True, False, False]))]
    cases += [(rng.uniform(-1, 1, n).round(2), rng.random(n) < 0.4) for n in (2, 5, 6, 9, 15)]
    return [{"scores": y, "relevance": relevant, "at_least": 0.9, "at_most": 0.6} for y, relevant in cases]


def _level_cases() -> list[Case]:
    rng = np.random.default_rng(18)
    cases = [(np.array([0.9, 0.6, 0.2]), np.array([2, 1, 0]))]
    for n, depth in ((4, 2), (6, 2), (7, 3), (9, 3)):
        levels = np.concatenate([[depth], np.arange(depth), rng.integers(0, depth, n - depth - 1)])
        cases.append((rng.uniform(-0.5, 1, n), rng.permutation(levels)))
    return [
        {"cosines": s, "levels": levels, "margins": np.linspace(0.45, 0.25, levels.max()), "scale": 8.0}
        for s, levels in cases
    ]


EXERCISES = (
    Exercise(
        "contrastive_loss(embeddings, labels, margin): the mean distance of the pairs of one class plus the mean of "
        "margin − distance over the pairs of two classes that are nearer than the margin; embeddings have length 1, no "
        "item is paired with itself.",
        contrastive_loss, _embedding_cases, [
            (partial(contrastive_loss, square="terms"),
             "squares distances and hinges: so it was published, but not here"),
            (partial(contrastive_loss, square="distances"),
             "takes squared distances throughout: the distance is their root"),
            (partial(contrastive_loss, zeros=True),
             "averages over pairs beyond the margin too: only terms that are not zero count"),
            (partial(contrastive_loss, whole=True),
             "averages over terms that are zero, those of items with themselves among them"),
            (partial(contrastive_loss, one=True), "takes one mean over all terms: pulls and pushes have a mean each"),
            (partial(contrastive_loss, hinge=False), "lets pairs beyond the margin count, with a negative term"),
        ],
    ),
    Exercise(
        "calibration_loss(scores, relevance, at_least, at_most): the mean of at_least − score over the relevant items "
        "below at_least, plus the mean of score − at_most over the others above at_most.",
        calibration_loss, _score_cases, [
            (partial(calibration_loss, whole=True),
             "averages over items that are right too: only terms that are not zero count"),
            (partial(calibration_loss, mean=np.sum), "adds up, forgets the means"),
            (partial(calibration_loss, one=True),
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
            (partial(csl_loss, only=True), "takes only the proxies of level l − 1: all below l are negatives"),
            (partial(csl_loss, reverse=True),
             "gives the margins in the wrong order: the first belongs to the coarsest level"),
            (lambda s, levels, m, scale: csl_loss(s, levels, -m, scale),
             "subtracts the margin: it makes the task harder, so it is added to what the negative is ahead"),
            (partial(csl_loss, hard=True), "takes the largest term: the sum is inside of the logarithm"),
            (partial(csl_loss, best=True),
             "refers each level to its best positive: the reference is the own fine proxy at all levels"),
        ],
    ),
    Exercise(
        "pulls(embeddings, gradient): the pull on each pair, −∂L/∂s_ij in row i and column j, of "
        "a loss of which only the gradient is known: gradient(x) returns ∂L/∂x for embeddings x of shape (n, any "
        "dimension); it depends on x only through the products s_ij = x_i · x_j of different items.",
        pulls, _pull_cases, [
            (_solved,
             "solves for the numbers in the space as it is, where many tables explain the same step: give every "
             "item a dimension of its own first"),
            (lambda x, gradient: -gradient(x) @ x.T,
             "takes the products of the steps with the embeddings, which are not at right angles to each other"),
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
